"""Settings of the training of value networks."""

from dataclasses import dataclass, field
from pathlib import Path

from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.train.settings import SupervisedConfig


@dataclass(frozen=True)
class ValueRegressionConfig(SupervisedConfig):
    """Settings; with the same ones, a run gives the same network on the same machine."""

    data: tuple[Path, ...]
    """Files of games, which `python -m ludoteca.train.data` writes: `.npz` or `.csv`."""
    run_dir: Path = Path("runs/value_network")
    network: ValueConfig = field(default_factory=ValueConfig)
    learning_rate: float = 1e-3
    """Of Adam."""

    def __post_init__(self) -> None:
        if not self.data:
            raise ValueError("data must name at least one file, got none")
        super().__post_init__()
