"""Recipes: short programs that train an agent with an RL library, each in an environment with it.

`make recipes` runs the recipes in `docs/recipes/` and writes the table of their results.
"""
