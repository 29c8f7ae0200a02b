"""Settings of AlphaZero."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.envs.params import choice, integer, real


@dataclass(frozen=True)
class Config:
    """Settings; with the same ones, a run gives the same network on the same machine."""

    folder: Path = Path("runs/alphazero")
    """Where everything is written; a run that was interrupted goes on from there."""
    game: str = "othello"
    """The game, for two players who move in turn, as a spec string."""
    games: int = 20_000
    """How many games of self-play."""
    games_per_round: int = 256
    """Games played side by side; the network learns after each round of them."""
    seed: int = 0
    """Determines weights, games and batches."""

    network: PVConfig = field(default_factory=PVConfig)
    """The network."""
    start_from: Path | None = None
    """Begin with the weights of this file or run instead of random ones."""

    rule: Literal["puct", "gumbel"] = "gumbel"
    """How searches choose: `gumbel` learns from few simulations (Danihelka et al., 2022)."""
    simulations: int = 32
    """Of a full search, whose policy is learned from."""
    fast_simulations: int = 8
    """Of a fast one, which only chooses a move (playout cap randomization: Wu, "Accelerating
    self-play learning in Go", 2019, section 3.1)."""
    full_share: float = 1.0
    """Share of full searches."""
    considered: int = 16
    """Gumbel: moves that are tried at most."""
    c: float = 1.25
    """PUCT's constant."""
    noise: float = 0.25
    """PUCT: share of Dirichlet noise in the priors of roots of full searches."""
    concentration: float = 0.0
    """Of that noise; 0: 10 divided by the mean number of legal moves."""
    temperature: float = 1.0
    """PUCT: moves are drawn by visits ** (1 / temperature), at first."""
    temperature_plies: int = 12
    """For so many plies; then the best is played."""
    random_plies: int = 2
    """So many plies at most, drawn for each game, are not the search's choice: they are drawn by
    the network's policy, and with probability 0.25 uniformly."""
    outcome_weight: float = 0.75
    """Values are learned from so much of the game's result, and the search's value for the rest."""

    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam with decoupled weight decay, or SGD with momentum 0.9."""
    learning_rate: float = 2e-3
    """At the start."""
    final_learning_rate: float = 1e-4
    """At the end; it falls along a cosine."""
    weight_decay: float = 1e-4
    """Of either optimizer."""
    clip: float = 1.0
    """Largest norm of a gradient; 0: any."""
    value_weight: float = 1.0
    """Of the value's loss, mean squared error, beside the policy's, cross-entropy."""
    batch_size: int = 512
    """Positions per update."""
    replay_ratio: float = 3.0
    """How often a position is learned from, on average."""
    window: int = 500_000
    """Positions kept."""
    warm_up: int = 10_000
    """Positions before the first update."""
    augment: bool = True
    """Show batches under random symmetries of the game."""

    log_every: int = 512
    """Games between rows of `metrics.csv`."""
    evaluate_every: int = 2_560
    """Games between evaluations."""
    evaluate_games: int = 50
    """Games per seat and opponent in each."""
    evaluate_against: tuple[str, ...] = ("random", "mcts:simulations=200")
    """Opponents there; the network that does best against the last one is kept."""
    evaluate_simulations: int = 32
    """Of each search in evaluations."""
    final_games: int = 200
    """Games per seat and opponent at the end, with the best network."""

    device: str = "cpu"
    """Where networks run and learn, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numbers of convolutions; `bfloat16` is several times faster on processors made for it, and
    `auto` chooses it there."""
    pipeline: bool = True
    """Play the next round while learning from the last one, on two cores."""
    save_seconds: float = 120.0
    """Time between checkpoints to go on from; without effect on what is learned."""
    minutes: float | None = None
    """Stop after this time; the same command goes on."""

    def __post_init__(self) -> None:
        counts = ("games", "games_per_round", "simulations", "considered", "batch_size", "window")
        for name in (*counts, "log_every", "evaluate_every", "evaluate_games", "final_games"):
            integer(name, getattr(self, name), 1, 10**9)
        for name in ("fast_simulations", "temperature_plies", "random_plies", "warm_up", "seed"):
            integer(name, getattr(self, name), 0, 2**62)
        integer("evaluate_simulations", self.evaluate_simulations, 0, 10**6)
        for name in ("full_share", "noise", "outcome_weight"):
            real(name, getattr(self, name), 0, 1)
        rates = ("learning_rate", "final_learning_rate", "weight_decay", "clip", "replay_ratio")
        for name in (*rates, "c", "concentration", "temperature", "value_weight"):
            real(name, getattr(self, name), 0, 1e9)
        choice("rule", self.rule, ("puct", "gumbel"))
        choice("optimizer", self.optimizer, ("adam", "sgd"))
        choice("precision", self.precision, ("auto", "float32", "bfloat16"))
        if not self.evaluate_against:
            raise ValueError("evaluate_against must name at least one opponent, got none")

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        paths = {"folder": str(self.folder), "start_from": str(self.start_from or "")}
        return asdict(self) | paths | {"network": self.network.as_dict()}
