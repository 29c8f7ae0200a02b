"""Tournaments for tests."""

from ludoteca.evaluate.tournament.plan import Tournament

SMALL_TOURNAMENT = Tournament(
    ("tictactoe", "connect4"), ("random", "greedy"), games_per_pair=12, repeats=2, seed=3
)
