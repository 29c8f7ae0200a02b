"""Fixtures and hooks of the tests of environments, which run without a screen."""

import os
from collections.abc import Callable

import pytest
from boards import small_game

from ludoteca.envs.game import Game

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

# One game of each kind: sequential, with passes, simultaneous, and with chance and many players.
KINDS = ("TicTacToe-v0", "Othello-v0", "Tron-v0", "HungryGeese-v0")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark combinations of options as slow, except for one game of each kind.

    Tests of a game alone, without further parameters, always run for all that are registered, and
    so do the conformance suites.
    """
    for item in items:
        if item.path.name == "test_conformance.py":
            continue
        params = getattr(getattr(item, "callspec", None), "params", {})
        if len(params) > 1 and params.get("id_", KINDS[0]) not in KINDS:
            if item.get_closest_marker("interpreted") and not item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.interpreted, append=False)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def small() -> Callable[[str], Game]:
    """Make a registered game on a small board, by its id."""
    return small_game
