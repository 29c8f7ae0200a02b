"""`ludoteca bench mcts --strength`: matches between our search and OpenSpiel's.

Both are plain UCT with the same constant, random playouts and a new tree for every move: once with
equal numbers of simulations, to see that ours is right, and once with equal time, to see what its
speed is worth.
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
from ludoteca.evaluate.match_runner import compile_match
from ludoteca.evaluate.match_table import rules_name
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.files import write_whole
from ludoteca.local_executor import cores
from ludoteca.provenance import package_versions, run_info
from ludoteca.terminal_table import TerminalTable

GAMES = ("connect4", "hex:board_size=7", "breakthrough", "othello")
SIMULATIONS = 1000
# Scores are in [0, 1] here and in [-1, 1] there: with c = sqrt(2) and uct_c = 2 both explore alike.
OURS, THEIRS = "mcts:policy=uct", "openspiel:uct_c=2"
EQUAL_SIMULATIONS, EQUAL_TIME = "simulations", "time"
EVEN, FAR_AHEAD = 0.5, 0.75
TARGETS = {
    EQUAL_SIMULATIONS: "the interval of the score has to reach 50 % or lie above",
    EQUAL_TIME: "at least 75 % have to be won",
}
TIMES = "times.json"
TIMED_GAMES = 2  # of OpenSpiel against itself, to see how long it thinks


@dataclass(frozen=True)
class StrengthResult:
    """How our search fared against OpenSpiel's in one game, on one condition.

    Attributes:
        condition: what both have the same of: `"simulations"` or `"time"`.
        game: spec string.
        ours: spec string of our agent.
        theirs: spec string of OpenSpiel's.
        games: how many were played, half of them with our agent moving first.
        wins: ours.
        draws: of both.
        losses: ours.
        wins_first: of our wins, those in which it moved first.
        win_rate: share of games won outright, `win_interval` its 95 % Wilson interval.
        win_interval: see `win_rate`.
        score: mean score, draws counting half, `score_interval` its 95 % interval.
        score_interval: see `score`.
        mean_plies: length of the games.
        seconds: that all processes took together.
        target: what had to be reached.
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
    """Play the matches, or what is left of them; print the table, and write all numbers as JSON.

    Args:
        json: where to write; None: nowhere.
        games: per game and condition; an even number.
        folder: where games are recorded as they are played, so that an interrupted run goes on.
        only: names of matches, such as `"time-othello"`, or their beginnings; all by default.
        processes: how many play side by side; as many as there are cores by default.

    Raises:
        ValueError: if there is no such match, `games` is odd, or the folder belongs to another run.
        ImportError: if OpenSpiel is not installed.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games must be even, so that both move first equally often, got {games}")
    import_pyspiel()
    matches = {
        f"{condition}-{make_game(game).name}": (condition, game)
        for condition in (EQUAL_SIMULATIONS, EQUAL_TIME)
        for game in GAMES
    }
    chosen = select_names(list(matches), only)
    console = Console()
    about = run_info(games=games)
    with console.status("measuring how long OpenSpiel thinks"):
        times = thinking_times(folder / TIMES, sorted({matches[name][1] for name in chosen}))
    expected = sum(games * expected_seconds(*matches[name], times) for name in chosen)
    workers = cores() if processes is None else processes
    console.print(f"{len(chosen)} matches, about {expected / workers / 60:.0f} min if none is over")
    standings = []
    for name in chosen:
        condition, game = matches[name]
        agents = pair_of(condition, times[game]["seconds"])
        console.print(f"{name}: {agents[0]} against {agents[1]}", soft_wrap=True)
        standings.append(play(condition, game, agents, games, folder / name, processes))
    console.print(strength_table(standings), soft_wrap=True)
    if json is not None:
        content = {
            "standings": [asdict(one) for one in standings],
            "thinking_times": times,
            "about": about,
            "versions": package_versions() | {"open_spiel": version("open_spiel")},
        }
        write_whole(json, json_format.dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return standings


def thinking_times(file: Path, games: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how long OpenSpiel takes for a move of so many simulations, and how long games are.

    It is measured once, in games of its own, and then read from the file: the agents of a match
    that goes on must stay what they were.
    """
    times: dict[str, dict[str, float]] = (
        json_format.loads(file.read_text()) if file.exists() else {}
    )
    spec = f"{THEIRS},simulations={SIMULATIONS}"
    for game in games:
        if game not in times:
            made = make_game(game)
            agents = [make_agent(spec, made) for _ in range(2)]
            for agent in agents:
                agent.prepare()
            compile_match(made)
            start = process_time()  # what else the machine does is left out
            result = play_match(made, agents, TIMED_GAMES)
            seconds = (process_time() - start) / (TIMED_GAMES * result.mean_plies)
            times[game] = {"seconds": float(f"{seconds:.3g}"), "plies": result.mean_plies}
            write_whole(file, json_format.dumps(times, indent=2) + "\n")
    return times


