"""Settings of learning moves, and two presets: the document's, and one that learns well."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.ac_network import UIB2021 as UIB2021_NETWORK
from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.settings import SupervisedConfig


@dataclass(frozen=True)
class ImitationConfig(SupervisedConfig):
    """Settings; with the same ones, a run gives the same network on the same machine.

    Positions are counted once for each seat whose move is learned.
    """

    data: tuple[Path, ...] = ()
    """Files of games, which `python -m ludoteca.train.data` writes: `.npz`."""
    run_dir: Path = Path("runs/supervised")
    agents: tuple[str, ...] = ()
    """Only moves of these agents are learned, by name. If neither agents nor ratings are told, the
    moves that the files say are to be learned."""
    rating_range: tuple[float, float] | None = None
    """Only moves of agents with a rating from the first to the second number are learned."""
    games: int | None = None
    """How many games with such moves are used, the first ones; by default all."""
    validation_fraction: float = 0.2

    network: ACConfig = field(default_factory=ACConfig)
    vf_coef: float = 1.0
    """Of the loss of the network's value, if it has one: mean squared error of how the game ended
    for the seat, beside the cross-entropy of its moves."""
    patience: int = 0
    batch_size: int = 512

    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam with decoupled weight decay, or SGD with momentum."""
    lr_schedule: Literal["cosine", "plateau"] = "cosine"
    """How the learning rate falls. `cosine`: along a cosine, over all epochs. `plateau`: each time
    that validation has not become better for some epochs."""
    final_learning_rate: float = 1e-5
    """Cosine: at the end. Plateau: it does not fall lower."""
    plateau_factor: float = 0.3
    """Plateau: what it is multiplied with."""
    plateau_patience: int = 5
    """Plateau: after so many epochs without a lower loss in validation."""
    momentum: float = 0.9
    """Of SGD."""
    weight_decay: float = 1e-4
    """Of the optimizer."""
    max_grad_norm: float = 1.0
    """Largest norm of a gradient; 0: any."""
    augment: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("plateau_patience", self.plateau_patience, 1, 10**9)
        for name in ("final_learning_rate", "weight_decay", "max_grad_norm", "vf_coef"):
            real(name, getattr(self, name), 0, 1e9)
        for name in ("plateau_factor", "momentum"):
            real(name, getattr(self, name), 0, 1)
        choice("optimizer", self.optimizer, ("adam", "sgd"))
        choice("lr_schedule", self.lr_schedule, ("cosine", "plateau"))
        if self.rating_range is not None and not self.rating_range[0] <= self.rating_range[1]:
            raise ValueError(
                f"ratings must be from a lower to a higher one, got {self.rating_range}"
            )


DEFAULT = ImitationConfig()
# Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.4; the article about it has its training
# stopped after 25 epochs that were no better. Neither tells the size of batches.
UIB2021 = ImitationConfig(
    run_dir=Path("runs/supervised_document"),
    network=replace(UIB2021_NETWORK, value=False),
    epochs=200,
    patience=25,
    batch_size=128,
    optimizer="sgd",
    learning_rate=0.01,
    lr_schedule="plateau",
    final_learning_rate=1e-4,
    weight_decay=0.0,
    max_grad_norm=0.0,
    augment=False,
    precision="float32",
)
