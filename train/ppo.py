"""Proximal policy optimization (PPO), for games of any number of players.

Schulman et al., "Proximal policy optimization algorithms" (2017). One network plays all seats,
against itself and an opponent pool of agents and past networks; each decision is credited with the
return of the player who made it. In one-player games there is no pool. Preset `uib2021` is the loop
of Martín Miralles, "Hungry Geese" (UIB, 2021), section 5. An interrupted run resumes, with the same
result, when the same command is given again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ludoteca.agents.actor_critic import ActorCriticAgent
from ludoteca.agents.networks.ac_network import ACNetwork, load_ac_network, make_ac_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.agents.seat_network import SeatNetworkAgent, masked_softmax
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_real
from ludoteca.train.actor_critic_rollout import LEARNER, ActorCriticRollout
from ludoteca.train.algorithm import (
    NOBODY,
    SELF_PLAY_RETURN,
    Algorithm,
    Inference,
    ReportText,
    Tensors,
)
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.opponent_pool import (
    LIMITS,
    ActorCriticConfig,
    OpponentPoolActor,
    PastNetworks,
)
from ludoteca.train.returns import advantages
from ludoteca.train.rollout_games import Turn

CONFIDENT_PROB = 0.95  # minimum probability of the most likely action in a confident decision


@dataclass(frozen=True)
class PPOConfig(ActorCriticConfig):
    """Settings of proximal policy optimization."""

    algorithm = "ppo"

    run_dir: Path = Path("runs/ppo")
    clip_range: float = 0.2
    """Clip range of the probability ratio."""
    ent_coef: float = 0.02
    """Initial coefficient of the entropy bonus."""
    final_ent_coef: float = 0.002
    """Final coefficient of the entropy bonus, after a linear decay."""
    confident_fraction: float = 1.0
    """Fraction of the confident decisions (an action had probability 0.95 or more) that are used in
    updates. They hardly change the policy, and are about half of all decisions of a good
    network."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("confident_fraction", self.confident_fraction, 0, 1)
        for name in ("clip_range", "ent_coef", "final_ent_coef"):
            check_real(name, getattr(self, name), 0, 1e9)


