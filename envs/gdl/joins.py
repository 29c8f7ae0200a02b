"""Joins of rule bodies: generated Python functions over hash indices of ground atoms.

The join of a body finds all values of its variables for which its literals hold. Names of a sheet
enter the generated code only as string literals made by `repr`, so a sheet cannot inject code.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ludoteca.envs.gdl.parse import Term, variables
from ludoteca.envs.gdl.rules import Atom, Rule

Path = tuple[int, ...]  # position of a subterm: index in the atom, index in that term, ...
# By the values at a pattern's keys: (number of the atom, values at its outputs and repeats ...).
Rows = dict[tuple[Any, ...], list[tuple[Any, ...]]]
MAX_LOOPS = 15  # nested loops in one function; Python allows 20 nested blocks


@dataclass(frozen=True, slots=True)
class Pattern:
    """Pattern of an atom with variables, some of which are already bound.

    Attributes:
        keys: paths whose values are known, with Python expressions of the values.
        outputs: paths of new variables, with the variables' names.
        repeats: paths of further occurrences of new variables, with the variables' names.
        shapes: paths of compound terms, with their lengths.
    """

    keys: list[tuple[Path, str]]
    outputs: list[tuple[Path, str]]
    repeats: list[tuple[Path, str]]
    shapes: list[tuple[Path, int]]


@dataclass(slots=True)
class Index:
    """Hash index of the atoms of one relation that have the shapes of a pattern.

    Attributes:
        add: `add(atom, number, rows)` adds an atom, if it has these shapes, to `rows`.
        rows: the atoms by key.
    """

    add: Callable[[Atom, int, Rows], None]
    rows: Rows = field(default_factory=lambda: defaultdict(list))


def match_pattern(atom: Atom, bound: dict[str, str]) -> Pattern:
    """Return the pattern of an atom; `bound` maps bound variables to Python expressions."""
    pattern = Pattern([], [], [], [((), len(atom))])
    new = set[str]()

    def walk(term: Term, path: Path) -> None:
        if not isinstance(term, str):
            pattern.shapes.append((path, len(term)))
            for i, item in enumerate(term):
                walk(item, (*path, i))
        elif term[0] != "?":
            pattern.keys.append((path, repr(term)))
        elif term in bound:
            pattern.keys.append((path, bound[term]))
        elif term in new:
            pattern.repeats.append((path, term))
        else:
            new.add(term)
            pattern.outputs.append((path, term))

    for i, item in enumerate(atom[1:], 1):
        walk(item, (i,))
    return pattern


def make_index(keys: tuple[Path, ...], outputs: tuple[Path, ...], shapes: Any) -> Index:
    """Return an empty index of atoms by the values at `keys`; rows hold those at `outputs`."""
    lines = ["def add(atom, number, rows):"]
    lines += [f" if {_differs('atom', path, length)}: return" for path, length in shapes]
    key = "".join(f"{_at('atom', path)}," for path in keys)
    row = "".join(f"{_at('atom', path)}," for path in outputs)
    lines.append(f" rows[({key})].append((number,{row}))")
    return Index(_define(lines, "add", {}))


def _at(name: str, path: Path) -> str:
    """Return the Python expression of a subterm."""
    return name + "".join(f"[{i}]" for i in path)


def _differs(name: str, path: Path, length: int) -> str:
    """Return a Python expression: whether a subterm is not a compound term of this length."""
    value = _at(name, path)
    test = f"len({value}) != {length}"
    return test if not path else f"type({value}) is not tuple or {test}"


def _define(lines: list[str], name: str, names: dict[str, Any]) -> Any:
    """Execute generated code with `names` as its globals; return the function `name`."""
    exec(compile("\n".join(lines), "<rules of a sheet>", "exec"), names)
    return names[name]


def expression(term: Term, bound: dict[str, str]) -> str:
    """Return the Python expression of a term; `bound` maps its variables to expressions."""
    if isinstance(term, str):
        return bound[term] if term[0] == "?" else repr(term)
    return f"({''.join(expression(item, bound) + ',' for item in term)})"


class Join:
    """Generator of the function that joins the body of one rule.

    Args:
        rule: the rule.
        given: index of the positive literal whose atom is the function's argument (the new atom of
            semi-naive evaluation), or None.
        dynamic: relations that depend on the state or moves. Negative literals of these relations
            are not checked, but become a part of the ground rule.
        growing: relations that get more atoms while the function runs.
        index: `index(relation, pattern) -> rows` returns the atoms of a relation that match a
            pattern, by key.
        sizes: `sizes(relation) -> n` returns the number of known atoms of a relation.
    """

    def __init__(
        self,
        rule: Rule,
        given: int | None,
        dynamic: set[str],
        growing: set[str],
        index: Callable[[str, Pattern], Rows],
        sizes: Callable[[str], int],
    ):
        self.rule, self.given, self.dynamic, self.growing = rule, given, dynamic, growing
        self.index, self.sizes = index, sizes
        self.bound: dict[str, str] = {}  # Python names of the bound variables
        self.lines: list[str] = []  # the generated code
        self.names: dict[str, Any] = {}  # its globals
        self.numbers: dict[int, str] = {}  # expressions of the numbers of the positive atoms
        # Present indentation, statement that skips to the next candidate, number of loops.
        self.indent, self.stop, self.loops = " ", "return", 0
        self.ends: list[str] = []  # calls of nested functions, innermost last
        # Constraints not yet checked: "d" distinct, "e" equal, "n" negative literal.
        self.pending: list[tuple[str, tuple[Term, ...]]] = [
            *(("d", pair) for pair in rule.distinct),
            *(("e", pair) for pair in rule.equal),
            *(("n", atom) for atom in rule.negative if atom[0] not in dynamic),
        ]

    def build(self, **names: Any) -> Callable[..., None]:
        """Return `join(atom, number)`, which calls `emit(head, positive, negative)` per instance.

        `positive` are the numbers of the dynamic atoms that must hold, `negative` the dynamic atoms
        that must not hold.

        Args:
            names: the functions `emit` and `count_steps`, and `known`, the set of all atoms.
        """
        self.names |= names
        todo = list(range(len(self.rule.positive)))
        if self.given is not None:
            todo.remove(self.given)
            self._take_argument(self.rule.positive[self.given])
        self._check_constraints()
        while todo:
            literal = min(todo, key=self._cost)
            todo.remove(literal)
            self._loop(literal)
            self._check_constraints()
        rule = self.rule
        positive = "".join(
            f"{self.numbers[j]}," for j, atom in enumerate(rule.positive) if atom[0] in self.dynamic
        )
        negative = "".join(
            expression(atom, self.bound) + "," for atom in rule.negative if atom[0] in self.dynamic
        )
        head = expression(rule.head, self.bound)
        self.lines.append(f"{self.indent}emit({head}, ({positive}), ({negative}))")
        lines = ["def join(atom=None, number=None):", *self.lines, *reversed(self.ends)]
        join: Callable[..., None] = _define(lines, "join", self.names)
        return join

    def _take_argument(self, literal: Atom) -> None:
        """Write code that matches the argument `atom` with a literal and binds its variables."""
        pattern = match_pattern(literal, {})
        for path, length in pattern.shapes:
            self.lines.append(f" if {_differs('atom', path, length)}: return")
        for path, value in pattern.keys:
            self.lines.append(f" if {_at('atom', path)} != {value}: return")
        for path, variable in pattern.outputs:
            self._bind(variable)
            self.lines.append(f" {self.bound[variable]} = {_at('atom', path)}")
        for path, variable in pattern.repeats:
            self.lines.append(f" if {_at('atom', path)} != {self.bound[variable]}: return")
        assert self.given is not None
        self.numbers[self.given] = "number"

    def _bind(self, variable: str) -> str:
        """Bind a variable to a new Python name, and return that name."""
        self.bound[variable] = f"v{len(self.bound)}"
        return self.bound[variable]

    def _cost(self, j: int) -> tuple[bool, int, bool, int]:
        """Return the sort key of a literal; the lowest is joined next.

        Literals that share a variable with those joined before come first, then literals with few
        new variables, static ones, and those with few known atoms.
        """
        atom = self.rule.positive[j]
        names = set(variables(atom))
        free = sum(name not in self.bound for name in names)
        crosses = free > 0 and free == len(names)
        return crosses, free, atom[0] in self.dynamic, self.sizes(str(atom[0]))

    def _loop(self, j: int) -> None:
        """Write a loop over the atoms that match the positive literal `j`."""
        atom = self.rule.positive[j]
        pattern = match_pattern(atom, self.bound)
        depth = self.loops
        self.loops += 1
        key = "".join(f"{value}," for _, value in pattern.keys)
        found = self._found(depth, atom, pattern, key)
        # Names in the generated code: n for the number of the atom, v for variables, r for repeats.
        row = [f"n{depth}", *(self._bind(variable) for _, variable in pattern.outputs)]
        row += [f"r{depth}_{k}" for k in range(len(pattern.repeats))]
        indent = self.indent
        self.lines.append(f"{indent}found{depth} = {found}")
        if depth:
            self.lines.append(f"{indent}count_steps(len(found{depth}))")
        self.lines.append(f"{indent}for {', '.join(row)}, in found{depth}:")
        self.indent += " "
        self.stop = "continue"
        if self.loops % MAX_LOOPS == 0:  # the rest is a nested function
            self.lines.append(f"{self.indent}def rest{depth}():")
            self.ends.append(f"{self.indent}rest{depth}()")
            self.indent += " "
            self.stop = "return"
        for k, (_, variable) in enumerate(pattern.repeats):
            self.lines.append(
                f"{self.indent}if r{depth}_{k} != {self.bound[variable]}: {self.stop}"
            )
        self.numbers[j] = f"n{depth}"

    def _found(self, depth: int, atom: Atom, pattern: Pattern, key: str) -> str:
        """Return code for the rows of a literal with a key."""
        self.names[f"rows{depth}"] = self.index(str(atom[0]), pattern)
        copied = "[:]" if atom[0] in self.growing else ""  # the list may grow during the loop
        return f"rows{depth}.get(({key}), ()){copied}"

    def _check_constraints(self) -> None:
        """Write code for the constraints whose variables are all bound."""
        for constraint in list(self.pending):
            kind, terms = constraint
            if not all(variable in self.bound for variable in variables(terms)):
                continue
            self.pending.remove(constraint)
            if kind == "n":
                test = f"{expression(terms, self.bound)} in known"
            else:
                a, b = (expression(term, self.bound) for term in terms)
                test = f"{a} {'==' if kind == 'd' else '!='} {b}"
            self.lines.append(f"{self.indent}if {test}: {self.stop}")
