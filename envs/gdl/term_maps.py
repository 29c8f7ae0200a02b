"""Maps of terms: images of fluents and moves under maps of cells and of constants.

They are candidates for automorphisms of a network. Names only suggest candidates, such as that a
reflection exchanges `east` and `west`; each is tested on the network.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.automorphisms import Automorphism
from ludoteca.envs.gdl.boards import Board, Place
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.term_shapes import TermGroup, group_terms
from ludoteca.envs.symmetry import cells_are_actions, grid_symmetries

# Steps (right, up) of directions, by name.
STEPS = {
    "north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0),
    "northeast": (1, 1), "southeast": (1, -1), "southwest": (-1, -1), "northwest": (-1, 1),
    "up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0),
    "n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0),
    "ne": (1, 1), "se": (1, -1), "sw": (-1, -1), "nw": (-1, 1),
}  # fmt: skip
FAMILIES = (tuple(STEPS)[:8], tuple(STEPS)[8:12], tuple(STEPS)[12:])
MAX_PIECES = 4  # unpaired constants, of which any two may be the pieces of two players


@dataclass(frozen=True, eq=False)
class TermMap:
    """Map of terms: of cells, of single columns, and of other constants.

    Attributes:
        name: name of the map of cells, such as `"rotate 90"`.
        cells: image of each cell of the board. Shape `[rows * columns]`.
        lines: whether a constant that is not part of a cell may be a column, which is mapped, too.
        constants: images of other constants; the rest are fixed.
        roles: image of each role. Length R.
    """

    name: str
    cells: NDArray[np.int64]
    lines: bool
    constants: Mapping[str, str]
    roles: tuple[int, ...]


@dataclass(eq=False)
class Vocabulary:
    """Terms of a network on a board, by shape.

    Args:
        network: the network.
        board: its board.

    Attributes:
        constants: constants of all terms that are not coordinates of a cell, in order.
    """

    network: Network
    board: Board
    constants: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        start = self.network.move_start
        moves = [self.network.moves[a:b] for a, b in pairwise(start)]
        self._fluents = _Terms(self.network.fluents, self.board, self.board.places)
        self._moves = [_Terms(terms, self.board, {}) for terms in moves]
        found = (name for terms in (self._fluents, *self._moves) for name in terms.others())
        self.constants = tuple(dict.fromkeys(found))

    def automorphism(self, term_map: TermMap) -> Automorphism | None:
        """Return the permutations of a map, or None if it does not permute the terms."""
        fluents = self._fluents.images(term_map, self._fluents)
        if fluents is None:
            return None
        moves = np.zeros(len(self.network.moves), np.int64)
        for r, terms in enumerate(self._moves):
            start, image = self.network.move_start[r], term_map.roles[r]
            found = terms.images(term_map, self._moves[image])
            if found is None:
                return None
            moves[start : start + len(found)] = self.network.move_start[image] + found
        return Automorphism(fluents, moves, np.array(term_map.roles))


class _Terms:
    """Fluents, or moves of one role, with the places of their cells."""

    def __init__(self, terms: tuple[str, ...], board: Board, chosen: Mapping[str, Place]):
        self._size, self._board = len(terms), board
        self._groups = {group.shape: group for group in group_terms(terms)}
        self._places: dict[str, tuple[Place, ...]] = {}
        self._numbers: dict[str, dict[tuple[str, ...], int]] = {}
        self._line: dict[str, int | None] = {}  # position of a column without a row
        for shape, group in self._groups.items():
            self._places[shape] = places = _all_places(group, board, chosen.get(shape))
            self._numbers[shape] = dict(zip(group.constants, group.numbers, strict=True))
            columns = [
                i
                for i in range(group.size)
                if not places and set(group.values(i)) == set(board.column_names)
            ]
            self._line[shape] = columns[0] if columns else None

    def others(self) -> Iterator[str]:
        """Yield the constants that are not coordinates of a cell."""
        for shape, group in self._groups.items():
            used = {i for place in self._places[shape] for i in (place.column, place.row)}
            for i in range(group.size):
                if i not in used:
                    yield from group.values(i)

    def images(self, term_map: TermMap, targets: "_Terms") -> NDArray[np.int64] | None:
        """Return the number of the image of each term among `targets`; None if one is missing."""
        board, size = self._board, self._size
        images = np.full(size, -1, np.int64)
        cells = term_map.cells.tolist()
        middle = board.rows - 1
        columns = {
            name: board.coordinates(cells[middle * board.columns + i])[0]
            for i, name in enumerate(board.column_names)
        }
        coordinates = [board.coordinates(cell) for cell in range(len(cells))]
        image_of = {names: coordinates[cells[cell]] for cell, names in enumerate(coordinates)}
        for shape, group in self._groups.items():
            numbers, places = targets._numbers.get(shape, {}), self._places[shape]
            line = self._line[shape] if term_map.lines else None
            # By position, the images of the constants of all terms.
            parts: list[Sequence[str]] = [
                [term_map.constants.get(name, name) for name in names] for names in group.columns
            ]
            for place in places:
                rows = ("",) * len(group.numbers) if place.row is None else group.columns[place.row]
                pairs = zip(group.columns[place.column], rows, strict=True)
                images_of_cells = [image_of[pair] for pair in pairs]
                parts[place.column] = [column for column, _ in images_of_cells]
                if place.row is not None:
                    parts[place.row] = [row for _, row in images_of_cells]
            if line is not None:
                parts[line] = [columns[name] for name in group.columns[line]]
            found = [numbers.get(constants, -1) for constants in zip(*parts, strict=True)]
            if min(found) < 0:
                return None
            images[list(group.numbers)] = found
        is_permutation = targets._size == size and len(np.unique(images)) == size
        return images if is_permutation else None


def _all_places(group: TermGroup, board: Board, chosen: Place | None) -> tuple[Place, ...]:
    """Return the places of cells in the terms of a group, with the `chosen` one first."""
    if chosen is None:
        return board.places_in(group)
    used = {chosen.column, chosen.row}
    others = [p for p in board.places_in(group) if not used & {p.column, p.row} - {None}]
    return (chosen, *others)


def spatial_maps(vocabulary: Vocabulary) -> Iterator[list[TermMap]]:
    """Yield the candidates for each symmetry of the rectangle but the identity."""
    network = vocabulary.network
    roles = tuple(range(len(network.roles)))
    for name, cells in _cell_maps(vocabulary.board)[1:]:
        yield [
            TermMap(name, cells, lines, constants, roles)
            for constants in _direction_maps(vocabulary.constants, name)
            for lines in (True, False)
        ]


def exchange_maps(vocabulary: Vocabulary) -> Iterator[TermMap]:
    """Yield candidates for exchanges of two players, those that fix all cells first."""
    network = vocabulary.network
    if len(network.players) != 2:
        return
    first, second = network.players
    roles = list(range(len(network.roles)))
    roles[first], roles[second] = second, first
    names = network.roles[first], network.roles[second]
    for name, cells in _cell_maps(vocabulary.board):
        for exchanged in _piece_maps(vocabulary.constants, *names):
            for directions in _direction_maps(vocabulary.constants, name):
                for lines in (True, False) if name != "identity" else (True,):
                    constants = directions | exchanged
                    yield TermMap(name, cells, lines, constants, tuple(roles))


def _cell_maps(board: Board) -> list[tuple[str, NDArray[np.int64]]]:
    """Return the names and maps of cells of the symmetries of a rectangle, the identity first."""
    distinct: dict[bytes, tuple[str, NDArray[np.int64]]] = {}
    for symmetry in grid_symmetries(board.rows, board.columns, cells_are_actions):
        distinct.setdefault(symmetry.cells.tobytes(), (symmetry.name, symmetry.cells))
    return list(distinct.values())


def _direction_maps(constants: Iterable[str], name: str) -> list[dict[str, str]]:
    """Return candidates for the images of directions under a map of cells; first, all are fixed.

    Rows may be numbered from the bottom or from the top, so a transposition has two.
    """
    step_maps: dict[str, list[Callable[[int, int], tuple[int, int]]]] = {
        "rotate 180": [lambda x, y: (-x, -y)],
        "mirror columns": [lambda x, y: (-x, y)],
        "mirror rows": [lambda x, y: (x, -y)],
        "transpose": [lambda x, y: (-y, -x), lambda x, y: (y, x)],
        "antitranspose": [lambda x, y: (y, x), lambda x, y: (-y, -x)],
        "rotate 90": [lambda x, y: (y, -x), lambda x, y: (-y, x)],
        "rotate 270": [lambda x, y: (-y, x), lambda x, y: (y, -x)],
    }
    known = set(constants)
    candidates: list[dict[str, str]] = []
    for step_map in step_maps.get(name, []):
        images: dict[str, str] = {}
        for family in FAMILIES:
            by_step = {STEPS[direction]: direction for direction in family}
            images |= {d: by_step.get(step_map(*STEPS[d]), d) for d in family if d in known}
        if len(known & set(images)) > 1:
            candidates.append(images)
    return [{}, *candidates]


def _piece_maps(constants: tuple[str, ...], first: str, second: str) -> list[dict[str, str]]:
    """Return candidates for the exchange of the pieces of two roles.

    Constants are paired by the names of the roles, or the parts in which these differ, at their
    beginning: `white_pawn` and `black_pawn`, `wp` and `bp`, or `x` and `o` of `xplayer` and
    `oplayer`. Without such a pair, any two of a few other constants may be the pieces.
    """
    known = set(constants)
    paired = {first: second, second: first}
    for a, b in _distinguishing_parts(first, second):
        for name in constants:
            image = b + name[len(a) :]
            if name.startswith(a) and image in known and not {name, image} & set(paired):
                paired |= {name: image, image: name}
    rest = [name for name in constants if name not in paired]
    if len(paired) > 2 or len(rest) > MAX_PIECES:
        return [paired]
    return [paired, *(paired | {a: b, b: a} for a, b in combinations(rest, 2))]


def _distinguishing_parts(first: str, second: str) -> list[tuple[str, str]]:
    """Return pairs of beginnings of names by which two roles may be distinguished."""
    common = 0
    while common < min(len(first), len(second)) and first[-1 - common] == second[-1 - common]:
        common += 1
    parts = [(first, second)]
    if 0 < common < min(len(first), len(second)):
        parts.append((first[:-common], second[:-common]))
    if first[0] != second[0]:
        parts.append((first[0], second[0]))
    return parts
