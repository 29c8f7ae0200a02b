"""Game-specific knowledge of agents: one `Knowledge` per game, see `registry`.

Endgame solvers, features and OpenSpiel counterparts are imported at their first use.
"""
