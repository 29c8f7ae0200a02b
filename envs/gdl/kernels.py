"""Kernels of a game that is given as a network; see `ludoteca.envs.game.Game`.

The record of a state (`state_record`) holds the fluents as bits, and fields computed from them:
outputs of phase 1 (legal moves of all roles, goals, `terminal`), the player to move and whether the
game is over. So only `init` and `step` evaluate the network.

Players are numbered without the role `random`, whose moves are drawn from the stream `rng` of the
record. In sequential games, joint moves in which all players only wait are made at once: `init` and
`step` end in a state in which a player has an action.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludoteca.envs.bits import ONE, ZERO, lowest, popcount, test_bit
from ludoteca.envs.game import FORFEIT, ChanceKernels, ManyKernels
from ludoteca.envs.gdl.actions import NONE, ActionTable
from ludoteca.envs.gdl.dynamics import Dynamics
from ludoteca.envs.gdl.evaluate import make_evaluation
from ludoteca.envs.gdl.many_states import make_play_many
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.percepts import make_percept_masks, percept_words
from ludoteca.envs.gdl.state_record import (
    CONFLICT,
    FORFEITED,
    LIMIT,
    RUNNING,
    STUCK,
    TERMINAL,
    state_dtype,
)
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below


class GDLKernels(NamedTuple):
    """Dtype of the record and kernels, as in `Game`.

    `refresh(s)` computes the derived fields. `play_while_waiting(s)` makes joint moves until a
    player has an action or the game is over. `many` is None if the rules have chance or percepts,
    or are interpreted; `chance` is None if they have no chance.
    """

    state: np.dtype[np.void]
    init: Callable[..., Any]
    player: Callable[..., Any] | None
    is_active: Callable[..., Any] | None
    legal_actions: Callable[..., Any]
    step: Callable[..., Any]
    is_terminal: Callable[..., Any]
    returns: Callable[..., Any]
    refresh: Callable[..., Any]
    play_while_waiting: Callable[..., Any]
    many: ManyKernels | None
    chance: ChanceKernels | None


def make_kernels(
    network: Network, dynamics: Dynamics, actions: ActionTable, max_plies: int
) -> GDLKernels:
    """Return the kernels of a network.

    Args:
        network: the network.
        dynamics: its dynamics.
        actions: the numbering of its actions.
        max_plies: number of joint moves after which a game ends.
    """
    num_fluents, num_moves = len(network.fluents), len(network.moves)
    num_goals, roles = len(network.goal_roles), len(network.roles)
    evaluate_phase1 = make_evaluation(network.phase1, num_fluents, None)
    evaluate_phase2 = make_evaluation(network.phase2, num_fluents, network.move_start)
    evaluate_phase3 = make_evaluation(network.phase3, num_fluents, network.move_start)
    initial = np.packbits(
        np.pad(network.initial, (0, -num_fluents % 64)), bitorder="little"
    ).view("<u8").astype(np.uint64)  # fmt: skip
    goal_roles, goal_values = network.goal_roles, network.goal_values
    role_masks, action_masks = actions.role_masks, actions.action_masks
    action_of_move, move_of_action = actions.action_of_move, actions.move_of_action
    words, terminal_output = role_masks.shape[1], num_moves + num_goals
    move_words = (num_moves + 63) // 64
    sequential, moves_proved = dynamics.sequential, dynamics.moves_proved
    control = np.array(dynamics.control or (0,), np.int32)  # (0,): placeholder, not read
    has_control = len(dynamics.control) > 0
    role_of = np.array(network.players, np.int32)  # by player
    players, chance = len(role_of), network.random_role
    has_chance, is_hidden = chance >= 0, network.has_hidden_information
    has_percepts, num_percept_words = len(network.percepts) > 0, percept_words(network)
    percept_masks = make_percept_masks(network)
    # The return in games that end at `max_plies`, STUCK or in CONFLICT: a draw, or with a single
    # player, who has not reached the goal, a loss.
    unfinished_return = 0.0 if players > 1 else -1.0

    @kernel
    def count_bits(s: Any, masks: Any, r: int) -> int:
        """Return the number of legal moves of role `r` in `masks` [R, words]."""
        n = 0
        for w in range(move_words):
            n += popcount(s.outputs[w] & masks[r, w])
        return n

    @kernel
    def first_move(s: Any, r: int) -> int:
        """Return the first legal move of role `r`, or NONE."""
        for w in range(move_words):
            x = s.outputs[w] & role_masks[r, w]
            if x != ZERO:
                return int(64 * w + lowest(x))
        return NONE

    @kernel
    def count_outcomes(s: Any) -> int:
        """Return the number of legal moves of the role `random`."""
        return count_bits(s, role_masks, chance)

    @kernel
    def chance_move(s: Any, k: int) -> int:
        """Return the k-th legal move of the role `random`, or NONE if it has none."""
        for w in range(move_words):
            x = s.outputs[w] & role_masks[chance, w]
            while x != ZERO:
                if k == 0:
                    return int(64 * w + lowest(x))
                k -= 1
                x &= x - ONE
        return NONE

    @kernel
    def is_waiting(s: Any) -> bool:
        """Return whether no player has an action, but each role a legal move."""
        for p in range(players):
            if count_bits(s, action_masks, role_of[p]) > 0:
                return False
        for r in range(roles):  # noqa: SIM110 (compiled)
            if count_bits(s, role_masks, r) == 0:
                return False
        return True

    @kernel
    def find_mover(s: Any) -> int:
        """Return the player to move, and end a game that violates the assumptions of `Dynamics`."""
        mover, choosers, chooser = -1, 0, 0
        if has_control:
            for p in range(players):
                if mover < 0 and test_bit(s.fluents, control[role_of[p]]):
                    mover = p
        if not moves_proved or mover < 0:
            for p in range(players):
                n = count_bits(s, role_masks, role_of[p])
                if n > 1:
                    choosers += 1
                    chooser = p
                if n == 0:
                    s.over = STUCK
            if choosers > 1:
                s.over = CONFLICT
            if choosers > 0:
                mover = chooser
        # If no player has a choice, the first player with an action moves.
        for p in range(players):
            if mover < 0 and count_bits(s, action_masks, role_of[p]) > 0:
                mover = p
        mover = max(mover, 0)
        if count_bits(s, action_masks, role_of[mover]) == 0:
            s.over = STUCK
        return mover

    @kernel
    def derive(s: Any) -> None:
        """Compute the fields that follow from the outputs, `plies` and `forfeited`."""
        s.over = RUNNING
        s.to_move = 0
        if test_bit(s.outputs, terminal_output):
            s.over = TERMINAL
            return
        if sequential:
            if not (has_chance and is_waiting(s)):
                s.to_move = find_mover(s)
        else:
            for r in range(roles):
                if count_bits(s, role_masks, r) == 0:
                    s.over = STUCK
            num_remaining = 0
            for p in range(players):
                num_remaining += int(s.forfeited[p] == 0)
            if num_remaining < players and num_remaining <= 1:
                s.over = FORFEITED
        if has_chance and s.over == RUNNING and count_bits(s, role_masks, chance) == 0:
            s.over = STUCK
        if s.over == RUNNING and s.plies >= max_plies:
            s.over = LIMIT

    @kernel
    def refresh(s: Any) -> None:
        """Compute all fields that follow from the fluents, `plies` and `forfeited`."""
        evaluate_phase1(s.fluents, s.joint, s.outputs)
        derive(s)

    @kernel
    def note_action(s: Any, p: int, action: int) -> None:
        """Note the action of player `p`, and forget the percepts since the last one."""
        if is_hidden:
            s.last_action[p] = action
            for w in range(num_percept_words):
                s.turn_percepts[w] &= ~percept_masks[p, w]

    @kernel
    def play(s: Any, k: int) -> None:
        """Make the joint move `s.joint` of the players and the k-th one of the role `random`."""
        if has_chance:
            s.joint[chance] = chance_move(s, k)
        if has_percepts:
            evaluate_phase3(s.fluents, s.joint, s.percepts)
            for w in range(num_percept_words):
                s.turn_percepts[w] |= s.percepts[w]
                s.game_percepts[w] |= s.percepts[w]
        evaluate_phase2(s.fluents, s.joint, s.fluents)
        s.plies += 1
        refresh(s)

    @kernel
    def draw(s: Any) -> int:
        """Return the number of a random legal move of the role `random`, 0 if it has none."""
        n = count_outcomes(s) if has_chance else 0
        return int(below(s.rng, n)) if n > 0 else 0

    @kernel
    def is_pending(s: Any) -> bool:
        """Return whether a joint move follows in which all players only wait."""
        return bool(sequential and has_chance and s.over == RUNNING and is_waiting(s))

    @kernel
    def play_outcome(s: Any, k: int) -> None:
        """Make the joint move that has begun, or in which all players wait, with a chance move."""
        if is_pending(s):
            for r in range(roles):
                s.joint[r] = first_move(s, r)
            if s.plies == 0:  # joint moves before the first action do not count
                s.plies = -1
        play(s, k)

    @kernel
    def play_while_waiting(s: Any) -> None:
        """Make joint moves until a player has an action or the game is over."""
        while is_pending(s):
            play_outcome(s, draw(s))

    @kernel
    def start(s: Any) -> None:
        """Write the initial state, in which perhaps only chance moves."""
        if is_hidden:
            s.percepts[:] = ZERO
            s.turn_percepts[:] = ZERO
            s.game_percepts[:] = ZERO
            s.last_action[:] = NONE
        for w in range(len(initial)):
            s.fluents[w] = initial[w]
        s.joint[:] = NONE
        s.forfeited[:] = 0
        s.plies = 0
        refresh(s)

    @kernel
    def init(s: Any, seed: int) -> None:
        if has_chance:
            s.rng[0] = seed
        start(s)
        play_while_waiting(s)

    @kernel
    def is_terminal(s: Any) -> bool:
        return bool(s.over != RUNNING)

    @kernel
    def player(s: Any) -> int:
        return int(s.to_move)

    @kernel
    def is_active(s: Any, p: int) -> bool:
        return bool(s.over == RUNNING and s.forfeited[p] == 0)

    @kernel
    def list_actions(s: Any, p: int, out: Any) -> int:
        """Write the legal actions of player `p` to `out[:n]`, and return n."""
        n, r = 0, role_of[p]
        for w in range(move_words):
            x = s.outputs[w] & action_masks[r, w]
            while x != ZERO:
                out[n] = action_of_move[64 * w + lowest(x)]
                n += 1
                x &= x - ONE
        return n

    @kernel
    def legal_sequential(s: Any, out: Any) -> int:
        if s.over != RUNNING:
            return 0
        return list_actions(s, s.to_move, out)

    @kernel
    def legal_simultaneous(s: Any, p: int, out: Any) -> int:
        if s.over != RUNNING or s.forfeited[p] != 0:
            return 0
        return list_actions(s, p, out)

    @kernel
    def begin_sequential(s: Any, action: int) -> None:
        for r in range(roles):
            s.joint[r] = first_move(s, r)  # the only legal move of a player that is not to move
        r = role_of[s.to_move]
        s.joint[r] = move_of_action[r, action]
        note_action(s, s.to_move, action)

    @kernel
    def step_sequential(s: Any, action: int) -> None:
        begin_sequential(s, action)
        play(s, draw(s))
        play_while_waiting(s)

    @kernel
    def begin_simultaneous(s: Any, joint_action: Any) -> None:
        for p in range(players):
            r = role_of[p]
            if s.forfeited[p] == 0 and joint_action[p] == FORFEIT:
                s.forfeited[p] = 1
            if s.forfeited[p] != 0:
                s.joint[r] = first_move(s, r)  # the rules need a move of each role
            else:
                s.joint[r] = move_of_action[r, joint_action[p]]
                note_action(s, p, joint_action[p])

    @kernel
    def step_simultaneous(s: Any, joint_action: Any) -> None:
        begin_simultaneous(s, joint_action)
        play(s, draw(s))

    @kernel
    def end_step(s: Any) -> None:
        s.plies += 1
        derive(s)

    @kernel
    def goal_of(s: Any, p: int) -> float:
        """Return (goal - 50) / 50 of a player in a finished game, in [-1, 1].

        If several goals of the player hold, the lowest counts; if none holds, the return is 0.
        """
        # The goals of a role are sorted by value.
        for g in range(num_goals):
            if goal_roles[g] == role_of[p] and test_bit(s.outputs, num_moves + g):
                return float((goal_values[g] - 50) / 50.0)
        return 0.0

    @kernel
    def returns(s: Any, out: Any) -> None:
        num_remaining = 0
        for p in range(players):
            num_remaining += int(s.forfeited[p] == 0)
        for p in range(players):
            if s.forfeited[p] != 0:
                out[p] = -1.0 if num_remaining > 0 else 0.0
            elif s.over == TERMINAL:
                out[p] = goal_of(s, p)
            elif s.over == FORFEITED:
                out[p] = 1.0
            elif s.over != RUNNING:
                out[p] = unfinished_return
            else:
                out[p] = 0.0

    begin = begin_sequential if sequential else begin_simultaneous
    many = None
    if not has_chance and not has_percepts and network.phase1.num_slots:
        play_many = make_play_many(network, evaluate_phase1, evaluate_phase2)
        many = ManyKernels(begin, play_many, end_step)
    assert words >= move_words  # the masks also have bits of the goals and of `terminal`
    return GDLKernels(
        state=state_dtype(network),
        init=init,
        player=player if sequential else None,
        is_active=None if sequential else is_active,
        legal_actions=legal_sequential if sequential else legal_simultaneous,
        step=step_sequential if sequential else step_simultaneous,
        is_terminal=is_terminal,
        returns=returns,
        refresh=refresh,
        play_while_waiting=play_while_waiting,
        many=many,
        chance=ChanceKernels(start, begin, count_outcomes, play_outcome, is_pending)
        if has_chance
        else None,
    )
