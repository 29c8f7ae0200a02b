"""Tree search guided by a network: PUCT and Gumbel, many games at once."""
