"""Matches between our search and OpenSpiel's: `ludoteca bench mcts --strength`.

Both are plain UCT with the same constant, random playouts and a new tree for every move: with equal
numbers of simulations, to verify that ours is correct, and with equal time, to measure the effect
of its speed.
"""

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import process_time

from rich.console import Console

from ludoteca.agents.external.openspiel import import_pyspiel
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.rounds import select_names
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_compilation import compile_match
from ludoteca.evaluate.match_table import title_with_params
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.files import write_atomically
from ludoteca.local_executor import cores
from ludoteca.provenance import package_versions, run_info
from ludoteca.terminal_table import TerminalTable

GAMES = ("connect4", "hex:board_size=7", "breakthrough", "othello")
SIMULATIONS = 1000  # per move, with equal simulations
# Exploration is c/2 sqrt(2 ln N / n) for our scores in [0, 1] and uct_c sqrt(ln N / n) for those of
# OpenSpiel in [-1, 1], a range of twice the size: c = sqrt(2), our default, equals uct_c = 2.
OURS, THEIRS = "mcts:policy=uct", "openspiel:uct_c=2"
EQUAL_SIMULATIONS, EQUAL_TIME = "simulations", "time"
EVEN_SCORE, MIN_WIN_RATE = 0.5, 0.75  # see `TARGETS`
TARGETS = {
    EQUAL_SIMULATIONS: "the interval of the score must not lie below 50 %",
    EQUAL_TIME: "at least 75 % of the games must be won",
}
TIMES_FILE = "times.json"  # of `openspiel_times`
TIMED_GAMES = 2  # games of OpenSpiel against itself that are timed


@dataclass(frozen=True)
class StrengthResult:
    """Result of our search against OpenSpiel's in one game with one equal budget.

    Attributes:
        condition: the equal budget: `"simulations"` or `"time"`.
        game: spec string of the game.
        ours: spec string of our agent.
        theirs: spec string of OpenSpiel's agent.
        games: number of games; our agent moves first in half of them.
        wins: number of our wins.
        draws: number of draws.
        losses: number of our losses.
        wins_first: number of our wins as first player.
        win_rate: fraction of games won outright.
        win_interval: 95 % Wilson interval of `win_rate`.
        score: mean score; a draw counts half.
        score_interval: 95 % interval of `score`.
        mean_plies: mean number of plies of a game.
        seconds: wall-clock time of the games, summed over all processes.
        target: what the verdict `"pass"` requires, as text.
        verdict: `"pass"` or `"miss"`.
    """

    condition: str
    game: str
    ours: str
    theirs: str
    games: int
    wins: int
    draws: int
    losses: int
    wins_first: int
    win_rate: float
    win_interval: tuple[float, float]
    score: float
    score_interval: tuple[float, float]
    mean_plies: float
    seconds: float
    target: str
    verdict: str


