"""Hex: the circuit of electric resistances and the agents that play by it."""