def expected_seconds(condition: str, game: str, times: dict[str, dict[str, float]]) -> float:
    """Return about how long a game takes; with equal simulations, our moves hardly count."""
    both = times[game]["seconds"] * times[game]["plies"]
    return both if condition == EQUAL_TIME else both / 2


def pair_of(condition: str, seconds: float) -> tuple[str, str]:
    """Return the spec strings of our agent and OpenSpiel's."""
    budget = (
        f"simulations={SIMULATIONS}" if condition == EQUAL_SIMULATIONS else f"seconds={seconds}"
    )
    return f"{OURS},{budget}", f"{THEIRS},{budget}"


def play(
    condition: str,
    game: str,
    agents: tuple[str, str],
    games: int,
    folder: Path,
    processes: int | None,
) -> StrengthResult:
    """Play a match, or what is left of it, and judge it."""
    match = Tournament((game,), agents, games_per_pair=games, repeats=1)
    results = run_tournament(match, folder, processes=processes, progress=sys.stderr.isatty())
    found = results.pair_results[0]
    win_rate, win_interval = found.wins / games, wilson(found.wins, games)
    score = (found.wins + found.draws / 2) / games
    interval = score_interval(found.wins, found.draws, games)
    reached = interval[1] >= EVEN if condition == EQUAL_SIMULATIONS else win_rate >= FAR_AHEAD
    return StrengthResult(
        condition=condition,
        game=match.games[0],
        ours=agents[0],
        theirs=agents[1],
        games=games,
        wins=found.wins,
        draws=found.draws,
        losses=found.losses,
        wins_first=found.wins_first,
        win_rate=win_rate,
        win_interval=win_interval,
        score=score,
        score_interval=interval,
        mean_plies=found.mean_plies,
        seconds=results.seconds,
        target=TARGETS[condition],
        verdict="pass" if reached else "miss",
    )


def strength_table(standings: Sequence[StrengthResult]) -> TerminalTable:
    """Return the standings as a table for the terminal."""
    targets = "; ".join(f"equal {condition}: {target}" for condition, target in TARGETS.items())
    table = TerminalTable(
        ("game", "won", "drawn", "lost", "won, %", "score, %", "verdict"),
        title=f"our UCT against OpenSpiel's, {standings[0].games:,} games each",
        caption=f"in brackets 95 % intervals; score: a draw counts half; {targets}",
    )
    for condition in TARGETS:
        rows = [one for one in standings if one.condition == condition]
        if rows:
            table.add(f"equal {condition}", *6 * ("",), style="bold")
        for one in rows:
            table.add(
                rules_name(make_game(one.game)),
                *(str(count) for count in (one.wins, one.draws, one.losses)),
                _percent(one.win_rate, one.win_interval),
                _percent(one.score, one.score_interval),
                one.verdict,
                rule=one is rows[-1],
            )
    return table


def _percent(share: float, interval: tuple[float, float]) -> str:
    low, high = (f"{100 * end:.1f}" for end in interval)
    return f"{100 * share:.1f} ({low}-{high})"
