"""The report on AlphaZero in games whose results are known."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.solved.plan import (
    LINES,
    NETWORKS,
    OPPONENTS,
    PLIES,
    SEARCHES,
    WITHOUT_CHANCE,
    Tasks,
    positions_name,
)
from ludoteca.evaluate.studies.study import Records, provenance, provenance_lines, write_study

PART = "solved"
HEAD = """# AlphaZero in games whose results are known

Networks that learn from nothing but the rules by `python -m ludoteca.train.alphazero`, with
Gumbel's search; the shares below are PUCT's, with as many simulations a move as told; 0 is the
network's policy alone."""


def write(records: Mapping[str, Records], tasks: Tasks, out: Path, fast: bool) -> None:
    """Write `report.md` and `results.json`; sections wait for their tasks.

    Args:
        records: what is kept of the finished tasks, by name, in the part `PART`.
        tasks: all tasks.
        out: where the report goes.
        fast: whether the networks learn too little to play well.
    """
    found, parts = records[PART], [HEAD]
    if fast:
        parts.append("**A fast run, to see that all of it works: too few games to learn from.**")
    for begin, section in SECTIONS:
        if all(name in found for name in tasks if name.startswith(begin)):
            parts.append(section(found))
    made = provenance(out, records)
    parts.append(_how(found, len(tasks), made["versions"]))
    write_study(out, "\n\n".join(parts) + "\n", records, made)


def lines_section(found: Records) -> str:
    """Return what networks do against everything."""
    rows = []
    for network, seat, count in LINES:
        one = found[f"lines-{network}-{seat}-{count}"]["result"]
        numbers = [f"{one[key]:,}" for key in ("decisions", "wins", "draws", "losses")]
        game = found[f"lines-{network}-{seat}-{count}"]["game"]
        rows.append((game, seat, count, *numbers))
    headings = (
        "game", "seat", "simulations", "decisions", "ends won", "drawn", "lost",
    )  # fmt: skip
    return f"""## Against everything

All lines in which the network answers whatever an opponent may do: different positions in which it
had to decide, and different final positions. Without an end that is lost (in Hex for the first
player, who can win: Nash, 1952) it is a proof of perfect play in that seat.

{table(headings, rows, texts=2)}"""


def matches_section(found: Records) -> str:
    """Return the matches of Hex."""
    game = found["hex"]["config"]["game"]
    rows = [
        (
            opponent,
            *(
                cell
                for seat in found[f"match-{number}"]["agents"][0]["seats"]
                for cell in _seat_cells(seat, opponent in WITHOUT_CHANCE)
            ),
        )
        for number, opponent in enumerate(OPPONENTS)
    ]
    headings = (
        "opponent", "games as first player", "won, % (95 % interval)",
        "games as second player", "won, % (95 % interval)",
    )  # fmt: skip
    return f"""## Hex against our other agents

With 32 simulations a move on `{game}`, in both seats. The first player wins with
perfect play, so that as second player the network can only win against mistakes. Nothing is random
in its games against {" and ".join(f"`{one}`" for one in WITHOUT_CHANCE)}: all that were played in
a seat are the same game, and count as one, without an interval.

{table(headings, rows)}"""


def _seat_cells(seat: Mapping[str, Any], one_game: bool) -> tuple[str, str]:
    """Return how many different games were played in a seat, and which share was won."""
    if one_game:
        return "1", "won" if seat["wins"] == seat["games"] else "not won"
    low, high = (100 * bound for bound in wilson(seat["wins"], seat["games"]))
    share = 100 * seat["wins"] / seat["games"]
    return f"{seat['games']}", f"{share:.1f} ({low:.1f} to {high:.1f})"


def positions_section(found: Records) -> str:
    """Return the share of perfect moves in Connect Four."""
    rows = []
    for (count, endgame), (least, most) in product(SEARCHES, PLIES):
        one = found[positions_name(count, endgame, least, most)]["result"]
        share, low, high = (
            100 * x for x in (one["perfect"] / one["positions"], one["low"], one["high"])
        )
        rows.append(
            (
                f"{least} to {most}",
                f"{count:,}{f', solver_empties={endgame}' if endgame else ''}",
                one["positions"],
                f"{share:.1f} ({low:.1f} to {high:.1f})",
                "{1} of {0}".format(*one["won"]),
                "{1} of {0}".format(*one["drawn"]),
            )
        )
    headings = (
        "random plies", "simulations", "positions", "perfect moves, % (95 % interval)",
        "in won positions", "in drawn ones",
    )  # fmt: skip
    return f"""## Connect Four in solved positions

Random positions in which some moves give the result of perfect play away, and how often the
network's keeps it; solved by `ludoteca.agents.games.endgame`. With `solver_empties=30` the agent
itself solves positions with at most 30 empty squares, as all of these are, and searches only
before.

{table(headings, rows, texts=0)}"""


def training_section(found: Records) -> str:
    """Return how long the networks have learned."""
    rows = [
        (
            found[name]["config"]["game"],
            f"{found[name]['training']['games']:,}",
            f"{found[name]['training']['seconds'] / 60:.1f}",
            found[name]["config"]["network"]["filters"],
            found[name]["config"]["network"]["blocks"],
        )
        for name in NETWORKS
    ]
    precision = ", ".join(sorted({found[name]["training"]["precision"] for name in NETWORKS}))
    return f"""## Training

Each network is one training run with one seed, and computed in {precision}.

{table(("game", "games", "minutes", "filters", "blocks"), rows)}"""


SECTIONS: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("lines",), lines_section),
    (("match", "hex"), matches_section),
    (("positions",), positions_section),
    (tuple(NETWORKS), training_section),
)


def _how(found: Records, count: int, versions: Mapping[str, str]) -> str:
    return f"""## How it was done

- Command: `python -m ludoteca.evaluate.studies solved`; {len(found)} of {count} runs.
{provenance_lines({PART: found}, versions)}
- Every run's settings and results are in [results.json](results.json)."""
