"""Settings of deep Q-learning, and two presets: the document's, and one that learns well."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.scale import Limits
from ludoteca.train.settings import AUTO, RoundConfig


@dataclass(frozen=True)
class Config(RoundConfig):
    """Settings; with the same ones, a run gives the same network on the same machine."""

    folder: Path = Path("runs/dqn")
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
    warm_up: int = AUTO
    """Transitions before the first update. -1: a hundredth of the run, at most 5,000."""

    evaluate_games: int = 200
    evaluate_against: tuple[str, ...] = ()
    """Opponents there; by default the one it trains with, or `random` after self-play. The network
    that does best against the first one, in the seats it trains for, is kept."""
    final_games: int = 1_000

    opponent: str = "self"
    """Who it plays against: `self`, or an agent's spec string such as `mixed:x=0.2`."""
    seat: Literal["first", "second", "both"] = "both"
    """Where it sits; `both`: in turns. Without effect in self-play."""
    mode: Literal["simple", "mirrored"] = "mirrored"
    """`simple`: learns from its own moves. `mirrored`: from those of the opponent, too, seen from
    his side (Tanaka, 2018, section 3.5). Without effect in self-play."""
    epsilon: float = 0.3
    """Probability of a random move, at first."""
    final_epsilon: float = 0.05
    """At last; it falls in a straight line."""
    epsilon_games: float = 0.3
    """Share of the games over which it falls."""

    target: Literal["reply", "negamax"] = "negamax"
    """What follows a move. `reply`: the position after the opponent's reply, where the same player
    chooses the best move. `negamax`: the position at once, where the opponent chooses his best."""
    win: float = 1.0
    """Reward for a win; draws have 0."""
    loss: float = -1.0
    """Reward for a loss."""
    loss_by_length: bool = False
    """Weight losses with 1 - plies / (longest game + 1): to lose later is less bad."""
    gamma: float = 1.0
    """Discount of each step, from one of the positions in `target` to the next."""
    n_step: int = 3
    """Steps until a value is estimated; fewer if a random move comes in between (as in Watkins'
    Q(lambda): Sutton and Barto, "Reinforcement learning", 2018, section 12.10)."""
    double: bool = True
    """The network chooses the best next move, its older copy tells its value (van Hasselt, Guez and
    Silver, "Deep reinforcement learning with double Q-learning", 2016)."""
    masked: bool = True
    """Only legal moves count as best next move."""
    target_every: int = 200
    """Updates between copies of the network for the targets; 0: the network itself is used."""
    loss_function: Literal["mse", "huber", "bce"] = "bce"
    """`mse`: 0.5 (y - Q)^2. `bce`: cross-entropy of the chance to win, for bounded networks."""

    memory: int = AUTO
    """Transitions kept. -1: those of the whole run, at most 200,000."""
    prioritized: bool = True
    """Replay surprising transitions more often."""
    alpha: float = 0.5
    """How much more often (exponent of priorities)."""
    beta: float = 0.5
    """How much of the bias from that is taken back."""

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("n_step", self.n_step, 1, 10**9)
        self.check_auto("memory")
        self.check_auto("warm_up", least=0)
        integer("target_every", self.target_every, 0, 2**62)
        for name in ("epsilon", "final_epsilon", "epsilon_games", "gamma", "momentum", "beta"):
            real(name, getattr(self, name), 0, 1)
        real("alpha", self.alpha, 0, 1e9)
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
        if bounded and not -1 <= self.loss <= self.win <= 1:
            raise ValueError(
                f"a bounded network needs rewards in [-1, 1], got win={self.win}, loss={self.loss}"
            )


CHOICES = {
    "seat": ("first", "second", "both"),
    "mode": ("simple", "mirrored"),
    "target": ("reply", "negamax"),
    "loss_function": ("mse", "huber", "bce"),
}

LIMITS = Limits(
    games_per_round=256,
    log_every=2_000,
    evaluate_every=10_000,
    start=("warm_up", 5_000),
    buffer=("memory", 200_000),
)
MODERN = Config()
# Tanaka, "Inteligencia artificial para o jogo de Hex" (2018), sections 3.7 and 4.1. The document
# does not say how losses are weighted, and whether illegal moves count in targets.
DOCUMENT = Config(
    folder=Path("runs/dqn_document"),
    game="hex:board_size=5,first=white",
    opponent="mixed:x=0.2",
    seat="first",
    mode="mirrored",
    target="reply",
    games=150_000,
    games_per_round=5,
    network=QConfig(
        kind="tanaka2018", filters=(48, 384), dueling=False, init="zero", bounded=False
    ),
    win=100.0,
    loss=-100.0,
    loss_by_length=True,
    gamma=0.8,
    n_step=1,
    double=False,
    masked=False,
    target_every=0,
    loss_function="mse",
    optimizer="sgd",
    learning_rate=0.01,
    final_learning_rate=0.01,
    momentum=0.1,
    weight_decay=0.0,
    clip=0.0,
    batch_size=200,
    games_per_update=5,
    memory=300,
    warm_up=0,
    prioritized=False,
    augment=False,
    precision="float32",
    epsilon=0.1,
    final_epsilon=0.1,
    log_every=100,
    evaluate_every=10_000,
    pipeline=False,
)
