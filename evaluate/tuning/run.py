"""Tuning run: an optimizer proposes values, games score them, and matches measure the result.

A point is a choice of values for all tuned parameters, in the unit cube of `parameters`. Its
evaluation is the result of `batch` games. Some optimizers propose pairs of points, whose agents
play each other.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.match import make_match_agents, play_match
from ludoteca.evaluate.tuning.evaluation_log import Evaluation, EvaluationLog
from ludoteca.evaluate.tuning.optimizers.optimizer import Optimizer, Points
from ludoteca.evaluate.tuning.optimizers.registry import find_optimizer, make_optimizer
from ludoteca.evaluate.tuning.parameters import (
    TunedParameter,
    parse_parameters,
    start_positions,
    values_at,
    with_values,
)
from ludoteca.evaluate.tuning.playout_weights import (
    METHODS,
    PARAMETER,
    SETTINGS,
    find_method,
    tune_playout_weights,
)
from ludoteca.evaluate.tuning.result import TuningResult, play_final_matches
from ludoteca.progress import progress_bar

GAMES, BATCH = 10_000, 20  # defaults: games of all evaluations, and of each


def tune_agent(
    game: Game | str,
    agent: str,
    parameters: Sequence[str],
    out: str | Path,
    *,
    optimizer: str = "spsa",
    against: Sequence[str] = (),
    games: int = GAMES,
    batch: int = BATCH,
    match_games: int = 1000,
    random_plies: int = 0,
    seed: int = 0,
    num_threads: int = 1,
    progress: bool = False,
) -> TuningResult:
    """Tune parameters of an agent by playing games.

    After an interruption the same call resumes the run.

    Args:
        game: the game, or its spec string.
        agent: spec string of the agent, with the starting values of the tuned parameters.
        parameters: texts of the parameters, see `parse_parameter`; `playout.weights` with the
            optimizers of `playout_weights`.
        out: folder of the run.
        optimizer: spec string of the optimizer, see `OPTIMIZERS` and `METHODS`.
        against: spec strings of the opponents. By default the opponent is the agent with the
            starting values; with SPSA the two points of a pair play each other.
        games: total number of games of the evaluations; not for playout weights.
        batch: number of games of an evaluation, divided equally among the opponents; not for
            playout weights.
        match_games: number of games of each final match.
        random_plies: number of random plies at the beginning of each game.
        seed: seed of the optimizer and of the games.
        num_threads: number of threads that share the games.
        progress: whether to show the progress on standard error.

    Raises:
        ValueError: if an argument is out of range, a spec string is invalid, or the folder belongs
            to another run.
        subprocess.CalledProcessError: if the training of playout weights fails.
    """
    game = make_game(game) if isinstance(game, str) else game
    if (method := find_method(optimizer)) is not None:
        if (games, batch) != (GAMES, BATCH):
            raise ValueError(
                f"{method} scores no values by games, so games and batch do not apply; settings of "
                f"its own follow its name: {', '.join(SETTINGS)}"
            )
        return tune_playout_weights(
            game,
            agent,
            parameters,
            Path(out),
            optimizer=optimizer,
            against=against,
            match_games=match_games,
            random_plies=random_plies,
            seed=seed,
            num_threads=num_threads,
            progress=progress,
        )
    optimizer_class = find_optimizer(optimizer)
    if any(text.partition("=")[0] == PARAMETER for text in parameters):
        raise ValueError(
            f"{PARAMETER} is a file, not a range: choose an optimizer that trains it, "
            f"{' or '.join(METHODS)}, not {optimizer}"
        )
    tuned = parse_parameters(parameters)
    start = start_positions(agent, tuned)
    start_values = values_at(tuned, start)
    start_agent = with_values(agent, start_values)
    opponents = tuple(against) or (start_agent,)
    check_integer("games", games, 2, 10**9)
    check_integer("match_games", match_games, 2, 10**9)
    min_batch = 2 * len(opponents)
    if check_integer("batch", batch, min_batch, 10**6) % min_batch:
        raise ValueError(
            f"batch must be a multiple of {min_batch} (two games for each opponent), got {batch}"
        )
    for opponent in opponents:
        make_match_agents(game, [start_agent, opponent])  # raises if they cannot play the game
    plays_pairs = optimizer_class.plays_pairs and not against
    evaluations = (
        games // batch * (2 if plays_pairs else 1)
    )  # points: a batch scores both of a pair
    optimizer_object = make_optimizer(optimizer, tuned, start, evaluations, check_seed(seed))
    evaluate = _Evaluator(
        game, agent, tuned, () if plays_pairs else opponents, batch, random_plies, seed, num_threads
    )
    settings = {
        "game": game.spec,
        "agent": agent,
        "parameters": [str(text) for text in parameters],
        "optimizer": optimizer,
        "against": list(against),
        "games": games,
        "batch": batch,
        "random_plies": random_plies,
        "seed": seed,
    }
    with EvaluationLog(Path(out), settings) as log:
        _optimize(optimizer_object, evaluate, log, games, progress)
        values = values_at(tuned, optimizer_object.best().tolist())
        best_agent = with_values(agent, values)
        matches = play_final_matches(
            game,
            best_agent,
            [start_agent, *opponents],
            match_games,
            seed=seed,
            first_game=games,  # the evaluations have the games before it
            num_threads=num_threads,
            random_plies=random_plies,
            progress=progress,
        )
        return TuningResult(
            game=game.spec,
            agent=best_agent,
            parameters=tuned,
            values=values,
            start=start_agent,
            start_values=start_values,
            games=batch * len(log.evaluations),
            evaluations=tuple(log.evaluations),
            matches=matches,
        )


class _Evaluator:
    """Evaluator of points of the unit cube, by games against opponents or between points."""

    def __init__(
        self,
        game: Game,
        agent: str,
        parameters: Sequence[TunedParameter],
        opponents: Sequence[str],
        batch: int,
        random_plies: int,
        seed: int,
        num_threads: int,
    ):
        """Make an evaluator; without opponents, the points of a pair play each other.

        See `tune_agent` for the arguments.
        """
        self._game, self._agent, self._parameters = game, agent, parameters
        self._opponents, self.batch = opponents, batch
        self._random_plies, self._seed, self._num_threads = random_plies, seed, num_threads

    def evaluations(self, points: Points) -> int:
        """Return the number of evaluations, of `batch` games each, that score all points."""
        return len(points) if self._opponents else len(points) // 2

    def evaluate(self, points: Points, k: int, first_game: int) -> Evaluation:
        """Play the games of point `k`, or of the first point of pair `k` against the second.

        Args:
            points: points as the optimizer returned them, pairs in two rows. Shape `[n, d]`.
            k: index of the point or pair.
            first_game: number of the first game, by which its random streams are chosen.
        """
        if not self._opponents:
            first, second = (
                values_at(self._parameters, points[row].tolist()) for row in (2 * k, 2 * k + 1)
            )
            agents = [with_values(self._agent, values) for values in (first, second)]
            return Evaluation(first, *self._play(agents, self.batch, first_game), second)
        values = values_at(self._parameters, points[k].tolist())
        agent = with_values(self._agent, values)
        games = self.batch // len(self._opponents)
        counts = [
            self._play([agent, opponent], games, first_game + number * games)
            for number, opponent in enumerate(self._opponents)
        ]
        wins, draws, losses = np.sum(counts, 0).tolist()
        return Evaluation(values, wins, draws, losses)

    def scores(self, evaluations: Sequence[Evaluation]) -> NDArray[np.float64]:
        """Return the scores of all points; a pair has one evaluation for both. Shape `[n]`."""
        scores = np.array([evaluation.score for evaluation in evaluations])
        return scores if self._opponents else np.stack([scores, 1 - scores], 1).ravel()

    def _play(self, agents: Sequence[str], games: int, first_game: int) -> tuple[int, int, int]:
        """Play a match; return wins, draws and losses of the first agent."""
        record = play_match(
            self._game,
            agents,
            games,
            seed=self._seed,
            first_game=first_game,
            num_threads=self._num_threads,
            random_plies=self._random_plies,
        ).totals[0]
        return record.wins, record.draws, record.losses


def _optimize(
    optimizer: Optimizer, evaluator: _Evaluator, log: EvaluationLog, games: int, progress: bool
) -> None:
    """Evaluate points until the games do not suffice for the next ones.

    The first evaluations are taken from the log, as long as there are any.
    """
    logged = iter(tuple(log.evaluations))
    played = 0
    with progress_bar(games, progress) as advance:
        points = optimizer.ask()
        while played + (num_games := evaluator.batch * evaluator.evaluations(points)) <= games:
            evaluations = []
            for k in range(evaluator.evaluations(points)):
                evaluation = next(logged, None)
                if evaluation is None:
                    evaluation = evaluator.evaluate(points, k, played)
                    log.add(evaluation)
                evaluations.append(evaluation)
                advance(evaluator.batch)
            optimizer.tell(evaluator.scores(evaluations))
            played += num_games
            points = optimizer.ask()
