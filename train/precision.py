"""Numeric precision of a run's convolutions."""

from typing import Any

from ludoteca.agents.networks.runner import Precision, faster_precision
from ludoteca.train.distributed import ranks
from ludoteca.train.run_directory import Arrays, RunDirectory
from ludoteca.train.settings import RLConfig, SupervisedConfig


def run_precision(
    config: RLConfig | SupervisedConfig,
    run_directory: RunDirectory,
    state: tuple[dict[str, Any], Arrays] | None,
) -> Precision:
    """Return the precision of a run: the setting, or, with `auto`, the faster one.

    A run that resumes keeps its precision.

    Args:
        config: the settings.
        run_directory: directory of the run.
        state: the checkpoint from which the run resumes, or None.

    Raises:
        ValueError: if the state is of another version of this package.
    """
    precision: Precision = config.precision
    if state is not None:
        with run_directory.restoring():
            precision = state[0]["precision"]
    if precision != "auto":
        return precision
    return ranks().broadcast(lambda: faster_precision(config.device))
