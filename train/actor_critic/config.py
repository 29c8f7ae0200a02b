"""Settings of actor-critic learning, and its presets `default` and `uib2021`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.ac_network import UIB2021 as UIB2021_NETWORK
from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.auto_settings import AutoLimits
from ludoteca.train.settings import AUTO, RLConfig


@dataclass(frozen=True)
class ActorCriticConfig(RLConfig):
    """Settings of actor-critic learning."""

    run_dir: Path = Path("runs/actor_critic")
    game: str = "hungry_geese"
    """Simultaneous game, as a spec string."""
    games: int = 100_000
    network: ACConfig = field(default_factory=ACConfig)

    learning_rate: float = 1e-3
    final_learning_rate: float = 5e-5
    weight_decay: float = 0.0
    max_grad_norm: float = 0.5
    batch_size: int = 1024
    """Decisions per minibatch (one gradient update each)."""
    replay_ratio: float = 1.0
    """Mean number of times that each decision is sampled for an update (PPO: the number of epochs).
    Below 1, a random subset is used."""

    augment: bool = False
    """Data augmentation: apply a random symmetry of the game to each minibatch. For `ppo` this adds
    noise: the probability ratio compares with the policy in the original orientation."""

    eval_opponents: tuple[str, ...] = ("greedy", "deterministic")
    """Opponents in evaluations, as spec strings; each takes all other seats. The evaluation score
    is the mean over them."""
    checkpoint_selection: Literal["best", "last"] = "last"
    final_eval_games: int = 250

    confident_fraction: float = 1.0
    """Fraction of the confident decisions (an action had probability 0.95 or more) that are used in
    updates. They hardly change the policy, and are about half of all decisions of a good
    network."""

    overlap_actor_learner: bool = False
    """Play the next rollout in a second thread during the updates. The self-play network is then
    one iteration old, and the policy oscillates around its target."""
    threads: int = 2
    """PyTorch threads of the network, in self-play and updates."""

    method: Literal["ppo", "search", "uib2021"] = "ppo"
    """`ppo`: proximal policy optimization (Schulman et al., 2017). `search`: some positions are
    searched, and the network imitates the improved policy (Silver et al., 2018; Danihelka et al.,
    2022). `uib2021`: the loop of Martín Miralles (UIB, 2021), section 5.1: one epoch over a
    rollout, then a gatekeeper match against the previous network."""
    gamma: float = 1.0
    """Discount factor per decision."""
    gae_lambda: float = 0.9
    """Lambda of generalized advantage estimation (Schulman et al., "High-dimensional continuous
    control using generalized advantage estimation", 2016); 1: return minus value."""
    clip_range: float = 0.2
    """PPO: clip range of the probability ratio."""
    ent_coef: float = 0.02
    """Initial coefficient of the entropy bonus."""
    final_ent_coef: float = 0.002
    """Final coefficient of the entropy bonus, after a linear decay."""
    vf_coef: float = 1.0
    """Coefficient of the value loss (mean squared error); that of the policy loss is 1."""

    opponent_pool: tuple[str, ...] = ("greedy", "deterministic")
    """Agents of the opponent pool, as spec strings. Past networks of the run belong to it, too."""
    opponent_pool_prob: float = 0.25
    """Probability that a game has opponents from the pool. In such a game each seat but one is
    taken by a pool member with probability 0.5."""
    num_past_opponents: int = 4
    """Maximum number of past networks in the opponent pool; the oldest is replaced."""
    past_opponent_interval: int = AUTO
    """Games between past networks that join the pool. -1: 1/16 of the games, at most 5,120."""

    num_simulations: int = 48
    """Search: simulations per search."""
    search_prob: float = 0.25
    """Search: probability that a position is searched and used in updates; in the others, moves are
    sampled from the policy network."""
    c_puct: float = 1.0
    """Search: exploration constant of PUCT."""
    fpu_reduction: float = 0.1
    """Search: first-play urgency reduction: an unvisited action has the value of its parent minus
    this, on the scale 0 to 1."""
    root_uniform_fraction: float = 0.15
    """Search: fraction of a uniform distribution mixed into the root priors."""
    value_scale: float = 60.0
    """Search: scale of action values in the improved policy: the logit of an action grows by this
    if its value is 1 instead of 0."""
    improvement_fraction: float = 0.0
    """Search: fraction of the replay buffer sampled in proportion to the policy improvement of the
    search, the rest uniformly: most decisions hardly matter. KataGo samples by the divergence of
    the two policies ("policy surprise weighting")."""
    buffer_size: int = 200_000
    """Search: capacity of the replay buffer, in decisions."""

    gating_games: int = 100
    """uib2021: games of a gatekeeper match."""
    gating_threshold: float = 0.5
    """uib2021: score that the candidate network must exceed."""
    max_rollouts: int = 8
    """uib2021: maximum number of rollouts learned from together, while no candidate is accepted."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_auto("past_opponent_interval")
        for name in ("gating_games", "max_rollouts", "num_simulations", "buffer_size"):
            integer(name, getattr(self, name), 1, 10**9)
        integer("num_past_opponents", self.num_past_opponents, 0, 1000)
        shares = (
            "confident_fraction",
            "opponent_pool_prob",
            "gating_threshold",
            "search_prob",
            "improvement_fraction",
        )
        for name in ("gamma", "gae_lambda", "root_uniform_fraction", "fpu_reduction", *shares):
            real(name, getattr(self, name), 0, 1)
        for name in (
            "clip_range",
            "ent_coef",
            "final_ent_coef",
            "vf_coef",
            "c_puct",
            "value_scale",
        ):
            real(name, getattr(self, name), 0, 1e9)
        choice("method", self.method, ("ppo", "search", "uib2021"))
        if not self.network.value:
            raise ValueError("an actor-critic network needs network.value=True")
        if not self.eval_opponents:
            raise ValueError("eval_opponents must name at least one opponent, got none")
        if self.method == "uib2021" and self.overlap_actor_learner:
            raise ValueError(
                "method=uib2021 cannot play and learn at once: needs overlap_actor_learner=False"
            )


LIMITS = AutoLimits(
    games_per_iteration=128, log_interval=1_024, eval_interval=10_240, past_opponent_interval=5_120
)
DEFAULT = ActorCriticConfig()
# Martín Miralles, "Hungry Geese" (UIB, 2021), sections 2.4 and 5. The thesis specifies neither
# the number of games nor the optimizer of this part; the latter is that of its imitation network.
UIB2021 = ActorCriticConfig(
    run_dir=Path("runs/actor_critic_document"),
    method="uib2021",
    network=UIB2021_NETWORK,
    games_per_iteration=500,
    log_interval=1_024,
    eval_interval=10_240,
    optimizer="sgd",
    learning_rate=0.01,
    final_learning_rate=0.01,
    max_grad_norm=0.0,
    batch_size=128,
    gae_lambda=1.0,
    opponent_pool=(),
    opponent_pool_prob=0.0,
    num_past_opponents=0,
    past_opponent_interval=5_120,
    precision="float32",
)
