"""Observations of games from rule sheets: on a board, fluent by fluent, or percepts.

If the rules are the same for both players, observations do not show who observes. If the exchange
of the players moves no cell and changes no action, as in Tic-Tac-Toe, player 1 observes the
position with exchanged players, so each player sees its own pieces in the same planes. Otherwise,
in sequential games, both observe the same planes, and the exchange is the `mirror` of the game.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.bits import ONE, ZERO, lowest
from ludoteca.envs.gdl.automorphisms import Automorphism
from ludoteca.envs.gdl.boards import Board
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.percepts import make_observe_percepts
from ludoteca.envs.gdl.symmetries import SheetSymmetries
from ludoteca.envs.jit import kernel
from ludoteca.envs.symmetry import Symmetry


class View(NamedTuple):
    """Observation of a game: shape, kernel, symmetries and mirror, as in `Game`."""

    shape: tuple[int, int, int]
    observe: Callable[[Any, int, Any], None]
    symmetries: Callable[[], tuple[Symmetry, ...]]
    mirror: Callable[[], Symmetry] | None


def board_view(network: Network, symmetries: SheetSymmetries) -> View:
    """Return the observation on the board of a network."""
    board = symmetries.board
    identity, players = np.arange(len(board.planes)), len(network.players)
    views, mirror, commuting = identity[None], None, identity
    if symmetries.exchange is not None:
        exchange, _ = symmetries.exchange
        planes = identity if exchange.planes is None else exchange.planes
        if _is_fixed(exchange.cells) and _is_fixed(exchange.actions):
            # Player 1 observes the image of each plane.
            views, players, commuting = np.array([identity, planes]), 0, planes
        elif symmetries.sequential:
            players, mirror = 0, exchange
    num_planes = len(identity) + players

    def find() -> tuple[Symmetry, ...]:
        found = []
        for symmetry, _ in symmetries.spatial:
            planes = symmetry.planes
            if planes is not None:
                if not np.array_equal(planes[commuting], commuting[planes]):
                    continue  # it has another effect on the planes that player 1 observes
                planes = np.append(planes, np.arange(len(planes), num_planes))
            found.append(replace(symmetry, planes=planes))
        return tuple(found)

    return View(
        (num_planes, board.rows, board.columns),
        _make_board_observe(board, views, players),
        find,
        None if mirror is None else lambda: mirror,
    )


def flat_view(network: Network, symmetries: SheetSymmetries) -> View:
    """Return the observation without a board: a plane of one cell per fluent, and per player."""
    num_fluents, players = len(network.fluents), len(network.players)

    def find() -> tuple[Symmetry, ...]:
        return tuple(_flat(symmetry, found) for symmetry, found in symmetries.spatial)

    def _flat(symmetry: Symmetry, found: Automorphism) -> Symmetry:
        planes = np.append(found.fluents, num_fluents + np.arange(players))
        is_fixed = _is_fixed(found.fluents)
        return Symmetry(
            symmetry.name, np.zeros(1, np.int64), symmetry.actions, None if is_fixed else planes
        )

    observe = _make_fluent_observe(num_fluents, players)
    return View((num_fluents + players, 1, 1), observe, find, None)


def percept_view(network: Network, num_actions: int) -> View:
    """Return the observation of percepts, for games with hidden information."""
    num_planes, observe = make_observe_percepts(network, num_actions)
    identity = Symmetry("identity", np.zeros(1, np.int64), np.arange(num_actions))
    return View((num_planes, 1, 1), observe, lambda: (identity,), None)


def _is_fixed(images: NDArray[np.int64]) -> bool:
    """Return whether a map of numbers is the identity."""
    return np.array_equal(images, np.arange(len(images)))


def _make_fluent_observe(num_fluents: int, players: int) -> Any:
    """Return the kernel `observe` of `Game`: a plane of one cell per fluent, then one per player.

    Args:
        num_fluents: number of fluents.
        players: number of players; the plane of the observing player is 1.
    """

    @kernel
    def observe(s: Any, player: int, out: Any) -> None:
        for i in range(num_fluents):
            out[i, 0, 0] = (s.fluents[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
        for p in range(players):
            out[num_fluents + p, 0, 0] = p == player

    return observe


def _make_board_observe(board: Board, views: NDArray[np.int64], players: int) -> Any:
    """Return the kernel `observe` of `Game`: the planes of a board, then one per player.

    Args:
        board: the board.
        views: for each player, or for all in one row, the plane that shows each plane of the board.
            Shape `[players, planes]` or `[1, planes]`.
        players: number of players whose plane is 1 if they observe; 0 for none.
    """
    num_planes, cell_of = len(board.planes), board.cell_of
    plane_of = np.ascontiguousarray(views[:, board.plane_of])
    num_views, columns = len(views), board.columns

    @kernel
    def observe(s: Any, player: int, out: Any) -> None:
        out[:] = 0
        view = player if num_views > 1 else 0
        for w in range(len(s.fluents)):
            x = s.fluents[w]
            while x != ZERO:
                f = 64 * w + lowest(x)
                x &= x - ONE
                if cell_of[f] >= 0:
                    out[plane_of[view, f], cell_of[f] // columns, cell_of[f] % columns] = 1
                else:
                    out[plane_of[view, f]] = 1
        for p in range(players):
            out[num_planes + p] = int(p == player)

    return observe
