"""OpenSpiel's Python loop: C++ states stepped one by one from Python."""

import random
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any

Run = Callable[[float], tuple[int, float]]  # seconds to run -> steps, seconds passed


def prepare(game: str, sample_actions: bool, games: int = 20) -> tuple[dict[str, str], Run]:
    """Load a game, and warm up; return the version and a function that plays games.

    Args:
        game: spec string of OpenSpiel, such as `"hex(board_size=11)"`.
        sample_actions: sample the actions within the timed loop; otherwise replay recorded games.
        games: number of games between two readings of the clock.
    """
    import pyspiel

    loaded = pyspiel.load_game(game)
    recorded = [record(loaded) for _ in range(games)]

    def run(seconds: float) -> tuple[int, float]:
        steps = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            for i in range(games):
                steps += play_randomly(loaded) if sample_actions else replay(loaded, recorded[i])
        return steps, passed

    run(0.1)
    return {"open_spiel": version("open_spiel")}, run


def play_randomly(game: Any) -> int:
    """Play one random game; list the legal actions and observe for the player to move."""
    steps = 0
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(random.choice(state.legal_actions()))
        # In a finished game, where no player is to move, the tensor of player 0.
        state.observation_tensor(max(state.current_player(), 0))
        steps += 1
    return steps


def replay(game: Any, actions: list[int]) -> int:
    """Replay a recorded game with the same calls as `play_randomly`, except for the sampling."""
    state = game.new_initial_state()
    for action in actions:
        state.is_terminal()
        state.legal_actions()
        state.apply_action(action)
        state.observation_tensor(max(state.current_player(), 0))
    return len(actions)


def record(game: Any) -> list[int]:
    """Return the actions of a random game."""
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(random.choice(state.legal_actions()))
    history: list[int] = state.history()
    return history
