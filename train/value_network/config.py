"""Settings of the training of value networks."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.envs.params import choice, integer, real


@dataclass(frozen=True)
class Config:
    """Settings; with the same ones, a run gives the same network on the same machine."""

    data: tuple[Path, ...]
    """Files of games, which `python -m ludoteca.train.positions` writes: `.npz` or `.csv`."""
    folder: Path = Path("runs/value_network")
    """Where everything is written; a run that was interrupted goes on from there."""
    games: int | None = None
    """How many games of the data are used, the first ones; by default all."""
    validation: float = 0.1
    """Share of the games that are only validated with, all their positions. Games that are alike
    in every move stay together."""
    seed: int = 0
    """Determines weights, what is validated with, and batches."""

    network: ValueConfig = field(default_factory=ValueConfig)
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
    """Of Adam."""
    augment: bool = False
    """Show batches under random symmetries of the game."""

    device: str = "cpu"
    """Where the network learns, such as `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numbers of convolutions; `bfloat16` is several times faster on processors made for it, and
    `auto` chooses it there."""
    minutes: float | None = None
    """Stop after the epoch in which this time is up; the same command goes on."""

    def __post_init__(self) -> None:
        if not self.data:
            raise ValueError("data must name at least one file, got none")
        for name in ("games", "positions_per_epoch"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), 1, 10**9)
        for name in ("epochs", "batch_size"):
            integer(name, getattr(self, name), 1, 10**9)
        for name in ("patience", "seed"):
            integer(name, getattr(self, name), 0, 2**62)
        real("validation", self.validation, 1e-6, 0.9)
        real("learning_rate", self.learning_rate, 0, 1e9)
        choice("precision", self.precision, ("auto", "float32", "bfloat16"))

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        paths = {"folder": str(self.folder), "data": [str(path) for path in self.data]}
        return asdict(self) | paths | {"network": self.network.as_dict()}
