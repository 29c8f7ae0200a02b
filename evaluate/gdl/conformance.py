"""Conformance of rule sheets: the contract of games, and the suites of Gymnasium and PettingZoo."""

import warnings
from pathlib import Path

from ludoteca.envs.gdl.errors import GDLWarning
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.environment_checks import check_environments
from ludoteca.evaluate.game_checks import check_game, check_kernels

GAMES = 3  # random games in which every position is checked


def check_conformance(path: Path, max_seconds: float, compiled: bool = False) -> None:
    """Check a rule sheet as a game: its kernels and all its environments, warnings as errors.

    The checks are those of `ludoteca.testing`. Interpreted games leave out the comparison of
    compiled kernels with interpreted ones.

    Args:
        path: file of the rule sheet.
        max_seconds: maximum CPU seconds for compiling the sheet; if it takes longer, its rules are
            interpreted.
        compiled: whether kernels and environments are compiled, about a minute for each sheet.

    Raises:
        GDLError: if the sheet is invalid.
        Exception: the first violation, mostly an `AssertionError`, or a warning.
    """
    with warnings.catch_warnings(), interpreting(not compiled):
        warnings.simplefilter("error")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GDLWarning)  # faults of the sheet, limits
            game = make_game("gdl", path=str(path), max_seconds=max_seconds)
        if compiled:
            check_game(game, games=GAMES)
        else:
            check_kernels(game, games=GAMES)
            check_environments(game)
