"""Knowledge about single games: heuristics, hand-crafted features and endgame solvers.

Imports games; search and networks import this folder.
"""
