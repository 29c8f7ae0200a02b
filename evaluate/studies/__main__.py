"""`python -m ludoteca.evaluate.studies NAME`, which is `ludoteca reproduce NAME`."""

import sys
from collections.abc import Sequence

from ludoteca.evaluate.cli.commands import Command, run_commands

SUMMARIES = {
    "amaf": "RAVE and GRAVE by exploration constant and equivalence parameter.",
    "bandit_policies": "Selection policies in bandits: best arm, regret and bounds.",
    "bandits": "Constants of UCB1 in bandit problems.",
    "equivalence": "UCB1 with enhancements tested for equivalence to UCB-alpha2.",
    "exploration": "Exploration factors and move groups in General Game Playing.",
    "geese": "Agents and networks in Hungry Geese.",
    "ggp": "Selection policies of tree search in General Game Playing.",
    "hex": "Deep Q-learning in Hex.",
    "othello": "Value networks and AlphaZero in Othello.",
    "p_game": "Selection policies in random trees of known value (P-games).",
    "playout_policy": "Playouts by simulation balancing in Breakthrough.",
    "related_work": "UCB-Tuned against UCB1 in three games, and eleven policies in Tron.",
    "solved": "AlphaZero in games that are solved.",
    "statistics": "Error rates, power and coverage of the package's statistics.",
    "ucb_tuned": "Readings of UCB-Tuned's formula, compared with a thesis.",
}
# Commands of the studies; the options of each are the parameters of its `reproduce`.
STUDIES = {
    name: Command(f"ludoteca.evaluate.studies.{name}.study:reproduce", summary, resumes=True)
    for name, summary in SUMMARIES.items()
}
DESCRIPTION = "Reproduce the study of a paper. `--fast` runs everything with few games, in minutes."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status of `run_commands`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return run_commands(STUDIES, arguments, f"python -m {__package__}", DESCRIPTION, noun="study")


if __name__ == "__main__":
    sys.exit(main())
