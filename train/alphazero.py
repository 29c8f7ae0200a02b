"""AlphaZero: self-play with network-guided search, for sequential two-player games without chance.

Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play" (2018); with search policy `gumbel`, Danihelka et al., "Policy improvement by planning
with Gumbel" (2022). Example: `python -m ludoteca.train.alphazero --game connect4`. An interrupted
run resumes, with the same result, when the same command is given again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.alphazero import AlphaZeroAgent, PolicyValueAgent, load_pv_network
from ludoteca.agents.games.endgame import OptimalLine, make_endgame_solver
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.evaluation_cache import CachedRunner
from ludoteca.agents.networks.pv_network import PVConfig, PVNetwork, make_evaluator, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.sampling import sample_by_weight, sample_legal
from ludoteca.agents.search.network.search import Evaluate, NetworkGuidedSearch, SearchResult
from ludoteca.agents.search.network.selection import NetworkSearchConfig, SelectionParams
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.train.algorithm import Algorithm, Inference, ReportText, Tensors
from ludoteca.train.examples import ExampleLayout, Kind
from ludoteca.train.gatekeeper import Gatekeeper
from ludoteca.train.rollout_games import Turn
from ludoteca.train.settings import AUTO, AutoLimits, RLConfig


@dataclass(frozen=True)
class AlphaZeroConfig(RLConfig):
    """Settings of AlphaZero."""

    algorithm = "alphazero"

    run_dir: Path = Path("runs/alphazero")
    game: str = "othello"
    """Sequential two-player game without chance, as a spec string."""
    games: int = 20_000
    """Number of self-play games. A finished run can be extended with a larger number; the learning
    rate schedule covers all games."""
    network: PVConfig = field(default_factory=PVConfig)

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD with momentum 0.9."""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    """Weight decay coefficient, of either optimizer."""
    replay_ratio: float = 3.0
    learning_starts: int = AUTO
    """Positions collected before the first update. -1: 1/100 of the run's positions (estimated by
    random games), at least a minibatch (or 1/4 of them, if that is less), at most 10,000."""

    eval_opponents: tuple[str, ...] = ("random", "mcts:simulations=200")
    """Opponents in evaluations, as spec strings. The evaluation score is the score against the last
    opponent."""
    checkpoint_selection: Literal["best", "last"] = "last"

    eval_simulations: int = 32
    """Simulations per move in evaluations; 0: no search."""

    search_policy: Literal["puct", "gumbel"] = "gumbel"
    """Search policy: `puct` (AlphaZero), or `gumbel`, which learns from few simulations (Danihelka
    et al., 2022)."""
    num_simulations: int = 32
    """Simulations of a full search; its policy is a training target."""
    fast_simulations: int = 8
    """Simulations of a fast search, which only selects a move (playout cap randomization: Wu,
    "Accelerating self-play learning in Go", 2019, section 3.1)."""
    full_search_prob: float = 1.0
    """Probability of a full search; 1: no playout cap randomization."""
    max_num_considered_actions: int = 16
    """Gumbel: maximum number of actions considered at the root."""
    c_puct: float = 1.25
    """PUCT: exploration constant."""
    dirichlet_fraction: float = 0.25
    """PUCT: fraction of Dirichlet noise in the root priors, in self-play."""
    dirichlet_alpha: float = 0.0
    """PUCT: concentration of the Dirichlet noise; 0: 10 / (mean number of legal actions)."""
    temperature: float = 1.0
    """PUCT: sample moves in proportion to visits ** (1 / temperature), in the first
    `temperature_plies` plies."""
    temperature_plies: int = 12
    """PUCT: plies with sampled moves; afterwards the best move is played."""
    random_plies: int = 2
    """Maximum number of random opening plies; each game has a number from 0 to this, at random. A
    fraction of them, drawn for each game, is uniform over legal moves, the others are sampled from
    the policy network. The game's result is a value target only after these plies. More random
    plies train the network on positions that it would avoid, but an opponent may reach."""

    solver_empties: int = 0
    """Endgame solver: positions with at most this number of empty squares are solved and played
    perfectly, without search (for games with a solver, see `ludoteca.agents.games.endgame`); 0: no
    solver."""
    outcome_weight: float = 0.75
    """Weight of the game's result in value targets; the rest is the root value of the search."""
    vf_coef: float = 1.0
    """Coefficient of the value loss (mean squared error); that of the policy loss (cross-entropy)
    is 1."""
    buffer_size: int = AUTO
    """Capacity of the replay buffer, in positions. -1: half of the positions of the run, at most
    500,000."""

    gating_interval: int = 0
    """Games between gatekeeper matches: a candidate network replaces the self-play network only if
    the candidate wins (Silver et al., "Mastering the game of Go without human knowledge", 2017); 0:
    no gating, the latest network plays."""
    gating_games: int = 100
    """Games of a gatekeeper match."""
    gating_threshold: float = 0.55
    """Score that the candidate needs in a gatekeeper match."""

    @property
    def search_config(self) -> NetworkSearchConfig:
        """Configuration of searches, in self-play and evaluations."""
        return NetworkSearchConfig(self.search_policy, params=SelectionParams(self.c_puct))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("num_simulations", "max_num_considered_actions"):
            check_integer(name, getattr(self, name), 1, 10**9)
        self.check_auto("buffer_size")
        self.check_auto("learning_starts", least=0)
        plies = ("temperature_plies", "random_plies")
        for name in ("fast_simulations", *plies, "solver_empties", "gating_interval"):
            check_integer(name, getattr(self, name), 0, 2**62)
        check_integer("eval_simulations", self.eval_simulations, 0, 10**6)
        check_integer("gating_games", self.gating_games, 2, 10**6)
        fractions = ("full_search_prob", "dirichlet_fraction", "outcome_weight", "gating_threshold")
        for name in fractions:
            check_real(name, getattr(self, name), 0, 1)
        for name in ("c_puct", "dirichlet_alpha", "temperature", "vf_coef"):
            check_real(name, getattr(self, name), 0, 1e9)
        check_choice("search_policy", self.search_policy, ("puct", "gumbel"))
        if not self.eval_opponents:
            raise ValueError("eval_opponents must name at least one opponent, got none")


