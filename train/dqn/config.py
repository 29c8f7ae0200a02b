"""Settings of deep Q-learning, and its presets `default` and `tanaka2018`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.auto_settings import AutoLimits
from ludoteca.train.settings import AUTO, RLConfig


@dataclass(frozen=True)
class DQNConfig(RLConfig):
    """Settings of deep Q-learning."""

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
    """Games per gradient update, instead of `replay_ratio`; None: use `replay_ratio`."""
    learning_starts: int = AUTO
    """Transitions collected before the first update. -1: 1/100 of those of the run, at most
    5,000."""

    eval_games: int = 200
    eval_opponents: tuple[str, ...] = ()
    """Opponents in evaluations, as spec strings; by default the training opponent, or `random`
    after self-play. The evaluation score is the win rate against the first one, in the seats of
    `agent_seat`."""
    final_eval_games: int = 1_000

    opponent: str = "self"
    """Training opponent: `self` (self-play), or a spec string, such as `mixed:epsilon=0.2`."""
    agent_seat: Literal["first", "second", "both"] = "both"
    """Seat of the learning agent; `both`: alternating. No effect in self-play."""
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
    """Multiply the reward of a loss by 1 - plies / (longest game + 1): a later loss is less
    negative."""
    gamma: float = 1.0
    """Discount factor per step; a step leads from one state of `td_target` to the next."""
    n_step: int = 3
    """Steps of the n-step return, cut short before the next random move (as in Watkins' Q(lambda):
    Sutton and Barto, "Reinforcement learning", 2018, section 12.10)."""
    double_q: bool = True
    """Double DQN: the online network selects the next action, the target network evaluates it (van
    Hasselt, Guez and Silver, "Deep reinforcement learning with double Q-learning", 2016)."""
    masked_targets: bool = True
    """Exclude illegal actions from the maximum in TD targets."""
    target_update_interval: int = 200
    """Updates between copies of the online network to the target network; 0: no target network."""
    loss_function: Literal["mse", "huber", "bce"] = "bce"
    """`mse`: 0.5 (y - Q)^2. `huber`: Huber loss. `bce`: cross-entropy of the win probability, for
    bounded networks."""

    buffer_size: int = AUTO
    """Capacity of the replay buffer, in transitions. -1: all those of the run, at most 200,000."""
    prioritized_replay: bool = True
    """Prioritized replay: sample transitions in proportion to their absolute TD error."""
    prioritized_replay_alpha: float = 0.5
    """Exponent of the priorities; 0: uniform sampling."""
    prioritized_replay_beta: float = 0.5
    """Exponent of the importance-sampling weights; 1: full correction of the sampling bias."""

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
                "win probabilities, the others for unbounded values"
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
# Tanaka, "Inteligencia artificial para o jogo de Hex" (2018), sections 3.7 and 4.1. The thesis
# does not specify how losses are weighted, and whether targets exclude illegal moves.
TANAKA2018 = DQNConfig(
    run_dir=Path("runs/dqn_tanaka2018"),
    game="hex:board_size=5,first=white",
    opponent="mixed:epsilon=0.2",
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
