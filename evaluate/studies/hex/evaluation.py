"""Evaluations of networks for Hex, and the targets of the runs beyond the paper."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.studies.hex.tanaka2018 import HEURISTIC, MIXED
from ludoteca.evaluate.studies.report import with_interval
from ludoteca.evaluate.studies.verdicts import OPEN

# Board, opponent, seat, the paper's wins, and the wins that our network is to reach, in %.
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


def rating(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return the result of an evaluation against an opponent in a seat."""
    seats = next(part["seats"] for part in results["evaluation"] if part["opponent"] == opponent)
    return dict(next(rated for rated in seats if rated["seat"] == seat))


def shown(rated: Mapping[str, Any], opponent: str) -> str:
    """Return a share in % with its interval; of games that are all the same, whether it was won."""
    if opponent in WITHOUT_CHANCE:
        return "won" if rated["wins"] == rated["games"] else "not won"
    return with_interval(100 * rated["win_rate"], (rated["low"], rated["high"]))


def reached(rated: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether a share of wins reaches a target in %, by its interval."""
    if opponent in WITHOUT_CHANCE:
        return "yes" if rated["wins"] == rated["games"] else "**no**"
    if 100 * rated["low"] >= target:
        return "yes"
    return "**no**" if 100 * rated["high"] < target else OPEN
