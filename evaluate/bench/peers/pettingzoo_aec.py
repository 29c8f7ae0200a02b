"""PettingZoo's Connect Four in the usual AEC loop, which also steps Ludoteca's environment."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from time import perf_counter
from typing import Any

Run = Callable[[float], tuple[int, float]]  # seconds to run -> moves, seconds passed


def prepare(games: list[list[int]]) -> tuple[dict[str, str], Run]:
    """Make Connect Four, and warm up; return the version and a function that replays games.

    Args:
        games: the actions of each game.
    """
    from pettingzoo.classic import connect_four_v3

    make: Any = connect_four_v3.env
    env = make()
    run = timed_replay(env, games)
    run(0.1)
    return {"pettingzoo": version("pettingzoo")}, run


def timed_replay(env: Any, games: Sequence[Sequence[int]]) -> Run:
    """Return a function that replays `games` in turn for some seconds, and counts the moves."""
    game_index = 0

    def run(seconds: float) -> tuple[int, float]:
        nonlocal game_index
        moves = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            moves += replay(env, games[game_index % len(games)])
            game_index += 1
        return moves, passed

    return run


def replay(env: Any, actions: Sequence[int]) -> int:
    """Replay one game from its reset to the steps with None that remove its agents."""
    env.reset()
    remaining_actions = iter(actions)
    for _ in env.agent_iter():
        _observation, _reward, termination, truncation, _info = env.last()
        env.step(None if termination or truncation else next(remaining_actions))
    return len(actions)
