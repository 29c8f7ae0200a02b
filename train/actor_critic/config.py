"""Settings of actor-critic learning, and two presets: the document's, and one that learns well."""

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
    """Settings; with the same ones, a run gives the same network on the same machine."""

    run_dir: Path = Path("runs/actor_critic")
    game: str = "hungry_geese"
    """The game, in which all move at once, as a spec string."""
    games: int = 100_000
    network: ACConfig = field(default_factory=ACConfig)

    learning_rate: float = 1e-3
    final_learning_rate: float = 5e-5
    weight_decay: float = 0.0
    max_grad_norm: float = 0.5
    batch_size: int = 1024
    """Decisions per update."""
    replay_ratio: float = 1.0
    """How often a decision is learned from, on average. Below 1, only some are, drawn at random."""

    augment: bool = False
    """Show batches under random symmetries of the game. What is learned is compared with the
    probability in the view that was played, so that this is noise to `ppo`."""

    eval_opponents: tuple[str, ...] = ("greedy", "deterministic")
    """Opponents there, each in all other seats; the mean score tells which network is the best."""
    checkpoint_selection: Literal["best", "last"] = "last"
    final_eval_games: int = 250

    confident_fraction: float = 1.0
    """Share of the decisions in which one action had a probability of 95 % or more that are learned
    from: they hardly move the policy, and are about half of all once it is good."""

    overlap_actor_learner: bool = False
    """Play the next round while learning from the last one, on two cores: games are then played by
    the network of one round before, and policies swing around what they aim at."""
    threads: int = 2
    """Threads of the network, when it plays and when it learns."""

    method: Literal["ppo", "search", "uib2021"] = "ppo"
    """`ppo`: proximal policy optimization (Schulman et al., 2017). `search`: some positions are
    searched, and the network learns what the search makes of its policy (Silver et al., 2018;
    Danihelka et al., 2022). `uib2021`: the loop of Martín Miralles (UIB, 2021), section 5.1: one
    epoch on the games of a round, whose network is taken over if it beats the last one."""
    gamma: float = 1.0
    """Discount of what is gained later."""
    gae_lambda: float = 0.9
    """Advantages: lambda of their exponential mean (Schulman et al., "High-dimensional continuous
    control using generalized advantage estimation", 2016); 1: result minus value."""
    clip_range: float = 0.2
    """A decision is only learned from until its probability has changed by so much."""
    ent_coef: float = 0.02
    """Weight of the policy's entropy, at first."""
    final_ent_coef: float = 0.002
    """At last; it falls in a straight line."""
    vf_coef: float = 1.0
    """Of the value's loss, mean squared error, beside the policy's."""

    opponent_pool: tuple[str, ...] = ("greedy", "deterministic")
    """Agents that take seats in some of the games, beside networks of the past."""
    opponent_pool_prob: float = 0.25
    """Share of those games; in them, each seat but one is taken with a chance of a half."""
    num_past_opponents: int = 4
    """How many networks of the past there are."""
    past_opponent_interval: int = AUTO
    """Games between them; -1: follows the number of games."""

    num_simulations: int = 48
    """Search: of each one."""
    search_prob: float = 0.25
    """Search: share of the positions that are searched and learned from; in the others, the
    network's policy plays."""
    c_puct: float = 1.0
    """Search: PUCT's constant."""
    fpu_reduction: float = 0.1
    """Search: how much less than its position an action without visits is worth, of 1."""
    root_uniform_fraction: float = 0.15
    """Search: share of uniform policies at the root."""
    value_scale: float = 60.0
    """Search: by how much the log-probability of an action grows if it is worth 1 instead of 0."""
    improvement_fraction: float = 0.0
    """Search: share of what is kept to be learned from that is drawn by how much the search gains
    over the network's policy, the rest uniformly: most decisions hardly matter. Wu's KataGo draws
    so by the divergence of the two policies ("policy surprise weighting")."""
    buffer_size: int = 200_000
    """Search: decisions kept to be learned from."""

    gating_games: int = 100
    """Document: games in which a network must beat the last one."""
    gating_threshold: float = 0.5
    """Document: share of those games that it must win more of."""
    max_rollouts: int = 8
    """Document: rounds that are learned from together, at most, while no network is taken over."""

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
# Martín Miralles, "Hungry Geese" (UIB, 2021), sections 2.4 and 5. The thesis tells neither the
# number of games nor the optimizer of this part; the latter is that of its supervised network.
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
