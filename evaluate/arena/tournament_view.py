"""Tournaments in progress as JSON values: progress, standings, ratings, pairs, newest games."""

import math
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_table import title_with_params
from ludoteca.evaluate.tournament.game_log import GAMES_FILE
from ludoteca.evaluate.tournament.played_games import PlayedGames
from ludoteca.evaluate.tournament.progress import TournamentProgress

NEWEST_GAMES = 20
MAX_PAIRS = 300  # rows of the table; of more pairs, those with the most games are shown


def tournament_view(progress: TournamentProgress, folder: Path) -> dict[str, Any]:
    """Return the description of a tournament as JSON values.

    Games and agents are given by their numbers in the lists `games` and `agents`. Ratings are None
    for agents without games, or while they cannot be computed; `needs` names a missing package.
    `curve` has pairs of a number of games and the Elo ratings after them, by agent. `planned` and
    `played` are numbers of games, `is_complete` says whether the whole log has been read, `plies`
    is the sum over all games, and `idle` the seconds since the last game.

    Raises:
        OSError: if the log cannot be read.
    """
    t = progress.tournament
    return {
        "games": [title_with_params(make_game(game)) for game in t.games],
        "agents": [
            {"name": name, "spec": spec} for name, spec in zip(t.names, t.agents, strict=True)
        ],
        "planned": t.total_games,
        "played": progress.games_read,
        "is_complete": progress.is_complete,
        "plies": int(progress.games.plies.sum()),
        "idle": _idle_seconds(folder / GAMES_FILE),
        "plan": _plan(progress),
        "standings": _standings(progress),
        "needs": ""
        if find_spec("scipy")
        else 'ratings need SciPy: pip install "ludoteca[evaluate]"',
        "pairs": _pairs(progress),
        "curve": [[games, [_rounded(x) for x in elo]] for games, elo in progress.curve],
        "newest": _newest_games(progress),
    }


def _plan(progress: TournamentProgress) -> list[tuple[str, str]]:
    """Return names and values of the settings.

    "clock" has the values of a `TimeControl` in the order of its fields: play clock, start clock
    and time bank in seconds, and the penalty of a player who is out of time.
    """
    t = progress.tournament
    clock = t.time_control
    return [
        ("games per pair", f"{t.games_per_pair:,} in each game"),
        ("repeats", str(t.repeats)),
        ("seed", str(t.seed)),
        *([] if clock is None else [("clock", ", ".join(map(str, clock.to_json().values())))]),
    ]


def _standings(progress: TournamentProgress) -> list[dict[str, Any]]:
    """Return a row for each agent, ordered by rating, or by score if there are no ratings."""
    wins, draws = progress.wins.sum(0), progress.draws.sum(0)  # [agents, agents], of all games
    ratings = progress.ratings()
    forfeits = [forfeit.agent for _, forfeit in progress.games.forfeits]
    rows = []
    for a in range(len(wins)):
        won, drawn, lost = int(wins[a].sum()), int(draws[a].sum()), int(wins[:, a].sum())
        games = won + drawn + lost
        row: dict[str, Any] = {
            "agent": a,
            "games": games,
            "wins": won,
            "draws": drawn,
            "losses": lost,
        }
        row["score"] = None if games == 0 else round((won + drawn / 2) / games, 4)
        row["forfeits"] = forfeits.count(a)
        for name in ("elo", "low", "high"):
            row[name] = None if ratings is None else _rounded(getattr(ratings, name)[a])
        rows.append(row)
    return sorted(
        rows, key=lambda row: (_none_last(row["elo"]), _none_last(row["score"])), reverse=True
    )


def _none_last(value: float | None) -> float:
    return -math.inf if value is None else value


def _pairs(progress: TournamentProgress) -> list[dict[str, Any]]:
    """Return a row for each pair of agents in each game, at most `MAX_PAIRS`."""
    t, wins, draws = progress.tournament, progress.wins, progress.draws
    rows = [
        {
            "game": game,
            "pair": [a, b],
            "planned": t.games_per_pair,
            "played": int(wins[game, a, b] + wins[game, b, a] + draws[game, a, b]),
            "wins": int(wins[game, a, b]),
            "draws": int(draws[game, a, b]),
            "losses": int(wins[game, b, a]),
        }
        for game in range(len(t.games))
        for a, b in t.pairs
    ]
    if len(rows) > MAX_PAIRS:
        rows.sort(key=lambda row: -int(row["played"]))  # type: ignore[call-overload]
    return rows[:MAX_PAIRS]


def _newest_games(progress: TournamentProgress) -> list[dict[str, Any]]:
    """Return the newest games, the newest first."""
    games: list[dict[str, Any]] = []
    for played in reversed(progress.newest):
        games += reversed(_games(played))
        if len(games) >= NEWEST_GAMES:
            break
    return games[:NEWEST_GAMES]


def _games(played: PlayedGames) -> list[dict[str, Any]]:
    """Return the games of a line of the log; the two agents move first in alternate games.

    `outcome` is `"W"`, `"D"` or `"L"` for the first agent of `pair`; `first` moves first.
    """
    forfeits = {forfeit.game: forfeit for forfeit in played.forfeits}
    return [
        {
            "game": played.match.game,
            "pair": list(played.match.pair),
            "repeat": played.match.repeat,
            "number": number,
            "first": played.match.pair[number % 2],
            "outcome": outcome,
            "forfeit": _forfeit_text(forfeits.get(number)),
        }
        for number, outcome in enumerate(played.outcomes, played.first)
    ]


def _forfeit_text(forfeit: Forfeit | None) -> str:
    if forfeit is None:
        return ""
    message = f": {forfeit.message!s:.200}" if forfeit.message else ""
    return f"forfeit, {forfeit.kind!s:.40}{message}"


def _idle_seconds(log: Path) -> float | None:
    """Return the seconds since the last game, or None if there is no log yet."""
    try:
        return max(0.0, round(time.time() - log.stat().st_mtime, 1))
    except FileNotFoundError:
        return None


def _rounded(value: float) -> float | None:
    return round(float(value), 2) if math.isfinite(value) else None
