"""Settings of deep Q-learning, and two presets: the document's, and one that learns well."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.auto_settings import AutoLimits
from ludoteca.train.settings import AUTO, RLConfig


@dataclass(frozen=True)
class DQNConfig(RLConfig):
    """Settings; with the same ones, a run gives the same network on the same machine."""

    run_dir: Path = Path("runs/dqn")
    games: int = 100_000
    network: QConfig = field(default_factory=QConfig)
    start_from: Path | None = None
    """Begin with the weights of this file or run instead of random ones; of any board size, if the
    network is of kind `residual`."""

    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam with decoupled weight decay, or SGD."""
    momentum: float = 0.1
    """Of SGD."""
    weight_decay: float = 1e-5
    """Of Adam."""
    batch_size: int = 512
    """Transitions per update."""
    replay_ratio: float = 2.0
    """How often a transition is learned from, on average."""
    games_per_update: int | None = None
    """Instead: one update after so many games."""
    learning_starts: int = AUTO
    """Transitions before the first update. -1: a hundredth of the run, at most 5,000."""

    eval_games: int = 200
    eval_opponents: tuple[str, ...] = ()
    """Opponents there; by default the one it trains with, or `random` after self-play. The network
    that does best against the first one, in the seats it trains for, is kept."""
    final_eval_games: int = 1_000

    opponent: str = "self"
    """Who it plays against: `self`, or an agent's spec string such as `mixed:x=0.2`."""
    agent_seat: Literal["first", "second", "both"] = "both"
    """Where it sits; `both`: in turns. Without effect in self-play."""
    experience: Literal["simple", "mirrored"] = "mirrored"
    """`simple`: learns from its own moves. `mirrored`: from those of the opponent, too, seen from
    his side (Tanaka, 2018, section 3.5). Without effect in self-play."""
    exploration_initial_eps: float = 0.3
    """Probability of a random move, at first."""
    exploration_final_eps: float = 0.05
    """At last; it falls in a straight line."""
    exploration_fraction: float = 0.3
    """Share of the games over which it falls."""

    td_target: Literal["reply", "negamax"] = "negamax"
    """What follows a move. `reply`: the position after the opponent's reply, where the same player
    chooses the best move. `negamax`: the position at once, where the opponent chooses his best."""
    win_reward: float = 1.0
    """Reward for a win; draws have 0."""
    loss_reward: float = -1.0
    """Reward for a loss."""
    loss_reward_by_length: bool = False
    """Weight losses with 1 - plies / (longest game + 1): to lose later is less bad."""
    gamma: float = 1.0
    """Discount of each step, from one of the positions in `target` to the next."""
    n_step: int = 3
    """Steps until a value is estimated; fewer if a random move comes in between (as in Watkins'
    Q(lambda): Sutton and Barto, "Reinforcement learning", 2018, section 12.10)."""
    double_q: bool = True
    """The network chooses the best next move, its older copy tells its value (van Hasselt, Guez and
    Silver, "Deep reinforcement learning with double Q-learning", 2016)."""
    masked_targets: bool = True
    """Only legal moves count as best next move."""
    target_update_interval: int = 200
    """Updates between copies of the network for the targets; 0: the network itself is used."""
    loss_function: Literal["mse", "huber", "bce"] = "bce"
    """`mse`: 0.5 (y - Q)^2. `bce`: cross-entropy of the chance to win, for bounded networks."""

    buffer_size: int = AUTO
    """Transitions kept. -1: those of the whole run, at most 200,000."""
    prioritized_replay: bool = True
    """Replay surprising transitions more often."""
    prioritized_replay_alpha: float = 0.5
    """How much more often (exponent of priorities)."""
    prioritized_replay_beta: float = 0.5
    """How much of the bias from that is taken back."""

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("n_step", self.n_step, 1, 10**9)
        self.check_auto("buffer_size")
        self.check_auto("learning_starts", least=0)
        integer("target_update_interval", self.target_update_interval, 0, 2**62)
        for name in (
            "exploration_initial_eps",
            "exploration_final_eps",
            "exploration_fraction",
            "gamma",
            "momentum",
            "prioritized_replay_beta",
        ):
            real(name, getattr(self, name), 0, 1)
        real("prioritized_replay_alpha", self.prioritized_replay_alpha, 0, 1e9)
        for name, options in CHOICES.items():
            choice(name, getattr(self, name), options)
        if self.games_per_update is not None:
            integer("games_per_update", self.games_per_update, 1, 10**9)
        bounded = self.network.bounded
        if bounded != (self.loss_function == "bce"):
            raise ValueError(
                f"the loss {self.loss_function} needs network.bounded={not bounded}: bce is for "
                "chances to win, the others for values without bounds"
            )
        if bounded and not -1 <= self.loss_reward <= self.win_reward <= 1:
            raise ValueError(
                "a bounded network needs rewards in [-1, 1], got "
                f"win_reward={self.win_reward}, loss_reward={self.loss_reward}"
            )


CHOICES = {
    "agent_seat": ("first", "second", "both"),
    "experience": ("simple", "mirrored"),
    "td_target": ("reply", "negamax"),
    "loss_function": ("mse", "huber", "bce"),
}

LIMITS = AutoLimits(
    games_per_iteration=256,
    log_interval=2_000,
    eval_interval=10_000,
    start=("learning_starts", 5_000),
    buffer=("buffer_size", 200_000),
)
DEFAULT = DQNConfig()
# Tanaka, "Inteligencia artificial para o jogo de Hex" (2018), sections 3.7 and 4.1. The document
# does not say how losses are weighted, and whether illegal moves count in targets.
TANAKA2018 = DQNConfig(
    run_dir=Path("runs/dqn_tanaka2018"),
    game="hex:board_size=5,first=white",
    opponent="mixed:x=0.2",
    agent_seat="first",
    experience="mirrored",
    td_target="reply",
    games=150_000,
    games_per_iteration=5,
    network=QConfig(
        kind="tanaka2018", filters=(48, 384), dueling=False, init="zero", bounded=False
    ),
    win_reward=100.0,
    loss_reward=-100.0,
    loss_reward_by_length=True,
    gamma=0.8,
    n_step=1,
    double_q=False,
    masked_targets=False,
    target_update_interval=0,
    loss_function="mse",
    optimizer="sgd",
    learning_rate=0.01,
    final_learning_rate=0.01,
    momentum=0.1,
    weight_decay=0.0,
    max_grad_norm=0.0,
    batch_size=200,
    games_per_update=5,
    buffer_size=300,
    learning_starts=0,
    prioritized_replay=False,
    augment=False,
    precision="float32",
    exploration_initial_eps=0.1,
    exploration_final_eps=0.1,
    log_interval=100,
    eval_interval=10_000,
    overlap_actor_learner=False,
)
