"""Batched trees of network-guided searches, in the layout of `simultaneous/tree.py`.

A node has one row of arms per player in simultaneous games, and one row, of the player to move, in
sequential games. Scores and values are in [0, 1].

An action of a node is masked if it is legal, but the evaluator of positions excludes it from the
search by a prior of 0, see `ludoteca.agents.search.network.decoupled_search`. A player of a
simultaneous game is inactive in a node if it is eliminated there, while others play, see
`ludoteca.envs.game.Game.is_active`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.simultaneous.tree import NODE_FIELDS, check_joint_actions, table_size
from ludoteca.agents.search.statistics import make_arms
from ludoteca.envs.game import Game

ILLEGAL = -1.0  # prior of an action that is illegal or masked
NO_LEAF = -1  # instead of a leaf: no simulation, or one that ended in a terminal position
SCRATCH = ("work", "spare")  # fields of `SearchTrees` that all trees share


class SearchTrees(NamedTuple):
    """B trees of up to N nodes, for a game of P players with A actions.

    Each node has R rows of arms: P in simultaneous games, 1 in sequential games.

    Attributes:
        states: positions of the roots. Shape `[B]`.
        nodes: dtype `node_dtype`. Shape `[B, N]`.
        arms: statistics of actions, dtype `statistics.arm_dtype(None)`. Shape `[B, N, R, A]`.
        table: children by joint action, int32. Shape `[B, table_size(N)]`.
        size: number of nodes. Shape `[B]`.
        leaf_states: last positions of the L simulations of a leaf batch. Shape `[B, L]`.
        simulations: dtype `simulation_dtype`. Shape `[B, L]`.
        streams: random streams. uint64, shape `[B, 1]`.
        work: scratch space, dtype `work_dtype`. Shape `[1]`.
        spare: scratch space, a position. Shape `[1]`.
    """

    states: NDArray[np.void]
    nodes: NDArray[np.void]
    arms: NDArray[np.void]
    table: NDArray[np.int32]
    size: NDArray[np.int32]
    leaf_states: NDArray[np.void]
    simulations: NDArray[np.void]
    streams: NDArray[np.uint64]
    work: NDArray[np.void]
    spare: NDArray[np.void]

    @property
    def priors(self) -> NDArray[np.float32]:
        """Priors of the first row's actions, or `ILLEGAL`. Shape `[B, N, A]`."""
        return self.arms["prior"][:, :, 0]

    @property
    def visits(self) -> NDArray[np.int32]:
        """Visit counts of the first row's actions. Shape `[B, N, A]`."""
        return self.arms["visits"][:, :, 0]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Sums of scores of the first row's actions. Shape `[B, N, A]`."""
        return self.arms["value"][:, :, 0]

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the nodes by the network, for the players of the rows. Shape `[B, N, R]`."""
        return self.nodes["values"]

    def first(self, count: int) -> "SearchTrees":
        """Return views of the first `count` trees."""
        arrays = self._asdict().items()
        return SearchTrees(
            **{name: array if name in SCRATCH else array[:count] for name, array in arrays}
        )


def node_dtype(rows: int) -> np.dtype[np.void]:
    """Return the record dtype of a node."""
    return np.dtype(
        [
            *NODE_FIELDS,
            ("mover", np.int8),  # player to move, in sequential games
            ("evaluated", np.bool_),  # whether the network has evaluated the node
            ("values", np.float64, (rows,)),  # the network's values for the players of the rows
        ],
        align=True,
    )


def simulation_dtype(game: Game, rows: int, depth: int) -> np.dtype[np.void]:
    """Return the record dtype of a simulation of up to `depth` plies, with `rows` rows of arms."""
    return np.dtype(
        [
            ("leaf", np.int32),  # node of the leaf, or `NO_LEAF`
            ("depth", np.int32),  # length of the path
            ("pending", np.bool_),  # whether the network has to evaluate the leaf
            ("seats", np.int64, (rows,)),  # players to evaluate the leaf for, -1 for inactive ones
            # Simultaneous games: `Game.returns` of the leaf, scaled to [0, 1]. Those of inactive
            # players are their values; active players get values from the network instead.
            ("values", np.float64, (rows,)),
            ("path", np.int32, (depth,)),  # nodes above the leaf
            ("actions", game.action_dtype, (depth, rows)),  # actions in these nodes, or `NO_ACTION`
        ],
        align=True,
    )


def work_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of the scratch space."""
    players, actions = game.num_players, game.num_actions
    return np.dtype(
        [
            ("scores", np.float64, (players,)),  # final scores in [0, 1]
            ("joint", np.int64, (players,)),  # joint action: one action per player
            ("legal", game.action_dtype, (actions,)),  # legal actions of a player
            ("policy", np.float32, (actions,)),  # improved policy (Gumbel)
        ],
        align=True,
    )


def make_trees(game: Game, count: int, nodes: int, leaf_batch: int = 1) -> SearchTrees:
    """Return trees for `count` searches of up to `nodes` nodes.

    Args:
        game: the game.
        count: B.
        nodes: N; a search of n simulations needs n + 1.
        leaf_batch: L, number of leaves per search that are evaluated together.

    Raises:
        ValueError: if the game has too many joint actions.
        MemoryError: if the trees do not fit in memory.
    """
    players, actions = game.num_players, game.num_actions
    rows = players if game.simultaneous else 1
    if game.simultaneous:
        check_joint_actions(game)
    depth = min(nodes, game.max_plies) + 1  # more than the plies of any path
    return SearchTrees(
        states=game.empty(count),
        nodes=np.zeros((count, nodes), node_dtype(rows)),
        arms=make_arms(None, (count,), nodes, rows, actions),
        table=np.zeros((count, table_size(nodes)), np.int32),
        size=np.zeros(count, np.int32),
        leaf_states=game.empty(count * leaf_batch).reshape(count, leaf_batch),
        simulations=np.zeros((count, leaf_batch), simulation_dtype(game, rows, depth)),
        streams=np.zeros((count, 1), np.uint64),
        work=np.zeros(1, work_dtype(game)),
        spare=game.empty(1),
    )
