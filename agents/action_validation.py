"""Validation of the actions that external policies return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game


def validate_actions(
    game: Game,
    chosen: Any,
    masks: NDArray[np.int8],
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    source: str,
) -> NDArray[np.int64]:
    """Validate the actions of a policy; return them as int64 `[K]`, one per position.

    Args:
        game: the game.
        chosen: the value that the policy returned: integers of shape `[K]`, as an array, a list or
            a tensor on the CPU.
        masks: 1 for legal actions, else 0. Shape `[K, num_actions]`.
        states: the positions. Shape `[K]`.
        seats: player to act in each position. Shape `[K]`.
        source: name of the policy in error messages, such as `"the policy mymodule:policy"`.

    Raises:
        ValueError: if the value has another type or shape, or an action is illegal; the message
            shows the position.
    """
    count = len(states)
    try:
        actions = np.asarray(chosen)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists, tensors on a GPU
        raise ValueError(
            f"{source} must return {count} integers, one per observation, got {chosen!r:.80}, "
            f"which is not an array: {error!s:.200}"
        ) from None
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        hint = ""
        if actions.shape == (count, game.num_actions):
            hint = "; for scores, return the argmax over the legal actions"
        raise ValueError(
            f"{source} must return {count} integers, one per observation, "
            f"got {actions.dtype} of shape {actions.shape}{hint}"
        )
    inside = (actions >= 0) & (actions < game.num_actions)
    legal = inside & (masks[np.arange(count), np.where(inside, actions, 0).astype(np.int64)] == 1)
    if not legal.all():
        k = int(np.argmin(legal))
        raise ValueError(
            f"{source} chose {actions[k]} for observation {k}, which is illegal: legal "
            f"actions are {np.flatnonzero(masks[k]).tolist()}. "
            f"{describe_position(game, states[k], seats[k])}"
        )
    return actions.astype(np.int64)


def describe_position(game: Game, state: Any, player: int) -> str:
    """Return a position (a record of `game.state`) as text: game, player to act, board."""
    from ludoteca.envs.render import render

    s = np.array([state]).view(np.recarray)[0]
    return f"{game.spec}, player_{player} to move:\n{render(game, s, 'ansi')}"
