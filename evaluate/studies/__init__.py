"""Studies: reproductions of published experiments, one command each, with a comparing report."""
