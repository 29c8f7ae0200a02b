"""State machines of rule sheets: states, moves and goals of all roles, as terms.

A rule sheet is a game in the Game Description Language (GDL), compiled to a network of logic gates.

The games of `make_game("gdl:...")` omit what a game of this package does not need, such as the
moves of roles that only wait. A `RuleMachine` omits nothing, so it can be compared with other GDL
programs and write traces for them. The role `random` of GDL-II is a role like any other here: its
moves are given.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.network import Network, Program
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.envs.jit import compiled, factory
from ludoteca.evaluate.gdl.traces import TracePosition


class StateMachine(ABC):
    """State machine of a rule sheet.

    Attributes:
        roles: names of the roles.
    """

    roles: tuple[str, ...]

    @abstractmethod
    def reset(self) -> None:
        """Return to the initial state."""

    @abstractmethod
    def fluents(self) -> tuple[str, ...]:
        """Return the true fluents, sorted."""

    @abstractmethod
    def set_fluents(self, fluents: Sequence[str]) -> None:
        """Set the state.

        Raises:
            ValueError: if a fluent cannot be true.
        """

    @abstractmethod
    def legal(self) -> tuple[tuple[str, ...], ...]:
        """Return the legal moves of each role, sorted."""

    @abstractmethod
    def is_terminal(self) -> bool:
        """Return whether the game is over."""

    @abstractmethod
    def goals(self) -> tuple[tuple[int, ...], ...]:
        """Return the true goals of each role: exactly one, unless the sheet is faulty."""

    @abstractmethod
    def step(self, moves: Sequence[str]) -> None:
        """Play a joint move, one move of each role.

        Raises:
            ValueError: if a role has no such move.
        """

    @abstractmethod
    def percepts(self, moves: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return what each role would see after a joint move (`sees`), sorted; `random`: nothing.

        Raises:
            ValueError: if a role has no such move.
        """

    def position(self, game: int, ply: int) -> TracePosition:
        """Return the state as a position of a trace, without moves.

        Raises:
            ValueError: if the game is over and a player does not have exactly one goal.
        """
        if not self.is_terminal():
            return TracePosition(game, ply, self.fluents(), False, (), self.legal())
        for role, goals in zip(self.roles, self.goals(), strict=True):
            if len(goals) != 1 and role != RANDOM:
                raise ValueError(f"{role} has {len(goals)} goals {goals} at the end of the game")
        single = tuple(goals[0] if len(goals) == 1 else None for goals in self.goals())
        return TracePosition(game, ply, self.fluents(), True, single)


