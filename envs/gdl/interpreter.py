"""Interpreter of a rule sheet: legal moves, goals, end, next state and percepts, as terms.

It derives what is asked for from the rules as they are written (`datalog`), so it also runs sheets
whose ground rules are too many for the compiler. A step takes milliseconds to seconds.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ludoteca.envs.gdl.checks import require_valid
from ludoteca.envs.gdl.datalog import Evaluator
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
from ludoteca.envs.gdl.parse import Term, parse, read_sheet, show
from ludoteca.envs.gdl.rules import Rule, read_rules

State = frozenset[Term]


class Interpreter:
    """Interpreter of the rules of one sheet.

    Args:
        rules: checked rules.
        problems: warnings of the checks.
        max_seconds: limit of CPU seconds of one query, such as the legal moves of a role.
        max_answers: limit of the calls and answers in one query.

    Attributes:
        rules: the rules.
        roles: constants of the roles, in their order in the sheet.
        initial: the initial state.
        problems: warnings of the checks.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        problems: tuple[str, ...] = (),
        max_seconds: float = MAX_SECONDS,
        max_answers: int = MAX_INSTANCES,
    ):
        self.rules, self.problems = rules, problems
        self.roles: list[Term] = list(
            dict.fromkeys(rule.head[1] for rule in rules if rule.head[0] == "role")
        )
        self._evaluator = Evaluator(rules, max_seconds, max_answers)
        self._state: State | None = None
        self._moves: tuple[Term, ...] | None = None
        self.initial: State = frozenset(a[1] for a in self._evaluator.query("init", None))

    def legal(self, state: State) -> list[list[Term]]:
        """Return the legal moves of each role.

        Raises:
            GDLError: if the rules are not stratified in this state, or a limit is exceeded.
        """
        self._set(state)
        return [[a[2] for a in self._evaluator.query("legal", r, None)] for r in self.roles]

    def goals(self, state: State) -> list[list[int]]:
        """Return the goals of each role: exactly one, unless the sheet is faulty.

        Raises:
            GDLError: if a goal is not an integer from 0 to 100, or as `legal` raises.
        """
        self._set(state)
        return [
            sorted(_goal(a[2]) for a in self._evaluator.query("goal", role, None))
            for role in self.roles
        ]

    def is_terminal(self, state: State) -> bool:
        """Return whether the game is over; raise errors as `legal` does."""
        self._set(state)
        return bool(self._evaluator.query("terminal"))

    def next(self, state: State, moves: Iterable[Term]) -> State:
        """Return the state after a joint move, one move of each role; raise errors as `legal`."""
        self._set(state, moves)
        return frozenset(a[1] for a in self._evaluator.query("next", None))

    def percepts(self, state: State, moves: Iterable[Term]) -> list[list[Term]]:
        """Return the percepts of each role after a joint move; raise errors as `legal` does."""
        self._set(state, moves)
        return [[a[2] for a in self._evaluator.query("sees", r, None)] for r in self.roles]

    def _set(self, state: State, moves: Iterable[Term] | None = None) -> None:
        """Set the state and, if `moves` is not None, the joint move."""
        if state != self._state:
            self._evaluator.set_state(state)
            self._state, self._moves = state, None
        joint = None if moves is None else tuple(moves)
        if joint is not None and joint != self._moves:
            self._evaluator.set_moves(zip(self.roles, joint, strict=True))
            self._moves = joint


def read_interpreter(
    path: str | Path, *, max_seconds: float = MAX_SECONDS, max_answers: int = MAX_INSTANCES
) -> Interpreter:
    """Return the interpreter of a rule sheet.

    Args:
        path: the file.
        max_seconds: limit of CPU seconds of one query.
        max_answers: limit of the calls and answers in one query.

    Raises:
        OSError: if the file cannot be read.
        GDLError: if it is not a valid rule sheet.
    """
    name = Path(path).name
    return make_interpreter(read_sheet(path), name, max_seconds, max_answers)


def make_interpreter(
    text: str,
    name: str = "sheet",
    max_seconds: float = MAX_SECONDS,
    max_answers: int = MAX_INSTANCES,
) -> Interpreter:
    """Return the interpreter of the text of a rule sheet; see `read_interpreter`."""
    rules = read_rules(parse(text, name), name)
    problems = tuple(map(str, require_valid(rules, name)))
    return Interpreter(rules, problems, max_seconds, max_answers)


def _goal(term: Term) -> int:
    if isinstance(term, str) and term.isdecimal() and int(term) <= 100:
        return int(term)
    raise GDLError(f"a goal must be an integer from 0 to 100, got {show(term)}")
