"""Numbering of actions: the moves of all roles as one action space.

A move belongs to one role; an action is a term such as `(mark 1 2)`, whichever player makes it. The
moves of the role `random` are not actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import ActionArray, action_dtype
from ludoteca.envs.gdl.dynamics import Dynamics
from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.gdl.limits import MAX_MOVES
from ludoteca.envs.gdl.network import Network, natural_key
from ludoteca.envs.gdl.parse import parse

NONE = -1  # in place of a move or an action


@dataclass(frozen=True, eq=False)
class ActionTable:
    """Actions of a game, with R roles, M moves, A actions and G goals.

    A waiting move is one that a role makes only while another role is to move.

    Attributes:
        names: the terms, such as `"mark 1 2"`: without parentheses, unless they are nested.
            Length A.
        action_of_move: the action of each move, or `NONE` for moves of `random` and, in sequential
            games, for waiting moves. Ascending within a role. Shape `[M]`.
        move_of_action: the move of each role and action, or `NONE`. Shape `[R, A]`.
        role_masks: the moves of each role as bits, in the order of the outputs of phase 1. Shape
            `[R, ceil((M + G + 1) / 64)]`.
        action_masks: likewise, only the moves that are actions.
    """

    names: tuple[str, ...]
    action_of_move: ActionArray
    move_of_action: NDArray[np.int32]
    role_masks: NDArray[np.uint64]
    action_masks: NDArray[np.uint64]


def action_terms(network: Network, dynamics: Dynamics) -> tuple[str, ...]:
    """Return the terms of the actions of a network, sorted.

    In sequential games, waiting moves are not actions. The moves of each role must be sorted by
    `natural_key`, as they are in a new network.

    Raises:
        GDLLimitError: if there are more than `MAX_MOVES` actions.
    """
    listed = _listed(network, dynamics).tolist()
    of_roles = [
        [network.moves[m] for m in range(start, end) if listed[m]]
        for start, end in pairwise(network.move_start.tolist())
    ]
    terms = {term for role_terms in of_roles for term in role_terms}
    if len(terms) > MAX_MOVES:
        raise GDLLimitError(
            f"the sheet has {len(terms):,} different moves, more than {MAX_MOVES:,}"
        )
    longest = max(of_roles, key=len)
    if len(longest) == len(terms):  # the other roles have no other moves
        return tuple(longest)
    return tuple(sorted(terms, key=lambda text: natural_key(parse(text)[0].term)))


def _listed(network: Network, dynamics: Dynamics) -> NDArray[np.bool_]:
    """Return which moves are actions. Shape `[M]`."""
    of_players = np.ones(len(network.moves), np.bool_)
    if (chance := network.random_role) >= 0:
        of_players[network.move_start[chance] : network.move_start[chance + 1]] = False
    listed = of_players & ~dynamics.waits if dynamics.sequential else of_players
    return listed if listed.any() else of_players  # a game needs at least one action


def number_actions(network: Network, dynamics: Dynamics, order: Sequence[str]) -> ActionTable:
    """Return the numbering of actions of a network.

    Args:
        network: the network. The moves of each role that are actions are in the order of `order`.
        dynamics: its dynamics.
        order: the terms of the actions: those of `action_terms`, and perhaps others, which are
            never legal.
    """
    roles, moves = len(network.roles), len(network.moves)
    listed = _listed(network, dynamics)
    action_of_term = {text: i for i, text in enumerate(order)}
    action_of_move = np.full(moves, NONE, action_dtype(len(order)))
    move_of_action = np.full((roles, len(order)), NONE, np.int32)
    words = (len(network.phase1.outputs) + 63) // 64
    numbers = np.flatnonzero(listed)
    action_of_move[numbers] = [action_of_term[network.moves[m]] for m in numbers.tolist()]
    role_of_move = np.repeat(np.arange(roles), np.diff(network.move_start))
    move_of_action[role_of_move[numbers], action_of_move[numbers]] = numbers
    has_role = np.zeros((roles, 64 * words), np.bool_)
    has_role[role_of_move, np.arange(moves)] = True
    role_masks = _as_words(has_role)
    has_role[:, :moves] &= listed
    action_masks = _as_words(has_role)
    names = tuple(bare_term(text) for text in order)
    return ActionTable(names, action_of_move, move_of_action, role_masks, action_masks)


def _as_words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of bits, a multiple of 64, as 64-bit words."""
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def bare_term(text: str) -> str:
    """Return the name of the action of a move, such as `"mark 1 2"` for `"(mark 1 2)"`.

    Nested terms keep all parentheses.
    """
    return text[1:-1] if text[0] == "(" and text.count("(") == 1 else text
