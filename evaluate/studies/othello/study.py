"""Study of value networks in Othello (University of Seville, 2019), and AlphaZero."""

from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.othello import plots
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: learn from few games and play few games, in some minutes, to check that everything
            runs.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    declaration = Declaration.read("othello", fast, {"precision": precision})
    return declaration.make_study(fast, draw=plots.draw)


reproduce = study_command(
    make_study,
    "Generate games of UCT, train value networks on them, and play all matches. Some matches have "
    "a time limit per move: no other program should run on the same cores.",
)
