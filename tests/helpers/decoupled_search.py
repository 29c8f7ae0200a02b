"""Searches of simultaneous games, and positions of Hungry Geese and Tron drawn as text."""

import numpy as np
from boards import small_spec

from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.simultaneous.search import make_search, search_kernel
from ludoteca.agents.search.simultaneous.tree import NODE, NUM_STATES, table_size
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.games.goose_positions import FOOD
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.games.tron import tron
from ludoteca.envs.record_views import view_records

NORTH, EAST, SOUTH, WEST = range(4)
SMALL_TRON = small_spec("Tron-v0")
GOOSE = "mcts:simulations=300"  # spec string of an agent
# Letters of the body of each goose in drawings, from head to tail.
GEESE = ("0123456789", "abcdefghij", "ABCDEFGHIJ", "klmnopqrst")


def geese_position(lines, last, steps=1, **params):
    """Return the game and the position of a board of Hungry Geese that is drawn as text.

    Args:
        lines: rows of the board: geese from head to tail as `0123`, `abcd`, `ABCD` and `klmn`,
            food as `*`.
        last: last action of each goose, a letter of `NESW`.
        steps: number of steps before the position.
        **params: parameters of the game.
    """
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in GEESE[: len(last)]]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    game = hungry_geese(
        len(bodies), len(lines), len(lines[0]), min_food=max(1, len(food)), **params
    )
    s = game.new()
    s.occupied[:], s.num_food, s.steps = 0, len(food), steps
    s.food[:] = -1
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p, body in enumerate(bodies):
        s.body[p, : len(body)], s.length[p] = body, len(body)
        s.occupied.ravel()[body] = 1
        s.last_action[p] = "NESW".find(last[p])
        if body:
            s.score[p] = (steps + 1) * (int(s.max_length) + 1) + len(body)
    assert game.validate(s) == ""
    return game, s


def tron_position(lines):
    """Return the game and the position of a board with riders `R`, `B` and their walls `r`, `b`."""
    board = np.array([list(line) for line in lines])
    game = tron(*board.shape)
    s = game.new()
    s.walls[:] = 0
    for p, letters in enumerate(("Rr", "Bb")):
        s.walls[np.isin(board, list(letters))] = p + 1
        s.head[p] = np.argwhere(board == letters[0])[0]
    assert game.validate(s) == ""
    return game, s


class Search:
    """Decoupled search with accessible tree arrays, compiled or interpreted.

    Args:
        game: the game.
        s: the position to search.
        config: the compile-time configuration.
        nodes: capacity of the tree.
        depth: largest number of plies of a playout; None: the whole game.
        fpu: first-play urgency.
        seed: state of the search's random generator.
    """

    def __init__(self, game, s, config=None, nodes=1000, depth=None, fpu=np.inf, seed=1):
        self.game, self.config = game, config or SearchConfig()
        self.nodes = np.zeros(nodes, NODE)
        self.arms = np.zeros(
            (nodes, game.num_players, game.num_actions), arm_dtype(self.config.policy)
        )
        self.table = np.zeros(table_size(nodes), np.int32)
        self.states, self.work = game.empty(NUM_STATES), np.zeros(1, work_dtype(game))
        self.params = np.zeros(1, SEARCH_PARAMS)
        self.params["policy_params"] = POLICIES[self.config.policy].parameters({})
        self.params["fpu"] = fpu
        self.params["playout_depth"] = game.max_plies if depth is None else depth
        self.states[0] = s
        self.work["rng"] = seed
        self.size = 0

    def run(self, simulations, *, interpreted=False):
        arrays = (self.states, self.work, self.params)
        if interpreted:
            nodes, arms, states, work, params = (
                view_records(array) for array in (self.nodes, self.arms, *arrays)
            )
            with np.errstate(over="ignore"):
                self.size = search_kernel(self.game, self.config)(
                    nodes, arms, self.table, self.size, states, work[0], params[0], simulations
                )
        else:
            self.size = make_search(self.game, self.config)(
                self.nodes, self.arms, self.table, self.size, *arrays, simulations
            )
        return self

    def check(self, simulations):
        """Assert the invariants that the tree has after a number of simulations, without chance."""
        nodes, visits = self.nodes[: self.size], self.arms["visits"][: self.size]
        values, squares = self.arms["value"][: self.size], self.arms["square"][: self.size]
        assert nodes["visits"][0] == simulations
        assert (nodes["visits"] > 0).all()
        assert (nodes["parent"][1:] < np.arange(1, self.size)).all()
        pairs = set(zip(nodes["parent"].tolist(), nodes["joint"].tolist(), strict=True))
        assert len(pairs) == self.size
        assert (self.table[nodes["slot"][1:]] == np.arange(1, self.size)).all()
        children_visits = np.bincount(nodes["parent"][1:], nodes["visits"][1:], self.size)
        per_player = visits.sum(2)
        assert (per_player == per_player[:, :1]).all()  # all players are active, or none is
        assert (children_visits <= per_player[:, 0]).all()
        has_children = per_player[:, 0] > 0
        # The first visit of a node is a playout from it, except at the root.
        played_out = np.where(np.arange(self.size) == 0, 0, 1)
        assert (per_player[has_children, 0] == (nodes["visits"] - played_out)[has_children]).all()
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= visits)).all()
        assert ((squares >= 0) & (squares <= values + 1e-9)).all()
        # Scores are in [0, 1]; those of all players of a visit sum to 1.
        np.testing.assert_allclose(values.sum((1, 2)), per_player[:, 0])
