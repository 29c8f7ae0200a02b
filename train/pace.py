"""How many games a run plays in a given time, measured by the first games of such a run."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ludoteca.train.algorithms import Algorithm
from ludoteca.train.evaluation import evaluate
from ludoteca.train.settings import AUTO

ROLLOUT = 64  # games of a rollout of the trial
TRIAL_SHARE = 0.08  # of the time of the run
LEAST_TRIAL, LONGEST_TRIAL = 2.0, 30.0  # seconds
TEST_GAMES = 4  # in each seat against each opponent of the trial
EVALUATIONS = 5  # in a run, the one before the first game included
# Of the time of the run: evaluations on the way, that at the end, the report and what is imprecise.
EVALUATION_SHARE, FINAL_SHARE, SPARE_SHARE = 0.1, 0.1, 0.05
SPARE_SECONDS = 3.0
FEWEST = {"games": 64, "evaluate_games": 2, "final_games": 10}
PLANNED = ("games", "evaluate_every", "evaluate_games", "final_games")


@dataclass(frozen=True)
class Pace:
    """How fast a run is on this machine.

    Attributes:
        games: games a second that are played and learned from.
        test_seconds: seconds of a game in each seat against each opponent of evaluations.
        ready: when all code was compiled, by the clock of the measurement.
    """

    games: float
    test_seconds: float
    ready: float = 0.0


def plan(config: Any, pace: Pace, seconds: float, left: float) -> dict[str, int]:
    """Return the settings in `PLANNED` of a run that takes a given time.

    Args:
        config: its settings; numbers of test games are not exceeded.
        pace: how fast it is.
        seconds: how long the run may take in all.
        left: how much of that is left.
    """
    tests = {
        "evaluate_games": EVALUATION_SHARE * seconds / EVALUATIONS,
        "final_games": FINAL_SHARE * seconds,
    }
    counts = {
        name: max(min(int(time / pace.test_seconds), getattr(config, name)), FEWEST[name])
        for name, time in tests.items()
    }
    # Random moves are an opponent at the end.
    testing = pace.test_seconds * (EVALUATIONS * counts["evaluate_games"] + counts["final_games"])
    playing = left - testing - SPARE_SHARE * seconds - SPARE_SECONDS
    games = max(int(pace.games * playing), FEWEST["games"])
    return {"games": games, "evaluate_every": -(-games // (EVALUATIONS - 1)), **counts}


def measure_pace(
    algorithm: Algorithm, config: Any, seconds: float, clock: Callable[[], float] = time.monotonic
) -> Pace:
    """Return how fast a run is, after all code is compiled.

    The first rollouts of a run with the same settings are played and learned from, in a temporary
    folder.

    Args:
        algorithm: of the run.
        config: its settings; the number of games is not used.
        seconds: how long the run is to take.
        clock: the present time, in seconds.
    """
    trial_seconds = min(max(TRIAL_SHARE * seconds, LEAST_TRIAL), LONGEST_TRIAL)
    rollout = ROLLOUT if config.games_per_round == AUTO else config.games_per_round
    workers = getattr(config, "workers", 1)
    trial: dict[str, Any] = {
        "games": 10**9,
        "games_per_round": -(-rollout // workers) * workers,
        "log_every": 10**9,
        "evaluate_every": 10**9,
        "evaluate_games": 1,
        "minutes": None,
        "save_seconds": 1e9,
        "keep_every": 0,
    }
    if hasattr(config, "warm_up"):
        trial["warm_up"] = 1
    with tempfile.TemporaryDirectory() as folder:
        training = algorithm.make(replace(config, folder=Path(folder) / "trial", **trial))
        steps = training.run()
        try:
            for _ in range(2):  # compiles: the second rollout is played while the first is learned
                next(steps)
            before, ready = training.games, clock()
            while training.games == before or clock() - ready < trial_seconds:
                next(steps)
            games = (training.games - before) / (clock() - ready)
        finally:
            steps.close()
        try:
            return Pace(games, _test_seconds(training, clock), ready)
        finally:
            training.metrics.close()
            close = getattr(training.player, "close", None)
            if close is not None:
                close()


def _test_seconds(training: Any, clock: Callable[[], float]) -> float:
    """Return how long a game in each seat against each opponent takes."""
    begun = clock()
    for opponent in dict.fromkeys((*training.opponents(), "random")):
        evaluate(training.game, training.candidate(), opponent, TEST_GAMES, seed=0)
    return max(clock() - begun, 1e-6) / TEST_GAMES
