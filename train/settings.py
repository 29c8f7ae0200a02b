"""The settings that all trainings in rounds have in common, and all trainings in epochs."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.agents.networks.q_network import QConfig
from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.executor import LOCAL, parse_executor

AUTO = -1  # of a setting that follows the size of the run; see `ludoteca.train.auto_settings`


@dataclass(frozen=True)
class RLConfig:
    """Settings; with the same ones, a run gives the same network on the same machine.

    Each training has defaults of its own for some of them.
    """

    run_dir: Path = Path("runs/training")
    """Where everything is written; an interrupted run resumes from there."""
    game: str = "hex:board_size=5"
    """The game as a spec string."""
    games: int = 20_000
    """How many games are played. A run can be made longer: its learning rate falls over all."""
    games_per_iteration: int = AUTO
    """Games played side by side; the network learns after each round of them. -1: a 64th of the
    run, from 16 to 256 (actor-critic: 128)."""
    seed: int = 0
    """Determines weights, games and batches."""

    network: QConfig | PVConfig | ACConfig = field(default_factory=PVConfig)
    """The network."""
    start_from: Path | None = None
    """Begin with the weights of this file or run instead of random ones."""

    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam with decoupled weight decay, or SGD with momentum."""
    learning_rate: float = 1e-3
    """At the start."""
    final_learning_rate: float = 1e-4
    """At the end; it falls along a cosine."""
    weight_decay: float = 1e-4
    """Of the optimizer."""
    max_grad_norm: float = 1.0
    """Largest norm of a gradient; 0: any."""
    batch_size: int = 512
    """Positions per update."""
    replay_ratio: float = 2.0
    """How often a position is learned from, on average."""
    augment: bool = True
    """Show batches under random symmetries of the game."""

    log_interval: int = AUTO
    """Games between rows of `metrics.csv`. -1: a 32nd of the run, at most 512 (deep Q-learning:
    2,000; actor-critic: 1,024)."""
    eval_interval: int = AUTO
    """Games between evaluations. -1: a seventh of the run, at most 2,560 (deep Q-learning: 10,000;
    actor-critic: 10,240)."""
    eval_games: int = 50
    """Games per seat and opponent in each."""
    eval_opponents: tuple[str, ...] = ()
    """Opponents there."""
    checkpoint_selection: Literal["best", "last"] = "best"
    """Which of the networks that were evaluated becomes `best.safetensors`: the one that did best,
    or the last one. Where nearly all games are won, the best one is so by chance."""
    final_eval_games: int = 200
    """Games per seat and opponent at the end, with that network."""

    checkpoint_interval: int = 0
    """Games between copies of the network in `checkpoints/`, whose strength
    `ludoteca rating` compares; 0: none."""

    device: str = "cpu"
    """Where networks run and learn, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numbers of convolutions; `bfloat16` is several times faster on processors made for it, and
    `auto` chooses it there."""
    overlap_actor_learner: bool = True
    """Play the next round while learning from the last one, on two cores: games are then played by
    the network of one round before."""
    threads: int = 1
    """Threads of the network, when it plays and when it learns. More than one are worth it without
    `overlap_actor_learner`; another number rounds differently, and so gives another network."""
    num_actors: int = 1
    """Self-play actors: processes that play a part of each round each; 1: this process plays, in a
    thread, unless `executor` is another. What is learned depends on their number."""
    executor: str = LOCAL
    """Where these processes run: `local`, or a Ray cluster: `ray` (of this machine), `ray:auto`,
    `ray:HOST:PORT`; `ray:auto,num_gpus=0.1` reserves a share of a GPU for each. Without effect on
    what is learned."""
    max_staleness: int = 0
    """Rounds that the network may have learned from since it was as it plays. Above 0, actors play
    ahead while it learns, which takes the place of `overlap_actor_learner`, and what is
    learned depends on their speed."""
    inference: Literal["actors", "central"] = "actors"
    """Where the network that plays runs: in each of the workers, or in one place for all, in
    batches of what all of them ask, on a GPU if `device` is one; needs a Ray cluster."""
    save_seconds: float = 120.0
    """Time between checkpoints, from which a run resumes; without effect on what is learned."""
    minutes: float | None = None
    """Stop within this time, compiling, evaluations and the report included; the same command
    resumes the run."""

    def __post_init__(self) -> None:
        for name in ("games", "batch_size", "eval_games", "final_eval_games"):
            integer(name, getattr(self, name), 1, 10**9)
        self.check_auto("games_per_iteration", "log_interval", "eval_interval")
        for name in ("seed", "checkpoint_interval"):
            integer(name, getattr(self, name), 0, 2**62)
        integer("threads", self.threads, 1, 1024)
        rates = (
            "learning_rate",
            "final_learning_rate",
            "weight_decay",
            "max_grad_norm",
            "replay_ratio",
        )
        for name in rates:
            real(name, getattr(self, name), 0, 1e9)
        choice("optimizer", self.optimizer, ("adam", "sgd"))
        self._check_actors()
        choice("checkpoint_selection", self.checkpoint_selection, ("best", "last"))
        choice("precision", self.precision, ("auto", "float32", "bfloat16"))
        if self.minutes is not None:
            real("minutes", self.minutes, 0, 1e9)

    def _check_actors(self) -> None:
        """Check the settings of self-play actors.

        Raises:
            ValueError: if one makes no sense.
        """
        integer("num_actors", self.num_actors, 1, 10**5)
        integer("max_staleness", self.max_staleness, 0, 10**6)
        choice("inference", self.inference, ("actors", "central"))
        parse_executor(self.executor)
        if self.games_per_iteration != AUTO and self.games_per_iteration % self.num_actors:
            raise ValueError(
                f"games_per_iteration={self.games_per_iteration} must be a multiple of "
                f"num_actors={self.num_actors}"
            )
        if self.max_staleness > 0 and not self.has_actors:
            raise ValueError(
                f"max_staleness={self.max_staleness} needs actors that play while the network "
                "learns: num_actors=2 or more, or executor=ray"
            )
        if self.inference == "central" and self.executor == LOCAL:
            raise ValueError("inference=central needs a Ray cluster: executor=ray, or ray:ADDRESS")

    @property
    def has_actors(self) -> bool:
        """Whether other processes than this one play."""
        return self.num_actors > 1 or self.executor != LOCAL

    def check_auto(self, *names: str, least: int = 1) -> None:
        """Check settings that are `AUTO` or an integer, `least` or more.

        Raises:
            ValueError: if one of them is neither.
        """
        for name in names:
            if (value := getattr(self, name)) != AUTO:
                try:
                    integer(name, value, least, 10**9)
                except ValueError as error:
                    raise ValueError(f"{error}; {AUTO} chooses by the size of the run") from None

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        paths = {"run_dir": str(self.run_dir), "start_from": str(self.start_from or "")}
        return asdict(self) | paths | {"network": self.network.as_dict()}


