"""Imitation learning (behavioral cloning) of recorded moves in simultaneous games.

`python -m ludoteca.train.imitation --data games.npz` learns moves and game results. The agent
`cnn:RUN_DIR` plays the network, `ac:RUN_DIR` plays it with a search, and `python -m
ludoteca.train.ppo --start-from RUN_DIR` continues training by reinforcement learning.
Preset `uib2021` builds and trains the network of Martín Miralles, "Hungry Geese" (UIB, 2021),
section 2.4. An interrupted run resumes, with the same result, when the same command is given again.
"""

import sys
from collections.abc import Sequence
from typing import Any

from ludoteca.train.command import parse_preset, run_command, train_epochs
from ludoteca.train.imitation.config import DEFAULT, UIB2021, ImitationConfig
from ludoteca.train.imitation.report import validation_report
from ludoteca.train.imitation.training import ImitationTraining

NAME = "ludoteca.train.imitation"

PRESETS = {
    "default": ("AdamW with a cosine schedule, moves and results", DEFAULT),
    "uib2021": (
        'the settings of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.4',
        UIB2021,
    ),
}


def main(config: ImitationConfig, progress: bool = True) -> dict[str, Any] | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show a progress bar on standard error, and the results on standard output.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    return train_epochs(ImitationTraining(config), validation_report, progress)


def parse(arguments: Sequence[str]) -> ImitationConfig:
    """Parse a command line: an optional preset, and changed settings."""
    return parse_preset(NAME, __doc__, PRESETS, arguments)


if __name__ == "__main__":
    run_command(NAME, lambda: main(parse(sys.argv[1:])))
