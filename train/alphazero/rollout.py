"""Self-play rollouts of AlphaZero, with network-guided search."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import OptimalLine, make_endgame_solver
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_by_weight, sample_legal
from ludoteca.agents.search.network.search import Evaluate, NetworkGuidedSearch
from ludoteca.train.alphazero.config import AlphaZeroConfig
from ludoteca.train.monitor import Monitor
from ludoteca.train.rollout_games import RolloutGames, Turn


@dataclass(frozen=True)
class AlphaZeroRollout:
    """Rollout of B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of player 0. Shape `[B]`.
        planes: observations of the player to move, packed. Shape `[B, T, bytes]`.
        policies: policies of the search, in the network's numbering of actions, float16. Shape
            `[B, T, A]`.
        values: root values of the search, for the player to move. Shape `[B, T]`.
        movers: player to move. Shape `[B, T]`.
        full: whether the position is a training example: after a full search, or solved. Shape
            `[B, T]`.
        opening: number of random opening plies. Shape `[B]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    planes: NDArray[np.uint8]
    policies: NDArray[np.float16]
    values: NDArray[np.float32]
    movers: NDArray[np.int8]
    full: NDArray[np.bool_]
    opening: NDArray[np.int16]


class AlphaZeroCollector:
    """Collects rollouts of self-play with network-guided search."""

    def __init__(self, encoder: Encoder, config: AlphaZeroConfig, monitor: Monitor | None = None):
        """Allocate a rollout of games; `monitor` receives the progress, and may stop the run."""
        self._encoder, self._config = encoder, config
        self._arena = RolloutGames(encoder, config.games_per_iteration, monitor)
        self._search = NetworkGuidedSearch(
            encoder,
            config.games_per_iteration,
            max(config.num_simulations, config.fast_simulations),
            config.search_rule,
            config.max_num_considered_actions,
        )
        self._endgame = make_endgame_solver(encoder.game) if config.solver_empties else None
        self._lines: dict[int, OptimalLine] = {}  # by game: continuation of solved games

    def play(self, evaluate: Evaluate, rng: np.random.Generator) -> AlphaZeroRollout:
        """Collect a rollout.

        Args:
            evaluate: the network.
            rng: random stream of the rollout.

        Raises:
            Stopped: if the run is to stop; checked before each evaluation of positions.
        """
        arena, num_actions = self._arena, self._encoder.game.num_actions
        count, plies = arena.count, arena.plies
        arena.begin(rng)
        self._lines.clear()
        opening = rng.integers(self._config.random_plies + 1, size=count).astype(np.int16)
        self._uniform = rng.random(count)  # fraction of uniformly random moves in each opening
        rollout = AlphaZeroRollout(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros(count, np.float32),
            planes=np.zeros((count, plies, arena.packing.size), np.uint8),
            policies=np.zeros((count, plies, num_actions), np.float16),
            values=np.zeros((count, plies), np.float32),
            movers=np.zeros((count, plies), np.int8),
            full=np.zeros((count, plies), np.bool_),
            opening=opening,
        )
        for turn in arena.turns():
            self._play(turn, rollout, evaluate, rng, opening[turn.env_indices] > turn.ply)
            rollout.lengths[turn.env_indices] += 1
        rollout.returns[:] = arena.returns[:, 0]
        return rollout

    def _play(
        self,
        turn: Turn,
        rollout: AlphaZeroRollout,
        evaluate: Evaluate,
        rng: np.random.Generator,
        opening: NDArray[np.bool_],
    ) -> None:
        """Play one ply."""
        ply, actions = turn.ply, np.zeros(len(turn.env_indices), np.int64)
        policies = np.zeros((len(turn.env_indices), self._encoder.game.num_actions), np.float32)
        solved = self._play_solved(turn, rollout, policies, actions)
        rows = np.flatnonzero(~solved)
        if len(rows) > 0:
            self._play_searched(
                turn, rows, rollout, evaluate, rng, opening[rows], policies, actions
            )
        rollout.planes[turn.env_indices, ply] = self._arena.packing.pack(turn.planes)
        rollout.policies[turn.env_indices, ply] = self._encoder.translate_policy(
            policies, turn.movers
        )
        rollout.movers[turn.env_indices, ply] = turn.movers
        wrong = self._arena.play(turn, actions)
        assert wrong < 0, "the search chose an illegal action"

    def _play_solved(
        self,
        turn: Turn,
        rollout: AlphaZeroRollout,
        policies: NDArray[np.float32],
        actions: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Play best moves in solved games; return which games are solved."""
        solved = np.zeros(len(turn.env_indices), np.bool_)
        if self._endgame is None:
            return solved
        for row, env_index in enumerate(turn.env_indices):
            line = self._lines.get(int(env_index))
            if line is None:
                s = turn.states[row]
                if self._endgame.empty(s) > self._config.solver_empties:
                    continue
                line = self._lines[int(env_index)] = OptimalLine(
                    self._encoder.game, self._endgame, s
                )
            solved[row] = True
            actions[row] = action = line.next()
            policies[row, action] = 1
            rollout.values[env_index, turn.ply] = (
                line.value if line.mover == turn.movers[row] else -line.value
            )
            rollout.full[env_index, turn.ply] = True
        return solved

    def _play_searched(
        self,
        turn: Turn,
        rows: NDArray[np.int64],
        rollout: AlphaZeroRollout,
        evaluate: Evaluate,
        rng: np.random.Generator,
        opening: NDArray[np.bool_],
        policies: NDArray[np.float32],
        actions: NDArray[np.int64],
    ) -> None:
        """Search some rows of a turn, and select their moves."""
        config, ply, monitor = self._config, turn.ply, self._arena.monitor

        def checked(*positions: Any) -> Any:
            monitor.check()
            return evaluate(*positions)

        full = rng.random(len(rows)) < config.full_search_prob
        result = self._search.run(
            turn.states[rows],
            checked,
            np.where(full, config.num_simulations, config.fast_simulations),
            rng,
            dirichlet_fraction=config.dirichlet_fraction,
            gumbel_scale=1.0,
            dirichlet_alpha=config.dirichlet_alpha or 10 / float(turn.masks[rows].sum(1).mean()),
        )
        chosen = result.action
        if (
            config.search_policy == "puct"
            and ply < config.temperature_plies
            and config.temperature > 0
        ):
            chosen = sample_by_weight(
                result.action_weights, rng.random(len(rows)), config.temperature
            )
        if opening.any():
            priors = np.maximum(self._search.trees.priors[:, 0], 0).astype(np.float64)
            legal = (self._search.trees.priors[:, 0] >= 0).astype(np.int8)
            by_prior = sample_by_weight(priors, rng.random(len(rows)))
            uniform = sample_legal(legal, rng.random(len(rows)))
            shares = self._uniform[turn.env_indices[rows]]
            mixed = np.where(rng.random(len(rows)) < shares, uniform, by_prior)
            chosen = np.where(opening, mixed, chosen)
        actions[rows], policies[rows] = chosen, result.action_weights
        rollout.values[turn.env_indices[rows], ply] = result.root_value
        rollout.full[turn.env_indices[rows], ply] = full


def examples(rollout: AlphaZeroRollout, outcome_weight: float, dtype: Any) -> NDArray[np.void]:
    """Return training examples of a rollout: its positions with full searches.

    Args:
        rollout: a rollout.
        outcome_weight: weight of the game's result in value targets; the rest is the root value of
            the search. Before random plies the weight is 0, as these decide the result.
        dtype: dtype of the records, with `planes`, `policy` and `value`.
    """
    learned = rollout.full & (np.arange(rollout.full.shape[1]) < rollout.lengths[:, None])
    game, ply = np.nonzero(learned)
    records = np.zeros(len(game), dtype)
    records["planes"] = rollout.planes[game, ply]
    records["policy"] = rollout.policies[game, ply]
    result = rollout.returns[game] * np.where(rollout.movers[game, ply] == 0, 1, -1)
    weight = np.where(ply < rollout.opening[game], 0, outcome_weight)
    records["value"] = weight * result + (1 - weight) * rollout.values[game, ply]
    return records
