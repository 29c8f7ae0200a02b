"""Tables of the report on Othello."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.studies.othello.names import (
    BUDGETS,
    COMPETITORS,
    ITERATIONS,
    MOST_GAMES,
    NETWORKS,
    NOISE,
    NOISE_ITERATIONS,
    OPPONENTS,
    SIZES,
    TIMES,
    TITLES,
    VIEWS,
)
from ludoteca.evaluate.studies.report import precisions, strength, wilson_share
from ludoteca.evaluate.studies.study import Records, Tasks

SIZE_MATCHES = tuple(f"{name}-{budget}" for name in SIZES for budget in BUDGETS)
SIZE_NETWORKS = tuple(f"net-{name}" for name in SIZES)
# Tasks that the sections need.
SHORT = SIZE_MATCHES + SIZE_NETWORKS
EQUAL_ITERATIONS = tuple(name for name in SHORT if not name.endswith("time"))
EQUAL_TIME = tuple(name for name in SIZE_MATCHES if name.endswith("time")) + SIZE_NETWORKS
LEARNING = tuple(f"{kind}-{name}" for name in NETWORKS for kind in ("net", "test"))
LABEL_NOISE = tuple(f"{name}-{count}" for name in NOISE for count in NOISE_ITERATIONS) + tuple(
    f"{kind}-{name}" for name in NOISE for kind in ("net", "test")
)
MATCH_HEADINGS = (
    "games", "won, draws, lost", "won, %", "as black, %", "as white, %", "result",
)  # fmt: skip
TIME_HEADINGS = (
    "ms a move", "the other's", "simulations/s", "the other's", *MATCH_HEADINGS,
)  # fmt: skip


def size_list(tasks: Tasks) -> str:
    """Return the numbers of games of the networks of `SIZES`."""
    return ", ".join(f"{tasks[f'net-{name}'].options['games']:,}" for name in SIZES)


def games_of(found: Records, name: str) -> str:
    """Return the number of games that a network learned from, those for validation included."""
    return f"{found[f'net-{name}']['data']['games']:,}"


def short_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the games won by training games and budget."""
    return [
        (games_of(found, name), *(_won(_total(found[f"{name}-{budget}"])) for budget in BUDGETS))
        for name in SIZES
    ]


def verdicts(found: Records) -> str:
    """Return the strength of the network of most games with each budget."""
    strengths = (strength(_total(found[f"{MOST_GAMES}-{budget}"])) for budget in BUDGETS)
    return ", ".join(f"{one} at {title}" for one, title in zip(strengths, TITLES, strict=True))


def iteration_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the matches at equal iterations."""
    return [
        (games_of(found, name), iterations, *_match_cells(found[f"{name}-{iterations}"]))
        for name in SIZES
        for iterations in ITERATIONS
    ]


def time_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the matches at equal time."""
    return [(games_of(found, name), *_time_cells(found[f"{name}-time"])) for name in SIZES]


def network_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the trainings of the networks."""
    rows: list[tuple[str, ...]] = []
    for name in NETWORKS:
        one = found[f"net-{name}"]
        data, training, best = one["data"], one["training"], one["training"]["best"]
        epoch = next(row for row in one["metrics"] if row["step"] == best["epoch"])
        rows.append(
            (
                name,
                f"{data['games']:,}",
                f"{data['training_positions']:,}",
                f"{best['epoch']} of {training['epochs']}",
                f"{epoch['training_loss']:.3f}",
                f"{best['loss']:.3f}",
                f"{100 * best['accuracy']:.1f}",
                f"{training['seconds'] / 60:.1f}",
            )
        )
    return rows


def learning_precision(found: Records) -> str:
    """Return the numerical precision of the networks."""
    return precisions({name: found[f"net-{name}"] for name in NETWORKS})


def phase_rows(found: Records, kind: int) -> list[tuple[str, ...]]:
    """Return the networks' errors in each phase of fresh games of a kind, by its number."""
    tests = [found[f"test-{name}"]["tests"][kind] for name in NETWORKS]
    phases = zip(*(one["phases"] for one in tests), strict=True)
    lines = [("all", tests), *((parts[0]["moves"], parts) for parts in phases)]
    return [
        (name, *(f"{one['loss']:.3f}, {100 * one['accuracy']:.1f} %" for one in parts))
        for name, parts in lines
    ]


def noise_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the errors of networks by the opponent of their games, and by view."""
    rows = []
    for name in NOISE:
        tests = {one["opponent"]: one for one in found[f"test-{name}"]["tests"]}
        losses = [f"{tests[kind]['loss']:.3f}" for kind in OPPONENTS]
        signs = [f"{100 * tests[kind]['accuracy']:.1f}" for kind in OPPONENTS]
        rows.append((*_origin(name), *losses, *signs))
    return rows


def noise_match_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the matches of these networks."""
    return [
        (*_origin(name), iterations, *_match_cells(found[f"{name}-{iterations}"]))
        for name in NOISE
        for iterations in NOISE_ITERATIONS
    ]


def player_won(found: Records, opponent: str) -> str:
    """Return the share of fresh games that UCT won against an opponent."""
    tests = {one["opponent"]: one for one in found[f"test-{NOISE[-1]}"]["tests"]}
    return f"{100 * tests[opponent]['player_won']:.0f} %"


def competitor_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the matches of what goes beyond the paper."""
    return [
        (name, title, *_time_cells(found[f"{name}-{other}"]))
        for name in COMPETITORS
        for other, title in (
            ("mcts", f"our own UCT, {TIMES} x its time"),
            ("uctnet", "UCT + network of most games, equal time"),
        )
    ]


def _origin(name: str) -> tuple[str, str]:
    opponent, _, view = NETWORKS[name]
    return OPPONENTS[opponent], VIEWS[view]


def _total(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return all games of a match for its first agent."""
    return dict(match["agents"][0]["total"])


def _won(record: Mapping[str, Any]) -> str:
    return wilson_share(record["wins"], record["games"])


def _match_cells(match: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of `MATCH_HEADINGS`, for the first agent of a match."""
    total = _total(match)
    return (
        f"{total['games']:,}",
        f"{total['wins']:,}, {total['draws']:,}, {total['losses']:,}",
        *(_won(one) for one in (total, *match["agents"][0]["seats"])),
        strength(total),
    )


def _time_cells(match: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of `TIME_HEADINGS`."""
    (ours, our_speed), (theirs, their_speed) = (
        (f"{1000 * one['seconds_per_move']:.1f}", f"{one['simulations_per_second']:,.0f}")
        for one in match["agents"]
    )
    return (ours, theirs, our_speed, their_speed, *_match_cells(match))
