"""State machine of an interpreted rule sheet, for sheets that exceed the compiler's limits."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ludoteca.envs.gdl.errors import GDLLimitError, GDLWarning
from ludoteca.envs.gdl.interpreter import Interpreter, State, read_interpreter
from ludoteca.envs.gdl.parse import Term, parse, show
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.evaluate.gdl.machine import RuleMachine, StateMachine, make_machine


class InterpretedMachine(StateMachine):
    """State machine of the interpreter of a rule sheet.

    Attributes:
        interpreter: the interpreter.
        roles: names of the roles.
        state: the true fluents.
    """

    def __init__(self, interpreter: Interpreter):
        self.interpreter = interpreter
        self.roles = tuple(map(show, interpreter.roles))
        self.state: State = interpreter.initial
        self._legal: list[dict[str, Term]] | None = None

    def reset(self) -> None:
        """Return to the initial state."""
        self._set(self.interpreter.initial)

    def fluents(self) -> tuple[str, ...]:
        """Return the true fluents, sorted."""
        return tuple(sorted(map(show, self.state)))

    def set_fluents(self, fluents: Sequence[str]) -> None:
        """Set the state; any terms are accepted."""
        self._set(frozenset(parse(text)[0].term for text in fluents))

    def legal(self) -> tuple[tuple[str, ...], ...]:
        """Return the legal moves of each role, sorted."""
        return tuple(tuple(sorted(moves)) for moves in self._moves())

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.interpreter.is_terminal(self.state)

    def goals(self) -> tuple[tuple[int, ...], ...]:
        """Return the true goals of each role: exactly one, unless the sheet is faulty."""
        return tuple(map(tuple, self.interpreter.goals(self.state)))

    def step(self, moves: Sequence[str]) -> None:
        """Play a joint move, one legal move of each role.

        Raises:
            ValueError: if a role has no such move.
        """
        self._set(self.interpreter.next(self.state, self._joint_move(moves)))

    def percepts(self, moves: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return what each role would see after a joint move; see `StateMachine.percepts`."""
        percepts = self.interpreter.percepts(self.state, self._joint_move(moves))
        return tuple(
            tuple(sorted(map(show, terms))) if role != RANDOM else ()
            for role, terms in zip(self.roles, percepts, strict=True)
        )

    def _joint_move(self, moves: Sequence[str]) -> list[Term]:
        """Return the moves of all roles as terms.

        Raises:
            ValueError: if a role has no such move.
        """
        joint = []
        for role, move, terms in zip(self.roles, moves, self._moves(), strict=True):
            if move not in terms:
                raise ValueError(f"{role} has no move {move}")
            joint.append(terms[move])
        return joint

    def _moves(self) -> list[dict[str, Term]]:
        """Return the legal moves of each role by their text."""
        if self._legal is None:
            legal = self.interpreter.legal(self.state)
            self._legal = [{show(term): term for term in terms} for terms in legal]
        return self._legal

    def _set(self, state: State) -> None:
        self.state, self._legal = state, None


def load_machine(path: Path, **limits: Any) -> RuleMachine | InterpretedMachine:
    """Compile a rule sheet or, with a `GDLWarning`, interpret it if that exceeds a limit.

    Args:
        path: file of the rule sheet.
        limits: limits on the compilation, see `ludoteca.envs.gdl.compile.compile_sheet`.

    Raises:
        OSError: if the file cannot be read.
        GDLError: if the sheet is invalid.
    """
    try:
        return make_machine(path, **limits)
    except GDLLimitError as error:
        machine = InterpretedMachine(read_interpreter(path))
        warnings.warn(
            f"{error}; its rules are interpreted, which is thousands of times slower",
            GDLWarning,
            stacklevel=2,
        )
        return machine
