"""Vocabulary of an interpreted sheet: the fluents, moves and percepts that its games can have.

It is an over-approximation, as in `ground`: negative literals on relations that depend on the state
are taken to hold, and so is every fluent and move that was found. No ground rules are kept. If the
joins visit too many rows, literals that only test values are left out, too, which can only add
terms. The choice does not depend on time, so a sheet has the same vocabulary on each machine.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from ludoteca.envs.gdl.datalog import Evaluator
from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.graph import reachable
from ludoteca.envs.gdl.ground import MAX_TERM_DEPTH, term_depth
from ludoteca.envs.gdl.interpreter import Interpreter
from ludoteca.envs.gdl.joins import Index, Join, Pattern, Rows, make_index
from ludoteca.envs.gdl.limits import MAX_MOVES, Limits
from ludoteca.envs.gdl.parse import Term, show, variables
from ludoteca.envs.gdl.rules import Atom, Rule, dependencies
from ludoteca.envs.gdl.split import split_rules

MAX_FLUENTS = 100_000
MAX_TESTED_ROWS = 12_000_000  # visited by joins with all literals
STATE = {"true", "does"}


def find_vocabulary(
    interpreter: Interpreter, max_seconds: float, max_facts: int
) -> tuple[list[Term], list[list[Term]], list[list[Term]]]:
    """Return the fluents, and the moves and percepts of each role, that games can have.

    Args:
        interpreter: the interpreter of the sheet.
        max_seconds: limit of CPU seconds.
        max_facts: limit of the facts that are derived.

    Raises:
        GDLLimitError: if a limit is exceeded, or there are more than `MAX_FLUENTS` fluents or more
            than `MAX_MOVES` moves of a role.
    """
    limits = Limits(max_seconds, max_facts)
    try:
        search = _Reachability(interpreter, limits, MAX_TESTED_ROWS)
    except TooManyRowsError:
        limits.restart()
        search = _Reachability(interpreter, limits, None)
    moves: list[list[Term]] = [[] for _ in interpreter.roles]
    for atom in search.facts["does"]:
        moves[interpreter.roles.index(atom[1])].append(atom[2])
    percepts: list[list[Term]] = [[] for _ in interpreter.roles]
    for atom in search.facts["sees"]:
        if atom[1] in interpreter.roles:
            percepts[interpreter.roles.index(atom[1])].append(atom[2])
    return [atom[1] for atom in search.facts["true"]], moves, percepts


class TooManyRowsError(Exception):
    """Signal that joins have visited more rows than the given number."""


class _Reachability:
    """Semi-naive derivation of all atoms that can hold in a game.

    Relations that depend on neither state nor moves are evaluated goal-directed.

    Args:
        interpreter: the interpreter of the sheet.
        limits: limits of time and facts.
        max_rows: number of rows that joins may visit; None: literals that only test values are
            left out, and there is no limit.

    Raises:
        TooManyRowsError: if joins visit more than `max_rows` rows.

    Attributes:
        facts: the atoms that can hold, by relation.
    """

    def __init__(self, interpreter: Interpreter, limits: Limits, max_rows: int | None):
        self._max_rows, self._visited = max_rows, 0
        self.facts: dict[str, list[Atom]] = defaultdict(list)
        self._limits, self._roles = limits, set(interpreter.roles)
        self._known: set[Atom] = set()
        self._queue: deque[Atom] = deque()
        self._indices: dict[str, dict[Any, Index]] = defaultdict(dict)
        self._num_moves: dict[Term, int] = defaultdict(int)
        graph = dependencies(interpreter.rules)
        changing = {"next", "legal", "sees"}
        for name in graph:
            if STATE & reachable({name}, lambda other: graph.get(str(other), set())):
                changing.add(name)
        rules = _relaxed_rules(interpreter.rules, changing, max_rows is not None)
        rules = split_rules(rules, Estimates([*interpreter.rules, *rules], lambda _: None))
        changing |= {str(rule.head[0]) for rule in rules}
        static = [rule for rule in interpreter.rules if rule.head[0] not in changing]
        evaluator = Evaluator(static, limits.max_seconds, limits.max_instances)
        for term in interpreter.initial:
            self._add(("true", term))
        self._run(rules, changing | STATE, evaluator)

    def _run(self, rules: list[Rule], growing: set[str], evaluator: Evaluator) -> None:
        """Derive all atoms of the relations `growing`; `evaluator` evaluates the others."""
        joins: dict[str, list[Callable[..., None]]] = defaultdict(list)
        starts: list[Callable[..., None]] = []
        names = {
            "emit": self._emit,
            "known": evaluator,
            "count_steps": self._count_rows,
        }
        for rule in rules:
            given = [j for j, atom in enumerate(rule.positive) if atom[0] in growing]
            for j in [*given, *([] if given else [None])]:
                join = _ReachableJoin(rule, j, growing, self._rows, evaluator).build(**names)
                if j is None:
                    starts.append(join)
                else:
                    joins[str(rule.positive[j][0])].append(join)
        for join in starts:
            join()
        while self._queue:
            atom = self._queue.popleft()
            relation = str(atom[0])
            for index in self._indices[relation].values():
                index.add(atom, 0, index.rows)
            for join in joins[relation]:
                join(atom, 0)

    def _rows(self, relation: str, pattern: Pattern) -> Rows:
        """Return the rows of an index; all are made before the first atom leaves the queue."""
        keys = tuple(path for path, _ in pattern.keys)
        outputs = tuple(path for path, _ in pattern.outputs + pattern.repeats)
        shapes = tuple(pattern.shapes)
        index = self._indices[relation].get((keys, outputs, shapes))
        if index is None:
            index = make_index(keys, outputs, shapes)
            self._indices[relation][keys, outputs, shapes] = index
        return index.rows

    def _count_rows(self, rows: int) -> None:
        self._limits.count_steps(rows)
        self._visited += rows
        if self._max_rows is not None and self._visited > self._max_rows:
            raise TooManyRowsError

    def _emit(self, head: Atom, positive: Any, negative: Any) -> None:
        """Add the head of a rule instance; its literals are not recorded."""
        self._count_rows(1)
        if head in self._known:
            return
        self._add(head)
        if head[0] == "next":
            self._add(("true", head[1]))
        elif head[0] == "legal" and head[1] in self._roles:
            self._add(("does", head[1], head[2]))

    def _add(self, atom: Atom) -> None:
        if atom in self._known:
            return
        self._known.add(atom)
        self._limits.count_instance()
        relation = str(atom[0])
        self.facts[relation].append(atom)
        self._queue.append(atom)
        if relation == "true" and len(self.facts[relation]) > MAX_FLUENTS:
            raise GDLLimitError(f"the sheet has more than {MAX_FLUENTS:,} possible fluents")
        if relation == "does":
            self._num_moves[atom[1]] += 1
            if self._num_moves[atom[1]] > MAX_MOVES:
                raise GDLLimitError(
                    f"the role {show(atom[1])} has more than {MAX_MOVES:,} possible moves"
                )
        if term_depth(atom) > MAX_TERM_DEPTH:
            raise GDLLimitError(f"terms of {relation} may grow without end")


class _ReachableJoin(Join):
    """Join of a rule's body over growing relations and goal-directed static relations."""

    def __init__(
        self,
        rule: Rule,
        given: int | None,
        growing: set[str],
        index: Callable[[str, Pattern], Rows],
        evaluator: Evaluator,
    ):
        super().__init__(rule, given, set(), growing, index, evaluator.size)
        self._evaluator = evaluator

    def _found(self, depth: int, atom: Atom, pattern: Pattern, key: str) -> str:
        if atom[0] in self.growing:
            return super()._found(depth, atom, pattern, key)
        self.names[f"rows{depth}"], arguments = self._evaluator.rows(atom, self.bound, pattern)
        return f"rows{depth}({arguments}({key}))"

    def _cost(self, j: int) -> tuple[bool, int, bool, int]:
        """Return the sort key of literal `j`; a slow relation counts as one variable more.

        Slow are relations that grow, and those without stored facts, which are derived.
        """
        crosses, free, _, size = super()._cost(j)
        name = str(self.rule.positive[j][0])
        slow = name in self.growing or not size
        return crosses, free + (slow and free > 0), slow, size


