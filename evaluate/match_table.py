"""Result of a match as plain text, and as JSON with every number."""

import re
from collections.abc import Sequence
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.registry import default_game, make_game
from ludoteca.evaluate.forfeits import forfeit_counts, forfeit_text, forfeits_json
from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.match_clock import times_json, times_text
from ludoteca.evaluate.match_record import MatchRecord
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.html_table import html_table

WIDTH = 80  # columns of a terminal


def match_text(result: MatchResult, width: int = WIDTH) -> str:
    """Return a match as plain text: results by agent and seat, forfeits, length and speed.

    `print(result)` and `ludoteca match` show it. No line is wider than `width`, except names that
    cannot be broken.

    Args:
        result: result of the match.
        width: columns of the page.
    """
    game = _game_of(result)
    headings, rows = _table(game, result)
    lines = _columns([headings, *rows])
    block = 1 + len(result.by_seat)  # lines of an agent
    text = [*_wrapped(_heading(game, result), width), "", f"  {lines[0]}"]
    for a, name in enumerate(agent_names(result)):
        text += _wrapped(name, width)
        text += [f"  {line}" for line in lines[1 + a * block : 1 + (a + 1) * block]]
    text += ["", *_wrapped(_legend(result), width)]
    text += _summary(game, result, width)
    return "\n".join(line.rstrip() for line in text)


def match_html(result: MatchResult) -> str:
    """Return a match as an HTML table for notebooks, with the content of `match_text`."""
    game = _game_of(result)
    headings, rows = _table(game, result)
    block = 1 + len(result.by_seat)  # rows of an agent
    names = [name if p == 0 else "" for name in agent_names(result) for p in range(block)]
    return html_table(
        ["agent", *headings],
        [[name, *row] for name, row in zip(names, rows, strict=True)],
        title=_heading(game, result),
        notes=[_legend(result), *_summary(game, result, None)],
        text_columns=2,
        bold_rows=range(0, len(rows), block),
    )


def _heading(game: Game | None, result: MatchResult) -> str:
    name = rules_name(game) if game else result.game
    clock = "" if result.time_control is None else f", clock {result.time_control}"
    return f"{name}: {result.games:,} games, seed {result.seed}{clock}"


def _table(game: Game | None, result: MatchResult) -> tuple[list[str], list[list[str]]]:
    """Return the headings, and the rows of every agent: all seats together, then each."""
    many = _many(game, result)
    rows: list[list[str]] = []
    for total, seats in zip(result.totals, result.seats, strict=True):
        rows.append(["all", *_cells(total, many)])
        rows += [[_seat_name(game, p), *_cells(record, many)] for p, record in enumerate(seats)]
    headings = ["seat", "games", "wins", "draws", "losses", "win %", "score"]
    return headings + ["rank"] * many, rows


def _legend(result: MatchResult) -> str:
    many = _many(_game_of(result), result)
    shared = "a first place shared by t seats counts 1 / t" if many else "a draw counts as half"
    return f"win %: games won outright (95 % Wilson interval); score: {shared}"


def _many(game: Game | None, result: MatchResult) -> bool:
    """Return whether more than two play."""
    return game.num_players > 2 if game else len(result.by_seat) > 2


def match_summary(game: Game, result: MatchResult) -> str:
    """Return a match in sentences: the first seat, forfeits, length and speed."""
    return "\n".join(_summary(game, result, None))


