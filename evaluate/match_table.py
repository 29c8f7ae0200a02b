"""What a match found: a table to read, and JSON with every number."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.forfeits import forfeit_counts, forfeit_text, forfeits_json
from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.tally import Tally


def match_table(game: Game, result: MatchResult) -> Table:
    """Return the results as a table: each agent in all games, and seat by seat."""
    many = game.num_players > 2
    shared = "a shared first place counts by its share" if many else "a draw counts as half"
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        title=f"{rules_name(game)}: {result.games:,} games, seed {result.seed}",
        title_justify="left",
        caption=f"win %: games won outright (95 % Wilson interval); score: {shared}",
        caption_justify="left",
    )
    table.add_column("agent", overflow="fold", min_width=8)
    table.add_column("seat", no_wrap=True)
    headings = ("games", "wins", "draws", "losses", "win %", "score", *(("rank",) if many else ()))
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, total, seats in zip(agent_names(result), result.totals, result.seats, strict=True):
        table.add_row(name, "all", *_cells(total, many), style="bold")
        for p, tally in enumerate(seats):
            last = p == len(seats) - 1
            table.add_row("", seat_name(game, p), *_cells(tally, many), end_section=last)
    return table


def match_summary(game: Game, result: MatchResult) -> str:
    """Return the rest in words: what the seat is worth, who forfeited, and how long it took."""
    lines = []
    if game.num_players == 2:
        first = result.by_seat[0]
        who = "seat 0" if game.simultaneous else "the first player"
        low, high = wilson(first.wins, first.games)
        draws = f", {percent(first.draws / first.games)} draws" if first.draws else ""
        lines.append(
            f"{who} wins {percent(first.win_rate)} ({percent(low)} to {percent(high)}){draws}"
        )
    if 2 * result.distinct <= result.games:
        lines.append(
            f"only {result.distinct:,} of the {result.games:,} games are different, as agents "
            "without chance repeat theirs: the intervals, which take each for a new one, are too "
            "narrow; --random-plies 4 begins games with random moves"
        )
    texts = (forfeit_text(result.forfeits, a, name) for a, name in enumerate(agent_names(result)))
    lines += filter(None, texts)
    speed = result.games / result.seconds
    lines.append(
        f"{result.mean_plies:.1f} plies a game on average; "
        f"{result.seconds:.2f} s, {speed:,.0f} games/s"
    )
    return "\n".join(lines)


def match_json(result: MatchResult) -> dict[str, Any]:
    """Return everything but the replays as JSON values; intervals are 95 % Wilson intervals."""
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
                "seats": [_json(tally) for tally in seats],
                "forfeits": forfeit_counts(result.forfeits, a),
            }
            for a, (name, total, seats) in enumerate(
                zip(result.agents, result.totals, result.seats, strict=True)
            )
        ],
        "by_seat": [_json(tally) for tally in result.by_seat],
        "forfeits": forfeits_json(result.forfeits),
    }


def agent_names(result: MatchResult) -> tuple[str, ...]:
    """Return what the agents are called, with numbers where some have the same name."""
    return tuple(
        f"{name} #{result.agents[: a + 1].count(name)}" if result.agents.count(name) > 1 else name
        for a, name in enumerate(result.agents)
    )


def rules_name(game: Game) -> str:
    """Return the game's title, and its parameters where they are not the usual ones."""
    usual = make_game(game.name).params
    params = [f"{key}={value}" for key, value in game.params.items() if value != usual[key]]
    return ", ".join([game.title, *params])


def seat_name(game: Game, seat: int) -> str:
    """Return `"first"` or `"second"` where that says it, else the number."""
    if game.num_players == 2 and not game.simultaneous:
        return ("first", "second")[seat]
    return str(seat)


def _cells(tally: Tally, many: bool) -> list[str]:
    if tally.games == 0:
        return ["0"] * 4 + [""] * (2 + many)
    low, high = wilson(tally.wins, tally.games)
    interval = f"({100 * low:.1f} to {100 * high:.1f})"
    counts = (tally.games, tally.wins, tally.draws, tally.losses)
    return [
        *(f"{count:,}" for count in counts),
        f"{100 * tally.win_rate:.1f} {interval:>15}",
        f"{tally.score:.3f}",
        *([f"{tally.mean_rank:.2f}"] if many else []),
    ]


def _json(tally: Tally) -> dict[str, Any]:
    return {
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "win_rate": tally.win_rate,
        "win_interval": wilson(tally.wins, tally.games),
        "points": tally.points,
        "score": tally.score,
        "mean_return": tally.mean_return,
        "mean_rank": tally.mean_rank,
    }