class RuleMachine(StateMachine):
    """State machine of the compiled network of a rule sheet.

    Attributes:
        network: the network, with F fluents and M moves.
        roles: names of the roles.
        state: whether each fluent is true. Shape `[F]`.
    """

    def __init__(self, network: Network):
        self.network, self.roles = network, network.roles
        self.state: NDArray[np.bool_] = network.initial.copy()
        self._fluent_numbers = {fluent: i for i, fluent in enumerate(network.fluents)}
        self._move_numbers = [
            {network.moves[i]: i for i in range(*network.move_start[role : role + 2])}
            for role in range(len(network.roles))
        ]
        self._phase1_outputs: NDArray[np.bool_] | None = None  # of the state, once computed

    def reset(self) -> None:
        """Return to the initial state."""
        self._set(self.network.initial.copy())

    def fluents(self) -> tuple[str, ...]:
        """Return the true fluents, sorted."""
        return tuple(sorted(self.network.fluents[i] for i in np.flatnonzero(self.state)))

    def set_fluents(self, fluents: Sequence[str]) -> None:
        """Set the state.

        Raises:
            ValueError: if a fluent is not in the network, which has those that can be true.
        """
        state = np.zeros(len(self.network.fluents), np.bool_)
        for fluent in fluents:
            if fluent not in self._fluent_numbers:
                raise ValueError(f"the fluent {fluent} can never be true")
            state[self._fluent_numbers[fluent]] = True
        self._set(state)

    def legal(self) -> tuple[tuple[str, ...], ...]:
        """Return the legal moves of each role, sorted."""
        network, legal = self.network, self._outputs()
        return tuple(
            tuple(sorted(network.moves[i] for i in range(begin, end) if legal[i]))
            for begin, end in zip(network.move_start, network.move_start[1:], strict=False)
        )

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return bool(self._outputs()[-1])

    def goals(self) -> tuple[tuple[int, ...], ...]:
        """Return the true goals of each role: exactly one, unless the sheet is faulty."""
        network = self.network
        is_true = self._outputs()[len(network.moves) : -1]
        values: list[list[int]] = [[] for _ in network.roles]
        for i in np.flatnonzero(is_true):
            values[network.goal_roles[i]].append(int(network.goal_values[i]))
        return tuple(map(tuple, values))

    def step(self, moves: Sequence[str]) -> None:
        """Play a joint move, one move of each role.

        Raises:
            ValueError: if a role has no such move.
        """
        self._set(run_program(self.network.phase2, self._inputs(moves)))

    def percepts(self, moves: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return what each role would see after a joint move; see `StateMachine.percepts`."""
        network = self.network
        seen = run_program(network.phase3, self._inputs(moves))
        return tuple(
            tuple(sorted(network.percepts[i] for i in np.flatnonzero(seen & of_role)))
            for of_role in (network.percept_roles == r for r in range(len(network.roles)))
        )

    def _inputs(self, moves: Sequence[str]) -> NDArray[np.bool_]:
        """Return the inputs of phases 2 and 3 for a joint move."""
        is_played = np.zeros(len(self.network.moves), np.bool_)
        for role, (move, numbers) in enumerate(zip(moves, self._move_numbers, strict=True)):
            if move not in numbers:
                raise ValueError(f"{self.network.roles[role]} has no move {move}")
            is_played[numbers[move]] = True
        return np.concatenate([self.state, is_played])

    def _set(self, state: NDArray[np.bool_]) -> None:
        self.state, self._phase1_outputs = state, None

    def _outputs(self) -> NDArray[np.bool_]:
        """Return the outputs of phase 1: which moves are legal, which goals hold, the end."""
        if self._phase1_outputs is None:
            self._phase1_outputs = run_program(self.network.phase1, self.state)
        return self._phase1_outputs


def make_machine(path: Path, **limits: Any) -> RuleMachine:
    """Compile a rule sheet, without the cache of networks.

    Args:
        path: file of the rule sheet.
        limits: limits on the compilation, see `ludoteca.envs.gdl.compile.compile_sheet`.

    Raises:
        OSError: if the file cannot be read.
        GDLError: if the sheet is invalid, or exceeds the limits.
    """
    return RuleMachine(compile_sheet(path, use_cache=False, **limits))


def play_random_games(
    machine: StateMachine, games: int, seed: int, max_plies: int
) -> Iterator[TracePosition]:
    """Play uniformly random games, and yield their positions.

    Args:
        machine: state machine of the rule sheet.
        games: number of games.
        seed: seed of the moves.
        max_plies: maximum number of plies; longer games are cut off after a last position with
            its legal moves and the moves that would follow.

    Raises:
        ValueError: if a role has no legal move, or does not have exactly one goal at the end of a
            game.
    """
    rng = random.Random(seed)
    for game in range(games):
        machine.reset()
        for ply in range(max_plies + 1):
            position = machine.position(game, ply)
            if position.terminal:
                yield position
                break
            for role, legal in zip(machine.roles, position.legal, strict=True):
                if not legal:
                    state = " ".join(position.state)
                    raise ValueError(f"{role} has no legal move in the state {state:.300}")
            moves = tuple(rng.choice(legal) for legal in position.legal)
            yield TracePosition(game, ply, position.state, False, (), position.legal, moves)
            machine.step(moves)


def run_program(program: Program, inputs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the outputs of a phase of a network, for one state or a batch of states.

    Args:
        program: the phase, with I inputs and O outputs.
        inputs: inputs of the phase. Shape `[I]`, or `[I, B]` for B states.

    Returns:
        Array of shape `[O]` or `[O, B]`.
    """
    count = inputs.shape[1] if inputs.ndim == 2 else 1
    values = np.zeros((program.num_slots, count), np.uint8)
    # Slot 0 is false, the inputs follow. A literal is twice a slot, plus 1 for its negation.
    values[1 : 1 + len(inputs)] = inputs.reshape(len(inputs), count)
    make_evaluate_gates()(program.gates, program.segments, values)
    inverted = (program.outputs & 1).astype(np.uint8)
    outputs: NDArray[np.bool_] = values[program.outputs >> 1] != inverted[:, np.newaxis]
    return outputs.reshape(len(outputs), *inputs.shape[1:])


@factory()
def make_evaluate_gates() -> Any:
    """Return the compiled `evaluate_gates(gates, segments, values)`.

    It computes the slots of all gates: `values`, uint8 `[slots, B]`. For the other arrays see
    `Program`.
    """

    @compiled
    def evaluate_gates(gates: Any, segments: Any, values: Any) -> None:
        for k in range(len(segments)):
            begin, end, is_loop = segments[k, 0], segments[k, 1], segments[k, 2]
            if is_loop:
                for i in range(begin, end):
                    if gates[i, 3]:
                        values[gates[i, 0]] = 0
            changed = True
            while changed:
                changed = False
                for i in range(begin, end):
                    slot, a, b = gates[i, 0], gates[i, 1], gates[i, 2]
                    invert_a, invert_b = np.uint8(a & 1), np.uint8(b & 1)
                    must_converge = is_loop and gates[i, 3]
                    for j in range(values.shape[1]):
                        value = (values[a >> 1, j] ^ invert_a) & (values[b >> 1, j] ^ invert_b)
                        if must_converge and values[slot, j] != value:
                            changed = True
                        values[slot, j] = value

    return evaluate_gates
