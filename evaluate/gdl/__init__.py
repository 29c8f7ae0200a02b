"""Rule sheets in GDL: traces, comparison with other programs, coverage of collections."""
