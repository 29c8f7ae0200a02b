"""Study of which enhancements make UCB1 equivalent to UCB-alpha2, in the eight games of a thesis.

Valencia's thesis on General Game Playing (UAEMex, 2021) finds UCB-alpha2 stronger than UCB1. Each
candidate, UCB1 with one of several enhancements or constants, plays against UCB-alpha2 without
enhancements. A claim of equivalence needs its own test: a difference that is not significant may
only have had too few games.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.studies.amaf.study import score
from ludoteca.evaluate.studies.equivalence.analysis import (
    compare,
    extremes,
    names_by_verdict,
    records_until,
)
from ludoteca.evaluate.studies.equivalence.matches import RIVAL
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES, GAMES
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task, Tasks

OPTIONS = "draw=loss,action_selection=mean"  # of all searches, as in the thesis
SIMULATIONS = 1_000
# Number of games of a match, by the number of its first game. The scores were seen after each
# block, and the last two blocks were added then.
BLOCKS = {0: 100, 100: 50, 150: 50}
# Candidates that the confirmation plays again: those that the first experiment found equivalent.
# Number of games of each match, fixed before they were played, and their seed.
CONFIRMED = ("alpha = 2, MAST", "alpha = 0.1")
CONFIRMATION_GAMES, CONFIRMATION_SEED = 200, 2
MARGIN = 0.05  # largest difference of the score from one half that counts as equivalent
CANDIDATES = {
    "alpha = 2": "policy=ucb1,policy.alpha=2",
    "alpha = 2, solver": "policy=ucb1,policy.alpha=2,solver=True",
    "alpha = 2, decisive moves": "policy=ucb1,policy.alpha=2,decisive=both",
    "alpha = 2, RAVE": "policy=ucb1,policy.alpha=2,amaf=rave",
    "alpha = 2, GRAVE": "policy=ucb1,policy.alpha=2,amaf=grave",
    "alpha = 2, MAST": "policy=ucb1,policy.alpha=2,mast=greedy",
    "alpha = 2, first-play urgency": "policy=ucb1,policy.alpha=2,fpu=1",
    "alpha = 2, transpositions": "policy=ucb1,policy.alpha=2,transpositions=True",
    "alpha = 2, tree reuse": "policy=ucb1,policy.alpha=2,reuse=True",
    "alpha = 0.1": "policy=ucb1,policy.alpha=0.1",
    "alpha = 0.1, decisive moves": "policy=ucb1,policy.alpha=0.1,decisive=both",
    "alpha = 0.1, decisive moves, MAST": "policy=ucb1,policy.alpha=0.1,decisive=both,mast=greedy",
}


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: play matches of 2 games with 20 simulations, one for each candidate and game, to check
            that everything runs.
    """
    settings = {
        "candidates": tuple(CANDIDATES.values()), "options": OPTIONS,
        "simulations": 20 if fast else SIMULATIONS, "seed": 1,
    }  # fmt: skip
    blocks, games = ({0: 2}, 2) if fast else (BLOCKS, CONFIRMATION_GAMES)
    matches: Tasks = {}
    for first_game, count in blocks.items():
        matches |= game_tasks(str(first_game), settings, count, first_game)
    confirmed = {name: CANDIDATES[name] for name in CONFIRMED}
    confirmation = settings | {"candidates": tuple(confirmed.values()), "seed": CONFIRMATION_SEED}
    parts = {"matches": matches, "confirmation": game_tasks("confirmation", confirmation, games)}
    names = {
        "settings": settings, "looks": tuple(accumulate(blocks.values())),
        "confirmation": confirmation | {"games": games},
        "candidates": CANDIDATES, "confirmed_candidates": confirmed,
        "margin": MARGIN, "rival": RIVAL, "records_until": records_until,
        "elo_difference": elo_difference, "compare": compare, "score": score,
        "names_by_verdict": names_by_verdict, "extremes": extremes,
        "game_names": dict(zip(GAMES, GAME_NAMES, strict=True)),
    }  # fmt: skip
    return Study("equivalence", parts, names, fast=fast)


def game_tasks(suffix: str, settings: Mapping[str, Any], games: int, first_game: int = 0) -> Tasks:
    """Return the tasks with a match of each candidate, one task for each game, by name.

    Args:
        suffix: end of the names, which begin with the name of the game.
        settings: settings of the tasks.
        games: number of games of each match.
        first_game: number of the first game of each match.
    """
    tasks: Tasks = {}
    for game, label in zip(GAMES, GAME_NAMES, strict=True):
        name, match = f"{game}-{suffix}", {"game": game, **settings, "games": games}
        match["first_game"] = first_game
        tasks[name] = Task(
            name, "ludoteca.evaluate.studies.equivalence.matches",
            {**match, "out": "{artifact}"}, match, label=label,
        )  # fmt: skip
    return tasks


reproduce = study_command(
    make_study, "Test which enhancements make UCB1 equivalent to UCB-alpha2 in eight games."
)
