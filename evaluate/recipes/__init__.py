"""Recipes: one short program per RL library, run in an environment that has the library.

`make recipes` runs those of `docs/recipes/` and writes their table.
"""
