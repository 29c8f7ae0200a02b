"""`python -m ludoteca.evaluate.studies NAME`, which is `ludoteca reproduce NAME`."""

import sys
from collections.abc import Sequence
from functools import partial

from ludoteca.evaluate.cli.commands import Command, run_commands

_study = partial(Command, resumes=True)
# One line for each experiment: the function whose parameters are its options, and what it studies.
EXPERIMENTS = {
    "bandits": _study(
        "ludoteca.evaluate.studies.bandits.command:reproduce",
        "Constants of UCB1 in bandit problems.",
    ),
    "geese": _study(
        "ludoteca.evaluate.studies.geese.study:reproduce", "Agents and networks in Hungry Geese."
    ),
    "ggp": _study(
        "ludoteca.evaluate.studies.ggp.study:reproduce",
        "Selection policies of tree search in General Game Playing.",
    ),
    "hex": _study("ludoteca.evaluate.studies.hex.study:reproduce", "Deep Q-learning in Hex."),
    "othello": _study(
        "ludoteca.evaluate.studies.othello.study:reproduce",
        "Value networks and AlphaZero in Othello.",
    ),
    "solved": _study(
        "ludoteca.evaluate.studies.solved.study:reproduce", "AlphaZero in games that are solved."
    ),
}
DESCRIPTION = (
    "Run a study again by name. `--fast` does all of it in some minutes, on small numbers."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the arguments are wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    prog = "python -m ludoteca.evaluate.studies"
    return run_commands(EXPERIMENTS, arguments, prog, DESCRIPTION, kind="experiment")


if __name__ == "__main__":
    sys.exit(main())
