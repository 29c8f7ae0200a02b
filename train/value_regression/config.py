"""Settings of value regression."""

from dataclasses import dataclass, field
from pathlib import Path

from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.train.settings import SupervisedConfig


@dataclass(frozen=True)
class ValueRegressionConfig(SupervisedConfig):
    """Settings of value regression."""

    data: tuple[Path, ...]
    """Data set files, as written by `python -m ludoteca.train.data`: `.npz` or `.csv`."""
    run_dir: Path = Path("runs/value_regression")
    network: ValueConfig = field(default_factory=ValueConfig)
    learning_rate: float = 1e-3
    """Learning rate of Adam."""

    def __post_init__(self) -> None:
        if not self.data:
            raise ValueError("data must name at least one file, got none")
        super().__post_init__()