@dataclass(frozen=True)
class SupervisedConfig:
    """Settings; with the same ones, a run gives the same network on the same machine.

    Each training has defaults of its own for some of them.
    """

    data: tuple[Path, ...]
    """Files of games."""
    run_dir: Path = Path("runs/epochs")
    """Where everything is written; an interrupted run resumes from there."""
    games: int | None = None
    """How many games of the data are used, the first ones; by default all."""
    validation_fraction: float = 0.1
    """Share of the games that are only validated with, all their positions. Games that are alike
    in every move stay together."""
    seed: int = 0
    """Determines weights, what is validated with, and batches."""

    network: ValueConfig | ACConfig = field(default_factory=ValueConfig)
    """The network."""
    epochs: int = 20
    """How often the network sees all positions, at most."""
    positions_per_epoch: int | None = None
    """Instead of all positions, so many random ones make an epoch."""
    patience: int = 3
    """Stop after so many epochs without a lower loss in validation; 0: never."""
    batch_size: int = 256
    """Positions per update."""
    learning_rate: float = 1e-3
    """At the start."""
    augment: bool = False
    """Show positions under random symmetries of the game."""

    device: str = "cpu"
    """Where the network learns, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numbers of convolutions; `bfloat16` is several times faster on processors made for it, and
    `auto` chooses it there."""
    minutes: float | None = None
    """Stop within this time, compiling, validation and the report included; the same command
    resumes the run."""

    def __post_init__(self) -> None:
        for name in ("games", "positions_per_epoch"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), 1, 10**9)
        for name in ("epochs", "batch_size"):
            integer(name, getattr(self, name), 1, 10**9)
        for name in ("patience", "seed"):
            integer(name, getattr(self, name), 0, 2**62)
        real("validation_fraction", self.validation_fraction, 1e-6, 0.9)
        real("learning_rate", self.learning_rate, 0, 1e9)
        choice("precision", self.precision, ("auto", "float32", "bfloat16"))
        if self.minutes is not None:
            real("minutes", self.minutes, 0, 1e9)

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        paths = {"run_dir": str(self.run_dir), "data": [str(path) for path in self.data]}
        return asdict(self) | paths | {"network": self.network.as_dict()}
