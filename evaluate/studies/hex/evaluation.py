"""Evaluations of networks for Hex, and the target scores of the training runs beyond the paper."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.studies.hex.tanaka2018 import HEURISTIC, MIXED
from ludoteca.evaluate.studies.report import with_interval
from ludoteca.evaluate.studies.verdicts import INCONCLUSIVE

# Board size, opponent, seat, the paper's wins in %, and the target of our network's wins in %.
TARGETS = (
    (5, MIXED, "first", "77 (in training games)", 98),
    (5, MIXED, "second", "9", 60),
    (5, HEURISTIC, "first", "80", 100),
    (6, MIXED, "first", "45", 95),
    (7, MIXED, "first", "2", 90),
    (8, MIXED, "first", "0.027", 80),
    (11, MIXED, "first", "-", 50),
)
# Against these, all games in a seat are the same, as the networks are deterministic, too.
DETERMINISTIC_OPPONENTS = (HEURISTIC,)


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


def target_verdict(result: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether the percentage of wins reaches a target, by its 95 % interval."""
    if opponent in DETERMINISTIC_OPPONENTS:
        return "yes" if result["wins"] == result["games"] else "**no**"
    if 100 * result["low"] >= target:
        return "yes"
    return "**no**" if 100 * result["high"] < target else INCONCLUSIVE
