"""UCT agent with a value network instead of random playouts."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.network.agent import NetworkGuidedAgent
from ludoteca.agents.search.network.search import (
    Evaluate,
    NetworkGuidedSearch,
    SearchResult,
    require_no_chance,
)
from ludoteca.agents.search.network.selection import NetworkSearchConfig, SelectionParams
from ludoteca.agents.search.network.value_playouts import PlayoutSearch
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real

try:
    from ludoteca.agents.networks.encoder import Encoder
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.value_network import (
        ValueView,
        load_value_network,
    )
    from ludoteca.agents.networks.weights import find_weights
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

# Limits of a batch of searches: nodes of all trees, and trees. Larger batches are not faster.
MAX_NODES, MAX_TREES = 60_000, 256


class UCTNetAgent(NetworkGuidedAgent):
    """UCT agent with a value network, which evaluates the leaves of a batch of searches together.

    The agent of Sancho Cebrero and Fernández Limárquez, a report on Othello (University of Seville,
    2019). Selection is UCT for values in [-1, 1]:
    `Q / N(child) + c * sqrt(2 ln N(parent) / N(child))`, where Q is the sum of the child's values
    and N the number of visits of a node; children without visits come first. The child with the
    highest mean is played.

    Their description leaves open whether the network evaluates leaves or chooses the moves of
    playouts; the parameter `playout` selects the second reading.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        simulations: int = 50,
        seconds: float | None = None,
        c: float = math.sqrt(2),
        max_depth: int = 0,
        playout: str = "",
        temperature: float = 0.1,
        leaf_batch: int = 1,
        max_nodes: int = 20_000,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: a network file or run folder of `python -m ludoteca.train.value_regression`, or a
                Keras file (`.keras`) of a network of the same architecture.
            simulations: simulations per search.
            seconds: time per move, instead of a number of simulations; positions are then searched
                one after the other.
            c: UCT's exploration constant.
            max_depth: maximum depth of trees below their roots, in plies; 0: unlimited. Sancho and
                Fernández have 1.
            playout: `""`: the network's value of a leaf. Otherwise the result of a playout to the
                end of the game, in which the network evaluates the positions after all legal moves:
                `"greedy"`: both players make the best move, with ties broken at random;
                `"softmax"`: both players sample a move from the softmax of the values.
            temperature: temperature of `"softmax"`, for values in [-1, 1].
            leaf_batch: number of leaves of one search that the network evaluates together, with
                virtual loss; more than one is faster if few positions are searched.
            max_nodes: maximum number of nodes of a tree with `seconds`.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        network, self.metadata = load_value_network(game, find_weights(path, "uctnet"))
        check_integer("max_depth", max_depth, 0, 10**6)
        self._playout = check_choice("playout", playout, ("", "greedy", "softmax"))
        self._temperature = check_real("temperature", temperature, 1e-6, 1e6)
        params = SelectionParams(
            c_uct=check_real("c", c, 0, 1e6), max_depth=max_depth, reevaluate=playout != ""
        )
        self._view = _ValueEncoder(ValueView(game, network.config.view))
        require_no_chance(game)
        super().__init__(self._view, NetworkSearchConfig("uct", False, params), leaf_batch)
        self.simulations = check_integer("simulations", simulations, 1, 10**6)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self._max_nodes = check_integer("max_nodes", max_nodes, 2, 10**9)
        if seconds is not None:
            self.simulations = self._max_nodes - 1  # each adds at most one node below the root
        self._batch_size = 1
        if seconds is None:
            self._batch_size = max(1, min(MAX_TREES, MAX_NODES // (self.simulations + 1)))
        self._runner = Runner(network, 1 / game.observation_high, device, precision)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is sequential, without chance and for two players."""
        Encoder(game)
        require_no_chance(game)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search the positions in batches."""
        actions = np.zeros(len(states), np.int64)
        for k in range(0, len(states), self._batch_size):
            rows = slice(k, k + self._batch_size)
            actions[rows] = self.search_positions(states[rows], rngs[rows]).action
        return actions

    def make_search(self, count: int) -> NetworkGuidedSearch:
        """Return a workspace for `count` searches."""
        if not self._playout:
            return super().make_search(count)
        temperature = self._temperature if self._playout == "softmax" else 0.0
        return PlayoutSearch(
            self._view, count, self.simulations, self._config, self._leaf_batch, temperature
        )

    def search_positions(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None
    ) -> SearchResult:
        """Search a batch of unfinished positions; see `NetworkGuidedAgent`."""
        search = self.allocate_search(len(states))
        evaluate = _make_evaluator(self._view, self._runner)
        return search.run(
            states,
            evaluate,
            self.simulations,
            streams=rngs,
            seconds=self.seconds,
            is_stopped=self._is_stopped,
        )

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        playouts = f", {self._playout} playouts" if self._playout else ""
        return f"UCT with a value network of {self.game.name}{playouts}"


class _ValueEncoder:
    """Encoder of a value network, with one more plane at the end: the index of the player to move.

    The evaluator splits this plane off. There is no policy, so masks have no columns.
    """

    def __init__(self, view: ValueView):
        self.game, self.view = view.game, view

    def encode(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return planes `[K, planes + 1, rows, columns]`, and empty masks `[K, 0]`."""
        observations = self.view.encode(states, seats)
        planes = np.empty(
            (len(observations), observations.shape[1] + 1, *observations.shape[2:]), np.int8
        )
        planes[:, :-1] = observations
        planes[:, -1] = seats[:, None, None]
        return planes, np.zeros((len(observations), 0), np.int8)

    def translate_policy(
        self, policies: NDArray[np.float32], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the policies, which are uniform, unchanged."""
        return policies


def _make_evaluator(encoder: _ValueEncoder, runner: Runner) -> Evaluate:
    """Return an evaluator with uniform priors and values for the players to move."""

    def evaluate(
        planes: NDArray[np.int8],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits of 0, and values for the players to move, see `Evaluate`."""
        seats = planes[:, -1, 0, 0]
        first_player_values = runner(planes[:, :-1]) * encoder.view.signs(seats)
        values = np.where(seats == 0, first_player_values, -first_player_values)
        return np.zeros((len(planes), encoder.game.num_actions), np.float32), values

    return evaluate
