"""Grounding: all instances of the rules, without variables, that can matter in a reachable state.

Static relations, which do not depend on the state, are computed exactly, stratum by stratum. The
others, the dynamic ones, are over-approximated: an atom is assumed to be possible if it can be
derived from the initial state and any sequence of legal moves, where negative literals of dynamic
relations are taken to hold.

A large relation may be derived by demand: only its atoms with arguments with which other rules call
it are derived, instead of all. The arguments are derived, too, as a further relation, its demand.
See `ludoteca.envs.gdl.demand`; the transformation is known as magic sets.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ludoteca.envs.gdl.alternatives import merge_alternatives
from ludoteca.envs.gdl.demand import DEMAND, demand_rules, demandable_relations, with_neighbors
from ludoteca.envs.gdl.errors import GDLError, GrowingTermsError
from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.free_arguments import divided_relations, separate_free_arguments
from ludoteca.envs.gdl.graph import components, reachable, reversed_edges
from ludoteca.envs.gdl.joins import Index, Join, Path, Pattern, Rows, make_index
from ludoteca.envs.gdl.limits import Limits
from ludoteca.envs.gdl.parse import Term
from ludoteca.envs.gdl.rules import Atom, Rule, dependencies
from ludoteca.envs.gdl.split import FEW_ROWS, split_rules

# Keywords whose relations are dynamic in every sheet, even if its rules do not use the state.
DYNAMIC = {"true", "does", "next", "legal", "goal", "terminal", "sees"}
MAX_TERM_DEPTH = 200  # nesting of terms; deeper ones probably grow without end
DEPTH_INTERVAL = 64  # facts between two checks of the depth
# Number of instances and facts after which grounding starts anew, with large relations derived by
# demand (see above). If no relation is large, the budget is multiplied by BUDGET_GROWTH instead.
FIRST_BUDGET = 100_000
BUDGET_GROWTH = 2
# Grounding starts anew with rules split by estimates at a budget from SPLIT_BUDGET on, if they
# divide the estimated number of instances by MIN_SPLIT_GAIN. At a budget from LATE_SPLIT_BUDGET on,
# the number may even grow: splits gain most in rules that are hard to estimate.
SPLIT_BUDGET, MIN_SPLIT_GAIN = 400_000, 2.0
LATE_SPLIT_BUDGET, MIN_LATE_SPLIT_GAIN = 1_600_000, 0.1
# Grounding starts anew with relations divided by their free arguments, at a budget of
# LATE_SPLIT_BUDGET, if one of them is large and that divides the estimated number of instances by
# MIN_DIVISION_GAIN. It must be that many budgets before: estimates are often ten times too high.
MIN_DIVISION_GAIN = 20
MOST_DEMANDS = 4  # useless demands are dropped first if they are the 4th part of all demands
LARGE_SHARE = 50  # a relation is large if its facts exceed the 50th part of the budget
Instance = tuple[int, tuple[int, ...], tuple[int, ...]]  # see `Grounder.instances`


class LargeRelationsError(Exception):
    """Signal that relations are so large that they should be derived by demand.

    Attributes:
        shares: the relations, with the numbers of their facts as shares of the budget.
    """

    def __init__(self, shares: dict[str, float]):
        super().__init__(shares)
        self.shares = shares


class LargeDemandsError(Exception):
    """Signal that the demands of `relations` have more facts than they can save."""

    def __init__(self, relations: set[str]):
        super().__init__(relations)
        self.relations = relations


class SplitError(Exception):
    """Signal that grounding should start anew: with the rules `split` and the budget `budget`."""

    def __init__(self, split: list[Rule], budget: int):
        super().__init__(split)
        self.split, self.budget = split, budget


def ground(rules: list[Rule], limits: Limits) -> "Grounder":
    """Return the ground rules of a sheet, whose rules are split into smaller ones.

    If there are many instances, relations are divided by their free arguments, rules with many
    instances are split by estimates of their numbers, and relations that prove large are derived by
    demand.

    Raises:
        GDLError: if the sheet has no role.
        GDLLimitError: if a limit is exceeded.
    """
    may_divide = True

    def total(rules: list[Rule], grounder: Grounder) -> int:
        return Estimates(rules, grounder.known_size).total(_rules_on_state(rules))

    def divide_relations(grounder: Grounder) -> None:
        known, before = grounder.known_size, total(split, grounder)
        if before < MIN_DIVISION_GAIN * LATE_SPLIT_BUDGET:
            return
        relations, domains = grounder.divisible_relations()
        divided = separate_free_arguments(rules, relations, domains, Estimates(rules, known))
        if divided_relations(divided) & grounder.large_relations():
            divided = merge_alternatives(divided, Estimates(divided, known), FEW_ROWS)
            divided = split_rules(divided, Estimates(divided, known), thorough=True)
            if MIN_DIVISION_GAIN * total(divided, grounder) <= before:
                raise SplitError(divided, LATE_SPLIT_BUDGET)

    def split_by_estimates(grounder: Grounder) -> None:
        cheaper = split_rules(rules, Estimates(rules, grounder.known_size))
        late = grounder.budget >= LATE_SPLIT_BUDGET
        gain = MIN_LATE_SPLIT_GAIN if late else MIN_SPLIT_GAIN
        if cheaper != split and gain * total(cheaper, grounder) <= total(split, grounder):
            raise SplitError(cheaper, FIRST_BUDGET)

    def choose_rules(grounder: Grounder) -> None:
        nonlocal may_divide
        if may_divide and grounder.has_static_facts:
            may_divide = False
            divide_relations(grounder)
        if grounder.budget >= SPLIT_BUDGET:
            split_by_estimates(grounder)

    split, budget = split_rules(rules), FIRST_BUDGET
    demanded, complete = dict[str, float](), set[str]()  # see `Grounder`
    at_budget: Callable[[Grounder], None] | None = choose_rules
    while True:
        try:
            return Grounder(split, limits, demanded, complete, at_budget, budget)
        except SplitError as other:
            split, at_budget, budget = other.split, None, other.budget
            demanded, complete = {}, set()
        except LargeRelationsError as large:
            demanded = large.shares | demanded
        except LargeDemandsError as useless:
            complete = complete | useless.relations
            demanded = {name: share for name, share in demanded.items() if name not in complete}
        limits.restart()


class Grounder:
    """Ground rules of a sheet.

    Args:
        rules: the rules.
        limits: limits of time and instances.
        demanded: relations to derive only by demand, for the arguments with which rules call them,
            with the numbers of their facts without demand as shares of a budget.
        complete: relations to derive completely, even if they are large.
        at_budget: function of the grounder that is called at the end of each budget.
        budget: the first value of the attribute `budget`; None: `FIRST_BUDGET`.

    Attributes:
        budget: number of instances and facts after which large relations are looked for.
        has_static_facts: whether all facts of relations without demand or state are known.
        atoms: ground atoms, by number.
        numbers: numbers of the atoms.
        known: atoms that can hold.
        instances: ground rules of relations that depend on the state: number of the head, numbers
            of the atoms that must hold, and numbers of the atoms that must not hold.
        roles: constants of the roles, in their order in the sheet.
        initial: terms that are true in the initial state.
    """

    def __init__(
        self,
        rules: list[Rule],
        limits: Limits,
        demanded: Mapping[str, float] = MappingProxyType({}),
        complete: Collection[str] = (),
        at_budget: Callable[["Grounder"], None] | None = None,
        budget: int | None = None,
    ):
        self._limits, self._at_budget = limits, at_budget
        self.budget = FIRST_BUDGET if budget is None else budget
        self._spent = 0  # instances and facts since the beginning
        self.has_static_facts = False
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
        self._demandable -= {*demanded, *complete}
        self._demanded = demanded
        self._finished = set[str]()  # relations all of whose facts are known
        growing = _dependent_relations(graph, demanded)
        complete_first = [name for name in graph if name not in growing]
        for component in components(complete_first, lambda name: graph.get(name, set()) - growing):
            names = set(component)
            self._run([rule for rule in rules if rule.head[0] in names], names, set())
            self._finished |= names
        self.has_static_facts = True
        self.roles = _roles(rules)
        self.initial: list[Term] = [atom[1] for atom in self._facts["init"]]
        for term in self.initial:
            self._add(("true", term))
        growing_rules = [rule for rule in rules if rule.head[0] in growing]
        growing_rules, demands = demand_rules(growing_rules, demanded)
        growing |= {str(rule.head[0]) for rule in demands}
        dynamic = {name for name in graph if not name.startswith(DEMAND)} - self._static | DYNAMIC
        self._run([*growing_rules, *demands], growing, dynamic)
        self.instances = list(self._seen)
        self._seen, self._indices = set(), defaultdict(dict)

    def number(self, atom: Atom) -> int:
        """Return the number of an atom; an unknown atom gets the next one."""
        number = self.numbers.get(atom)
        if number is None:
            number = self.numbers[atom] = len(self.atoms)
            self.atoms.append(atom)
        return number

    def divisible_relations(self) -> tuple[set[str], dict[str, list[Atom]]]:
        """Return the relations that may be divided by their free arguments, and the domains.

        See `separate_free_arguments`.
        """
        dynamic = set(dependencies(self._rules)) - self._static
        domains = {
            name: self._facts[name]
            for name in self._finished & self._static
            if self._facts[name] and all(len(atom) == 2 for atom in self._facts[name])
        }
        return dynamic, domains

    def large_relations(self) -> set[str]:
        """Return the relations that have many facts for the budget."""
        return {n for n, atoms in self._facts.items() if len(atoms) * LARGE_SHARE > self.budget}

    def known_size(self, relation: str) -> int | None:
        """Return the number of facts of a relation, or None if not all are known."""
        return len(self._facts[relation]) if relation in self._finished else None

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
            GrowingTermsError: if its terms are nested too deep; only some atoms are checked, for
                speed.
        """
        if atom not in self.known:
            self.known.add(atom)
            if len(self.known) % DEPTH_INTERVAL == 0 and term_depth(atom) > MAX_TERM_DEPTH:
                raise GrowingTermsError(
                    f"terms of {atom[0]} are nested deeper than {MAX_TERM_DEPTH}: they may grow "
                    "without end"
                )
            self._facts[str(atom[0])].append(atom)
            self._queue.append(atom)

    def _count_instance(self) -> None:
        """Count an instance or fact; at the end of the budget, signal large relations.

        Raises:
            SplitError: if the rules should be split in another way.
            LargeDemandsError: if most known atoms are demands.
            LargeRelationsError: if there are large relations that may be derived by demand.
            GDLLimitError: if a limit is exceeded.
        """
        self._limits.count_instance()
        self._spent += 1
        if self._spent >= self.budget:
            if self._at_budget:
                self._at_budget(self)
            self._check_demands()
            if large := self._demandable & self.large_relations():
                names = with_neighbors(self._rules, large, self._demandable, self._static)
                raise LargeRelationsError(
                    {name: len(self._facts[name]) / self.budget for name in names}
                )
            self.budget *= BUDGET_GROWTH

    def _check_demands(self) -> None:
        """Signal demands that are so large that they hardly restrict their relations.

        Demands are checked only if most known atoms are demands.
        """
        demands = {name: len(self._facts[f"{DEMAND}{name}"]) for name in self._demanded}
        total = sum(demands.values())
        if 2 * total <= len(self.known):
            return
        large = {name for name, size in demands.items() if 2 * size > len(self._facts[name])}
        seen = {name for name in large if self._demanded[name]}
        useless = {name for name in seen if 2 * demands[name] > self._demanded[name] * self.budget}
        useless = useless or large - seen
        if useless:
            # The others may get fewer demands from those that are left.
            most = {name for name in useless if MOST_DEMANDS * demands[name] >= total}
            raise LargeDemandsError(most or useless)

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


def _rules_on_state(rules: list[Rule]) -> list[Rule]:
    """Return the rules of relations that depend on the state or the moves."""
    dynamic = _dependent_relations(dependencies(rules))
    return [rule for rule in rules if rule.head[0] in dynamic]


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
