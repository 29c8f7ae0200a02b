"""Training a value network to its end, with a progress bar and a report."""

from pathlib import Path

from ludoteca.train.command import train_epochs
from ludoteca.train.value_regression.config import ValueRegressionConfig
from ludoteca.train.value_regression.report import validation_report
from ludoteca.train.value_regression.training import ValueRegressionTraining


def train(
    config: ValueRegressionConfig, progress: bool = False, tensorboard: bool = True
) -> Path | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show a progress bar on standard error, and the results on standard output.
        tensorboard: whether TensorBoard's files are written.

    Returns:
        The file of the best network, or None if time was up before the end.
    """
    results = train_epochs(
        ValueRegressionTraining(config, tensorboard), validation_report, progress
    )
    return None if results is None else config.run_dir / "best.safetensors"
