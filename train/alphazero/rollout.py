"""Games of self-play with search, side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import OptimalLine, make_endgame_solver
from ludoteca.agents.guided.search import Evaluate, NetworkGuidedSearch
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_by_weight, sample_legal
from ludoteca.train.alphazero.config import AlphaZeroConfig
from ludoteca.train.monitor import Monitor
from ludoteca.train.rollout_games import RolloutGames, Turn


@dataclass(frozen=True)
class AlphaZeroRollout:
    """B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: results for player 0. Shape `[B]`.
        planes: what the mover saw, packed. Shape `[B, T, bytes]`.
        policies: what the search made of the moves, as the network numbers them, float16. Shape
            `[B, T, A]`.
        values: what the search thought of the position, for the mover. Shape `[B, T]`.
        movers: who moved. Shape `[B, T]`.
        full: whether the position is learned from: the search was a full one, or it is solved.
            Shape `[B, T]`.
        opening: plies at the beginning that were random. Shape `[B]`.
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
    """Where a network plays rounds against itself."""

    def __init__(self, encoder: Encoder, config: AlphaZeroConfig, monitor: Monitor | None = None):
        """Make room for a round of games; `monitor` is shown the progress, and may end a round."""
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
        self._lines: dict[int, OptimalLine] = {}  # by index of the game: how solved games go on

    def play(self, evaluate: Evaluate, rng: np.random.Generator) -> AlphaZeroRollout:
        """Play a game at every index.

        Args:
            evaluate: the network.
            rng: decides about everything in the round.

        Raises:
            Stopped: if the run is to stop; noticed between two evaluations of positions.
        """
        arena, num_actions = self._arena, self._encoder.game.num_actions
        count, plies = arena.count, arena.plies
        arena.begin(rng)
        self._lines.clear()
        opening = rng.integers(self._config.random_plies + 1, size=count).astype(np.int16)
        self._uniform = rng.random(count)  # share of uniformly random moves in each opening
        kept = AlphaZeroRollout(
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
            self._play(turn, kept, evaluate, rng, opening[turn.env_indices] > turn.ply)
            kept.lengths[turn.env_indices] += 1
        kept.returns[:] = arena.returns[:, 0]
        return kept

    def _play(
        self,
        turn: Turn,
        kept: AlphaZeroRollout,
        evaluate: Evaluate,
        rng: np.random.Generator,
        opening: NDArray[np.bool_],
    ) -> None:
        """Play one ply."""
        ply, actions = turn.ply, np.zeros(len(turn.env_indices), np.int64)
        policies = np.zeros((len(turn.env_indices), self._encoder.game.num_actions), np.float32)
        solved = self._play_solved(turn, kept, policies, actions)
        rows = np.flatnonzero(~solved)
        if len(rows) > 0:
            self._play_searched(turn, rows, kept, evaluate, rng, opening[rows], policies, actions)
        kept.planes[turn.env_indices, ply] = self._arena.packing.pack(turn.planes)
        kept.policies[turn.env_indices, ply] = self._encoder.translate_policy(policies, turn.movers)
        kept.movers[turn.env_indices, ply] = turn.movers
        wrong = self._arena.play(turn, actions)
        assert wrong < 0, "the search chose an illegal action"

    def _play_solved(
        self,
        turn: Turn,
        kept: AlphaZeroRollout,
        policies: NDArray[np.float32],
        actions: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Choose a best move in the games that are solved; return which those are."""
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
            kept.values[env_index, turn.ply] = (
                line.value if line.mover == turn.movers[row] else -line.value
            )
            kept.full[env_index, turn.ply] = True
        return solved

    def _play_searched(
        self,
        turn: Turn,
        rows: NDArray[np.int64],
        kept: AlphaZeroRollout,
        evaluate: Evaluate,
        rng: np.random.Generator,
        opening: NDArray[np.bool_],
        policies: NDArray[np.float32],
        actions: NDArray[np.int64],
    ) -> None:
        """Search the positions of some rows of a turn, and choose their moves."""
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
        kept.values[turn.env_indices[rows], ply] = result.root_value
        kept.full[turn.env_indices[rows], ply] = full


def examples(played: AlphaZeroRollout, outcome_weight: float, dtype: Any) -> NDArray[np.void]:
    """Return what is to be learned from a round: positions of full searches.

    Args:
        played: a round.
        outcome_weight: share of the game's result in the value; the rest is the search's. Before
            random plies it is 0, since the result is theirs.
        dtype: of the records, with `planes`, `policy` and `value`.
    """
    learned = played.full & (np.arange(played.full.shape[1]) < played.lengths[:, None])
    game, ply = np.nonzero(learned)
    records = np.zeros(len(game), dtype)
    records["planes"] = played.planes[game, ply]
    records["policy"] = played.policies[game, ply]
    result = played.returns[game] * np.where(played.movers[game, ply] == 0, 1, -1)
    weight = np.where(ply < played.opening[game], 0, outcome_weight)
    records["value"] = weight * result + (1 - weight) * played.values[game, ply]
    return records
