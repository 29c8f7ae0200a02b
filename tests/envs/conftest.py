"""What the tests of the environments share; they run without a screen."""

import os
from collections.abc import Callable

import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

# Boards so small that games end within the few steps of a test; other games have their defaults.
SMALL = {
    "HungryGeese-v0": "num_players=3,rows=4,columns=5,episode_steps=10",
    "Othello-v0": "board_size=4,auto_pass=True",
    "Hex-v0": "board_size=3,swap=True,first=white",
    "Connect4-v0": "rows=3,columns=4,connect=3",
    "Tron-v0": "rows=4,columns=5",
    "AtariGo-v0": "board_size=3",
    "Breakthrough-v0": "rows=5,columns=3",
    "BreakthroughHoles-v0": "rows=5,columns=3,holes=b3",
    "BreakthroughSuicide-v0": "rows=4,columns=2",
    "KnightThrough-v0": "rows=6,columns=4",
    "SheepAndWolf-v0": "board_size=4",
    "TicTacToeLarge-v0": "board_size=4,line=3",
    "FreeForAll-v0": "board_size=3,plies=8",
}

# One game of each kind: in turn, with passes, at once, and at once with chance and many players.
KINDS = ("TicTacToe-v0", "Othello-v0", "Tron-v0", "HungryGeese-v0")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave combinations of options to `make test-slow`, but for one game of each kind.

    Tests of a game alone, without further parameters, always run for all that are registered, and
    so do the conformance suites.
    """
    for item in items:
        if item.path.name == "test_conformance.py":
            continue
        params = getattr(getattr(item, "callspec", None), "params", {})
        if len(params) > 1 and params.get("id_", KINDS[0]) not in KINDS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def small() -> Callable[[str], Game]:
    """Make a registered game on a small board, by its id."""
    return lambda id_: make_game(f"{id_}:{SMALL.get(id_, '')}")