@dataclass(frozen=True)
class AlphaZeroRollout:
    """Rollout of B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of player 0. Shape `[B]`.
        planes: observations of the player to move, packed by `ludoteca.train.replay.Packing`. Shape
            `[B, T, bytes]`.
        policies: policies of the search, or of the solved move, in the network's numbering of
            actions (see `Encoder`), float16. Shape `[B, T, A]`.
        values: root values of the search, or solved ones, for the player to move. Shape `[B, T]`.
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


class AlphaZero(Algorithm[AlphaZeroConfig]):
    """AlphaZero, with PUCT or Gumbel search; see `Algorithm` for its methods."""

    title = "AlphaZero"
    module = "ludoteca.train.alphazero"
    config_class, rollout_class = AlphaZeroConfig, AlphaZeroRollout
    encoder_class, make_network, load_network = Encoder, make_pv_network, load_pv_network
    learns_chance = False  # its search does not support chance
    agent_name = "az"
    limits = AutoLimits(
        games_per_iteration=256,
        log_interval=512,
        eval_interval=2_560,
        start=("learning_starts", 10_000),
        buffer=("buffer_size", 500_000),
        buffer_fraction=0.5,  # targets of early networks are soon outdated
    )
    rollout_metrics = ("training__first", "training__draws", "plies")
    loss_metrics = plotted_losses = ("policy_loss", "value_loss")

    def __init__(self, config: AlphaZeroConfig, game: Game, network: PVNetwork):
        super().__init__(config, game, network)
        self.encoder = Encoder(game)
        columns: dict[str, Kind] = {"planes": "planes", "policy": "policy", "value": "scalar"}
        self.layout = ExampleLayout(self.encoder, columns)
        self.endgame = make_endgame_solver(game) if config.solver_empties else None
        self.lines: dict[int, OptimalLine] = {}  # continuations of solved games, by `env_index`

    @cached_property
    def search(self) -> NetworkGuidedSearch:
        """Searches of the games of a rollout."""
        config = self.config
        return NetworkGuidedSearch(
            self.encoder,
            config.games_per_iteration,
            max(config.num_simulations, config.fast_simulations),
            config.search_config,
            config.max_num_considered_actions,
        )

    def collect(self, infer: Inference, rng: np.random.Generator, games: int) -> AlphaZeroRollout:
        """Play a rollout by search; each game begins with some random plies. See `Algorithm`."""
        batch = self.rollout_games
        count, plies = batch.count, batch.plies
        batch.reset(rng)
        self.lines.clear()
        opening = rng.integers(self.config.random_plies + 1, size=count).astype(np.int16)
        uniform_fractions = rng.random(count)  # fraction of uniform moves in each opening
        rollout = AlphaZeroRollout(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros(count, np.float32),
            planes=np.zeros((count, plies, self.layout.planes.size), np.uint8),
            policies=np.zeros((count, plies, self.game.num_actions), np.float16),
            values=np.zeros((count, plies), np.float32),
            movers=np.zeros((count, plies), np.int8),
            full=np.zeros((count, plies), np.bool_),
            opening=opening,
        )
        for turn in batch.turns():
            ply, live = turn.ply, turn.env_indices
            actions = np.zeros(len(live), np.int64)
            policies = np.zeros((len(live), self.game.num_actions), np.float32)
            values, full = np.zeros(len(live), np.float32), np.zeros(len(live), np.bool_)
            for row, line in self._solved(turn):
                actions[row] = line.next()
                policies[row, actions[row]], full[row] = 1, True
                values[row] = line.value if line.mover == turn.movers[row] else -line.value
            rows = np.flatnonzero(~full)
            if len(rows) > 0:
                full[rows] = rng.random(len(rows)) < self.config.full_search_prob
                result = self._search(turn, rows, full[rows], make_evaluator(infer), rng)
                policies[rows], values[rows] = result.action_weights, result.root_value
                in_opening = opening[live[rows]] > ply
                fractions = uniform_fractions[live[rows]]
                actions[rows] = self._select_moves(result, in_opening, fractions, ply, rng)
            rollout.planes[live, ply] = self.layout.planes.pack(turn.planes)
            rollout.policies[live, ply] = self.encoder.translate_policy(policies, turn.movers)
            rollout.values[live, ply], rollout.full[live, ply] = values, full
            rollout.movers[live, ply] = turn.movers
            rollout.lengths[live] += 1
            batch.step(turn, actions)
        rollout.returns[:] = batch.returns[:, 0]
        return rollout

    def _solved(self, turn: Turn) -> Iterator[tuple[int, OptimalLine]]:
        """Yield each row of a turn whose game is solved, and its continuation by best moves."""
        if self.endgame is None:
            return
        for row, env_index in enumerate(turn.env_indices.tolist()):
            s = turn.states[row]
            if env_index not in self.lines:
                if self.endgame.empty(s) > self.config.solver_empties:
                    continue
                self.lines[env_index] = OptimalLine(self.game, self.endgame, s)
            yield row, self.lines[env_index]

    def _search(
        self,
        turn: Turn,
        rows: NDArray[np.int64],
        full: NDArray[np.bool_],
        evaluate: Evaluate,
        rng: np.random.Generator,
    ) -> SearchResult:
        """Search rows `[R]` of a turn, fully where `full` `[R]` (playout cap randomization)."""
        config = self.config

        def evaluate_or_stop(*positions: Any) -> Any:
            self.monitor.check()
            return evaluate(*positions)

        return self.search.run(
            turn.states[rows],
            evaluate_or_stop,
            np.where(full, config.num_simulations, config.fast_simulations),
            rng,
            # Noise is for exploration, so that fast searches have none (Wu 2019, section 3.1).
            dirichlet_fraction=np.where(full, config.dirichlet_fraction, 0),
            gumbel_scale=1.0,
            dirichlet_alpha=config.dirichlet_alpha or 10 / float(turn.masks[rows].sum(1).mean()),
        )

    def _select_moves(
        self,
        result: SearchResult,
        opening: NDArray[np.bool_],
        uniform_fraction: NDArray[np.float64],
        ply: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the moves of R searched games: by the search, or random where `opening` `[R]`.

        A random move is uniform with probability `uniform_fraction` `[R]`, else by the root priors.
        """
        config, count, selected = self.config, len(opening), result.action
        sampling = config.search_policy == "puct" and config.temperature > 0
        if sampling and ply < config.temperature_plies:
            weights = result.action_weights
            selected = sample_by_weight(weights, rng.random(count), config.temperature)
        if not opening.any():
            return selected
        priors = self.search.root_priors  # without Dirichlet noise; negative: illegal
        by_prior = sample_by_weight(np.maximum(priors, 0).astype(np.float64), rng.random(count))
        uniform = sample_legal((priors >= 0).astype(np.int8), rng.random(count))
        mixed = np.where(rng.random(count) < uniform_fraction, uniform, by_prior)
        return np.where(opening, mixed, selected)

    def targets(self, rollout: AlphaZeroRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the positions with full searches or solved: policy and value targets.

        The value target is a mean of the game's result, with weight `outcome_weight`, and the root
        value of the search. Before a random ply the target is the root value alone: random plies
        decide the result.
        """
        selected = rollout.full & (np.arange(rollout.full.shape[1]) < rollout.lengths[:, None])
        game, ply = np.nonzero(selected)
        records = np.zeros(len(game), self.layout.dtype)
        records["planes"] = rollout.planes[game, ply]
        records["policy"] = rollout.policies[game, ply]
        result = rollout.returns[game] * np.where(rollout.movers[game, ply] == 0, 1, -1)
        weight = np.where(ply < rollout.opening[game], 0, self.config.outcome_weight)
        records["value"] = weight * result + (1 - weight) * rollout.values[game, ply]
        return records

    def loss(self, batch: Tensors) -> Tensors:
        """Compute cross-entropy of the policy plus squared error of the value.

        Silver et al. (2018), equation 1: `(z - v)^2 - pi^T log p`.
        """
        outputs = self.model.outputs(batch["planes"])
        log_policy = functional.log_softmax(outputs[:, :-1], 1)
        policy_loss = -(batch["policy"] * log_policy).sum(1).mean()
        value_loss = functional.mse_loss(outputs[:, -1], batch["value"])
        loss = policy_loss + self.config.vf_coef * value_loss
        return {"loss": loss, "policy_loss": policy_loss, "value_loss": value_loss}

    def make_inference(self, runner: Any) -> CachedRunner:
        """Return the forward pass of the self-play network, with an evaluation cache."""
        return CachedRunner(runner, self.encoder.shape, self.game.num_actions + 1)

    def wrap_actor(self, actor: Any) -> Any:
        """Return the actor, wrapped in a gatekeeper if `gating_interval` is not 0."""
        return Gatekeeper(self, actor) if self.config.gating_interval > 0 else actor

    def measure(self, rollout: AlphaZeroRollout) -> dict[str, tuple[float, float]]:
        """Return sums and counts: games that the first player won, draws, and plies."""
        games = len(rollout.lengths)
        return {
            "training__first": (int((rollout.returns > 0).sum()), games),
            "training__draws": (int((rollout.returns == 0).sum()), games),
            "plies": (int(rollout.lengths.sum()), games),
        }

    def score(self, matches: list[Any]) -> float:
        """Return the mean score against the last opponent."""
        return float(matches[-1].totals[0].score)

    def agent(self) -> PolicyValueAgent:
        """Return the current network as an agent that searches."""
        config = self.config
        return PolicyValueAgent(
            self.game,
            Runner(self.network, self.encoder.scale, config.device, config.precision),
            config.eval_simulations,
            config.search_config,
            config.max_num_considered_actions,
            solver_empties=config.solver_empties,
        )

    def trained_agent(self, file: Path) -> AlphaZeroAgent:
        """Return an agent with the network in a file."""
        config = self.config
        shared = ("c_puct", "max_num_considered_actions", "solver_empties", "device", "precision")
        options = {name: getattr(config, name) for name in shared}
        simulations, policy = config.eval_simulations, config.search_policy
        return AlphaZeroAgent(self.game, file, simulations=simulations, policy=policy, **options)

    def report_text(self) -> ReportText:
        """Return the description of the run in its report."""
        plays = f"The agent searches with {self.config.eval_simulations} simulations a move."
        return ReportText("itself", "both", plays)


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("alphazero")
