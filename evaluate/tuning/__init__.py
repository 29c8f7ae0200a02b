"""Tuning of agents' parameters by games: parameters, optimizers, and the run that ends in a match.

Imports `ludoteca.evaluate.match` and what it imports; only `ludoteca.evaluate.cli` imports it.
"""
