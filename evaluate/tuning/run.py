"""Tuning run: an optimizer asks, games answer, and a match measures the gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.match import MatchResult, make_match_agents, play_match
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.statistics.ratings import elo_difference
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
from ludoteca.progress import progress_bar


@dataclass(frozen=True)
class FinalMatch:
    """Match of the tuned agent, with games that the optimizer has not seen.

    Attributes:
        opponent: spec string of the opponent.
        wins: number of games won.
        draws: number of games drawn.
        losses: number of games lost.
        score: mean score; a draw counts as half a win.
        interval: 95 % interval of the score.
        elo: Elo difference; None if all games were won or lost.
    """

    opponent: str
    wins: int
    draws: int
    losses: int
    score: float
    interval: tuple[float, float]
    elo: float | None


@dataclass(frozen=True)
class TuningResult:
    """Result of a tuning run.

    Attributes:
        game: spec string of the game.
        agent: spec string of the tuned agent.
        parameters: the tuned parameters.
        values: recommended values by parameter.
        start: spec string of the agent at the start.
        start_values: values by parameter at the start.
        games: number of games of the evaluations.
        evaluations: all evaluations in their order.
        matches: final matches: against the agent at the start, then against the other opponents.
            Without the first if the values have not changed.
    """

    game: str
    agent: str
    parameters: tuple[TunedParameter, ...]
    values: dict[str, str]
    start: str
    start_values: dict[str, str]
    games: int
    evaluations: tuple[Evaluation, ...]
    matches: tuple[FinalMatch, ...]


def tune_agent(
    game: Game | str,
    agent: str,
    parameters: Sequence[str],
    out: str | Path,
    *,
    optimizer: str = "spsa",
    against: Sequence[str] = (),
    games: int = 10_000,
    batch: int = 20,
    match_games: int = 1000,
    random_plies: int = 0,
    seed: int = 0,
    num_threads: int = 1,
    progress: bool = False,
) -> TuningResult:
    """Tune parameters of an agent by games.

    After an interruption the same call resumes the run.

    Args:
        game: the game, or its spec string.
        agent: spec string of the agent; values of tuned parameters in it are the start.
        parameters: the parameters and their values, see `parse_parameter`.
        out: folder of the run.
        optimizer: spec string of the optimizer, see `OPTIMIZERS`.
        against: spec strings of the opponents. By default the agent at the start; and SPSA lets its
            two points play each other.
        games: number of games of the optimizer.
        batch: number of games of an evaluation, shared by the opponents.
        match_games: number of games of each final match.
        random_plies: number of random plies at the beginning of each game.
        seed: seed of the optimizer and of the games.
        num_threads: number of threads that share the games.
        progress: whether to show the progress on standard error.

    Raises:
        ValueError: if an argument is out of range, a spec string is invalid, or the folder belongs
            to another run.
    """
    game = make_game(game) if isinstance(game, str) else game
    tuned = parse_parameters(parameters)
    start = start_positions(agent, tuned)
    start_values = values_at(tuned, start)
    start_agent = with_values(agent, start_values)
    opponents = tuple(against) or (start_agent,)
    integer("games", games, 2, 10**9)
    integer("match_games", match_games, 2, 10**9)
    unit = 2 * len(opponents)
    if integer("batch", batch, unit, 10**6) % unit:
        raise ValueError(
            f"batch must be a multiple of {unit}, two games for each opponent, got {batch}"
        )
    make_match_agents(game, [start_agent, *opponents[:1]])  # raises if they cannot play
    pairs = find_optimizer(optimizer).plays_pairs and not against
    evaluations = games // batch * (2 if pairs else 1)
    made = make_optimizer(optimizer, tuned, start, evaluations, check_seed(seed))
    evaluate = _Evaluator(
        game, agent, tuned, () if pairs else opponents, batch, random_plies, seed, num_threads
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
        _optimize(made, evaluate, log, games, progress)
        values = values_at(tuned, made.best().tolist())
        best_agent = with_values(agent, values)
        rivals = dict.fromkeys([start_agent, *opponents])
        matches = tuple(
            _final_match(
                play_match(
                    game,
                    [best_agent, rival],
                    match_games,
                    seed=seed,
                    first_game=games,
                    num_threads=num_threads,
                    random_plies=random_plies,
                    progress=progress,
                ),
                rival,
            )
            for rival in rivals
            if rival != best_agent
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
    """Games of points of the unit cube, against opponents or between the two points of a pair."""

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
        """Make an evaluator; without opponents, points play in pairs. See `tune_agent`."""
        self._game, self._agent, self._parameters = game, agent, parameters
        self._opponents, self.batch = opponents, batch
        self._random_plies, self._seed, self._num_threads = random_plies, seed, num_threads

    def evaluations(self, points: Points) -> int:
        """Return the number of evaluations, of `batch` games each, that give all scores."""
        return len(points) if self._opponents else len(points) // 2

    def evaluate(self, points: Points, k: int, first_game: int) -> Evaluation:
        """Play the games of point `k`, or of the first point of pair `k` against the second."""
        if not self._opponents:
            own, other = (
                values_at(self._parameters, points[row].tolist()) for row in (2 * k, 2 * k + 1)
            )
            agents = [with_values(self._agent, values) for values in (own, other)]
            return Evaluation(own, *self._play(agents, self.batch, first_game), other)
        values = values_at(self._parameters, points[k].tolist())
        agent, share = with_values(self._agent, values), self.batch // len(self._opponents)
        counts = [
            self._play([agent, opponent], share, first_game + number * share)
            for number, opponent in enumerate(self._opponents)
        ]
        wins, draws, losses = np.sum(counts, 0).tolist()
        return Evaluation(values, wins, draws, losses)

    def scores(self, evaluations: Sequence[Evaluation]) -> NDArray[np.float64]:
        """Return the scores of all points. Shape `[n]`."""
        scores = np.array([evaluation.score for evaluation in evaluations])
        return scores if self._opponents else np.stack([scores, 1 - scores], 1).ravel()

    def _play(self, agents: Sequence[str], games: int, first_game: int) -> tuple[int, int, int]:
        """Return wins, draws and losses of the first agent."""
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
    """Evaluate points until the games are used up; recorded evaluations come first."""
    recorded = iter(tuple(log.evaluations))
    played = 0
    with progress_bar(games, progress) as advance:
        points = optimizer.ask()
        while played + (cost := evaluator.batch * evaluator.evaluations(points)) <= games:
            evaluations = []
            for k in range(evaluator.evaluations(points)):
                evaluation = next(recorded, None)
                if evaluation is None:
                    evaluation = evaluator.evaluate(points, k, played)
                    log.add(evaluation)
                evaluations.append(evaluation)
                advance(evaluator.batch)
            optimizer.tell(evaluator.scores(evaluations))
            played += cost
            points = optimizer.ask()


def _final_match(result: MatchResult, opponent: str) -> FinalMatch:
    record = result.totals[0]
    score = (record.wins + record.draws / 2) / record.games
    return FinalMatch(
        opponent,
        record.wins,
        record.draws,
        record.losses,
        score,
        score_interval(record.wins, record.draws, record.games),
        elo_difference(score),
    )
