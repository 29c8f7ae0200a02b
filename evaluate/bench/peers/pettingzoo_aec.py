"""PettingZoo's Connect Four, and the usual AEC loop, which our side runs too."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from time import perf_counter
from typing import Any

Run = Callable[[float], tuple[int, float]]


def prepare(games: list[list[int]]) -> tuple[dict[str, str], Run]:
    """Make `pettingzoo.classic.connect_four_v3.env()`; `games` are the actions to replay."""
    from pettingzoo.classic import connect_four_v3

    make: Any = connect_four_v3.env
    env = make()
    run = timed_replay(env, games)
    run(0.1)
    return {"pettingzoo": version("pettingzoo")}, run


def timed_replay(env: Any, games: Sequence[Sequence[int]]) -> Run:
    """Return a function that replays `games` for some seconds, and counts the moves."""
    position = 0

    def run(seconds: float) -> tuple[int, float]:
        nonlocal position
        moves = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            moves += replay(env, games[position % len(games)])
            position += 1
        return moves, passed

    return run


def replay(env: Any, actions: Sequence[int]) -> int:
    """Replay the actions of one game, with its reset and the last dead steps."""
    env.reset()
    coming = iter(actions)
    for _ in env.agent_iter():
        _observation, _reward, termination, truncation, _info = env.last()
        env.step(None if termination or truncation else next(coming))
    return len(actions)
