"""Sequential match of two agents, which ends once a test of their Elo difference is decided.

The test is a sequential probability ratio test (SPRT), see `ludoteca.evaluate.statistics.sprt`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import (
    BATCH_SIZE,
    MatchResult,
    make_match_agents,
    play_match,
    require_opponents,
)
from ludoteca.evaluate.match_clock import agent_times
from ludoteca.evaluate.match_record import agent_record, seat_record
from ludoteca.evaluate.match_schedule import assign_seats
from ludoteca.evaluate.statistics.sprt import UNDECIDED, Sprt
from ludoteca.evaluate.statistics.stopped_elo import StoppedElo, estimate_elo
from ludoteca.progress import RunStatus, show_progress

MAX_GAMES = 100_000  # default number of games after which an undecided match ends
SLICE_SECONDS = 1.0  # approximate time of a slice of games, after which the test is updated


@dataclass(frozen=True)
class SequentialResult:
    """Result of a sequential match.

    Attributes:
        test: test of the Elo difference, first agent minus second.
        match: result of the games up to the decision.
        frequencies: numbers of losses, draws and wins of the first agent, or numbers of pairs of
            games in which it scored 0, 1/2, 1, 3/2 and 2 points. Shape `[3]` or `[5]`.
        llr: log-likelihood ratio of H1 to H0.
        decision: the accepted hypothesis `"H0"` or `"H1"`, or `"undecided"`.
        elo: estimate of the Elo difference; None if all results are equal.
        games_played: number of games played, including those after the decision.
        interrupted: whether the user interrupted the match.
    """

    test: Sprt
    match: MatchResult
    frequencies: tuple[int, ...]
    llr: float
    decision: str
    elo: StoppedElo | None
    games_played: int
    interrupted: bool = False


def default_counts(game: Game) -> str:
    """Return the `counts` of an SPRT (see `Sprt`) for a game.

    They are `"pentanomial"` if both games of a pair begin equally: in the second one the agents
    exchange seats, and the random plies are the same. Games with chance events begin differently,
    so single games are counted, `"trinomial"`.
    """
    return "trinomial" if game.has_chance else "pentanomial"


def play_sequential_match(
    game: Game | str,
    agents: Sequence[str | Agent],
    test: Sprt,
    *,
    max_games: int = MAX_GAMES,
    seed: int = 0,
    num_threads: int = 1,
    num_replays: int = 0,
    random_plies: int = 0,
    progress: bool = False,
    time_control: TimeControl | None = None,
) -> SequentialResult:
    """Play games until a sequential test is decided.

    The tested Elo difference is that of the first agent minus that of the second. The games are
    those of `play_match` with the same seed, in slices of about a second. The test counts them in
    their order and stops at the first decision. Later games of the slice do not count, so the
    result does not depend on the speed of the machine.

    Args:
        game: a game or its spec string.
        agents: spec strings of two agents, or the agents.
        test: the test.
        max_games: number of games after which an undecided match ends; must be even for a
            pentanomial test.
        seed: seed of the match, see `play_match`.
        num_threads: number of threads that share the games.
        num_replays: number of games whose replays are returned, counted from the first.
        random_plies: number of random plies at the beginning of each game, the same for both games
            of a pair.
        progress: show the log-likelihood ratio and its bounds on standard error.
        time_control: time control of the games, see `play_match`.

    Raises:
        ValueError: if there are not two agents, or another argument is out of range.
        KeyboardInterrupt: if the user interrupts the match before the first slice is finished.
    """
    game = make_game(game) if isinstance(game, str) else game
    require_opponents(game)
    if len(agents) != 2:
        raise ValueError(
            f"expected 2 agents for a sequential test, got {len(agents)}: "
            f"{', '.join(map(str, agents))}"
        )
    check_integer("max_games", max_games, test.games_per_result, 10**9)
    if max_games % test.games_per_result:
        raise ValueError(
            f"max_games must be even, as a pentanomial test counts pairs of games, got {max_games}"
        )
    names = tuple(agent if isinstance(agent, str) else type(agent).__name__ for agent in agents)
    match_agents = make_match_agents(game, agents) if num_threads == 1 else agents
    slices: list[MatchResult] = []
    num_played, slice_size, interrupted = 0, 2 * num_threads, False  # a pair per thread at first
    llr, decision, counted_games = 0.0, UNDECIDED, 0
    frequencies = np.zeros(5 if test.games_per_result == 2 else 3)

    def status() -> RunStatus:
        bounds = f"LLR {llr:+.2f} in {test.lower:.2f} to {test.upper:.2f}"
        return RunStatus("playing", bounds, counted_games, max_games, "games")

    with show_progress(status, progress):
        while decision == UNDECIDED and num_played < max_games:
            start = time.monotonic()
            count = min(slice_size, max_games - num_played)
            try:
                match_slice = play_match(
                    game,
                    match_agents,
                    count,
                    seed=seed,
                    first_game=num_played,
                    num_threads=num_threads,
                    num_replays=min(max(num_replays - num_played, 0), count),
                    random_plies=random_plies,
                    time_control=time_control,
                )
            except KeyboardInterrupt:
                if not slices:
                    raise
                interrupted = True
                break
            slices.append(match_slice)
            for result in _frequency_indices(match_slice, test.games_per_result):
                frequencies[result] += 1
                counted_games += test.games_per_result
                llr = test.llr(frequencies)
                decision = test.verdict(llr)
                if decision != UNDECIDED:
                    break
            num_played += count
            slice_size = _next_slice_size(count, time.monotonic() - start, num_threads)
    # Games of the last slice after the decision do not count.
    return SequentialResult(
        test=test,
        match=_join_slices(slices, names, counted_games),
        frequencies=tuple(frequencies.astype(int).tolist()),
        llr=llr,
        decision=decision,
        elo=estimate_elo(test, frequencies),
        games_played=num_played,
        interrupted=interrupted,
    )


def _next_slice_size(count: int, seconds: float, num_threads: int) -> int:
    """Return the number of games of the next slice, as many as fit `SLICE_SECONDS`.

    It is an even number, at least two per thread, at most `BATCH_SIZE` per thread, and at most four
    times that of the last slice, as the time of few games is a poor estimate.

    Args:
        count: number of games of the last slice.
        seconds: time of the last slice.
        num_threads: number of threads.
    """
    games_in_time = count * SLICE_SECONDS / max(seconds, 1e-9)
    return max(
        2 * num_threads, 2 * int(min(games_in_time, 4 * count, BATCH_SIZE * num_threads) / 2)
    )


def _frequency_indices(match_slice: MatchResult, games_per_result: int) -> NDArray[np.int64]:
    """Return the index of each result in the frequencies: twice the points of the first agent.

    A result is a game or a pair of games, see `Sprt.games_per_result`. Shape `[results]`.
    """
    assert match_slice.returns is not None
    is_first_agent = _seating(match_slice) == 0
    best_first = np.where(is_first_agent, match_slice.returns, -np.inf).max(1)
    best_other = np.where(is_first_agent, -np.inf, match_slice.returns).max(1)
    doubled_points = 1 + np.sign(best_first - best_other).astype(np.int64)
    sums: NDArray[np.int64] = doubled_points.reshape(-1, games_per_result).sum(1)
    return sums


def _seating(match_slice: MatchResult) -> NDArray[np.int64]:
    """Return the index of the agent in each seat of each game. Shape `[games, seats]`."""
    numbers = match_slice.first_game + np.arange(match_slice.games)
    return assign_seats(numbers, len(match_slice.by_seat), len(match_slice.agents))


def _join_slices(slices: Sequence[MatchResult], names: tuple[str, ...], games: int) -> MatchResult:
    """Return the result of the first `games` games of a match, from its consecutive slices."""

    def joined(values: Callable[[MatchResult], Any]) -> Any:
        """Return the concatenated arrays that `values` returns for each slice."""
        return np.concatenate([values(match_slice) for match_slice in slices])[:games]

    returns, seating = joined(lambda match_slice: match_slice.returns), joined(_seating)
    seats = range(returns.shape[1])
    agents = range(len(names))
    move_times = (
        None if slices[0].move_times is None else joined(lambda match_slice: match_slice.move_times)
    )
    replays = [replay for match_slice in slices for replay in match_slice.replays]
    return replace(
        slices[0],
        agents=names,
        games=games,
        totals=tuple(agent_record(returns, seating, a) for a in agents),
        seats=tuple(
            tuple(seat_record(returns, p, seating[:, p] == a) for p in seats) for a in agents
        ),
        by_seat=tuple(seat_record(returns, p, np.ones(games, np.bool_)) for p in seats),
        mean_plies=float(joined(lambda match_slice: match_slice.plies).mean()),
        seconds=sum(match_slice.seconds for match_slice in slices),
        replays=tuple(
            replace(replay, players=tuple(names[a] for a in row))
            for replay, row in zip(replays[:games], seating, strict=False)
        ),
        returns=returns,
        plies=joined(lambda match_slice: match_slice.plies),
        forfeits=tuple(f for match_slice in slices for f in match_slice.forfeits if f.game < games),
        game_digests=joined(lambda match_slice: match_slice.game_digests),
        times=() if move_times is None else agent_times(move_times, seating, len(names)),
        move_times=move_times,
    )
