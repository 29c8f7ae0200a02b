"""Monte Carlo tree search with playouts for sequential games: block layout of the tree."""
