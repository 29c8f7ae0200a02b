"""Settings shared by reinforcement learning algorithms, and by supervised algorithms."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.executor import LOCAL, parse_executor

# Value of settings that scale with the length of the run, see `ludoteca.train.auto_settings`. The
# positions of a run are estimated: its number of games, times the mean number of plies of games of
# random moves. A ply of a simultaneous game counts once, not once per player.
AUTO = -1


@dataclass(frozen=True)
class AutoLimits:
    """Maxima of the settings of an algorithm, as used in long runs.

    The positions of a run are its games times the mean number of plies of random games, see `AUTO`.

    Attributes:
        games_per_iteration: games of a rollout.
        log_interval: games between rows of metrics.
        eval_interval: games between evaluations.
        start: name of the setting for the positions collected before the first update, or `""`, and
            its maximum.
        buffer: name of the setting for the size of the replay buffer, or `""`, and its maximum.
        buffer_fraction: fraction of a run's positions that the replay buffer holds.
        past_opponent_interval: games between networks that join the opponent pool; 0: there is no
            pool.
    """

    games_per_iteration: int
    log_interval: int
    eval_interval: int
    start: tuple[str, int] = ("", 0)
    buffer: tuple[str, int] = ("", 0)
    buffer_fraction: float = 1.0
    past_opponent_interval: int = 0


@dataclass(frozen=True)
class RLConfig:
    """Settings of all reinforcement learning algorithms; each may override defaults.

    Attributes:
        algorithm: name in `ludoteca.train.algorithms.ALGORITHMS`, or a target, `"module:class"`.
    """

    algorithm: ClassVar[str]

    run_dir: Path = Path("runs/training")
    """Folder of the run. Networks, metrics, report and checkpoint are written there; the same
    command resumes an interrupted run."""
    game: str = "hex:board_size=5"
    """Game, as a spec string."""
    games: int = 20_000
    """Number of training games. A finished run can be extended with a larger number; the learning
    rate schedule covers all games."""
    games_per_iteration: int = AUTO
    """Games of a rollout, played as one batch; the network is updated after each rollout. -1:
    about 1/64 of the games, from 16 to 256 (actor-critic and NFSP: to 128)."""
    seed: int = 0
    """Seed of the initial weights, the games and the batches. The same settings and seed give the
    same network on the same machine."""

    network: Any = None
    """Architecture of the network."""
    start_from: Path | None = None
    """Network file or run folder whose weights initialize the network; None: random weights."""

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD with momentum."""
    learning_rate: float = 1e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, after a cosine decay."""
    weight_decay: float = 1e-4
    """Weight decay coefficient."""
    max_grad_norm: float = 1.0
    """Maximum gradient norm (gradient clipping); 0: no clipping."""
    batch_size: int = 512
    """Positions per minibatch (one gradient update each)."""
    replay_ratio: float = 2.0
    """Mean number of times that each position is sampled for an update."""
    augment: bool = True
    """Data augmentation: apply a random symmetry of the game to each minibatch."""

    log_interval: int = AUTO
    """Games between rows of `metrics.csv`. -1: 1/32 of the games, at most 512 (deep Q-learning:
    2,000; actor-critic and NFSP: 1,024)."""
    eval_interval: int = AUTO
    """Games between evaluations. -1: 1/7 of the games, at most 2,560 (deep Q-learning: 10,000;
    actor-critic and NFSP: 10,240)."""
    eval_games: int = 50
    """Games per evaluation, for each opponent and seat."""
    eval_opponents: tuple[str, ...] = ()
    """Opponents in evaluations, as spec strings."""
    checkpoint_selection: Literal["best", "last"] = "best"
    """Which evaluated network is written to `best.safetensors`: `best`, the one with the highest
    evaluation score, or `last`. Near a win rate of 100 %, the highest score is mostly chance."""
    final_eval_games: int = 200
    """Games of the final evaluation of that network, for each opponent and seat."""

    checkpoint_interval: int = 0
    """Games between copies of the network in `checkpoints/`, which `ludoteca rating` compares; 0:
    no copies."""

    device: str = "cpu"
    """PyTorch device of the network, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numeric precision of convolutions. `bfloat16` is several times faster on processors with
    hardware support; `auto` selects it there."""
    overlap_actor_learner: bool = True
    """Play the next rollout in a second thread during the updates. The self-play network is then
    one iteration old."""
    threads: int = 1
    """PyTorch threads of the network, in self-play and updates. More than 1 is faster only without
    `overlap_actor_learner`. The result depends on it through floating-point rounding."""
    num_actors: int = 1
    """Number of self-play actors, one process each, which share the games of a rollout equally. 1:
    self-play in a thread of this process, unless `executor` is set. The result depends on this
    number."""
    executor: str = LOCAL
    """Where actor processes run: `local`, or a Ray cluster: `ray` (started on this machine),
    `ray:auto`, `ray:HOST:PORT`; `ray:auto,num_gpus=0.1` reserves a fraction of a GPU for each. The
    result does not depend on it."""
    max_staleness: int = 0
    """Maximum number of iterations between the network that an actor plays and the latest one.
    Above 0, actors play ahead during updates (instead of `overlap_actor_learner`), and the result
    depends on their speed."""
    inference: Literal["actors", "central"] = "actors"
    """Where the self-play network is evaluated: in each actor, or on one inference server that
    batches the requests of all actors, on a GPU if `device` is one (needs a Ray cluster)."""
    save_seconds: float = 120.0
    """Seconds between checkpoints for resuming. The result does not depend on it."""
    minutes: float | None = None
    """Time limit in minutes, including compilation, evaluations and the report; None: no limit. The
    same command resumes the run."""

    def __post_init__(self) -> None:
        for name in ("games", "batch_size", "eval_games", "final_eval_games"):
            check_integer(name, getattr(self, name), 1, 10**9)
        self.check_auto("games_per_iteration", "log_interval", "eval_interval")
        for name in ("seed", "checkpoint_interval"):
            check_integer(name, getattr(self, name), 0, 2**62)
        check_integer("threads", self.threads, 1, 1024)
        non_negative = (
            "learning_rate",
            "final_learning_rate",
            "weight_decay",
            "max_grad_norm",
            "replay_ratio",
        )
        for name in non_negative:
            check_real(name, getattr(self, name), 0, 1e9)
        check_choice("optimizer", self.optimizer, ("adam", "sgd"))
        self._check_actors()
        check_choice("checkpoint_selection", self.checkpoint_selection, ("best", "last"))
        check_choice("precision", self.precision, ("auto", "float32", "bfloat16"))
        if self.minutes is not None:
            check_real("minutes", self.minutes, 0, 1e9)

    def _check_actors(self) -> None:
        """Validate the settings of self-play actors.

        Raises:
            ValueError: if one is invalid.
        """
        check_integer("num_actors", self.num_actors, 1, 10**5)
        check_integer("max_staleness", self.max_staleness, 0, 10**6)
        check_choice("inference", self.inference, ("actors", "central"))
        parse_executor(self.executor)
        if self.games_per_iteration != AUTO and self.games_per_iteration % self.num_actors:
            raise ValueError(
                f"games_per_iteration={self.games_per_iteration} must be a multiple of "
                f"num_actors={self.num_actors}"
            )
        if self.max_staleness > 0 and not self.has_actors:
            raise ValueError(
                f"max_staleness={self.max_staleness} needs actor processes: "
                "num_actors=2 or more, or executor=ray"
            )
        if self.inference == "central" and self.executor == LOCAL:
            raise ValueError("inference=central needs a Ray cluster: executor=ray, or ray:ADDRESS")

    @property
    def has_actors(self) -> bool:
        """Whether self-play runs in other processes."""
        return self.num_actors > 1 or self.executor != LOCAL

    def check_auto(self, *names: str, least: int = 1) -> None:
        """Validate settings that are `AUTO` or an integer of at least `least`.

        Raises:
            ValueError: if one of them is neither.
        """
        for name in names:
            if (value := getattr(self, name)) != AUTO:
                try:
                    check_integer(name, value, least, 10**9)
                except ValueError as error:
                    raise ValueError(
                        f"{error}; {AUTO} scales it with the length of the run"
                    ) from None

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        paths = {"run_dir": str(self.run_dir), "start_from": str(self.start_from or "")}
        return asdict(self) | paths | {"network": self.network.as_dict()}


@dataclass(frozen=True)
class SupervisedConfig:
    """Settings of all supervised algorithms; each may override defaults."""

    data: tuple[Path, ...]
    """Data set files."""
    run_dir: Path = Path("runs/epochs")
    """Folder of the run. Networks, metrics, report and checkpoint are written there; the same
    command resumes an interrupted run."""
    games: int | None = None
    """Use only the first games of the data set; None: all."""
    validation_fraction: float = 0.1
    """Fraction of the games held out for validation, with all their positions. Games with identical
    moves are kept on the same side of the split."""
    seed: int = 0
    """Seed of the initial weights, the validation split and the batches. The same settings and seed
    give the same network on the same machine."""

    network: Any = None
    """Architecture of the network."""
    epochs: int = 20
    """Maximum number of epochs."""
    positions_per_epoch: int | None = None
    """Random positions per epoch; None: all."""
    patience: int = 3
    """Early stopping: stop after this number of epochs without a lower validation loss; 0:
    never."""
    batch_size: int = 256
    """Positions per minibatch (one gradient update each)."""
    learning_rate: float = 1e-3
    """Initial learning rate."""
    augment: bool = False
    """Data augmentation: apply a random symmetry of the game to the positions."""

    device: str = "cpu"
    """PyTorch device of the network, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numeric precision of convolutions. `bfloat16` is several times faster on processors with
    hardware support; `auto` selects it there."""
    minutes: float | None = None
    """Time limit in minutes, including compilation, validation and the report; None: no limit. The
    same command resumes the run."""

    def __post_init__(self) -> None:
        for name in ("games", "positions_per_epoch"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1, 10**9)
        for name in ("epochs", "batch_size"):
            check_integer(name, getattr(self, name), 1, 10**9)
        for name in ("patience", "seed"):
            check_integer(name, getattr(self, name), 0, 2**62)
        check_real("validation_fraction", self.validation_fraction, 1e-6, 0.9)
        check_real("learning_rate", self.learning_rate, 0, 1e9)
        check_choice("precision", self.precision, ("auto", "float32", "bfloat16"))
        if self.minutes is not None:
            check_real("minutes", self.minutes, 0, 1e9)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        paths = {"run_dir": str(self.run_dir), "data": [str(path) for path in self.data]}
        return asdict(self) | paths | {"network": self.network.as_dict()}
