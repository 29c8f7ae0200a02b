"""Goal-directed evaluation of rules with tables of answers (tabling), without grounding.

A call is a relation with values for some of its arguments. Its answers are derived from the rules
when it is first made and kept in a table, so each call is evaluated once in each state. Calls that
depend on themselves are iterated until no table of their cycle grows (naive iteration of strongly
connected components; compare Chen and Warren, "Tabled Evaluation with Delaying for General Logic
Programs", JACM 43(1), 1996, for programs with stratified negation).
"""

import itertools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ludoteca.envs.gdl.errors import GDLError, GDLLimitError
from ludoteca.envs.gdl.graph import reachable
from ludoteca.envs.gdl.ground import DEPTH_INTERVAL, MAX_TERM_DEPTH, term_depth
from ludoteca.envs.gdl.joins import Index, Join, Pattern, expression, make_index
from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS, Limits
from ludoteca.envs.gdl.parse import Term, show, variables
from ludoteca.envs.gdl.rules import Atom, Rule, dependencies

CALL = "call"  # relation of the literal that binds arguments of a rule's head
FACTS = "facts "  # prefix of the relation of the facts of a relation that also has rules
# Relations that `Interpreter` queries: derived ones, even if the sheet has only facts of them.
QUERIED = {"init", "legal", "next", "goal", "terminal", "sees"}
MAX_RECURSION = 20_000  # frames of Python while a query is evaluated
NEVER = sys.maxsize  # `Table.low` of a call that depends on no call being evaluated


class Table:
    """Answers of one call.

    Attributes:
        atoms: the answers.
        known: the same, as a set.
        complete: whether all answers are known.
        depth: number of calls that were being evaluated when this call was made, this one
            included; 0 when it is no longer being evaluated.
        low: the least depth of the calls that the answers depend on.
        iteration: iteration in which the call was last evaluated; -1 before.
        views: by the `id` of an index: the number of answers entered, their rows by key, and the
            index itself, which is kept so that no other index gets its `id`.
    """

    __slots__ = ("atoms", "complete", "depth", "iteration", "known", "low", "views")

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.known: set[Atom] = set()
        self.complete = False
        self.depth, self.low, self.iteration = 0, NEVER, -1
        self.views: dict[int, list[Any]] = {}


class AnsweredError(Exception):
    """Signal that a call without free arguments has its answer."""


