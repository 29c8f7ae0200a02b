"""Scenes of a replay, one per position, with the standings of the players beside the board."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render.players import Standing, standings, with_players
from ludoteca.envs.render.scene import scene
from ludoteca.envs.render.shapes import Scene
from ludoteca.envs.render.status import describe_result
from ludoteca.envs.replay import Replay

MAX_SECONDS, MIN_SECONDS = 0.6, 0.15  # limits of the time for which a position is shown
GAME_SECONDS = 30.0  # approximate duration of an animation, within these limits


def replay_scenes(replay: Replay) -> list[Scene]:
    """Return a scene of every position of a replay, with the standings of the players.

    Raises:
        ValueError: if the replay is invalid.
    """
    game, scenes = make_game(replay.game), []
    for ply, (s, action, standing) in enumerate(replay_steps(game, replay)):
        last_action = None if game.simultaneous else action
        board = scene(game, s, last_action, captions=())
        heading = f"ply {ply} of {len(replay.actions)}"
        news = last_move_text(game, s, last_action)
        scenes.append(with_players(board, game, standing, replay.players, heading, news))
    return scenes


def replay_steps(game: Game, replay: Replay) -> Iterator[tuple[Any, Any, tuple[Standing, ...]]]:
    """Yield every position, the action that led to it (None for the first), and the standings."""
    positions = list(replay.positions())
    yield from zip(positions, [None, *replay.actions], standings(game, positions), strict=True)


def seconds_per_position(replay: Replay) -> float:
    """Return the seconds for which to show each position, so that all together take 30 s.

    Each takes at most 0.6 s, as in games of up to 50 plies, and at least 0.15 s, from 200 plies on.
    """
    return min(MAX_SECONDS, max(MIN_SECONDS, GAME_SECONDS / max(1, len(replay.actions))))


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def last_move_text(game: Game, s: Any, last_action: Any = None) -> str:
    """Return the last move of a sequential game, and the result of a finished game, as text."""
    texts = [] if last_action is None else [f"last move {game.action_names[last_action]}"]
    return ", ".join([*texts, describe_result(game, s)] if game.is_terminal(s) else texts)
