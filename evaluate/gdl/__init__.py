"""Rule sheets in GDL: traces, comparison with other implementations, coverage of repositories."""