class Evaluator:
    """Evaluator of rules over facts that can be replaced, those of `true` and `does`.

    Args:
        rules: checked rules.
        max_seconds: limit of CPU seconds of one query.
        max_answers: limit of the calls and answers in one query.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        max_seconds: float = MAX_SECONDS,
        max_answers: int = MAX_INSTANCES,
    ):
        self._max_seconds, self._max_answers = max_seconds, max_answers
        self.limits = Limits(max_seconds, max_answers)
        self._stored: dict[str, StoredRelation] = defaultdict(StoredRelation)
        self._rules: dict[str, list[Rule]] = defaultdict(list)
        self._procedures: dict[tuple[str, tuple[bool, ...]], Procedure] = {}
        rules = list(rules)
        derived = {str(rule.head[0]) for rule in rules if rule.positive or rule.negative} | QUERIED
        for rule in rules:
            name = str(rule.head[0])
            if rule.positive or rule.negative:
                self._rules[name].append(rule)
            elif not _fails(rule):
                self._stored[FACTS + name if name in derived else name].atoms.append(rule.head)
        for name in sorted(derived):
            if atoms := self._stored[FACTS + name].atoms:
                arguments = tuple(f"?{i}" for i in range(1, len(atoms[0])))
                self._rules[name].append(Rule((name, *arguments), [(FACTS + name, *arguments)]))
        self._derived = derived
        graph = dependencies(rules)
        self._by_state = {name for name in graph if _depends(graph, name, "true")}
        self._by_moves = {name for name in graph if _depends(graph, name, "does")}
        # Depth of the stack of calls, the least depth that the running call depends on, number of
        # the iteration, number of new answers, and unfinished tables that are not on the stack.
        self.depth, self.low, self.iteration, self.changes = 0, NEVER, 0, 0
        self.iterations = itertools.count(1)
        self.unfinished: list[tuple[Table, Procedure, tuple[Term, ...]]] = []

    def set_state(self, fluents: Iterable[Term]) -> None:
        """Replace the facts of `true`, and forget what depends on them or on moves."""
        self._stored["true"].replace([("true", fluent) for fluent in fluents])
        self._forget(self._by_state | self._by_moves)

    def set_moves(self, moves: Iterable[tuple[Term, Term]]) -> None:
        """Replace the facts of `does`, pairs of a role and a move."""
        self._stored["does"].replace([("does", *move) for move in moves])
        self._forget(self._by_moves)

    def query(self, relation: str, *arguments: Term | None) -> list[Atom]:
        """Return the atoms of a relation that hold; None is a free argument.

        Raises:
            GDLError: if an atom depends on its own negation.
            GDLLimitError: if the query exceeds a limit.
        """
        self.limits = Limits(self._max_seconds, self._max_answers)
        key = tuple(argument for argument in arguments if argument is not None)
        recursion_limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(recursion_limit, MAX_RECURSION))
        what = show((relation, *("?" if a is None else a for a in arguments)))
        try:
            procedure = self.procedure(relation, tuple(a is not None for a in arguments))
            return procedure.table(key).atoms
        except GDLLimitError:
            self._abandon()
            raise GDLLimitError(
                f"the query {what} needs more than {self._max_seconds:g} s of CPU time, "
                f"{self._max_answers:,} calls and answers, or terms nested {MAX_TERM_DEPTH} deep"
            ) from None
        except RecursionError:
            self._abandon()
            raise GDLLimitError(f"the query {what} is too deep a recursion") from None
        except BaseException:
            self._abandon()
            raise
        finally:
            sys.setrecursionlimit(recursion_limit)

    def holds(self, atom: Atom) -> bool:
        """Return whether a ground atom holds; used for literals in `not`.

        Raises:
            GDLError: if the atom depends on its own negation.
        """
        relation = str(atom[0])
        if relation not in self._derived:
            return atom in self._stored[relation]
        procedure = self.procedure(relation, (True,) * (len(atom) - 1))
        table = procedure.table(atom[1:])
        if not table.complete:
            raise GDLError(f"{show(atom)} depends on its own negation")
        return bool(table.atoms)

    def __contains__(self, atom: Atom) -> bool:
        return self.holds(atom)

    def rows(self, atom: Atom, bound: dict[str, str], pattern: Pattern) -> tuple[Any, str]:
        """Return a function that finds the rows of a literal, and code of its arguments.

        The key is its last argument. For a derived relation, the code is that of the argument
        before it, the tuple of the call's arguments; for others it is empty.

        Args:
            atom: the literal.
            bound: expressions of the variables that are bound.
            pattern: the pattern of the literal.
        """
        paths = tuple(path for path, _ in pattern.keys)
        outputs = tuple(path for path, _ in pattern.outputs + pattern.repeats)
        index = make_index(paths, outputs, tuple(pattern.shapes))
        relation = str(atom[0])
        if relation not in self._derived:
            return self._stored[relation].lookup(index), ""
        ground = tuple(all(name in bound for name in variables(item)) for item in atom[1:])
        arguments = (expression(a, bound) for a, g in zip(atom[1:], ground, strict=True) if g)
        code = "".join(f"{argument}," for argument in arguments)
        return self.procedure(relation, ground).view(index), f"({code}), "

    def procedure(self, relation: str, bound: tuple[bool, ...]) -> "Procedure":
        """Return the procedure of a relation for calls with these arguments bound."""
        found = self._procedures.get((relation, bound))
        if found is None:
            found = Procedure(self, relation, bound)
            self._procedures[relation, bound] = found
            found.joins = [
                _RuleJoin(rule, bound, self, self._derived).build(
                    emit=found.emit, known=self, count_steps=self._count_steps
                )
                for rule in self._rules.get(relation, ())
            ]
        return found

    def size(self, relation: str) -> int:
        """Return the number of facts of a relation."""
        return len(self._stored[relation].atoms) if relation in self._stored else 0

    def _count_steps(self, steps: int) -> None:
        self.limits.count_steps(steps)

    def _forget(self, relations: set[str]) -> None:
        for (relation, _), procedure in self._procedures.items():
            if relation in relations:
                procedure.tables.clear()

    def _abandon(self) -> None:
        """Forget everything after an error, which leaves tables that are not complete."""
        self._forget({relation for relation, _ in self._procedures})
        self.depth, self.low = 0, NEVER
        self.unfinished.clear()


class Procedure:
    """Evaluation of calls of one relation with the same bound arguments.

    Attributes:
        joins: a function for each rule.
        tables: tables by the values of the bound arguments.
    """

    def __init__(self, evaluator: Evaluator, relation: str, bound: tuple[bool, ...]):
        self.joins: list[Callable[..., None]] = []
        self.tables: dict[tuple[Term, ...], Table] = {}
        self._evaluator, self._relation, self._is_test = evaluator, relation, all(bound)
        self._table = Table()  # of the running call

    def view(self, index: Index) -> Callable[[Any, Any], list[Any]]:
        """Return a function that finds the rows of an index, by arguments of the call and key."""
        number, add = id(index), index.add

        def find(arguments: tuple[Term, ...], key: tuple[Any, ...]) -> list[Any]:
            table = self.tables.get(arguments)
            if table is None or not table.complete:
                table = self.table(arguments)
            view = table.views.get(number)
            if view is None:
                view = table.views[number] = [0, defaultdict(list), index]
            count, rows, _ = view
            if count < len(table.atoms):
                for atom in table.atoms[count:]:
                    add(atom, 0, rows)
                view[0] = len(table.atoms)
            found: list[Any] = rows.get(key, [])
            return found

        return find

    def table(self, arguments: tuple[Term, ...]) -> Table:
        """Return the table of a call; it is complete unless the call is part of a running cycle."""
        evaluator = self._evaluator
        table = self.tables.get(arguments)
        if table is None:
            table = self.tables[arguments] = Table()
            evaluator.limits.count_instance()
        elif table.complete:
            return table
        elif table.depth:
            evaluator.low = min(evaluator.low, table.depth)
            return table
        elif table.iteration == evaluator.iteration:
            evaluator.low = min(evaluator.low, table.low)
            return table
        self._evaluate(table, arguments)
        return table

    def emit(self, head: Atom, positive: Any, negative: Any) -> None:
        """Add the answer `head` to the running call; the other arguments, see `Join`, are not used.

        Raises:
            AnsweredError: if there can be no further answer.
        """
        table = self._table
        if head not in table.known:
            table.known.add(head)
            table.atoms.append(head)
            self._evaluator.changes += 1
            self._evaluator.limits.count_instance()
            if len(table.atoms) % DEPTH_INTERVAL == 0 and term_depth(head) > MAX_TERM_DEPTH:
                raise GDLLimitError("terms grow without end")
        if self._is_test:
            raise AnsweredError

    def _evaluate(self, table: Table, arguments: tuple[Term, ...]) -> None:
        """Evaluate a call, and all calls of its cycle if it is the first of one."""
        evaluator, call = self._evaluator, (CALL, *arguments)
        outer_low, outer_table, outer_iteration = evaluator.low, self._table, evaluator.iteration
        evaluator.depth += 1
        depth = table.depth = evaluator.depth
        is_new, first = table.iteration < 0, len(evaluator.unfinished)
        while True:
            evaluator.low, changes = NEVER, evaluator.changes
            table.iteration = evaluator.iteration
            try:
                for join in self.joins:
                    self._table = table
                    join(call, 0)
            except AnsweredError:
                table.complete = True
                self._close(first, -1)
                break
            if evaluator.low < depth:  # a part of a larger cycle
                table.low = evaluator.low
                if is_new:
                    evaluator.unfinished.append((table, self, arguments))
                break
            if evaluator.low == NEVER or evaluator.changes == changes:
                table.complete = True
                self._close(first, evaluator.iteration)
                break
            evaluator.iteration = next(evaluator.iterations)
        evaluator.low = outer_low if table.complete else min(outer_low, table.low)
        table.depth = 0
        self._table, evaluator.iteration = outer_table, outer_iteration
        evaluator.depth -= 1

    def _close(self, first: int, iteration: int) -> None:
        """Mark unfinished tables of `iteration` (-1: of none) as complete, forget the others.

        The tables are those from index `first` of `Evaluator.unfinished` on.
        """
        unfinished = self._evaluator.unfinished
        for table, procedure, arguments in unfinished[first:]:
            if table.iteration == iteration:
                table.complete = True
            elif not table.complete:
                procedure.tables.pop(arguments, None)
        del unfinished[first:]


class StoredRelation:
    """Facts of a relation without rules, with indices that are made when they are needed."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._version = 0
        self._known: set[Atom] | None = None

    def __contains__(self, atom: Atom) -> bool:
        if self._known is None:
            self._known = set(self.atoms)
        return atom in self._known

    def replace(self, atoms: list[Atom]) -> None:
        """Replace the facts."""
        self.atoms, self._known = atoms, None
        self._version += 1

    def lookup(self, index: Index) -> Callable[[Any], list[Any]]:
        """Return a function that finds the rows of an index by key."""
        version, rows, add = -1, index.rows, index.add

        def find(key: tuple[Any, ...]) -> list[Any]:
            nonlocal version
            if version != self._version:
                rows.clear()
                for atom in self.atoms:
                    add(atom, 0, rows)
                version = self._version
            return rows.get(key, [])

        return find


