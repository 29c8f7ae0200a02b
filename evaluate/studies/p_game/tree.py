"""P-game: a tree in which every move has a random value, and their sum decides.

Kocsis and Szepesvari, "Bandit based Monte-Carlo planning" (2006), section 3.1: MAX's moves have
values from [0, 127], MIN's from [-127, 0]. MAX wins if the sum of all moves on the path to the leaf
is positive, and loses if it is negative; 0 is a draw. MAX moves first.

The value of a move is a hash of the path, so that trees of any size need no memory. All trees
share one `Game`, as branching factor and depth are fields of the position.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import check_integer
from ludoteca.envs.rng import GOLDEN_GAMMA, next_u64
from ludoteca.envs.symmetry import Symmetry

MAX_BRANCHING, MAX_DEPTH = 64, 20
HIGHEST = 127  # largest absolute value of a move
U57 = np.uint64(57)  # shift of 64 bits that leaves 7, a number from 0 to `HIGHEST`


@cache
def p_game() -> Game:
    """Return the rules of all P-games; `new_trees` makes their starting positions.

    A P-game is a tree whose moves have random values, positive for MAX and negative for MIN. The
    sign of their sum decides, and 0 is a draw.
    """
    return Game(
        name="p_game",
        title="P-game",
        params={},
        num_players=2,
        num_actions=MAX_BRANCHING,
        max_plies=MAX_DEPTH,
        observation_shape=(1, 1, 1),
        observation_high=MAX_DEPTH,
        state=np.dtype(
            [
                ("node", np.uint64, (1,)),  # hash of the tree's seed and of the path
                ("total", np.int32),  # sum of the values of all moves
                ("branching", np.int16),
                ("depth", np.int16),
                ("ply", np.int16),
            ],
            align=True,
        ),
        settings={"branching": 2, "depth": MAX_DEPTH},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout("squares", 1, 1, (Piece("P", "ply", "disc", "#333333"),), cells),
        action_names=tuple(map(str, range(MAX_BRANCHING))),
        symmetries=lambda: (Symmetry("identity", np.arange(1), np.arange(MAX_BRANCHING)),),
        validate=validate,
    )


def new_trees(branching: int, depth: int, seeds: NDArray[np.uint64]) -> NDArray[np.void]:
    """Return the starting positions of random trees, records `[len(seeds)]`.

    Raises:
        ValueError: if the branching factor is not from 2 to 64, or the depth not from 1 to 20.
    """
    check_integer("branching", branching, 2, MAX_BRANCHING)
    check_integer("depth", depth, 1, MAX_DEPTH)
    states = p_game().empty(len(seeds))
    states["node"][:, 0], states["branching"], states["depth"] = seeds, branching, depth
    return states


@kernel
def init(s: Any, seed: int) -> None:
    """Write the root of the tree of a seed."""
    s.node[0] = np.uint64(seed)
    s.total = 0
    s.ply = 0


@kernel
def player(s: Any) -> int:
    """Return the player to move: 0 is MAX."""
    return int(s.ply % 2)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    """Write all moves of the node to `out`, and return their number."""
    n = 0
    if s.ply < s.depth:
        for action in range(s.branching):
            out[action] = action
        n = int(s.branching)
    return n


@kernel
def move_value(node: Any, action: int, ply: int) -> int:
    """Return the value of a move, and replace `node`, uint64 `[1]`, by the child's hash."""
    node[0] = np.add(node[0], np.multiply(np.uint64(action + 1), GOLDEN_GAMMA))
    node[0] = next_u64(node)
    value = int(np.int64(node[0] >> U57))
    return value if ply % 2 == 0 else -value


@kernel
def step(s: Any, action: int) -> None:
    """Descend to a child, and add the value of the move."""
    s.total += move_value(s.node, action, s.ply)
    s.ply += 1


@kernel
def is_terminal(s: Any) -> bool:
    """Return whether the node is a leaf."""
    return bool(s.ply >= s.depth)


@kernel
def returns(s: Any, out: Any) -> None:
    """Write the sign of the sum for MAX, and its negative for MIN."""
    out[:] = 0
    if s.ply >= s.depth and s.total != 0:
        out[0] = 1 if s.total > 0 else -1
        out[1] = -out[0]


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Write the number of plies; the tree itself cannot be observed."""
    out[0, 0, 0] = s.ply


def cells(s: Any) -> Any:
    """Return one cell, which is empty before the first move."""
    return np.full((1, 1), int(s.ply > 0), np.int8)


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    if not 2 <= s.branching <= MAX_BRANCHING or not 0 <= s.ply <= s.depth <= MAX_DEPTH:
        return f"branching {s.branching}, depth {s.depth} or ply {s.ply} is out of range"
    return ""
