"""Measured error rates and numbers of games beside those by Wald and of matches of fixed length."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.statistics.power import power_analysis_of_elo
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.statistics.sprt import parse_sprt, score_variance
from ludoteca.evaluate.studies.study import Records


def theory(test: str, elo: float, draws: float, advantage: float) -> tuple[float, float]:
    """Return the probability of accepting H1 and the expected number of games, by Wald.

    With an advantage a of moving first, the scores of the games of a pair have the covariance -a^2.
    """
    design, correlation = parse_sprt(test), -(advantage**2) / score_variance(elo, draws)
    return (
        design.acceptance_probability(elo, draws, correlation),
        design.expected_games(elo, draws, correlation),
    )


def fixed_games(test: str, draws: float) -> int:
    """Return the number of games of a match of fixed length with the error rates of a test."""
    design = parse_sprt(test)
    analysis = power_analysis_of_elo(design.elo1, draws, design.alpha, two_sided=False)
    return analysis.games(1 - design.beta)


def error_rates(records: Records) -> list[dict[str, Any]]:
    """Return the errors of simulated tests at the two hypotheses, and their verdicts.

    The verdict is "above" or "below" if the 95 % interval of the rate excludes the nominal one.
    """
    rows = list[dict[str, Any]]()
    for s, cell in _cells(records):
        design, count = parse_sprt(s["test"]), s["count"]
        for elo, nominal, errors in (
            (design.elo0, design.alpha, cell["accepted"]),
            (design.elo1, design.beta, count - cell["accepted"]),
        ):
            if cell["elo"] == elo:
                low, high = wilson(errors, count)
                verdict = "above" if low > nominal else "below" if high < nominal else "nominal"
                rows.append({"verdict": verdict, "nominal": nominal, "rate": errors / count, **s})
    return rows


def length_ratios(records: Records) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest ratio of the measured mean number of games to others.

    They are the number by Wald ("wald"), and the fixed number at the hypotheses ("hypotheses"),
    between them ("between") and beyond them ("beyond").
    """
    ratios: dict[str, list[float]] = {}
    for s, cell in _cells(records):
        design = parse_sprt(s["test"])
        if design.games_per_result == 2 or not s["advantage"]:
            games = theory(s["test"], cell["elo"], s["draws"], s["advantage"])[1]
            ratios.setdefault("wald", []).append(cell["games"] / games)
        place = "between" if design.elo0 < cell["elo"] < design.elo1 else "beyond"
        place = "hypotheses" if cell["elo"] in (design.elo0, design.elo1) else place
        fixed = fixed_games(s["test"], s["draws"])
        ratios.setdefault(place, []).append(cell["games"] / fixed)
    return {place: (min(values), max(values)) for place, values in ratios.items()}


def _cells(records: Records) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the settings and the cell of each simulated test."""
    for record in records.values():
        for cell in record["cells"]:
            yield record["settings"], cell


def fixed_answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score of the first agent of a match with its 90 % interval, and its Elo."""
    total: dict[str, Any] = record["agents"][0]["total"]
    low, high = score_interval(total["wins"], total["draws"], total["games"], 0.9)
    return total | {"low": low, "high": high, "elo": elo_difference(total["score"])}


def difference(ours: Any, theirs: Any) -> float:
    """Return the largest absolute difference of two lists of numbers."""
    return float(np.abs(np.subtract(ours, theirs)).max())


def by_mass(ranking: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the agents of a ranking, those with the largest mass first."""
    masses = ranking["ours"]["alpha_rank"]
    return sorted(range(len(masses)), key=lambda a: -masses[a])