class ActorCritic(Algorithm[Any]):
    """Base class of actor-critic algorithms with an opponent pool; subclasses define the loss.

    See `Algorithm` for the methods.

    Attributes:
        pool: agents of the opponent pool.
        past: past networks in the opponent pool.
    """

    title = "Proximal policy optimization"
    encoder_class, make_network, load_network = SeatEncoder, make_ac_network, load_ac_network
    agent_name, agent_class = "ac", ActorCriticAgent
    rollout_class: ClassVar[type[ActorCriticRollout]] = ActorCriticRollout
    limits = LIMITS
    rollout_metrics: ClassVar[tuple[str, ...]] = (
        "plies",
        "decisions",
        "opponent_pool_return",
        SELF_PLAY_RETURN,
    )
    summed_metrics = ("decisions",)
    loss_metrics: ClassVar[tuple[str, ...]] = (
        "policy_loss",
        "value_loss",
        "entropy",
        "divergence",
    )
    plotted_losses = ("policy_loss", "value_loss")

    def __init__(self, config: Any, game: Game, network: ACNetwork):
        super().__init__(config, game, network)
        self.encoder = SeatEncoder(game, config.network.view)
        if game.num_players == 1 and config.opponent_pool:
            raise ValueError(
                f"{game.short_spec} has one player, so it has no opponents: expected an empty "
                f"opponent_pool, got {config.opponent_pool}"
            )
        self.pool = [make_agent(spec, game) for spec in config.opponent_pool]
        self.past = PastNetworks(self)

    def wrap_actor(self, actor: Any) -> Any:
        """Return the actor, with past networks in the opponent pool unless there is one player."""
        return actor if self.game.num_players == 1 else OpponentPoolActor(self, actor)

    def load_past(self, weights: list[dict[str, Tensor]]) -> None:
        """Load the weights of past networks."""
        for index, past_weights in enumerate(weights):
            self.past.load(index, past_weights)

    def collect(self, infer: Inference, rng: np.random.Generator, games: int) -> ActorCriticRollout:
        """Play a rollout by sampling from the policy; in some games opponents take some seats."""
        batch, opponents = self.rollout_games, [*self.pool, *self.past.agents]
        seat_agents = self._assign_seats(len(opponents), rng)
        opponent_rngs = rng.integers(2**63, size=seat_agents.shape).astype(np.uint64)
        lengths = np.zeros(batch.count, np.int64)
        decisions: list[tuple[NDArray[Any], ...]] = []
        for agent in opponents:
            agent.reset(np.arange(batch.count))
        batch.reset(rng)
        for turn in batch.turns():
            actions = np.zeros(len(turn.env_indices), np.int64)
            owners = seat_agents[turn.env_indices, turn.movers]
            learner_rows = np.flatnonzero(owners == LEARNER)
            if len(learner_rows) > 0:
                actions[learner_rows] = self._act(infer, turn, learner_rows, decisions, rng)
            for member, agent in enumerate(opponents, LEARNER + 1):
                rows = np.flatnonzero(owners == member)
                if len(rows) > 0:
                    actions[rows] = batch.act(agent, turn, rows, opponent_rngs)
            batch.step(turn, actions)
            lengths[turn.env_indices] = turn.ply + 1
        columns = (np.concatenate(parts) for parts in zip(*decisions, strict=True))
        return self.rollout_class(lengths, batch.returns, seat_agents, *columns)

    def _assign_seats(self, num_members: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Sample the agent of each seat, with a pool of `num_members`. Shape `[B, P]`.

        At least one seat of each game, drawn at random, is the learner's.
        """
        count, players = self.rollout_games.count, self.game.num_players
        with_opponents = rng.random(count) < self.config.opponent_pool_prob
        from_pool = rng.random((count, players)) < 0.5
        from_pool[np.arange(count), rng.integers(players, size=count)] = False
        sampled = np.zeros(1, np.int64)
        if num_members:
            sampled = rng.integers(num_members, size=(count, players))
        from_pool &= with_opponents[:, None] & (num_members > 0)
        return np.where(from_pool, LEARNER + 1 + sampled, LEARNER).astype(np.int8)

    def _act(
        self,
        infer: Inference,
        turn: Turn,
        rows: NDArray[np.int64],
        decisions: list[tuple[NDArray[Any], ...]],
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the network's actions in rows `[R]` of a turn, in the game's numbering.

        The decisions are appended to `decisions`, as columns of the rollout from `env_indices` on.
        """
        policies, values, *extra_columns = self.policies(infer, turn, rows, rng)
        actions = sample_by_weight(policies.astype(np.float64), rng.random(len(rows)))
        decisions.append(
            (
                turn.env_indices[rows].astype(np.int32),
                turn.movers[rows].astype(np.int8),
                self.layout.planes.pack(turn.planes[rows]),
                turn.masks[rows],
                actions.astype(self.game.action_dtype),
                policies[np.arange(len(rows)), actions],
                policies.max(1),
                values,
                *extra_columns,
            )
        )
        chosen: NDArray[np.int64] = self.encoder.translate(actions, turn.movers[rows])
        return chosen

    def policies(
        self, infer: Inference, turn: Turn, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Return policies `[R, A]`, values `[R]`, and further rollout columns, for R rows.

        The columns are those of a subclass's rollout, whose search may use `rng`.
        """
        outputs = infer(turn.planes[rows])
        return masked_softmax(outputs[:, :-1], turn.masks[rows]), outputs[:, -1].copy()

    def advantages(self, rollout: ActorCriticRollout) -> NDArray[np.float32]:
        """Compute generalized advantage estimates (GAE). Shape `[N]`."""
        config, decisions = self.config, (rollout.env_indices, rollout.seats, rollout.values)
        return advantages(*decisions, rollout.returns, config.gamma, config.gae_lambda)

    def log_policy(self, batch: Tensors) -> tuple[Tensor, Tensor]:
        """Return log-probabilities with illegal actions masked, `[N, A]`, and values, `[N]`."""
        outputs = self.model.outputs(batch["planes"])
        # -1e9 is finite: with minus infinity, the entropy of illegal actions would be NaN.
        logits = outputs[:, :-1].masked_fill(batch["mask"] == 0, -1e9)
        return functional.log_softmax(logits, 1), outputs[:, -1]

    def measure(self, rollout: ActorCriticRollout) -> dict[str, tuple[float, float]]:
        """Return sums and counts: plies, decisions, and returns with and without opponents.

        Returns without opponents are those of self-play; in zero-sum games they are left out, as
        they add up to 0.
        """
        has_opponents = (rollout.seat_agents != LEARNER).any(1)
        learner_seats = (rollout.seat_agents == LEARNER) & has_opponents[:, None]
        self_play_returns = rollout.returns[~has_opponents & (not self.game.zero_sum)]
        return {
            "plies": (int(rollout.lengths.sum()), len(rollout.lengths)),
            "decisions": (len(rollout.actions), 1),
            "opponent_pool_return": (
                float(rollout.returns[learner_seats].sum()),
                int(learner_seats.sum()),
            ),
            SELF_PLAY_RETURN: (float(self_play_returns.sum()), self_play_returns.size),
        }

    def search_options(self) -> dict[str, Any]:
        """Return the options of `SeatNetworkAgent.set_search` in evaluations: no search."""
        return {"simulations": 0}

    def agent(self) -> SeatNetworkAgent:
        """Return an agent that plays the best action of the current network."""
        config, scale = self.config, self.encoder.scale
        runner = Runner(self.network, scale, config.device, config.precision)
        agent = SeatNetworkAgent(self.encoder, runner)
        agent.set_search(**self.search_options())
        return agent

    def trained_agent(self, file: Path) -> ActorCriticAgent:
        """Return an agent with the network in a file."""
        options = self.search_options()
        return ActorCriticAgent(self.game, file, device=self.config.device, **options)

    def report_text(self) -> ReportText:
        """Return the description of the run in its report."""
        simulations = self.search_options()["simulations"]
        play = f"searches with {simulations} simulations" if simulations else "does not search"
        partner = "itself and an opponent pool" if self.config.opponent_pool_prob else "itself"
        return ReportText(
            NOBODY if self.game.num_players == 1 else partner,
            "any",
            f"The network {play}, and takes the action with the highest probability.",
        )


class PPO(ActorCritic):
    """Proximal policy optimization.

    Attributes:
        columns: kind of each column of the training examples, by name.
    """

    module = "ludoteca.train.ppo"
    config_class: ClassVar[type[Any]] = PPOConfig
    on_policy = True
    columns: ClassVar[dict[str, Any]] = {
        "planes": "planes",
        "mask": "mask",
        "action": "action",
        "prob": "scalar",
        "max_prob": "scalar",
        "advantage": "scalar",
        "target": "scalar",
    }

    def __init__(self, config: Any, game: Game, network: ACNetwork):
        super().__init__(config, game, network)
        self.layout = ExampleLayout(self.encoder, self.columns)

    def targets(self, rollout: ActorCriticRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return all decisions, with normalized advantages and value targets."""
        gae = self.advantages(rollout)
        return self.decisions(rollout, gae, (gae - float(gae.mean())) / (float(gae.std()) + 1e-8))

    def decisions(
        self,
        rollout: ActorCriticRollout,
        gae: NDArray[np.float32],
        advantage: NDArray[np.float32],
    ) -> NDArray[np.void]:
        """Return the training examples of all decisions.

        Args:
            rollout: the rollout.
            gae: advantages for the value targets. Shape `[N]`.
            advantage: advantages for the policy loss. Shape `[N]`.
        """
        records = np.zeros(len(gae), self.layout.dtype)
        records["planes"] = rollout.planes
        records["mask"] = self.layout.masks.pack(rollout.masks)
        records["action"], records["prob"] = rollout.actions, rollout.probs
        records["max_prob"], records["advantage"] = rollout.max_probs, advantage
        records["target"] = np.clip(gae + rollout.values, -1, 1)  # the range of returns
        return records

    def order(self, records: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the order of updates, with `confident_fraction` of the confident decisions."""
        order, fraction = super().order(records, rng), self.config.confident_fraction
        if fraction == 1:
            return order
        # The choice depends on the policy only: if it depended on the action, updates were biased.
        confident = records["max_prob"][order] >= CONFIDENT_PROB
        selected: NDArray[np.int64] = order[~confident | (rng.random(len(order)) < fraction)]
        return selected

    def loss(self, batch: Tensors) -> Tensors:
        """Compute clipped surrogate loss, value loss and entropy bonus.

        Schulman et al. (2017), equation 9: `-L^CLIP + c1 (V - V_target)^2 - c2 entropy`.
        """
        config = self.config
        log_policy, values = self.log_policy(batch)
        log_prob = log_policy.gather(1, batch["action"][:, None])[:, 0]
        log_ratio = log_prob - batch["prob"].clamp(min=1e-9).log()
        policy_loss = self.policy_loss(log_prob, log_ratio, batch["advantage"])
        value_loss = functional.mse_loss(values, batch["target"])
        entropy = mean_entropy(log_policy)
        loss = policy_loss + config.vf_coef * value_loss - self.ent_coef * entropy
        # Approximate KL divergence, estimator k3 of Schulman, "Approximating KL divergence" (2020).
        divergence = (log_ratio.exp() - 1 - log_ratio).mean()
        losses = {"policy_loss": policy_loss, "value_loss": value_loss}
        return {"loss": loss, **losses, "entropy": entropy, "divergence": divergence}

    def policy_loss(self, log_prob: Tensor, log_ratio: Tensor, advantage: Tensor) -> Tensor:
        """Compute the policy loss of N sampled actions; all arguments have shape `[N]`.

        Args:
            log_prob: log-probabilities of the actions.
            log_ratio: log-probability ratios to the policy that sampled the actions.
            advantage: advantages of the actions.
        """
        return clipped_loss(log_ratio, advantage, self.config.clip_range)

    @property
    def ent_coef(self) -> float:
        """Coefficient of the entropy bonus, after a linear decay."""
        initial, final = self.config.ent_coef, self.config.final_ent_coef
        return float(initial + (final - initial) * min(self.progress, 1.0))


def clipped_loss(log_ratio: Tensor, advantage: Tensor, clip_range: float) -> Tensor:
    """Compute the clipped surrogate loss. Schulman et al. (2017), equation 7.

    Args:
        log_ratio: log-probability ratios to the behavior policy. Shape `[N]`.
        advantage: advantages. Shape `[N]`.
        clip_range: clip range (epsilon).
    """
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


def mean_entropy(log_policy: Tensor) -> Tensor:
    """Return the mean entropy of policies with these log-probabilities, in nats."""
    return -(log_policy.exp() * log_policy).sum(1).mean()


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("ppo")
