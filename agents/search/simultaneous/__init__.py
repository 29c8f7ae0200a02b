"""Monte Carlo tree search with playouts for simultaneous games: decoupled, joint table of nodes."""
