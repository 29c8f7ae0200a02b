"""Result of a match as plain text, as HTML for notebooks, and as JSON values."""

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
from ludoteca.evaluate.statistics.intervals import return_interval, wilson
from ludoteca.html_table import html_table

WIDTH = 80  # columns of a terminal


def match_text(result: MatchResult, width: int = WIDTH) -> str:
    """Return a match as plain text: results by agent and seat, forfeits, length and speed.

    `print(result)` and `ludoteca match` show this text.

    Args:
        result: result of the match.
        width: maximum characters of a line; only names that cannot be broken are longer.
    """
    game = _game_of(result)
    headings, rows = _headings_and_rows(game, result)
    lines = _align_columns([headings, *rows])
    lines_per_agent = len(rows) // len(result.agents)
    text = [*_wrapped(_heading(game, result), width), "", f"  {lines[0]}"]
    for a, name in enumerate(agent_names(result)):
        text += _wrapped(name, width)
        text += [f"  {line}" for line in lines[1 + a * lines_per_agent :][:lines_per_agent]]
    text += ["", *_wrapped(_legend(result), width)]
    text += _summary(game, result, width)
    return "\n".join(line.rstrip() for line in text)


def match_html(result: MatchResult) -> str:
    """Return a match as an HTML table for notebooks, with the content of `match_text`."""
    game = _game_of(result)
    headings, rows = _headings_and_rows(game, result)
    rows_per_agent = len(rows) // len(result.agents)
    names = [name if k == 0 else "" for name in agent_names(result) for k in range(rows_per_agent)]
    return html_table(
        ["agent", *headings],
        [[name, *row] for name, row in zip(names, rows, strict=True)],
        title=_heading(game, result),
        notes=[_legend(result), *_summary(game, result, None)],
        text_columns=1 if _has_one_player(result) else 2,
        bold_rows=range(0, len(rows), rows_per_agent),
    )


def _heading(game: Game | None, result: MatchResult) -> str:
    name = title_with_params(game) if game else result.game
    clock = "" if result.time_control is None else f", clock {result.time_control}"
    return f"{name}: {result.games:,} games, seed {result.seed}{clock}"


def _headings_and_rows(game: Game | None, result: MatchResult) -> tuple[list[str], list[list[str]]]:
    """Return the headings, and for every agent a row of all seats together and one per seat.

    In one-player games, each agent has one row.
    """
    if _has_one_player(result):
        headings = ["games", "mean return", "solved %"]
        return headings, [_one_player_cells(record) for record in result.totals]
    multiplayer, with_returns = _is_multiplayer(game, result), _is_general_sum(game)
    rows: list[list[str]] = []
    for total, by_seat in zip(result.totals, result.seats, strict=True):
        rows.append(["all", *_record_cells(total, multiplayer, with_returns)])
        rows += [
            [_seat_name(game, seat), *_record_cells(record, multiplayer, with_returns)]
            for seat, record in enumerate(by_seat)
        ]
    headings = ["seat", "games", "wins", "draws", "losses", "win %", "score"]
    return headings + ["rank"] * multiplayer + ["return"] * with_returns, rows


def _legend(result: MatchResult) -> str:
    """Return the meaning of the columns."""
    game = _game_of(result)
    if _has_one_player(result):
        return (
            "mean return: from -1 to 1 (95 % interval); solved %: games with the return 1 "
            "(95 % Wilson interval)"
        )
    multiplayer = _is_multiplayer(game, result)
    ties = (
        "a first place shared by t seats counts 1 / t" if multiplayer else "a draw counts as half"
    )
    rank = "; rank: mean rank, 1 is the best" if multiplayer else ""
    returns = "; return: mean return, from -1 to 1" if _is_general_sum(game) else ""
    return f"win %: games won outright (95 % Wilson interval); score: {ties}{rank}{returns}"


def _has_one_player(result: MatchResult) -> bool:
    """Return whether the game has one player."""
    return len(result.by_seat) == 1


def _is_multiplayer(game: Game | None, result: MatchResult) -> bool:
    """Return whether the game has more than two players."""
    return game.num_players > 2 if game else len(result.by_seat) > 2


def _is_general_sum(game: Game | None) -> bool:
    """Return whether the game is known, and not zero-sum."""
    return game is not None and not game.zero_sum


def match_summary(game: Game, result: MatchResult) -> str:
    """Return a match in sentences: win rate of the first player, forfeits, length and speed."""
    return "\n".join(_summary(game, result, None))


