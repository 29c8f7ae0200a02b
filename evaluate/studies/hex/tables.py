"""Tables of the report on Hex."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from ludoteca.evaluate.studies.hex import tanaka2018 as paper
from ludoteca.evaluate.studies.hex.tanaka2018 import HEURISTIC, MIXED
from ludoteca.evaluate.studies.report import precisions, with_interval
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import OPEN

# Targets of the runs beyond the paper: board, opponent, seat -> paper, ours.
TARGETS = (
    (5, MIXED, "first", "77 (over training)", 98),
    (5, MIXED, "second", "9", 60),
    (5, HEURISTIC, "first", "80", 100),
    (6, MIXED, "first", "45", 95),
    (7, MIXED, "first", "2", 90),
    (8, MIXED, "first", "0.027", 80),
    (11, MIXED, "first", "-", 50),
)
WITHOUT_CHANCE = (HEURISTIC,)  # opponents that always answer the same, as do the networks
ABLATION_LABELS = {
    "literal": "the paper, literally: all weights zero, rewards 100",
    "weights": "PyTorch's first weights, rewards 100",
    "head": "only the last layer zero, rewards 100",
    "rewards": "all weights zero, rewards 1",
    "both": "**our reading:** only the last layer zero, rewards 1",
    "default": "PyTorch's first weights, rewards 1",
    "memory": "our reading, replay buffer of 30,000 instead of 300",
    "masked": "our reading, only legal moves in targets",
    "target": "our reading, targets from a copy that is 100 updates old",
}


def grid_name(rate: float, gamma: float, epsilon: float, layers: int) -> str:
    """Return the name of a run of the grid."""
    return f"grid-{rate}-{gamma}-{epsilon}-{layers}"


GRID_POINTS = tuple(product(paper.LEARNING_RATES, paper.GAMMAS, paper.EPSILONS, paper.LAYERS))
GRID_RUNS = tuple(grid_name(*point) for point in GRID_POINTS)
BOARD_RUNS = (*(f"board-{size}" for size in paper.BOARDS), "second")
ABLATION_RUNS = tuple(f"ablation-{name}" for name in ABLATION_LABELS)
TARGET_RUNS = tuple(dict.fromkeys(f"hex{size}" for size, *_ in TARGETS))


def target_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the targets of the runs beyond the paper, and what these reach."""
    rows = []
    for size, opponent, seat, theirs, target in TARGETS:
        one = found[f"hex{size}"]
        rated = rating(one, opponent, seat)
        rows.append(
            (
                f"{size}x{size}, {seat} player against {opponent}",
                theirs,
                target,
                shown(rated, opponent),
                "1" if opponent in WITHOUT_CHANCE else f"{rated['games']:,}",
                f"{one['training']['games']:,}",
                f"{one['training']['seconds'] / 60:.1f}",
                reached(rated, opponent, target),
            )
        )
    return rows


def evaluation_rows(found: Records) -> list[tuple[str, ...]]:
    """Return all evaluations of the runs beyond the paper."""
    return [
        (
            f"{name.removeprefix('hex')}x{name.removeprefix('hex')}",
            part["opponent"],
            *(shown(seat, part["opponent"]) for seat in part["seats"]),
        )
        for name in TARGET_RUNS
        for part in found[name]["evaluation"]
    ]


def grid_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return table 4.1 beside ours, the best first."""
    runs = {point: found[grid_name(*point)] for point in GRID_POINTS}
    return [
        (
            *point,
            f"{runs[point]['training']['games']:,}",
            paper.GRID.get(point, "below 3"),
            f"{runs[point]['wins']['all']:.1f}",
            f"{runs[point]['wins']['last_twentieth']:.1f}",
            interval(rating(runs[point], MIXED, "first")),
        )
        for point in sorted(GRID_POINTS, key=lambda point: -runs[point]["wins"]["all"])
    ]


def grid_precision(found: Records) -> str:
    """Return the numerical precision of the runs of the grid."""
    return precisions({name: found[name] for name in GRID_RUNS})


def mode_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return table 4.3 beside ours."""
    return [
        (
            mode,
            f"{games:,}",
            percent,
            f"{found[mode]['wins']['first_half' if games == 150_000 else 'all']:.1f}",
        )
        for (mode, games), percent in paper.MODES.items()
    ]


def board_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return tables 4.4 and 4.5 beside ours."""
    lines = {
        f"board-{size}": (f"{size}x{size}, first player", percent)
        for size, percent in paper.BOARDS.items()
    } | {"second": ("5x5, second player", paper.SECOND)}
    return [
        (
            title,
            f"{found[name]['training']['games']:,}",
            percent,
            f"{found[name]['wins']['all']:.3f}",
            f"{found[name]['wins']['last_twentieth']:.1f}",
        )
        for name, (title, percent) in lines.items()
    ]


def ablation_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the effects of single changes of the paper's settings."""
    return [
        (
            text,
            f"{one['wins']['all']:.1f}",
            f"{one['wins']['last_fifth']:.1f}",
            interval(rating(one, MIXED, "first")),
            one["loss"]["largest"],
            one["loss"]["last"],
        )
        for name, text in ABLATION_LABELS.items()
        for one in (found[f"ablation-{name}"],)
    ]


def hours(found: Records) -> str:
    """Return the hours of training of some records."""
    return f"{sum(one['training']['seconds'] for one in found.values()) / 3600:.2f}"


def rating(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return the result of an evaluation against an opponent in a seat."""
    for part in results["evaluation"]:
        if part["opponent"] == opponent:
            for rated in part["seats"]:
                if rated["seat"] == seat:
                    return dict(rated)
    raise KeyError(f"no evaluation against {opponent} as {seat} player")


def shown(rated: Mapping[str, Any], opponent: str) -> str:
    """Return a share in % with its interval; of games that are all the same, whether it was won."""
    if opponent in WITHOUT_CHANCE:
        return "won" if rated["wins"] == rated["games"] else "not won"
    return interval(rated)


def reached(rated: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether a share of wins reaches a target in %, by its interval."""
    if opponent in WITHOUT_CHANCE:
        return "yes" if rated["wins"] == rated["games"] else "**no**"
    if 100 * rated["low"] >= target:
        return "yes"
    return "**no**" if 100 * rated["high"] < target else OPEN


def interval(rated: Mapping[str, Any]) -> str:
    """Return a share in % with its interval."""
    return with_interval(100 * rated["win_rate"], (rated["low"], rated["high"]))
