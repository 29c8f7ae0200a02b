"""Evaluations of networks for Hex, and whether they reach the target scores."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.markdown import with_interval
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import target_verdict

# Against these, all games in a seat are the same, as the networks are deterministic, too.
DETERMINISTIC_OPPONENTS = ("heuristic",)


def evaluation_result(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return the result of a training run's final evaluation against an opponent, in a seat."""
    seats = next(match["seats"] for match in results["evaluation"] if match["opponent"] == opponent)
    return dict(next(result for result in seats if result["seat"] == seat))


def result_text(result: Mapping[str, Any], opponent: str) -> str:
    """Return the percentage of wins with its interval.

    Against a deterministic opponent, where all games are the same, return "won" or "not won".

    Args:
        result: result of an evaluation in a seat.
        opponent: spec string of the opponent.
    """
    if opponent in DETERMINISTIC_OPPONENTS:
        return "won" if result["wins"] == result["games"] else "not won"
    return with_interval(100 * result["win_rate"], (result["low"], result["high"]))


def reached(result: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether the percentage of wins reaches a target, by its 95 % interval."""
    if opponent in DETERMINISTIC_OPPONENTS:
        won = float(result["wins"] == result["games"])
        return target_verdict(1, (won, won))
    return target_verdict(target, (100 * result["low"], 100 * result["high"]))


def range_of_wins(records: Records, opponent: str, seat: int) -> str:
    """Return the lowest and highest percentage of wins of several networks against an opponent.

    Args:
        records: records of the training runs.
        opponent: opponent of the final evaluation.
        seat: 0: as first player, 1: as second.
    """
    rates = [
        100 * match["seats"][seat]["win_rate"]
        for run in records.values()
        for match in run["evaluation"]
        if match["opponent"] == opponent
    ]
    return f"{min(rates):.1f} to {max(rates):.1f}"
