"""Hex: electric-resistance evaluation, and the agents that use it."""
