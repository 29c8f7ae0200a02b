"""Fixtures and hooks of the tests of environments, which run without a screen."""

import os
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from boards import REPRESENTATIVES, small_game
from pettingzoo_make import make_pettingzoo

from ludoteca.envs.game import Game

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark combinations of options as slow, except for the representative games.

    Tests of a game alone, without further parameters, always run for all that are registered, and
    so do the conformance suites.
    """
    for item in items:
        if item.path.name == "test_conformance.py":
            continue
        params = getattr(getattr(item, "callspec", None), "params", {})
        if len(params) > 1 and params.get("id_", REPRESENTATIVES[0]) not in REPRESENTATIVES:
            if item.get_closest_marker("interpreted") and not item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.interpreted, append=False)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def make_small_game() -> Callable[[str], Game]:
    """Make a registered game on a small board, by its id."""
    return small_game


@pytest.fixture(scope="module")
def make(make_small_game: Callable[[str], Game]) -> Callable[..., Any]:
    """Make environments of any API on small boards, in their first games."""

    def make(api: str, id_: str, **options: Any) -> Any:
        name, options = f"ludoteca/{id_}", dict(make_small_game(id_).params) | options
        if api in ("aec", "parallel"):
            env: Any = make_pettingzoo(api, name, **options)
        elif api == "single":
            env = gym.make(name, **options).unwrapped
        else:
            opponent = "random" if api == "opponents" else None
            env = gym.make_vec(name, num_envs=3, opponent=opponent, **options).unwrapped
        env.reset(seed=0)
        return env

    return make
