"""Numbering of actions: the moves of all roles as one action space.

A move belongs to one role; an action is a term such as `(mark 1 2)`, whichever player makes it. The
moves of the role `random` are not actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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

    In sequential games, waiting moves are not actions.

    Raises:
        GDLLimitError: if there are more than `MAX_MOVES` actions.
    """
    terms = {network.moves[m] for m in np.flatnonzero(_listed(network, dynamics))}
    if len(terms) > MAX_MOVES:
        raise GDLLimitError(
            f"the sheet has {len(terms):,} different moves, more than {MAX_MOVES:,}"
        )
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
    role_masks = np.zeros((roles, words), np.uint64)
    action_masks = np.zeros((roles, words), np.uint64)
    for m in range(moves):
        r, bit = network.role_of(m), np.uint64(1) << np.uint64(m & 63)
        role_masks[r, m >> 6] |= bit
        if listed[m]:
            action = action_of_term[network.moves[m]]
            action_of_move[m] = action
            move_of_action[r, action] = m
            action_masks[r, m >> 6] |= bit
    names = tuple(bare_term(text) for text in order)
    return ActionTable(names, action_of_move, move_of_action, role_masks, action_masks)


def bare_term(text: str) -> str:
    """Return the name of the action of a move, such as `"mark 1 2"` for `"(mark 1 2)"`.

    Nested terms keep all parentheses.
    """
    return text[1:-1] if text[0] == "(" and text.count("(") == 1 else text
