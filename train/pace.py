"""Speed of a training run on this machine, and its number of games within a time limit."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from ludoteca.envs.clock import clock
from ludoteca.train.evaluation import evaluate, evaluated_against
from ludoteca.train.loop import RLTraining
from ludoteca.train.settings import AUTO

WARM_UP_GAMES = 4  # games of the rollouts that compile the code
TRIAL_GAMES = 64  # games of a measured rollout, if `games_per_iteration` is `AUTO`
TRIAL_FRACTION = 0.08  # maximum duration of the trial, as a fraction of the time limit
MIN_TRIAL_SECONDS, MAX_TRIAL_SECONDS = 2.0, 30.0  # bounds of this duration
TRIAL_EVAL_GAMES = 4  # evaluation games of the trial, in each seat against each opponent
EVALUATIONS = 5  # evaluations of a run, including that before the first game
# Fractions of the time limit: evaluations in training, the final one, the report and a reserve.
EVAL_FRACTION, FINAL_EVAL_FRACTION, SPARE_FRACTION = 0.1, 0.1, 0.05
SPARE_SECONDS = 3.0  # for the report and a reserve, in addition
MIN_COUNTS = {"games": 64, "eval_games": 2, "final_eval_games": 10}  # minima of planned settings
PLANNED = ("games", "eval_interval", "eval_games", "final_eval_games")  # settings, see `plan`


@dataclass(frozen=True)
class Pace:
    """Speed of a training run on this machine.

    Attributes:
        games_per_second: training games per second.
        eval_seconds: seconds of one game in each seat against each opponent of the report.
        ready: end of compilation, by `time.monotonic()`.
    """

    games_per_second: float
    eval_seconds: float
    ready: float = 0.0


def plan(config: Any, pace: Pace, seconds: float, seconds_left: float) -> dict[str, int]:
    """Return the settings in `PLANNED` of a run with a time limit.

    Args:
        config: settings; their numbers of evaluation games are maxima.
        pace: speed of the run.
        seconds: time limit of the run.
        seconds_left: seconds until the time limit.
    """
    eval_times = {
        "eval_games": EVAL_FRACTION * seconds / EVALUATIONS,
        "final_eval_games": FINAL_EVAL_FRACTION * seconds,
    }
    counts = {
        name: max(min(int(available / pace.eval_seconds), getattr(config, name)), MIN_COUNTS[name])
        for name, available in eval_times.items()
    }
    eval_seconds = pace.eval_seconds * (
        EVALUATIONS * counts["eval_games"] + counts["final_eval_games"]
    )
    training_seconds = seconds_left - eval_seconds - SPARE_FRACTION * seconds - SPARE_SECONDS
    games = max(int(pace.games_per_second * training_seconds), MIN_COUNTS["games"])
    return {"games": games, "eval_interval": -(-games // (EVALUATIONS - 1)), **counts}


def measure_pace(config: Any, seconds: float) -> Pace:
    """Measure the speed of a run, after all code is compiled.

    Trains with the same settings in a temporary folder: first on as few games as possible, to
    compile, then on as many as fit into a small part of the time.

    Args:
        config: settings; the number of games is not used.
        seconds: time limit of the run.
    """
    trial_seconds = min(max(TRIAL_FRACTION * seconds, MIN_TRIAL_SECONDS), MAX_TRIAL_SECONDS)
    workers = getattr(config, "num_actors", 1)  # the games of a rollout are a multiple of it
    with _trial(config, workers * -(-WARM_UP_GAMES // workers)) as training:
        iterations = training.run()
        for _ in range(2):  # the second rollout is played during the updates from the first
            next(iterations)
        iterations.close()
        _evaluation_seconds(training, 1)
    ready = time.monotonic()
    auto = config.games_per_iteration == AUTO
    rollout_games = TRIAL_GAMES if auto else config.games_per_iteration
    with _trial(config, workers * -(-rollout_games // workers)) as training:
        training.monitor.deadline = ready + trial_seconds
        for _ in training.run():
            # No further iteration in the second half, which it would hardly fit into.
            if time.monotonic() > ready + trial_seconds / 2:
                break
        # An unfinished rollout counts in proportion.
        games_per_second = max(training.progress, 1.0) / max(training.learning_seconds, 1e-6)
        training.monitor.deadline = inf
        count, eval_seconds = TRIAL_EVAL_GAMES, _evaluation_seconds(training, 1)
        if TRIAL_EVAL_GAMES * eval_seconds < trial_seconds:
            eval_seconds = _evaluation_seconds(training, TRIAL_EVAL_GAMES)
        else:
            count = 1
        return Pace(games_per_second, max(eval_seconds, 1e-6) / count, ready)


@contextmanager
def _trial(config: Any, games_per_iteration: int) -> Iterator[Any]:
    """Make a run in a temporary folder, without limits, logs, evaluations and checkpoints.

    Args:
        config: settings of the real run.
        games_per_iteration: games of a rollout.
    """
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
            if training.multiprocess_actor is not None:
                training.multiprocess_actor.close()


def _evaluation_seconds(training: Any, games: int) -> float:
    """Return the seconds of `games` games in each seat against each opponent of the report."""
    start = clock()
    opponents = (*training.algorithm.opponents(), "random")
    for opponent in evaluated_against(training.game, opponents):
        evaluate(training.game, training.algorithm.agent(), opponent, games, seed=0)
    return clock() - start
