"""Number of games that a run plays in a given time, measured on its first games."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from ludoteca.envs.clock import clock
from ludoteca.train.evaluation import evaluate
from ludoteca.train.loop import RLTraining
from ludoteca.train.settings import AUTO

COMPILED = 4  # games of a rollout that only compiles
ROLLOUT = 64  # games of a rollout that is measured
TRIAL_SHARE = 0.08  # of the time of the run
LEAST_TRIAL, LONGEST_TRIAL = 2.0, 30.0  # seconds
TEST_GAMES = 4  # in each seat against each opponent of the trial
EVALUATIONS = 5  # in a run, the one before the first game included
# Of the time of the run: evaluations on the way, that at the end, the report and what is imprecise.
EVALUATION_SHARE, FINAL_SHARE, SPARE_SHARE = 0.1, 0.1, 0.05
SPARE_SECONDS = 3.0
FEWEST = {"games": 64, "eval_games": 2, "final_eval_games": 10}
PLANNED = ("games", "eval_interval", "eval_games", "final_eval_games")


@dataclass(frozen=True)
class Pace:
    """Speed of a run on this machine.

    Attributes:
        games: training games per second.
        test_seconds: seconds of an evaluation game in each seat against each opponent.
        ready: end of compilation, by `time.monotonic()`.
    """

    games: float
    test_seconds: float
    ready: float = 0.0


def plan(config: Any, pace: Pace, seconds: float, left: float) -> dict[str, int]:
    """Return the settings in `PLANNED` of a run with a time limit.

    Args:
        config: settings; their numbers of evaluation games are maxima.
        pace: speed of the run.
        seconds: time limit of the run.
        left: remaining part of it.
    """
    tests = {
        "eval_games": EVALUATION_SHARE * seconds / EVALUATIONS,
        "final_eval_games": FINAL_SHARE * seconds,
    }
    counts = {
        name: max(min(int(time / pace.test_seconds), getattr(config, name)), FEWEST[name])
        for name, time in tests.items()
    }
    # Random moves are an opponent at the end.
    testing = pace.test_seconds * (EVALUATIONS * counts["eval_games"] + counts["final_eval_games"])
    playing = left - testing - SPARE_SHARE * seconds - SPARE_SECONDS
    games = max(int(pace.games * playing), FEWEST["games"])
    return {"games": games, "eval_interval": -(-games // (EVALUATIONS - 1)), **counts}


def measure_pace(config: Any, seconds: float) -> Pace:
    """Measure the speed of a run, after all code is compiled.

    Trains with the same settings in a temporary folder: first on as few games as possible, to
    compile, then on as many as fit into a small part of the time.

    Args:
        config: settings; the number of games is not used.
        seconds: time limit of the run.
    """
    limit = min(max(TRIAL_SHARE * seconds, LEAST_TRIAL), LONGEST_TRIAL)
    workers = getattr(config, "num_actors", 1)
    with _trial(config, workers * -(-COMPILED // workers)) as training:
        steps = training.run()
        for _ in range(2):  # the second rollout is played while the first is learned
            next(steps)
        steps.close()
        _evaluation_seconds(training, 1)
    ready = time.monotonic()
    rollout = ROLLOUT if config.games_per_iteration == AUTO else config.games_per_iteration
    with _trial(config, workers * -(-rollout // workers)) as training:
        training.monitor.deadline = ready + limit
        for _ in training.run():
            if time.monotonic() > ready + limit / 2:
                break
        # A rollout that has not ended by the deadline counts in part.
        games = max(training.progress, 1.0) / max(training.learning_seconds, 1e-6)
        training.monitor.deadline = inf
        count, spent = TEST_GAMES, _evaluation_seconds(training, 1)
        if TEST_GAMES * spent < limit:
            spent = _evaluation_seconds(training, TEST_GAMES)
        else:
            count = 1
        return Pace(games, max(spent, 1e-6) / count, ready)


@contextmanager
def _trial(config: Any, games_per_iteration: int) -> Iterator[Any]:
    """Make a run without an end, in a temporary folder."""
    trial: dict[str, Any] = {
        "games": 10**9,
        "games_per_iteration": games_per_iteration,
        "log_interval": 10**9,
        "eval_interval": 10**9,
        "eval_games": 1,
        "minutes": None,
        "save_seconds": 1e9,
        "checkpoint_interval": 0,
    }
    if hasattr(config, "learning_starts"):
        trial["learning_starts"] = 1
    with tempfile.TemporaryDirectory() as folder:
        training = RLTraining(
            replace(config, run_dir=Path(folder) / "trial", **trial), tensorboard=False
        )
        try:
            yield training
        finally:
            training.metrics.close()
            if training.actors is not None:
                training.actors.close()


def _evaluation_seconds(training: Any, games: int) -> float:
    """Return the seconds of `games` games in each seat against each opponent."""
    begun = clock()
    for opponent in dict.fromkeys((*training.algorithm.opponents(), "random")):
        evaluate(training.game, training.algorithm.agent(), opponent, games, seed=0)
    return clock() - begun
