"""Tables of the final evaluation of a run, in its report and on the terminal."""

from collections.abc import Iterator
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.markdown import percent, table
from ludoteca.evaluate.seat_results import has_mean_returns
from ludoteca.terminal_table import TerminalTable

INTERVAL = "95 % interval"
HEADINGS = ("against", "seat", "games", "wins", "draws", "losses", "win rate", INTERVAL)
RETURN_HEADINGS = ("mean return", INTERVAL)
ONE_PLAYER_HEADINGS = ("agent", "games", *RETURN_HEADINGS, "solved", INTERVAL)
NETWORK = "the network"
ZERO_SUM_NOTES = """The intervals are Wilson's; they
are meaningless between deterministic agents, as all games in a seat are then identical."""
RETURN_NOTES = """Returns are from -1 to 1, and a win is a
return above those of all other players. In the rows `itself`, the network plays all seats. The
intervals are Wilson's, for returns that of the scores (1 + return) / 2; they are meaningless
between deterministic agents, as all games in a seat are then identical."""
ONE_PLAYER_NOTES = """Returns are from -1 to 1, and a
game with the return 1 is solved. The intervals are Wilson's, for returns that of the scores
(1 + return) / 2. Without chance, an agent that samples no actions repeats one game: its result is
exact, and has no interval."""


def evaluation_table(results: dict[str, Any]) -> str:
    """Return the evaluation as a Markdown table.

    Args:
        results: contents of `results.json`.
    """
    game = make_game(results["game"])
    text_columns = 1 if game.num_players == 1 else 2
    return table(headings(game), list(rows(results)), text_columns=text_columns)


def evaluation_notes(game: Game) -> str:
    """Return the sentences below the table of the evaluation."""
    if game.num_players == 1:
        return ONE_PLAYER_NOTES
    return RETURN_NOTES if has_mean_returns(game) else ZERO_SUM_NOTES


def results_table(results: dict[str, Any]) -> TerminalTable:
    """Return the evaluation as a table for the terminal.

    Args:
        results: contents of `results.json`.
    """
    game = make_game(results["game"])
    columns = [k for k, heading in enumerate(headings(game)) if heading != "losses"]
    terminal_table = TerminalTable(
        [headings(game)[k] for k in columns],
        title=f"the trained network in {game.title}",
        text_columns=1 if game.num_players == 1 else 2,
    )
    games = headings(game).index("games")
    for row in rows(results):
        cells = list(row)
        cells[games], _, remark = row[games].partition(" ")
        cells = [cell.replace(" %", "") if " to " in cell else cell for cell in cells]
        terminal_table.add(*(cells[k] for k in columns), below=remark)
    return terminal_table


def headings(game: Game) -> tuple[str, ...]:
    """Return the headings of the table of an evaluation in a game."""
    if game.num_players == 1:
        return ONE_PLAYER_HEADINGS
    return HEADINGS + (RETURN_HEADINGS if has_mean_returns(game) else ())


def rows(results: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of an evaluation, as texts under `headings`.

    Args:
        results: contents of `results.json`.
    """
    if make_game(results["game"]).num_players == 1:
        (network,) = results["evaluation"]
        agents = [(NETWORK, network), *((entry["agent"], entry) for entry in results["baselines"])]
        for name, entry in agents:
            yield _one_player_row(name, entry["seats"][0])
        return
    for entry in (*results["evaluation"], *results.get("self_play", ())):
        for seat in entry["seats"]:
            yield (
                entry["opponent"],
                seat["seat"],
                _games(seat),
                *(f"{seat[key]:,}" for key in ("wins", "draws", "losses")),
                *_win_rate(seat),
                *(_mean_return(seat) if "mean_return" in seat else ()),
            )


def _one_player_row(name: str, seat: dict[str, Any]) -> tuple[str, ...]:
    """Return the row of an agent of a one-player game; a repeated game has no intervals."""
    cells = [*_mean_return(seat), *_win_rate(seat)]
    if _repeated(seat):
        cells[1] = cells[3] = "-"
    return (name, _games(seat), *cells)


def _games(seat: dict[str, Any]) -> str:
    """Return the number of games in a seat, with a remark if they were identical."""
    return f"{seat['games']:,}{' (all the same)' if _repeated(seat) else ''}"


def _repeated(seat: dict[str, Any]) -> bool:
    """Return whether all games of a seat were identical, as between deterministic agents."""
    return seat["games"] > 1 and seat.get("distinct") == 1


def _win_rate(seat: dict[str, Any]) -> tuple[str, str]:
    """Return the win rate in a seat, and its interval."""
    interval = f"{percent(seat['low'], 2)} to {percent(seat['high'], 2)}"
    return percent(seat["win_rate"], 2), interval


def _mean_return(seat: dict[str, Any]) -> tuple[str, str]:
    """Return the mean return in a seat, and its interval."""
    return f"{seat['mean_return']:.3f}", f"{seat['return_low']:.3f} to {seat['return_high']:.3f}"