class _RuleJoin(Join):
    """Join of a rule's body, given some arguments of its head."""

    def __init__(
        self, rule: Rule, bound: tuple[bool, ...], evaluator: Evaluator, derived: set[str]
    ):
        call = (CALL, *(a for a, known in zip(rule.head[1:], bound, strict=True) if known))
        given = Rule(rule.head, [call, *rule.positive], rule.negative, rule.distinct, rule.equal)
        super().__init__(given, 0, set(), set(), lambda *_: {}, evaluator.size)
        self._evaluator, self._derived = evaluator, derived

    def _found(self, depth: int, atom: Atom, pattern: Pattern, key: str) -> str:
        self.names[f"rows{depth}"], arguments = self._evaluator.rows(atom, self.bound, pattern)
        return f"rows{depth}({arguments}({key}))"

    def _cost(self, j: int) -> tuple[bool, int, bool, int]:
        """Return the sort key of literal `j`; a derived relation counts as one variable more."""
        crosses, free, _, size = super()._cost(j)
        derived = self.rule.positive[j][0] in self._derived
        return crosses, free + (derived and free > 0), derived, size


def _fails(rule: Rule) -> bool:
    """Return whether a rule without variables in its body has a constraint that does not hold."""
    return any(a == b for a, b in rule.distinct) or any(a != b for a, b in rule.equal)


def _depends(graph: dict[str, set[str]], relation: str, other: str) -> bool:
    """Return whether a relation is `other` or depends on it, directly or through others."""
    return other in reachable((relation,), lambda name: graph.get(name, ()))