def _summary(game: Game | None, result: MatchResult, width: int | None) -> list[str]:
    """Return the lines of `match_summary`, broken at `width` characters unless it is None."""
    lines = []
    if len(result.by_seat) == 2:
        first = result.by_seat[0]
        name = "the first player" if _seat_name(game, 0) == "first" else "seat 0"
        low, high = wilson(first.wins, first.games)
        draws = f", {percent(first.draws / first.games)} draws" if first.draws else ""
        lines.append(
            f"{name} wins {percent(first.win_rate)} ({percent(low)} to {percent(high)}){draws}"
        )
    if 2 * result.num_distinct_games <= result.games:  # at least half of them are repetitions
        lines.append(
            f"only {result.num_distinct_games:,} of the {result.games:,} games are different, as "
            "deterministic agents repeat games: the intervals, which take all games for "
            "independent, are too narrow; --random-plies 4 begins games with random moves"
        )
    texts = (forfeit_text(result.forfeits, a, name) for a, name in enumerate(agent_names(result)))
    lines += filter(None, texts)
    # `times` is empty in matches without a clock.
    for times, name in zip(result.times, agent_names(result), strict=False):
        lines.append(times_text(times, name))
    speed = result.games / max(result.seconds, 1e-9)  # finite even if the clock did not advance
    lines.append(
        f"{result.mean_plies:.1f} plies a game on average; "
        f"{result.seconds:.2f} s, {speed:,.0f} games/s"
    )
    return lines if width is None else [row for line in lines for row in _wrapped(line, width)]


def match_json(result: MatchResult) -> dict[str, Any]:
    """Return a result without its replays as JSON values.

    `win_interval` is the 95 % Wilson interval of the win rate. For wins in one-player games see
    `MatchRecord`.
    """
    return {
        "game": result.game,
        "games": result.games,
        "seed": result.seed,
        "distinct": result.num_distinct_games,
        "mean_plies": result.mean_plies,
        "seconds": result.seconds,
        "agents": [
            {
                "agent": name,
                "total": _record_json(total),
                "seats": [_record_json(record) for record in seats],
                "forfeits": forfeit_counts(result.forfeits, a),
            }
            for a, (name, total, seats) in enumerate(
                zip(result.agents, result.totals, result.seats, strict=True)
            )
        ],
        "by_seat": [_record_json(record) for record in result.by_seat],
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


def title_with_params(game: Game) -> str:
    """Return the title of a game, with those parameters that differ from the defaults."""
    defaults = default_game(game).params
    params = [f"{key}={value}" for key, value in game.params.items() if value != defaults[key]]
    return ", ".join([game.title, *params])


def _game_of(result: MatchResult) -> Game | None:
    """Return the game of a match, or None if no game of this name is registered."""
    try:
        return make_game(result.game)
    except ValueError:
        return None


def _seat_name(game: Game | None, seat: int) -> str:
    """Return `"first"` or `"second"` in sequential games of two players, else the seat's number."""
    if game is not None and game.num_players == 2 and not game.simultaneous:
        return ("first", "second")[seat]
    return str(seat)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines at spaces and between the parameters of specs, not within words."""
    lines = [""]
    for token in re.split(r"(?<=\s)|(?<=,)(?=[A-Za-z_])", text):
        if lines[-1] and len(lines[-1]) + len(token.rstrip()) > width:
            lines.append("")
        lines[-1] += token
    return [line.rstrip() for line in lines]


def _align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines of padded columns: the first is aligned left, the others right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _record_cells(record: MatchRecord, multiplayer: bool, with_returns: bool) -> list[str]:
    """Return the cells of a row right of the seat; a record without games has no rates."""
    if record.games == 0:
        return ["0"] * 4 + [""] * (2 + multiplayer + with_returns)
    low, high = wilson(record.wins, record.games)
    interval = f"({100 * low:.1f} to {100 * high:.1f})"
    counts = (record.games, record.wins, record.draws, record.losses)
    return [
        *(f"{count:,}" for count in counts),
        f"{100 * record.win_rate:.1f} {interval:>15}",
        f"{record.score:.3f}",
        *([f"{record.mean_rank:.2f}"] if multiplayer else []),
        *([f"{record.mean_return:.3f}"] if with_returns else []),
    ]


def _one_player_cells(record: MatchRecord) -> list[str]:
    """Return the cells of the row of an agent of a one-player game."""
    if record.games == 0:
        return ["0", "", ""]
    low, high = return_interval(record.mean_return, record.games)
    low_rate, high_rate = wilson(record.wins, record.games)
    return [
        f"{record.games:,}",
        f"{record.mean_return:.3f} ({low:.3f} to {high:.3f})",
        f"{100 * record.win_rate:.1f} ({100 * low_rate:.1f} to {100 * high_rate:.1f})",
    ]


def _record_json(record: MatchRecord) -> dict[str, Any]:
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
