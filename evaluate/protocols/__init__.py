"""Text protocols by which other programs use agents as engines: GTP, HTP, NBoard and GGP."""
