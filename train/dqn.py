"""Deep Q-learning with experience replay (DQN), for sequential two-player games.

Mnih et al., "Human-level control through deep reinforcement learning" (2015). Preset `default` adds
to it: double and dueling Q-networks, n-step returns, prioritized replay, and negamax targets that
exclude illegal actions. Preset `tanaka2018` has the settings of Tanaka, "Inteligencia artificial
para o jogo de Hex" (2018). An interrupted run resumes, with the same result, when the same command
is given again.
"""

import copy
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ludoteca.agents.dqn import MASKED_Q_VALUE, DQNAgent, QNetworkAgent, load_q_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import QConfig, QNetwork, make_q_network
from ludoteca.agents.registry import make_agent
from ludoteca.agents.sampling import sample_legal
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.train.algorithm import Algorithm, Inference, Model, ReportText, Tensors
from ludoteca.train.examples import ExampleLayout, Kind
from ludoteca.train.optimizer import Optimization, epsilon_at
from ludoteca.train.returns import final_rewards, n_step_returns
from ludoteca.train.settings import AUTO, AutoLimits, RLConfig


@dataclass(frozen=True)
class DQNConfig(RLConfig):
    """Settings of deep Q-learning."""

    algorithm = "dqn"

    run_dir: Path = Path("runs/dqn")
    games: int = 100_000
    network: QConfig = field(default_factory=QConfig)
    start_from: Path | None = None
    """Network file or run folder whose weights initialize the network; None: random weights. A
    network of kind `residual` may come from any board size."""

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD."""
    momentum: float = 0.1
    """Momentum of SGD."""
    weight_decay: float = 1e-5
    """Weight decay coefficient of AdamW."""
    batch_size: int = 512
    """Transitions per minibatch (one gradient update each)."""
    replay_ratio: float = 2.0
    """Mean number of times that each transition is sampled for an update."""
    games_per_update: int | None = None
    """Games per gradient update, instead of `replay_ratio`; None: use `replay_ratio`. The updates
    for the games before `learning_starts` is reached are made at that time."""
    learning_starts: int = AUTO
    """Transitions collected before the first update. -1: about 1/100 of those of the run (estimated
    from the length of random games), at most 5,000."""

    eval_games: int = 200
    eval_opponents: tuple[str, ...] = ()
    """Opponents in evaluations, as spec strings; by default the training opponent, or `random`
    after self-play. The evaluation score is the fraction of games won against the first one, in the
    seats of `agent_seat`."""
    final_eval_games: int = 1_000

    opponent: str = "self"
    """Training opponent: `self` (self-play), or a spec string, such as `mixed:epsilon=0.2`."""
    opponent_prob: float = 1.0
    """Probability that a game is against `opponent`; the other games are self-play."""
    agent_seat: Literal["first", "second", "both"] = "both"
    """Player that the learning agent is; `both`: alternating. No effect in self-play."""
    experience: Literal["simple", "mirrored"] = "mirrored"
    """Transitions stored in the replay buffer. `simple`: the agent's own moves. `mirrored`: also
    the opponent's moves, from the opponent's perspective (Tanaka, 2018, section 3.5). No effect in
    self-play."""
    exploration_initial_eps: float = 0.3
    """Initial probability of a random move (epsilon-greedy)."""
    exploration_final_eps: float = 0.05
    """Final probability of a random move, after a linear decay."""
    exploration_fraction: float = 0.3
    """Fraction of the games over which the exploration rate decays."""

    td_target: Literal["reply", "negamax"] = "negamax"
    """State that the TD target bootstraps from. `reply`: the agent's next turn, after the
    opponent's reply (maximum over the agent's moves). `negamax`: the next position (minus the
    maximum over the opponent's moves)."""
    win_reward: float = 1.0
    """Reward of a win; a draw has reward 0."""
    loss_reward: float = -1.0
    """Reward of a loss."""
    loss_reward_by_length: bool = False
    """Multiply the reward of a loss by 1 - plies / (`game.max_plies` + 1): a later loss is less
    negative."""
    gamma: float = 1.0
    """Discount factor per step; a step leads from one state of `td_target` to the next."""
    n_step: int = 3
    """Steps of the n-step return, cut short before the next exploratory move (as in Watkins'
    Q(lambda): Sutton and Barto, "Reinforcement learning", 2018, section 12.10)."""
    double_q: bool = True
    """Double DQN: the online network selects the next action, the target network evaluates it (van
    Hasselt, Guez and Silver, "Deep reinforcement learning with double Q-learning", 2016)."""
    masked_targets: bool = True
    """Exclude illegal actions from the maximum in TD targets."""
    target_update_interval: int = 200
    """Updates between copies of the online network to the target network; 0: no target network."""
    loss_function: Literal["mse", "huber", "bce"] = "bce"
    """`mse`: 0.5 (y - Q)^2 for a TD target y. `huber`: Huber loss. `bce`: cross-entropy of the win
    probability, for networks whose Q-values are in [-1, 1] (`network.bounded`)."""

    buffer_size: int = AUTO
    """Capacity of the replay buffer, in transitions. -1: those of the run, at most 200,000."""
    prioritized_replay: bool = True
    """Prioritized replay: sample transitions by priorities, powers of their absolute TD errors."""
    prioritized_replay_alpha: float = 0.5
    """Exponent of the absolute TD error; 0: uniform sampling."""
    prioritized_replay_beta: float = 0.5
    """Exponent of the importance-sampling weights; 1: full correction of the sampling bias."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("n_step", self.n_step, 1, 10**9)
        self.check_auto("buffer_size")
        self.check_auto("learning_starts", least=0)
        check_integer("target_update_interval", self.target_update_interval, 0, 2**62)
        for name in (
            "exploration_initial_eps",
            "exploration_final_eps",
            "exploration_fraction",
            "gamma",
            "momentum",
            "opponent_prob",
            "prioritized_replay_beta",
        ):
            check_real(name, getattr(self, name), 0, 1)
        check_real("prioritized_replay_alpha", self.prioritized_replay_alpha, 0, 1e9)
        check_choice("agent_seat", self.agent_seat, ("first", "second", "both"))
        check_choice("experience", self.experience, ("simple", "mirrored"))
        check_choice("td_target", self.td_target, ("reply", "negamax"))
        check_choice("loss_function", self.loss_function, ("mse", "huber", "bce"))
        if self.opponent == "self" and self.opponent_prob < 1:
            raise ValueError(f"opponent_prob={self.opponent_prob} needs an opponent, got self")
        if self.games_per_update is not None:
            check_integer("games_per_update", self.games_per_update, 1, 10**9)
        bounded = self.network.bounded
        if bounded != (self.loss_function == "bce"):
            raise ValueError(
                f"the loss {self.loss_function} needs network.bounded={not bounded}: bce is for "
                "win probabilities, the others for unbounded values"
            )
        if bounded and not -1 <= self.loss_reward <= self.win_reward <= 1:
            raise ValueError(
                "a bounded network needs -1 <= loss_reward <= win_reward <= 1, got "
                f"win_reward={self.win_reward}, loss_reward={self.loss_reward}"
            )


@dataclass(frozen=True)
class DQNRollout:
    """Rollout of B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of both players. Shape `[B, 2]`.
        seats: seat of the learner, or -1 for both. Shape `[B]`.
        planes: observations of the player to move, packed by `ludoteca.train.replay.Packing`. Shape
            `[B, T, bytes]`.
        masks: legal actions, packed likewise. Shape `[B, T, bytes]`.
        actions: actions, in the network's numbering (see `Encoder`). Shape `[B, T]`.
        movers: player to move. Shape `[B, T]`.
        explored: whether the action was exploratory: random, and not the greedy one. Shape
            `[B, T]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    actions: NDArray[np.int64]
    movers: NDArray[np.int8]
    explored: NDArray[np.bool_]


class DQN(Algorithm[DQNConfig]):
    """Deep Q-learning against itself or an opponent; see `Algorithm` for its methods."""

    title = "Deep Q-learning"
    module = "ludoteca.train.dqn"
    config_class, rollout_class = DQNConfig, DQNRollout
    encoder_class, make_network, load_network = Encoder, make_q_network, load_q_network
    agent_name, agent_class = "dqn", DQNAgent
    limits = AutoLimits(
        games_per_iteration=256,
        log_interval=2_000,
        eval_interval=10_000,
        start=("learning_starts", 5_000),
        buffer=("buffer_size", 200_000),
    )
    rollout_metrics = ("training__first", "training__second", "plies")
    loss_metrics = plotted_losses = ("loss",)

    def __init__(self, config: DQNConfig, game: Game, network: QNetwork):
        super().__init__(config, game, network)
        self.encoder = Encoder(game)
        kinds: dict[str, Kind] = {"action": "action", "reward": "scalar", "discount": "scalar"}
        next_kinds: dict[str, Kind] = {"next_planes": "planes", "next_mask": "mask"}
        self.layout = ExampleLayout(self.encoder, {"planes": "planes", **kinds, **next_kinds})
        self.opponent = None if config.opponent == "self" else make_agent(config.opponent, game)
        seats = {"first": [0], "second": [1], "both": [0, 1]}[config.agent_seat]
        # Player that the learner is in games 0, 1, 2, ..., repeated; -1: both players.
        self.seats = np.array([-1] if self.opponent is None else seats, np.int8)

    def collect(self, infer: Inference, rng: np.random.Generator, games: int) -> DQNRollout:
        """Play a rollout epsilon-greedily, after `games` games of the run."""
        batch, epsilon = self.rollout_games, epsilon_at(self.config, games)
        count, plies = batch.count, batch.plies
        batch.reset(rng)
        opponent_rngs = rng.integers(2**63, size=(count, 1)).astype(np.uint64)
        seats = np.resize(self.seats, count)
        if self.config.opponent_prob < 1:
            seats[rng.random(count) >= self.config.opponent_prob] = -1
        if self.opponent is not None:
            self.opponent.reset(np.arange(count))
        rollout = DQNRollout(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros((count, 2), np.float32),
            seats=seats,
            planes=np.zeros((count, plies, self.layout.planes.size), np.uint8),
            masks=np.zeros((count, plies, self.layout.masks.size), np.uint8),
            actions=np.zeros((count, plies), np.int64),
            movers=np.zeros((count, plies), np.int8),
            explored=np.zeros((count, plies), np.bool_),
        )
        for turn in batch.turns():
            ply, live = turn.ply, turn.env_indices
            learner_rows = np.flatnonzero((seats[live] < 0) | (seats[live] == turn.movers))
            chosen = np.zeros(len(live), np.int64)  # in the network's numbering
            if len(learner_rows) > 0:
                masks = turn.masks[learner_rows]
                q = np.where(masks == 1, infer(turn.planes[learner_rows]), MASKED_Q_VALUE)
                greedy = q.argmax(1)
                random = sample_legal(masks, rng.random(len(masks)))
                chosen[learner_rows] = np.where(rng.random(len(masks)) < epsilon, random, greedy)
                rollout.explored[live[learner_rows], ply] = chosen[learner_rows] != greedy
            if len(learner_rows) < len(live):
                rows = np.setdiff1d(np.arange(len(live)), learner_rows, assume_unique=True)
                actions = batch.act(self.opponent, turn, rows, opponent_rngs)
                chosen[rows] = self.encoder.translate(actions, turn.movers[rows])
            rollout.planes[live, ply] = self.layout.planes.pack(turn.planes)
            rollout.masks[live, ply] = self.layout.masks.pack(turn.masks)
            rollout.actions[live, ply] = chosen
            rollout.movers[live, ply] = turn.movers
            rollout.lengths[live] += 1
            batch.step(turn, self.encoder.translate(chosen, turn.movers))
        rollout.returns[:] = batch.returns
        return rollout

    def targets(self, rollout: DQNRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the n-step transitions of a rollout."""
        config = self.config
        stored = np.arange(rollout.actions.shape[1]) < rollout.lengths[:, None]
        if config.experience == "simple":
            seats = rollout.seats[:, None]
            stored &= (seats < 0) | (rollout.movers == seats)
        max_plies = self.game.max_plies if config.loss_reward_by_length else None
        outcomes = (rollout.returns, rollout.lengths, config.win_reward, config.loss_reward)
        rewards = final_rewards(*outcomes, max_plies)
        games = (rollout.lengths, rollout.movers, rollout.explored, rewards, stored)
        negamax = config.td_target == "negamax"
        steps = n_step_returns(*games, negamax, config.n_step, config.gamma)
        records = np.zeros(len(steps.games), self.layout.dtype)
        records["planes"] = rollout.planes[steps.games, steps.plies]
        records["action"] = rollout.actions[steps.games, steps.plies]
        records["reward"], records["discount"] = steps.rewards, steps.discounts
        has_bootstrap = steps.bootstraps >= 0
        bootstraps = (steps.games[has_bootstrap], steps.bootstraps[has_bootstrap])
        records["next_planes"][has_bootstrap] = rollout.planes[bootstraps]
        records["next_mask"][has_bootstrap] = rollout.masks[bootstraps]
        return records

    def loss(self, batch: Tensors) -> Tensors:
        """Compute the loss between Q(s, a) and its TD target; see `Algorithm`.

        If `network.bounded`, outputs are logits of the win probability, see `QNetwork.values`.
        """
        targets = self.td_targets(batch)
        chosen = self.model.outputs(batch["planes"]).gather(1, batch["action"][:, None])[:, 0]
        losses = self._losses(chosen, targets)
        if "weight" in batch:  # importance sampling
            losses = losses * batch["weight"]
        td_error = (self.network.values(chosen.detach()) - targets).abs()
        return {"loss": losses.mean(), "td_error": td_error}

    def td_targets(self, batch: Tensors) -> Tensor:
        """Return TD targets `reward + discount * Q(next, best)`. Shape `[N]`.

        With negamax targets, the discount is negative if the opponent is to move next; it is 0 if
        the game ends before. Double DQN (van Hasselt, Guez and Silver, 2016): the online network
        selects the next action, the target network evaluates it.
        """
        config, model = self.config, self.model
        targets = batch["reward"].clone()
        rows = batch["discount"].nonzero()[:, 0]  # transitions that do not end a game
        if len(rows) > 0:
            with torch.no_grad():
                planes, legal = batch["next_planes"][rows], batch["next_mask"][rows] == 1
                outputs = model.evaluate(self.target, planes)
                q = model.evaluate(self.network, planes) if config.double_q else outputs
                if config.masked_targets:
                    q = q.masked_fill(~legal, -math.inf)
                best = q.argmax(1, keepdim=True)
                values = self.network.values(outputs.gather(1, best)[:, 0])
            targets[rows] += batch["discount"][rows] * values
        return targets

    def _losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each transition, from outputs for its action. All shapes are `[N]`."""
        if self.config.loss_function == "bce":
            win_probs = (targets.clamp(-1, 1) + 1) / 2
            return functional.binary_cross_entropy_with_logits(outputs, win_probs, reduction="none")
        if self.config.loss_function == "huber":
            return functional.huber_loss(outputs, targets, reduction="none")
        return 0.5 * (targets - outputs) ** 2

    def begin_learning(self, model: Model) -> None:
        """Copy the network to the target network; without one, the network is its own target."""
        super().begin_learning(model)
        interval = self.config.target_update_interval
        self.target = copy.deepcopy(self.network) if interval else self.network

    def after_update(self, updates: int) -> None:
        """Update the target network at its interval."""
        interval = self.config.target_update_interval
        if interval and updates % interval == 0:
            self.target.load_state_dict(self.network.state_dict())

    def networks(self) -> dict[str, nn.Module]:
        """Return the online and the target network."""
        return {"network": self.network, "target": self.target}

    def optimization(self) -> Optimization:
        """Return the settings of AdamW, or of SGD without weight decay."""
        sgd = self.config.optimizer == "sgd"
        decay = 0.0 if sgd else self.config.weight_decay
        return replace(super().optimization(), momentum=self.config.momentum, decay=decay)

    def num_updates(self, games: int, examples: int, started: bool) -> float:
        """Return the number of updates that a rollout makes pending, see `Algorithm`."""
        if self.config.games_per_update is not None:
            return games / self.config.games_per_update
        return super().num_updates(games, examples, started)

    def measure(self, rollout: DQNRollout) -> dict[str, tuple[float, float]]:
        """Return sums and counts: plies, and wins by seat (against the opponent, if any)."""
        wins: dict[str, tuple[float, float]] = {}
        for seat, name in enumerate(("training__first", "training__second")):
            in_seat = rollout.seats == (-1 if self.opponent is None else seat)
            wins[name] = (int((rollout.returns[in_seat, seat] > 0).sum()), int(in_seat.sum()))
        return wins | {"plies": (int(rollout.lengths.sum()), len(rollout.lengths))}

    def metrics(self, games: int) -> dict[str, float | int | None]:
        """Return the exploration rate."""
        return {"epsilon": epsilon_at(self.config, games)}

    def opponents(self) -> tuple[str, ...]:
        """Return `eval_opponents`; by default the training opponent, or random moves."""
        opponent = self.config.opponent
        return self.config.eval_opponents or ("random" if opponent == "self" else opponent,)

    def score(self, matches: list[Any]) -> float:
        """Return the fraction of games won against the first opponent, as `agent_seat`."""
        seats = {"first": [0], "second": [1], "both": [0, 1]}[self.config.agent_seat]
        rates = [matches[0].seats[0][seat].win_rate for seat in seats]
        return float(sum(rates) / len(rates))

    def agent(self) -> QNetworkAgent:
        """Return an agent that plays the best legal action, with epsilon 0."""
        config = self.config
        return QNetworkAgent(self.game, self.network, 0.0, config.device, config.precision)

    def report_text(self) -> ReportText:
        """Return the description of the run in its report."""
        opponent = "itself" if self.opponent is None else self.config.opponent
        if self.config.opponent_prob < 1:
            opponent += " and itself"
        plays = "The network plays the legal move with the highest Q, without search."
        return ReportText(opponent, self.config.agent_seat, plays)


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("dqn")
