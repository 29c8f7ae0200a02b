"""Knowledge of agents about single games: one `Knowledge` per game, see `registry`.

Imports `envs` and `agents.agent`; solvers, features and counterparts are loaded at their first use.
"""
