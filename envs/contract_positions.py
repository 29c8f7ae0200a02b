"""Checks of the contract of `Game` in a single position."""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game


class ContractError(AssertionError):
    """Violation of the contract of `Game`; the message says where, and how to reproduce it."""


def require(condition: Any, message: str) -> None:
    """Raise a `ContractError` with this message unless a condition holds."""
    if not condition:
        raise ContractError(message)


def check_position(game: Game, s: Any) -> None:
    """Check the requirements of a position reached by play.

    Args:
        game: the game.
        s: the position, one record with its fields as attributes.

    Raises:
        ContractError: if a requirement is violated.
    """
    before = s.copy()
    check_actions(game, s)
    check_returns(game, s)
    check_observations(game, s)
    problem = game.validate(s)
    require(problem == "", f"validate rejects a position reached by play: {problem!r}")
    for name in s.dtype.names:
        same = s[name].tobytes() == before[name].tobytes()
        require(same, f"reading or observing a position changes its field {name}")


def check_actions(game: Game, s: Any) -> None:
    """Check the player to move, or the active players, and the lists of legal actions."""
    out = np.full(game.num_actions, -1, game.action_dtype)  # -1: not written
    over = game.is_terminal(s)
    require(type(over) is bool, f"is_terminal must return a bool, got {over!r}")
    if game.simultaneous:
        assert game.is_active is not None
        active = [game.is_active(s, p) for p in range(game.num_players)]
        require(any(active) != over, f"is_terminal is {over}, and the active players are {active}")
        players = range(game.num_players)
        counts = [game.legal_actions(s, p, out) for p in players]
        require(
            [n > 0 for n in counts] == active,
            f"the active players are {active}, but the numbers of legal actions are {counts}",
        )
        listed = [out[: game.legal_actions(s, p, out)].copy() for p in players]
    else:
        assert game.player is not None
        mover = game.player(s)
        require(
            0 <= mover < game.num_players,
            f"player must be from 0 to {game.num_players - 1}, got {mover}",
        )
        n = game.legal_actions(s, out)
        require((n == 0) == over, f"is_terminal is {over}, but {n} actions are legal")
        listed = [out[:n]]
    for legal in listed:
        require((np.diff(legal) > 0).all(), f"legal actions must ascend, got {legal.tolist()}")
        in_range = ((legal >= 0) & (legal < game.num_actions)).all()
        require(in_range, f"actions must be 0 to {game.num_actions - 1}, got {legal.tolist()}")


def check_returns(game: Game, s: Any) -> None:
    """Check the returns of a position.

    Args:
        game: the game.
        s: a position.
    """
    scores = np.full(game.num_players, 7.0)  # out of range, so that each must be written
    game.returns(s, scores)
    returned = scores.tolist()
    require(
        (np.abs(scores) <= 1).all(), f"returns must be in [-1, 1] for every player, got {returned}"
    )
    if game.is_terminal(s):
        is_zero_sum = not game.zero_sum or abs(scores.sum()) < 1e-9
        require(is_zero_sum, f"the returns of a finished game must add up to 0, got {returned}")
    elif not game.simultaneous:
        require((scores == 0).all(), f"returns must be 0 before the end, got {returned}")


def check_observations(game: Game, s: Any) -> None:
    """Check the observation of each player, in two dtypes and two memory orders of the planes."""
    planes, rows, columns = game.observation_shape
    for p in range(game.num_players):
        observed = np.zeros(game.observation_shape, np.int8)
        game.observe(s, p, observed)
        low, high = int(observed.min()), int(observed.max())
        require(
            low >= 0 and high <= game.observation_high,
            f"observations must be 0 to {game.observation_high}, "
            f"player {p} observes {low} to {high}",
        )
        as_float = np.zeros((rows, columns, planes), np.float32)
        game.observe(s, p, as_float.transpose(2, 0, 1))
        require(
            np.array_equal(as_float.transpose(2, 0, 1), observed),
            f"the second observation of player {p}, in float32, differs from the first, in int8",
        )
