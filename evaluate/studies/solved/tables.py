"""Tables of the report on AlphaZero in solved games."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from ludoteca.evaluate.studies.report import precisions, wilson_share, with_interval
from ludoteca.evaluate.studies.study import Records

TRAININGS = ("tictactoe", "hex", "connect4")
# A network, its seat, and simulations of its searches: all lines of play are followed.
LINES = (
    *(("tictactoe", seat, count) for seat in ("first", "second") for count in (0, 16)),
    *(("hex", "first", count) for count in (0, 4, 32)),
)
# Simulations in Connect Four, and empty squares up to which positions are solved instead.
SEARCHES = ((0, 0), (32, 0), (200, 0), (800, 0), (3_200, 0), (12_800, 0), (800, 30))
PLIES = ((12, 18), (19, 30))  # random ones before a position
# All of these play Hex 5x5 against the network.
OPPONENTS = (
    "random",
    "greedy",
    "heuristic",
    "mixed:epsilon=0.2",
    "dqn:hex5",
    "mcts:simulations=10000",
    "mcts:simulations=10000,solver=True,amaf=rave",
)
# Of these, as of the network's own search, nothing is random: all games of a seat are one.
WITHOUT_CHANCE = ("heuristic", "dqn:hex5")


def positions_name(simulations: int, endgame: int, least: int, most: int) -> str:
    """Return the name of the task that asks a network for its moves in solved positions."""
    return f"positions-{least}-{most}-{simulations}{f'-endgame-{endgame}' if endgame else ''}"


LINE_TASKS = tuple(f"lines-{network}-{seat}-{count}" for network, seat, count in LINES)
MATCH_TASKS = (*(f"match-{number}" for number in range(len(OPPONENTS))), "hex")
LINE_COUNTS = ("decisions", "wins", "draws", "losses")
POSITION_TASKS = tuple(
    positions_name(*search, *plies) for search, plies in product(SEARCHES, PLIES)
)


def line_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the outcomes of all lines of play against each network."""
    return [
        (
            found[name]["game"],
            seat,
            count,
            *(f"{found[name]['result'][key]:,}" for key in LINE_COUNTS),
        )
        for name, (_, seat, count) in zip(LINE_TASKS, LINES, strict=True)
    ]


def match_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the matches of Hex."""
    return [
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


def _seat_cells(seat: Mapping[str, Any], one_game: bool) -> tuple[str, str]:
    """Return the number of different games played in a seat, and the share won."""
    if one_game:
        return "1", "won" if seat["wins"] == seat["games"] else "not won"
    return f"{seat['games']}", wilson_share(seat["wins"], seat["games"])


def position_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the shares of perfect moves in Connect Four."""
    rows = []
    for (count, endgame), (least, most) in product(SEARCHES, PLIES):
        one = found[positions_name(count, endgame, least, most)]["result"]
        rows.append(
            (
                f"{least} to {most}",
                f"{count:,}{f', solver_empties={endgame}' if endgame else ''}",
                one["positions"],
                with_interval(100 * (one["perfect"] / one["positions"]), (one["low"], one["high"])),
                "{1} of {0}".format(*one["won"]),
                "{1} of {0}".format(*one["drawn"]),
            )
        )
    return rows


def training_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the games, time and size of the networks."""
    return [
        (
            one["config"]["game"],
            f"{one['training']['games']:,}",
            f"{one['training']['seconds'] / 60:.1f}",
            one["config"]["network"]["filters"],
            one["config"]["network"]["blocks"],
        )
        for one in (found[name] for name in TRAININGS)
    ]


def training_precision(found: Records) -> str:
    """Return the numerical precision of the networks."""
    return precisions({name: found[name] for name in TRAININGS})
