"""Tuning of agents' parameters by playing games: parameters, optimizers, runs and reports.

This package depends on `ludoteca.evaluate.match`; only `ludoteca.evaluate.cli` imports it.
"""