def bench_strength(
    json: Path | None,
    games: int = 40,
    folder: Path = Path("runs/strength"),
    only: tuple[str, ...] = (),
    processes: int | None = None,
) -> list[StrengthResult]:
    """Play the missing games of the matches, print the table, and write all numbers as JSON.

    Args:
        json: file for the results; None: no file.
        games: number of games of each match; an even number.
        folder: folder of the game logs, from which an interrupted run resumes.
        only: names of matches, such as `"time-othello"`, or their prefixes; all by default.
        processes: number of processes; by default one per core.

    Raises:
        ValueError: if there is no such match, `games` is odd, or the folder belongs to another run.
        ImportError: if OpenSpiel is not installed.
    """
    if games < 2 or games % 2:
        raise ValueError(
            f"games must be even and at least 2, so that both move first equally often, got {games}"
        )
    import_pyspiel()
    matches = {
        f"{condition}-{make_game(game).name}": (condition, game)
        for condition in (EQUAL_SIMULATIONS, EQUAL_TIME)
        for game in GAMES
    }
    selected = select_names(list(matches), only)
    console = Console()
    about = run_info(games=games)
    with console.status("measuring OpenSpiel's time per move"):
        times = openspiel_times(
            folder / TIMES_FILE, sorted({matches[name][1] for name in selected})
        )
    expected = sum(games * expected_seconds(*matches[name], times) for name in selected)
    workers = cores() if processes is None else processes
    console.print(
        f"{len(selected)} matches, about {expected / workers / 60:.0f} min in total; games of "
        "earlier runs are not repeated"
    )
    results = []
    for name in selected:
        condition, game = matches[name]
        agents = agent_specs(condition, times[game]["seconds"])
        console.print(f"{name}: {agents[0]} against {agents[1]}", soft_wrap=True)
        results.append(play_missing_games(condition, game, agents, games, folder / name, processes))
    console.print(strength_table(results), soft_wrap=True)
    if json is not None:
        content = {
            "results": [asdict(result) for result in results],
            "openspiel_times": times,
            "about": about,
            "versions": package_versions() | {"open_spiel": version("open_spiel")},
        }
        write_atomically(json, json_format.dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return results


def openspiel_times(file: Path, games: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return OpenSpiel's `"seconds"` per move and mean number of `"plies"` of a game, by game.

    They are measured once, in games of OpenSpiel against itself, and then read from the file: the
    agents of a resumed match must stay the same.
    """
    times: dict[str, dict[str, float]] = (
        json_format.loads(file.read_text()) if file.exists() else {}
    )
    spec = f"{THEIRS},simulations={SIMULATIONS}"
    for game in games:
        if game not in times:
            loaded_game = make_game(game)
            agents = [make_agent(spec, loaded_game) for _ in range(2)]
            for agent in agents:
                agent.prepare()
            compile_match(loaded_game)
            start = process_time()  # other load of the machine is excluded
            result = play_match(loaded_game, agents, TIMED_GAMES)
            seconds = (process_time() - start) / (TIMED_GAMES * result.mean_plies)
            # Rounded, because the time becomes part of spec strings.
            times[game] = {"seconds": float(f"{seconds:.3g}"), "plies": result.mean_plies}
            write_atomically(file, json_format.dumps(times, indent=2) + "\n")
    return times


def expected_seconds(condition: str, game: str, times: dict[str, dict[str, float]]) -> float:
    """Return the expected seconds of a game; at equal simulations, our moves hardly take time."""
    openspiel_selfplay = times[game]["seconds"] * times[game]["plies"]
    return openspiel_selfplay if condition == EQUAL_TIME else openspiel_selfplay / 2


def agent_specs(condition: str, seconds: float) -> tuple[str, str]:
    """Return the spec strings of our agent and OpenSpiel's.

    Args:
        condition: the equal budget.
        seconds: time per move if the time is equal.
    """
    budget = (
        f"simulations={SIMULATIONS}" if condition == EQUAL_SIMULATIONS else f"seconds={seconds}"
    )
    return f"{OURS},{budget}", f"{THEIRS},{budget}"


def play_missing_games(
    condition: str,
    game: str,
    agents: tuple[str, str],
    games: int,
    folder: Path,
    processes: int | None,
) -> StrengthResult:
    """Play the missing games of a match, and return its result.

    Args:
        condition: the equal budget.
        game: spec string of the game.
        agents: spec strings of our agent and OpenSpiel's.
        games: number of games of the match.
        folder: folder of the game log.
        processes: number of processes; None for one per core.
    """
    match = Tournament((game,), agents, games_per_pair=games, repeats=1)
    results = run_tournament(match, folder, processes=processes, progress=sys.stderr.isatty())
    pair = results.pair_results[0]
    win_rate, win_interval = pair.wins / games, wilson(pair.wins, games)
    score = (pair.wins + pair.draws / 2) / games
    interval = score_interval(pair.wins, pair.draws, games)
    passed = (
        interval[1] >= EVEN_SCORE if condition == EQUAL_SIMULATIONS else win_rate >= MIN_WIN_RATE
    )
    return StrengthResult(
        condition=condition,
        game=match.games[0],
        ours=agents[0],
        theirs=agents[1],
        games=games,
        wins=pair.wins,
        draws=pair.draws,
        losses=pair.losses,
        wins_first=pair.wins_first,
        win_rate=win_rate,
        win_interval=win_interval,
        score=score,
        score_interval=interval,
        mean_plies=pair.mean_plies,
        seconds=results.seconds,
        target=TARGETS[condition],
        verdict="pass" if passed else "miss",
    )


def strength_table(results: Sequence[StrengthResult]) -> TerminalTable:
    """Return the results as a table for the terminal."""
    targets = "; ".join(f"equal {condition}: {target}" for condition, target in TARGETS.items())
    table = TerminalTable(
        ("game", "won", "drawn", "lost", "won, %", "score, %", "verdict"),
        title=f"our UCT against OpenSpiel's, {results[0].games:,} games each",
        caption=f"in brackets 95 % intervals; score: a draw counts half; {targets}",
    )
    for condition in TARGETS:
        rows = [result for result in results if result.condition == condition]
        if rows:
            table.add(f"equal {condition}", *6 * ("",), style="bold")
        for result in rows:
            table.add(
                title_with_params(make_game(result.game)),
                *(str(count) for count in (result.wins, result.draws, result.losses)),
                _percent(result.win_rate, result.win_interval),
                _percent(result.score, result.score_interval),
                result.verdict,
                space_below=result is rows[-1],
            )
    return table


def _percent(fraction: float, interval: tuple[float, float]) -> str:
    """Return a fraction and its interval in percent, such as `"55.0 (39.8-69.3)"`."""
    low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"{100 * fraction:.1f} ({low}-{high})"
