"""And-inverter graph of the ground rules of a sheet.

A literal is 2 * node + inverted; node 0 is constant false. Nodes are inputs (fluents and moves) or
AND gates. Equal gates are made once (structural hashing).

The construction uses that each role makes exactly one move: a disjunction over most moves of a role
becomes "none of its other moves", and moves are factored out of disjunctions. So a frame axiom (a
fluent stays true unless it is changed) with a rule for each move that leaves the fluent unchanged
becomes a few gates.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.graph import components
from ludoteca.envs.gdl.ground import Grounder
from ludoteca.envs.gdl.limits import Limits
from ludoteca.envs.gdl.parse import Term, show
from ludoteca.envs.gdl.rules import Atom

FALSE, TRUE = 0, 1
# Relations whose atoms are computed, with all atoms on which they depend.
RESULTS = {"legal", "next", "goal", "terminal", "sees"}
GATE, FEEDBACK = 0, 1  # kinds of operations
COMPONENTS_PER_CHECK = 256  # atoms, or groups of atoms, between two checks of the time
MAX_UNION = 50_000  # bodies of atoms that stand for moves, up to which they are united
Operation = tuple[int, int, int, int]  # node, two literals, kind
# Body of a ground rule: numbers of the atoms that must hold, and of those that must not hold.
Body = tuple[tuple[int, ...], tuple[int, ...]]


class Gates:
    """And-inverter graph.

    Attributes:
        fluents: terms of the fluents, whose nodes are 1, 2, ...
        moves: atoms `(does role move)`, whose nodes follow.
        operations: gates in an order of evaluation.
        loops: ranges (start, end) of operations that depend on each other. They are evaluated
            repeatedly, from false, until nothing changes (least fixpoint); their feedback
            operations copy a literal to the node of an atom.
    """

    def __init__(self, grounder: Grounder, limits: Limits):
        """Build the graph of the ground rules; `limits` bounds the time."""
        self._grounder, self._limits = grounder, limits
        self._num_nodes = 1
        self._hash: dict[tuple[int, int], int] = {}  # literals of gates by their two inputs
        self.operations: list[Operation] = []
        self.loops: list[tuple[int, int]] = []
        self._literals: dict[int, int] = {}  # by number of the atom
        self.fluents: list[Term] = []
        for atom in grounder.possible("true"):
            self.fluents.append(atom[1])
            self._literals[grounder.number(atom)] = self._new_node()
        self.moves = grounder.possible("does")
        self._role_of: dict[int, Term] = {}  # role by the literal of a move
        self._moves_of: dict[Term, set[int]] = defaultdict(set)  # literals of moves by role
        self._moves_by_number: set[int] = set()  # numbers of atoms whose literals are moves
        # Bodies of the atoms each of whose bodies has exactly one move, by number.
        self._move_bodies: dict[int, list[Body]] = {}
        self._unions: dict[frozenset[int], int] = {}  # literals by numbers of such atoms
        self._conjunctions: dict[tuple[int, ...], int] = {}  # literals by the literals of a body
        # Literals of the move and of the rest of each body of such an atom, by number.
        self._move_rests: dict[int, list[tuple[int, int]]] = {}
        for atom in self.moves:
            number = grounder.number(atom)
            literal = self._literals[number] = self._new_node()
            self._moves_by_number.add(number)
            self._role_of[literal] = atom[1]
            self._moves_of[atom[1]].add(literal)
        self._build()

    def literal(self, atom: Atom) -> int:
        """Return the literal of an atom; false if it can never hold."""
        number = self._grounder.numbers.get(atom)
        return FALSE if number is None else self._literals.get(number, FALSE)

    def _build(self) -> None:
        """Make the gates of all results, each after the atoms on which it depends."""
        bodies: dict[int, list[Body]] = defaultdict(list)
        recursive = set()  # atoms that depend directly on themselves
        for head, positive, negative in self._grounder.instances:
            bodies[head].append((positive, negative))
            if head in positive or head in negative:
                recursive.add(head)

        def relies_on(number: int) -> list[int]:
            others = {other: None for body in bodies[number] for part in body for other in part}
            return [other for other in others if other in bodies]

        atoms = self._grounder.atoms
        roots = [number for number in bodies if atoms[number][0] in RESULTS]
        for count, component in enumerate(components(roots, relies_on)):
            if count % COMPONENTS_PER_CHECK == 0:
                self._limits.check_time()
            first, own = component[0], bodies[component[0]]
            if len(component) == 1 and first not in recursive:
                literal = self._literals[first] = self._disjunction(own)
                if literal in self._role_of:
                    self._moves_by_number.add(first)
                if all(len(self._moves_in(positive)) == 1 for positive, _ in own):
                    self._move_bodies[first] = own
            else:
                self._build_loop(component, bodies)

    def _build_loop(self, component: list[int], bodies: dict[int, list[Body]]) -> None:
        """Make the gates of atoms that depend on each other.

        Args:
            component: numbers of these atoms.
            bodies: bodies of the ground rules of each atom.

        Raises:
            GDLError: if an atom depends on its own negation.
        """
        inside = set(component)
        for number in component:
            for _, negative in bodies[number]:
                if inside.intersection(negative):
                    atom = show(self._grounder.atoms[number])
                    raise GDLError(f"{atom} depends on its own negation, so it has no value")
        start = len(self.operations)
        for number in component:
            self._literals[number] = self._new_node()
        outer, self._hash = self._hash, dict(self._hash)
        outer_caches = self._conjunctions, self._move_rests
        self._conjunctions, self._move_rests = {}, {}
        for number in component:
            literal = self._disjunction(bodies[number])
            node = self._literals[number] >> 1
            self.operations.append((node, literal, literal, FEEDBACK))
        # Gates of a loop must not be used by gates before its end.
        self._hash, (self._conjunctions, self._move_rests) = outer, outer_caches
        self.loops.append((start, len(self.operations)))

    def _new_node(self) -> int:
        """Return the literal of a new node."""
        self._num_nodes += 1
        return 2 * (self._num_nodes - 1)

    def _and(self, a: int, b: int) -> int:
        """Return the literal of the AND of two literals, of an existing gate if possible."""
        if a > b:
            a, b = b, a
        if a == FALSE or a ^ 1 == b:
            return FALSE
        if a in (TRUE, b):
            return b
        literal = self._hash.get((a, b))
        if literal is None:
            literal = self._hash[a, b] = self._new_node()
            self.operations.append((literal >> 1, a, b, GATE))
        return literal

    def _all(self, literals: list[int]) -> int:
        """Return the literal of the AND of some literals.

        The gates form a binary trie of the literals' nodes, so similar sets share most gates, and
        gates that follow each other seldom depend on each other.
        """
        if len(literals) == 1:
            return literals[0]
        if len(literals) == 2:
            return self._and(*literals)
        ordered = sorted(set(literals))
        return self._all_of(ordered, 0, len(ordered)) if ordered else TRUE

    def _all_of(self, ordered: list[int], start: int, end: int) -> int:
        """Return the literal of the AND of `ordered[start:end]`, which is not empty."""
        if end - start == 1:
            return ordered[start]
        first, last = ordered[start], ordered[end - 1]
        bit = (first ^ last).bit_length() - 1  # the highest bit in which two literals differ
        middle = bisect_left(ordered, last >> bit << bit, start, end)
        return self._and(self._all_of(ordered, start, middle), self._all_of(ordered, middle, end))

    def _any(self, literals: Iterable[int]) -> int:
        """Return the literal of the OR of some literals."""
        return self._all([literal ^ 1 for literal in literals]) ^ 1

    def _conjunction(self, positive: Iterable[int], negative: Iterable[int]) -> int:
        """Return the literal of a body (see `Body`); atoms without a literal can never hold."""
        known = self._literals
        literals = [known.get(number, FALSE) for number in positive]
        literals += [known[number] ^ 1 for number in negative if number in known]
        key = tuple(literals)
        literal = self._conjunctions.get(key)
        if literal is None:
            literal = self._conjunctions[key] = self._all(literals)
        return literal

    def _disjunction(self, bodies: list[Body]) -> int:
        """Return the literal of a disjunction of bodies, with moves factored out.

        Bodies with one move are grouped by the rest of the body. Groups with the same moves are
        combined: (rest 1 or rest 2 ...) and (move 1 or move 2 ...). Bodies with one atom that
        stands for moves are grouped, too, so that these atoms are united before they are computed.
        """
        moves_by_rest: dict[int, set[int]] = defaultdict(set)
        relations_by_rest: dict[int, set[int]] = defaultdict(set)
        alternatives = []
        related = self._move_bodies.keys()
        for positive, negative in bodies:
            if self._moves_by_number.isdisjoint(positive) and related.isdisjoint(positive):
                alternatives.append(self._conjunction(positive, negative))
                continue
            made = self._moves_in(positive)
            relations = [n for n in positive if n in related]
            if len(made) == 1:
                rest = self._conjunction([n for n in positive if n != made[0]], negative)
                if rest != FALSE:
                    moves_by_rest[rest].add(self._literals[made[0]])
            elif len(relations) == 1 and not made:
                rest = self._conjunction([n for n in positive if n != relations[0]], negative)
                relations_by_rest[rest].add(relations[0])
            else:
                alternatives.append(self._conjunction(positive, negative))
        alternatives += self._join_moves(moves_by_rest)
        for rest, numbers in relations_by_rest.items():
            alternatives.append(self._and(rest, self._union(frozenset(numbers))))
        return self._any(alternatives)

    def _moves_in(self, positive: Iterable[int]) -> list[int]:
        """Return the numbers of the moves among the atoms of a body."""
        moves = self._moves_by_number
        return [n for n in positive if n in moves]

    def _union(self, numbers: frozenset[int]) -> int:
        """Return the literal of the disjunction of atoms that stand for moves."""
        if len(numbers) == 1:
            return self._literals[min(numbers)]
        literal = self._unions.get(numbers)
        if literal is None:
            if sum(len(self._move_bodies[n]) for n in numbers) > MAX_UNION:
                return self._any(self._literals[n] for n in numbers)
            moves_by_rest: dict[int, set[int]] = defaultdict(set)
            for number in sorted(numbers):
                for move, rest in self._rests(number):
                    if rest != FALSE:
                        moves_by_rest[rest].add(move)
            literal = self._unions[numbers] = self._any(self._join_moves(moves_by_rest))
        return literal

    def _rests(self, number: int) -> list[tuple[int, int]]:
        """Return the literals of the move and of the rest of each body of an atom with moves."""
        rests = self._move_rests.get(number)
        if rests is None:
            rests = self._move_rests[number] = []
            for positive, negative in self._move_bodies[number]:
                (made,) = self._moves_in(positive)
                rest = self._conjunction([n for n in positive if n != made], negative)
                rests.append((self._literals[made], rest))
        return rests

    def _join_moves(self, moves_by_rest: dict[int, set[int]]) -> list[int]:
        """Return the literals of alternatives: each a group of rests with the same moves."""
        rests_by_moves: dict[frozenset[int], list[int]] = defaultdict(list)
        for rest, moves in moves_by_rest.items():
            rests_by_moves[frozenset(moves)].append(rest)
        return [
            self._and(self._any(rests), self._any_move(literals))
            for literals, rests in rests_by_moves.items()
        ]

    def _any_move(self, literals: frozenset[int]) -> int:
        """Return the literal that is true if one of these moves is made."""
        by_role: dict[Term, set[int]] = defaultdict(set)
        for literal in sorted(literals):
            by_role[self._role_of[literal]].add(literal)
        alternatives = []
        for role, moves in by_role.items():
            if len(self._moves_of[role]) < 2 * len(moves):
                others = self._moves_of[role] - moves
                alternatives.append(self._all([literal ^ 1 for literal in others]))
            else:
                alternatives.append(self._any(moves))
        return self._any(alternatives)
