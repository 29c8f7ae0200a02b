"""A network learns the moves that others played, in games in which all move at once.

`python -m ludoteca.train.imitation --data games.npz` learns moves and how the games ended, with
what has proved useful since the document; `cnn:FOLDER` plays such a network, `ac:FOLDER` plays it
with a search, and `python -m ludoteca.train.actor_critic --start-from FOLDER` continues from there.
With `document`, it builds and trains the network of Martín Miralles, "Hungry Geese" (UIB, 2021),
section 2.4. All settings can be changed; the defaults below are those of the preset. An interrupted
run resumes, to the same result, when the same command is given again.
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
    "default": ("what learns best", DEFAULT),
    "uib2021": (
        'the settings of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.4',
        UIB2021,
    ),
}


def main(config: ImitationConfig, progress: bool = True) -> dict[str, Any] | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show how it goes on standard error, and the results on standard output.

    Returns:
        What is in `results.json`, or None if time was up before.
    """
    return train_epochs(ImitationTraining(config), validation_report, progress)


def parse(arguments: Sequence[str]) -> ImitationConfig:
    """Read a command line: a preset, `modern` if none is named, and settings that differ."""
    return parse_preset(NAME, __doc__, PRESETS, arguments)


if __name__ == "__main__":
    run_command(NAME, lambda: main(parse(sys.argv[1:])))
