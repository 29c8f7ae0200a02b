"""Recipes: one short program per RL library, run in an environment that has the library.

`make recipes` runs the recipes in `docs/recipes/` and writes the table of their results.
"""