def _summary(game: Game | None, result: MatchResult, width: int | None) -> list[str]:
    lines = []
    if len(result.by_seat) == 2:
        first = result.by_seat[0]
        name = "the first player" if _seat_name(game, 0) == "first" else "seat 0"
        low, high = wilson(first.wins, first.games)
        draws = f", {percent(first.draws / first.games)} draws" if first.draws else ""
        lines.append(
            f"{name} wins {percent(first.win_rate)} ({percent(low)} to {percent(high)}){draws}"
        )
    if 2 * result.distinct <= result.games:
        lines.append(
            f"only {result.distinct:,} of the {result.games:,} games are different, as "
            "deterministic agents repeat theirs: the intervals, which count every game, are too "
            "narrow; --random-plies 4 begins games with random moves"
        )
    texts = (forfeit_text(result.forfeits, a, name) for a, name in enumerate(agent_names(result)))
    lines += filter(None, texts)
    for times, name in zip(result.times, agent_names(result), strict=False):
        lines.append(times_text(times, name))
    speed = result.games / max(result.seconds, 1e-9)
    lines.append(
        f"{result.mean_plies:.1f} plies a game on average; "
        f"{result.seconds:.2f} s, {speed:,.0f} games/s"
    )
    return lines if width is None else [part for line in lines for part in _wrapped(line, width)]


def match_json(result: MatchResult) -> dict[str, Any]:
    """Return the result without replays as JSON values; intervals are 95 % Wilson intervals."""
    return {
        "game": result.game,
        "games": result.games,
        "seed": result.seed,
        "distinct": result.distinct,
        "mean_plies": result.mean_plies,
        "seconds": result.seconds,
        "agents": [
            {
                "agent": name,
                "total": _json(total),
                "seats": [_json(record) for record in seats],
                "forfeits": forfeit_counts(result.forfeits, a),
            }
            for a, (name, total, seats) in enumerate(
                zip(result.agents, result.totals, result.seats, strict=True)
            )
        ],
        "by_seat": [_json(record) for record in result.by_seat],
        "forfeits": forfeits_json(result.forfeits),
    } | _clock_json(result)


def _clock_json(result: MatchResult) -> dict[str, Any]:
    if result.time_control is None:
        return {}
    return {"time_control": result.time_control.to_json(), "times": times_json(result.times)}


def agent_names(result: MatchResult) -> tuple[str, ...]:
    """Return the names of the agents, numbered where they are equal."""
    return tuple(
        f"{name} #{result.agents[: a + 1].count(name)}" if result.agents.count(name) > 1 else name
        for a, name in enumerate(result.agents)
    )


def rules_name(game: Game) -> str:
    """Return the game's title, with the parameters that are not the defaults."""
    defaults = default_game(game).params
    params = [f"{key}={value}" for key, value in game.params.items() if value != defaults[key]]
    return ", ".join([game.title, *params])


def _game_of(result: MatchResult) -> Game | None:
    """Return the game of a match, or None if it is not registered here."""
    try:
        return make_game(result.game)
    except ValueError:
        return None


def _seat_name(game: Game | None, seat: int) -> str:
    """Return `"first"` or `"second"` in sequential games for two, else the number of the seat."""
    if game is not None and game.num_players == 2 and not game.simultaneous:
        return ("first", "second")[seat]
    return str(seat)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines at spaces and between the parameters of specs, not within words."""
    lines = [""]
    for part in re.split(r"(?<=\s)|(?<=,)(?=[A-Za-z_])", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line per row: the first column aligned left, the others right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _cells(record: MatchRecord, many: bool) -> list[str]:
    if record.games == 0:
        return ["0"] * 4 + [""] * (2 + many)
    low, high = wilson(record.wins, record.games)
    interval = f"({100 * low:.1f} to {100 * high:.1f})"
    counts = (record.games, record.wins, record.draws, record.losses)
    return [
        *(f"{count:,}" for count in counts),
        f"{100 * record.win_rate:.1f} {interval:>15}",
        f"{record.score:.3f}",
        *([f"{record.mean_rank:.2f}"] if many else []),
    ]


def _json(record: MatchRecord) -> dict[str, Any]:
    return {
        "games": record.games,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "win_rate": record.win_rate,
        "win_interval": wilson(record.wins, record.games),
        "points": record.points,
        "score": record.score,
        "mean_return": record.mean_return,
        "mean_rank": record.mean_rank,
    }
