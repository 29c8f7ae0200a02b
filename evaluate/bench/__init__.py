"""How fast the environments are, beside those of other packages on the same machine."""
