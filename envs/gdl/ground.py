"""Grounding: all instances of the rules, without variables, that can matter in a reachable state.

Static relations, which do not depend on the state, are computed exactly, stratum by stratum. The
others, the dynamic ones, are over-approximated: an atom is assumed to be possible if it can be
derived from the initial state and any sequence of legal moves, where negative literals of dynamic
relations are taken to hold.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from ludoteca.envs.gdl.demand import DEMAND, demand_rules, demandable_relations, with_neighbors
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError
from ludoteca.envs.gdl.graph import components, reachable, reversed_edges
from ludoteca.envs.gdl.joins import Index, Join, Path, Pattern, Rows, make_index
from ludoteca.envs.gdl.limits import Limits
from ludoteca.envs.gdl.parse import Term
from ludoteca.envs.gdl.rules import Atom, Rule, dependencies

# Keywords whose relations are dynamic in every sheet, even if its rules do not use the state.
DYNAMIC = {"true", "does", "next", "legal", "goal", "terminal", "sees"}
MAX_TERM_DEPTH = 200  # nesting of terms; deeper ones probably grow without end
DEPTH_INTERVAL = 64  # facts between two checks of the depth
# Number of instances and facts after which grounding starts anew, with large relations derived by
# demand. If no relation is large, the budget is multiplied by BUDGET_GROWTH instead.
FIRST_BUDGET = 100_000
BUDGET_GROWTH = 2
LARGE_SHARE = 50  # a relation is large if its facts exceed the 50th part of the budget
Instance = tuple[int, tuple[int, ...], tuple[int, ...]]  # see `Grounder.instances`


class LargeRelationsError(Exception):
    """Signal that `relations` are so large that they should be derived by demand."""

    def __init__(self, relations: set[str]):
        super().__init__(relations)
        self.relations = relations


class LargeDemandsError(Exception):
    """Signal that demands have more facts than the relations that they restrict."""


def ground(rules: list[Rule], limits: Limits) -> "Grounder":
    """Return the ground rules of a sheet; relations that prove large are derived by demand.

    Raises:
        GDLError: if the sheet has no role.
        GDLLimitError: if a limit is exceeded.
    """
    demanded: set[str] | None = set()  # see `Grounder`
    while True:
        try:
            return Grounder(rules, limits, demanded)
        except LargeRelationsError as large:
            demanded = demanded | large.relations if demanded is not None else None
        except LargeDemandsError:
            demanded = None
        limits.instances = 0


class Grounder:
    """Ground rules of a sheet.

    Args:
        rules: the rules.
        limits: limits of time and instances.
        demanded: relations to derive only by demand; None: all relations are derived completely,
            even large ones.

    Attributes:
        atoms: ground atoms, by number.
        numbers: numbers of the atoms.
        known: atoms that can hold.
        instances: ground rules of relations that depend on the state: number of the head, numbers
            of the atoms that must hold, and numbers of the atoms that must not hold.
        roles: constants of the roles, in their order in the sheet.
        initial: terms that are true in the initial state.
    """

    def __init__(self, rules: list[Rule], limits: Limits, demanded: Collection[str] | None = ()):
        self._limits = limits
        self._budget, self._spent = FIRST_BUDGET, 0  # instances and facts; see `_count_instance`
        self.atoms: list[Atom] = []
        self.numbers: dict[Atom, int] = {}
        self.known: set[Atom] = set()
        self.instances: list[Instance] = []
        self._facts: dict[str, list[Atom]] = defaultdict(list)  # `known` by relation
        self._indices: dict[str, dict[Any, Index]] = defaultdict(dict)  # by relation and pattern
        self._queue: deque[Atom] = deque()  # known atoms that have not been joined yet
        self._seen: set[Instance] = set()  # ground rules so far
        graph = dependencies(rules)
        self._rules = rules
        self._static = set(graph) - _dependent_relations(graph)
        self._demandable = demandable_relations(rules, self._static)
        self._demandable -= self._demandable if demanded is None else set(demanded)
        demanded = demanded or ()
        self._dynamic = _dependent_relations(graph, demanded)
        static = [name for name in graph if name not in self._dynamic]
        for component in components(static, lambda name: graph.get(name, set()) - self._dynamic):
            names = set(component)
            self._run([rule for rule in rules if rule.head[0] in names], names, set())
        self.roles = _roles(rules)
        self.initial: list[Term] = [atom[1] for atom in self._facts["init"]]
        for term in self.initial:
            self._add(("true", term))
        dynamic_rules = [rule for rule in rules if rule.head[0] in self._dynamic]
        dynamic_rules, demands = demand_rules(dynamic_rules, demanded)
        growing = self._dynamic | {str(rule.head[0]) for rule in demands}
        self._run([*dynamic_rules, *demands], growing, self._dynamic)
        self.instances = list(self._seen)
        self._seen, self._indices = set(), defaultdict(dict)

    def number(self, atom: Atom) -> int:
        """Return the number of an atom; an unknown atom gets the next one."""
        number = self.numbers.get(atom)
        if number is None:
            number = self.numbers[atom] = len(self.atoms)
            self.atoms.append(atom)
        return number

    def possible(self, relation: str) -> list[Atom]:
        """Return the atoms of a relation that can hold."""
        return self._facts[relation]

    def _run(self, rules: Iterable[Rule], growing: set[str], dynamic: set[str]) -> None:
        """Derive all atoms of some relations, one new atom at a time (semi-naive evaluation).

        Args:
            rules: the rules of these relations.
            growing: these relations.
            dynamic: relations whose ground rules are recorded; of others only the facts are.
        """
        joins: dict[str, list[Callable[..., None]]] = defaultdict(list)
        starts: list[Callable[..., None]] = []
        names = {"known": self.known, "count_steps": self._limits.count_steps}
        for rule in rules:
            names["emit"] = self._emit if rule.head[0] in dynamic else self._emit_fact
            given = [j for j, atom in enumerate(rule.positive) if atom[0] in growing]
            for j in [*given, *([] if given else [None])]:
                join = Join(rule, j, dynamic, growing, self._rows, self._size).build(**names)
                if j is None:
                    starts.append(join)
                else:
                    joins[str(rule.positive[j][0])].append(join)
        for join in starts:
            join()
        queue = self._queue
        while queue:
            atom = queue.popleft()
            number, relation = self.number(atom), str(atom[0])
            for index in self._indices[relation].values():
                index.add(atom, number, index.rows)
            for join in joins[relation]:
                join(atom, number)

    def _size(self, relation: str) -> int:
        """Return the number of known atoms of a relation."""
        return len(self._facts[relation])

    def _rows(self, relation: str, pattern: Pattern) -> Rows:
        """Return the atoms of a relation that match a pattern, by key; the index is made once."""
        keys: tuple[Path, ...] = tuple(path for path, _ in pattern.keys)
        outputs = tuple(path for path, _ in pattern.outputs + pattern.repeats)
        shapes = tuple(pattern.shapes)
        index = self._indices[relation].get((keys, outputs, shapes))
        if index is None:
            index = self._indices[relation][keys, outputs, shapes] = make_index(
                keys, outputs, shapes
            )
            waiting = set(self._queue)  # they are added when they leave the queue
            for atom in self._facts[relation]:
                if atom not in waiting:
                    index.add(atom, self.number(atom), index.rows)
        return index.rows

    def _add(self, atom: Atom) -> None:
        """Add an atom that can hold, if it is new.

        Raises:
            GDLLimitError: if its terms are nested too deep; only some atoms are checked, for speed.
        """
        if atom not in self.known:
            self.known.add(atom)
            if len(self.known) % DEPTH_INTERVAL == 0 and term_depth(atom) > MAX_TERM_DEPTH:
                raise GDLLimitError(
                    f"terms of {atom[0]} are nested deeper than {MAX_TERM_DEPTH}: they may grow "
                    "without end"
                )
            self._facts[str(atom[0])].append(atom)
            self._queue.append(atom)

    def _count_instance(self) -> None:
        """Count an instance or fact; at the end of the budget, signal large relations.

        Raises:
            LargeDemandsError: if most known atoms are demands.
            LargeRelationsError: if there are large relations that may be derived by demand.
            GDLLimitError: if a limit is exceeded.
        """
        self._limits.count_instance()
        self._spent += 1
        if self._spent >= self._budget:
            demands = sum(
                len(facts) for name, facts in self._facts.items() if name.startswith(DEMAND)
            )
            if 2 * demands > len(self.known):
                raise LargeDemandsError
            large = {
                name
                for name in self._demandable
                if len(self._facts[name]) * LARGE_SHARE > self._budget
            }
            if large:
                # Of the static relations, only large ones are derived by demand.
                demandable = self._demandable - self._static | large
                raise LargeRelationsError(with_neighbors(self._rules, large, demandable))
            self._budget *= BUDGET_GROWTH

    def _emit_fact(self, head: Atom, positive: Any, negative: Any) -> None:
        """Add the head of a ground rule as a fact; the rule itself is not recorded."""
        if head not in self.known:
            self._count_instance()
            self._add(head)

    def _emit(self, head: Atom, positive: tuple[int, ...], negative: tuple[Atom, ...]) -> None:
        """Record a ground rule of a dynamic relation, and add its head."""
        number = self.number
        instance = (number(head), positive, tuple(number(atom) for atom in negative))
        if instance in self._seen:
            return
        self._seen.add(instance)
        self._count_instance()
        self._add(head)
        if head[0] == "next":
            self._add(("true", head[1]))
        elif head[0] == "legal" and head[1] in self.roles:
            self._add(("does", head[1], head[2]))


def _dependent_relations(graph: dict[str, set[str]], demanded: Collection[str] = ()) -> set[str]:
    """Return the relations that depend on the state, the moves or a demand."""
    reverse = reversed_edges(graph)
    return reachable(DYNAMIC.union(demanded), lambda name: reverse.get(name, ()))


def _roles(rules: list[Rule]) -> list[Term]:
    """Return the constants of the roles, in their order in the sheet."""
    roles = list(dict.fromkeys(rule.head[1] for rule in rules if rule.head[0] == "role"))
    if not roles:
        raise GDLError("the sheet has no role")
    return roles


def term_depth(term: Term) -> int:
    """Return the depth to which a term is nested; without recursion, as terms may be deep."""
    depth, level = 0, [term]
    while level:
        depth += 1
        level = [item for part in level if isinstance(part, tuple) for item in part]
    return depth
