"""Decoupled Monte Carlo tree search with playouts for simultaneous games."""
