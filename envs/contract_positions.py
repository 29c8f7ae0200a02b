"""Checks of the contract of `Game` in a single position."""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game


class ContractError(AssertionError):
    """A game does not keep the contract of `Game`; the message says where, and how to get there."""


def require(condition: Any, message: str) -> None:
    """Raise a `ContractError` unless a condition holds."""
    if not condition:
        raise ContractError(message)


def check_position(game: Game, s: Any, zero_sum: bool = True) -> None:
    """Check everything that is asked of a position that play has led to.

    Raises:
        ContractError: if something is not as it must be.
    """
    before = s.copy()
    check_actions(game, s)
    check_returns(game, s, zero_sum)
    check_observations(game, s)
    problem = game.validate(s)
    require(problem == "", f"validate rejects a position of play: {problem!r}")
    for name in s.dtype.names:
        same = s[name].tobytes() == before[name].tobytes()
        require(same, f"looking at a position changes its field {name}")


def check_actions(game: Game, s: Any) -> None:
    """Check who is to move, and the lists of legal actions."""
    out = np.full(game.num_actions, -1, np.int16)
    over = game.is_terminal(s)
    require(type(over) is bool, f"is_terminal must return a bool, got {over!r}")
    if game.simultaneous:
        assert game.is_active is not None
        active = [game.is_active(s, p) for p in range(game.num_players)]
        require(any(active) != over, f"is_terminal is {over}, and the active players are {active}")
        numbers = [(game.legal_actions(s, p, out), p) for p in range(game.num_players)]
        require(
            [n > 0 for n, _ in numbers] == active,
            f"active are {active}, but {[n for n, _ in numbers]} actions are legal",
        )
        listed = [out[: game.legal_actions(s, p, out)].copy() for _, p in numbers]
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
        inside = ((legal >= 0) & (legal < game.num_actions)).all()
        require(inside, f"actions are 0 to {game.num_actions - 1}, got {legal.tolist()}")


def check_returns(game: Game, s: Any, zero_sum: bool = True) -> None:
    """Check the returns of a position.

    Args:
        game: the game.
        s: a position.
        zero_sum: whether the returns of a finished game must add up to 0.
    """
    scores = np.full(game.num_players, 7.0)
    game.returns(s, scores)
    given = scores.tolist()
    require(
        (np.abs(scores) <= 1).all(), f"returns must write numbers in [-1, 1] for all, got {given}"
    )
    if game.is_terminal(s):
        balanced = not zero_sum or abs(scores.sum()) < 1e-9
        require(balanced, f"the returns of a finished game must add up to 0, got {given}")
    elif not game.simultaneous:
        require((scores == 0).all(), f"returns must be 0 before the end, got {given}")


def check_observations(game: Game, s: Any) -> None:
    """Check what each player sees, in two types of numbers and two orders in memory."""
    planes, rows, columns = game.observation_shape
    for p in range(game.num_players):
        seen = np.zeros(game.observation_shape, np.int8)
        game.observe(s, p, seen)
        low, high = int(seen.min()), int(seen.max())
        require(
            low >= 0 and high <= game.observation_high,
            f"observations are 0 to {game.observation_high}, player {p} sees {low} to {high}",
        )
        other = np.zeros((rows, columns, planes), np.float32)
        game.observe(s, p, other.transpose(2, 0, 1))
        require(
            np.array_equal(other.transpose(2, 0, 1), seen),
            f"player {p} sees something else when asked again with another type of numbers",
        )
