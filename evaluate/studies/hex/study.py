"""Study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), with further runs."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.hex import curves, evaluation
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: train with few games, in some minutes, to check that everything runs; networks do not
            learn to play.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    declaration = Declaration.read(
        "hex", fast, {"precision": precision}, {"learning_curve": curves.summarize}
    )
    return declaration.make_study(
        fast,
        template_names={"paper": read_data("hex/tanaka2018.toml"), **vars(evaluation)},
        draw=curves.draw,
        is_valid_record=has_enough_games,
    )


def has_enough_games(record: Mapping[str, Any], task: Task) -> bool:
    """Return whether a training run or a match had at least as many games as its task has now."""
    played: int = record.get("config", record)["games"]  # matches have no "config"
    return played >= int(task.options["games"])


reproduce = study_command(
    make_study, "Train the paper's networks for Hex and our own, and compare with its tables."
)
