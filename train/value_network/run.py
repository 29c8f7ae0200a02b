"""Training a value network to its end, with a progress bar and a report."""

from pathlib import Path

from ludoteca.train.command import train_epochs
from ludoteca.train.value_network.config import Config
from ludoteca.train.value_network.report import find
from ludoteca.train.value_network.training import Training


def train(config: Config, progress: bool = False, tensorboard: bool = True) -> Path | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show how it goes on standard error, and the results on standard output.
        tensorboard: whether TensorBoard's files are written.

    Returns:
        The file of the best network, or None if time was up before the end.
    """
    results = train_epochs(Training(config, tensorboard), find, progress)
    return None if results is None else config.folder / "best.safetensors"
