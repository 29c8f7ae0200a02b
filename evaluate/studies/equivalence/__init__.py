"""Study of which enhancements make UCB1 equivalent to UCB-alpha2 in eight games."""
