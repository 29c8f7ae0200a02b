"""Recipes: short programs in `docs/recipes/` that train an agent with an RL library.

`make recipes` runs each recipe in a virtual environment with its library, and writes the table of
the results.
"""
