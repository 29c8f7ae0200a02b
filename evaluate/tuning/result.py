"""Result of a tuning run: the recommended values, and matches of the tuned agent."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ludoteca.envs.game import Game
from ludoteca.evaluate.match import MatchResult, play_match
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.tuning.evaluation_log import Evaluation
from ludoteca.evaluate.tuning.parameters import TunedParameter


@dataclass(frozen=True)
class FinalMatch:
    """Match of the tuned agent, with games that the optimizer did not use.

    Attributes:
        opponent: spec string of the opponent.
        wins: number of games won.
        draws: number of games drawn.
        losses: number of games lost.
        score: mean score; a draw counts as half a win.
        interval: 95 % interval of the score.
        elo: Elo difference, tuned agent minus opponent; None if all games were won or all lost.
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
        values: recommended values of the parameters, by name.
        start: spec string of the agent with the starting values.
        start_values: starting values of the parameters, by name.
        games: total number of games of the evaluations.
        evaluations: all evaluations in their order.
        matches: final matches: against the agent with the starting values, unless they are the
            recommended ones, then against the other opponents.
        errors: of trained playout weights and of uniform playouts, the `"squared_error"` of mean
            returns and the `"log_likelihood"` of moves in test positions, by name; otherwise empty.
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
    errors: dict[str, dict[str, float]] = field(default_factory=dict)


def play_final_matches(
    game: Game,
    agent: str,
    opponents: Sequence[str],
    num_games: int,
    *,
    seed: int,
    first_game: int,
    num_threads: int,
    random_plies: int,
    progress: bool,
) -> tuple[FinalMatch, ...]:
    """Play the matches of a tuned agent, one for each different opponent that is not the agent.

    Args:
        game: the game.
        agent: spec string of the tuned agent.
        opponents: spec strings of the opponents.
        num_games: number of games of each match.
        seed: seed of the games.
        first_game: number of the first game; the tuning may have used those before it.
        num_threads: number of threads that share the games.
        random_plies: number of random plies at the beginning of each game.
        progress: whether to show the progress on standard error.
    """
    return tuple(
        _final_match(
            play_match(
                game,
                [agent, opponent],
                num_games,
                seed=seed,
                first_game=first_game,
                num_threads=num_threads,
                random_plies=random_plies,
                progress=progress,
            ),
            opponent,
        )
        for opponent in dict.fromkeys(opponents)
        if opponent != agent
    )


def _final_match(result: MatchResult, opponent: str) -> FinalMatch:
    """Return the result of the first agent, which is the tuned one, against an opponent."""
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