def _relaxed_rules(rules: Any, changing: set[str], keep_tests: bool) -> list[Rule]:
    """Return rules for `next`, `legal` and `sees` without negated literals on the state."""
    relaxed: dict[str, list[Rule]] = defaultdict(list)
    derived = {str(rule.head[0]) for rule in rules if rule.positive or rule.negative}
    for rule in rules:
        if rule.head[0] not in changing:
            continue
        negative = [atom for atom in rule.negative if atom[0] not in changing | STATE]
        literals = Rule(rule.head, rule.positive, negative, rule.distinct, rule.equal, rule.line)
        if not keep_tests:
            literals.positive = _without_tests(literals, changing, derived)
        relaxed[str(rule.head[0])].append(literals)
    needed = reachable(
        ("next", "legal", "sees"),
        lambda name: {str(atom[0]) for rule in relaxed[name] for atom in rule.positive},
    )
    return [rule for name in sorted(needed) for rule in relaxed[name]]


def _without_tests(rule: Rule, changing: set[str], derived: set[str]) -> list[Atom]:
    """Return the positive literals of a rule without those that bind no variable of the others.

    Literals with `does`, and those of relations that never change, are kept. Those with `true` are
    tried last: of two literals that bind the same variables, they are kept.
    """
    kept = list(rule.positive)
    used = [rule.head, *rule.negative, *rule.distinct, *rule.equal]
    for atom in sorted(rule.positive, key=lambda atom: atom[0] == "true"):
        others = [each for each in kept if each is not atom]
        shared = set(variables(atom)) & set(variables(tuple(used + others)))
        binding = [each for each in others if each[0] in changing or each[0] not in derived]
        is_test = atom[0] in changing or atom[0] == "true"
        if is_test and shared <= set(variables(tuple(binding))):
            kept = others
    return kept
