"""Symmetries of games from rule sheets: candidates of the board, verified on the network."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.actions import ActionTable
from ludoteca.envs.gdl.automorphisms import Automorphism, SymmetryTest
from ludoteca.envs.gdl.board_pieces import find_empty_planes, has_stacks
from ludoteca.envs.gdl.boards import Board, find_board
from ludoteca.envs.gdl.dynamics import Dynamics
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.orders import binary_facts
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.term_maps import TermMap, Vocabulary, exchange_maps, spatial_maps
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.symmetry import Symmetry

EXCHANGE = "exchange players"
# Limit of terms times candidates in the search for an exchange of players, which is a part of
# `make_game`. An image takes about 3 us.
MAX_IMAGES = 1_000_000


@dataclass(frozen=True, eq=False)
class DetectedBoard:
    """Board of a network, with what random games show about it.

    Attributes:
        board: the board.
        empty: planes whose fluents say that a cell is empty.
        has_stacks: whether the pieces of each column always lie on each other.
    """

    board: Board
    empty: tuple[int, ...]
    has_stacks: bool


def find_sheet_board(text: str, network: Network, dynamics: Dynamics) -> DetectedBoard | None:
    """Return the board of a sheet, or None if there is none.

    For a sheet that is interpreted, only the initial state is considered.

    Args:
        text: the sheet.
        network: its network.
        dynamics: the dynamics of the network.
    """
    states = network.initial[:, None]
    if network.phase1.num_slots:
        with interpreting(False):  # random games are too slow in Python
            test = SymmetryTest(network, dynamics.random_games.longest)
        states = np.hstack([states, test.states()])
    board = find_board(network, binary_facts(parse(text)), states)
    if board is None:
        return None
    empty = find_empty_planes(board, network.roles, states)
    return DetectedBoard(board, empty, has_stacks(board, empty, states))


class SheetSymmetries:
    """Verified automorphisms of a network, as symmetries of its game.

    Args:
        network: the network.
        dynamics: its dynamics.
        found: its board; without one, there is only the identity.
        actions: the numbering of actions.
        num_placements: number of actions that are cells: action i is a move to cell i.

    Attributes:
        sequential: whether one player moves at a time.
    """

    def __init__(
        self,
        network: Network,
        dynamics: Dynamics,
        found: DetectedBoard | None,
        actions: ActionTable,
        num_placements: int,
    ):
        self._network, self._dynamics, self._found = network, dynamics, found
        self._actions, self._num_placements = actions, num_placements
        self.sequential = dynamics.sequential

    @property
    def board(self) -> Board:
        """The board.

        Raises:
            ValueError: if there is none.
        """
        if self._found is None:
            raise ValueError("the sheet has no board")
        return self._found.board

    @property
    def _is_testable(self) -> bool:
        """Whether there is a board, and a network of gates, not an interpreted sheet."""
        return self._found is not None and self._network.phase1.num_slots > 0

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._network, self.board)

    @cached_property
    def _test(self) -> SymmetryTest:
        with interpreting(False):
            return SymmetryTest(self._network, self._dynamics.random_games.longest)

    @cached_property
    def exchange(self) -> tuple[Symmetry, Automorphism] | None:
        """Verified exchange of two players that is its own inverse, or None.

        The symmetry maps the planes of the board and the actions. In games with many terms only the
        first candidates are tried, see `MAX_IMAGES`.
        """
        if not self._is_testable:
            return None
        num_terms = len(self._network.fluents) + len(self._network.moves)
        for term_map in islice(exchange_maps(self._vocabulary), max(1, MAX_IMAGES // num_terms)):
            found = self._verify(term_map)
            if found is not None and _is_involution(found[1]):
                return replace(found[0], name=EXCHANGE), found[1]
        return None

    @cached_property
    def spatial(self) -> tuple[tuple[Symmetry, Automorphism], ...]:
        """Verified symmetries of the board, the identity first; they form a group.

        If none but the identity preserves the initial state (in simultaneous games, up to an
        exchange of the players), there is only the identity.
        """
        network, actions = self._network, len(self._actions.names)
        cells = self.board.rows * self.board.columns if self._found else 1
        sizes = len(network.fluents), len(network.moves), len(network.roles)
        fluents, moves, roles = map(np.arange, sizes)
        identity = Automorphism(fluents, moves, roles, proved=True)
        found = [(Symmetry("identity", np.arange(cells), np.arange(actions)), identity)]
        for candidates in spatial_maps(self._vocabulary) if self._is_testable else ():
            verified = (self._verify(term_map) for term_map in candidates)
            symmetry = next((each for each in verified if each is not None), None)
            if symmetry is not None:
                found.append(symmetry)
        found = _closed(found)
        starts = [self._is_start(automorphism) for _, automorphism in found[1:]]
        return tuple(found) if any(starts) else tuple(found[:1])

    def _is_start(self, automorphism: Automorphism) -> bool:
        """Return whether the image of the initial state is the initial state."""
        initial = self._network.initial
        image = np.zeros_like(initial)
        image[automorphism.fluents] = initial
        if np.array_equal(image, initial):
            return True
        if self._dynamics.sequential or self.exchange is None:
            return False
        exchanged = np.zeros_like(initial)
        exchanged[self.exchange[1].fluents] = image
        return np.array_equal(exchanged, initial)

    def _verify(self, term_map: TermMap) -> tuple[Symmetry, Automorphism] | None:
        """Return the symmetry of a map of terms, or None if the map does not preserve the rules."""
        automorphism = self._vocabulary.automorphism(term_map)
        if automorphism is None:
            return None
        planes = self._plane_images(automorphism)
        actions = self._action_images(automorphism, term_map)
        if planes is None or actions is None:
            return None
        with interpreting(False):  # the test evaluates millions of gates, too slow in Python
            verified = self._test.check(automorphism)
        if verified is None:
            return None
        fixed = np.array_equal(planes, np.arange(len(planes)))
        return Symmetry(term_map.name, term_map.cells, actions, None if fixed else planes), verified

    def _plane_images(self, automorphism: Automorphism) -> NDArray[np.int64] | None:
        """Return the image of each plane, or None if fluents of one plane have images in two."""
        plane_of = self.board.plane_of
        images = np.full(len(self.board.planes), -1, np.int64)
        images[plane_of] = plane_of[automorphism.fluents]
        same = np.array_equal(images[plane_of], plane_of[automorphism.fluents])
        return images if same and len(np.unique(images)) == len(images) else None

    def _action_images(
        self, automorphism: Automorphism, term_map: TermMap
    ) -> NDArray[np.int64] | None:
        """Return the image of each action, or None if moves of one action have different images."""
        table = self._actions
        images = np.full(len(table.names), -1, np.int64)
        images[: self._num_placements] = term_map.cells[: self._num_placements]
        listed = table.action_of_move >= 0
        mapped = table.action_of_move[automorphism.moves]
        images[table.action_of_move[listed]] = mapped[listed]
        same = np.array_equal(images[table.action_of_move[listed]], mapped[listed])
        complete = np.array_equal(np.sort(images), np.arange(len(images)))
        return images if same and complete else None


def _is_involution(automorphism: Automorphism) -> bool:
    """Return whether an automorphism is its own inverse."""
    fluents, moves = automorphism.fluents, automorphism.moves
    return np.array_equal(fluents[fluents], np.arange(len(fluents))) and np.array_equal(
        moves[moves], np.arange(len(moves))
    )


def _closed(
    found: Sequence[tuple[Symmetry, Automorphism]],
) -> list[tuple[Symmetry, Automorphism]]:
    """Return symmetries, the identity first, without those that have a composition outside."""
    kept = list(found)
    while True:
        known = {(a.fluents.tobytes(), a.moves.tobytes()) for _, a in kept}
        closed = [
            (symmetry, a)
            for symmetry, a in kept
            if all(
                (b.fluents[a.fluents].tobytes(), b.moves[a.moves].tobytes()) in known
                for _, b in kept
            )
        ]
        if len(closed) == len(kept):
            return kept
        kept = closed or kept[:1]
