"""Settings of imitation learning, and its presets `default` and `uib2021`."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.ac_network import UIB2021 as UIB2021_NETWORK
from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.settings import SupervisedConfig


@dataclass(frozen=True)
class ImitationConfig(SupervisedConfig):
    """Settings of imitation learning; a position counts once for each player to imitate."""

    data: tuple[Path, ...] = ()
    """Data set files, as written by `python -m ludoteca.train.data`: `.npz`."""
    run_dir: Path = Path("runs/imitation")
    agents: tuple[str, ...] = ()
    """Imitate only moves of these agents, by name. Without `agents` and `rating_range`: the moves
    that are marked in the files."""
    rating_range: tuple[float, float] | None = None
    """Imitate only moves of agents with a rating from the first to the second number."""
    games: int | None = None
    """Use only the first games with such moves; None: all."""
    validation_fraction: float = 0.2

    network: ACConfig = field(default_factory=ACConfig)
    vf_coef: float = 1.0
    """Coefficient of the value loss, if the network has a value head: mean squared error of the
    game's result for the player. That of the policy loss (cross-entropy) is 1."""
    patience: int = 0
    batch_size: int = 512

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD with momentum."""
    lr_schedule: Literal["cosine", "plateau"] = "cosine"
    """Learning rate schedule. `cosine`: cosine decay over all epochs. `plateau`: decay when the
    validation loss stops improving (as PyTorch's ReduceLROnPlateau)."""
    final_learning_rate: float = 1e-5
    """Cosine: final learning rate. Plateau: lower bound."""
    plateau_factor: float = 0.3
    """Plateau: factor of each decay."""
    plateau_patience: int = 5
    """Plateau: epochs without a lower validation loss before a decay."""
    momentum: float = 0.9
    """Momentum of SGD."""
    weight_decay: float = 1e-4
    """Weight decay coefficient."""
    max_grad_norm: float = 1.0
    """Maximum gradient norm (gradient clipping); 0: no clipping."""
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
# Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.4; the article about it stops training
# after 25 epochs without improvement. Neither specifies the batch size.
UIB2021 = ImitationConfig(
    run_dir=Path("runs/imitation_uib2021"),
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
