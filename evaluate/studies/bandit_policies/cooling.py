"""Cooling schedules of simulated annealing, compared by the regret of what their searches found.

The searches with the same number have the same starting value and the same random numbers in all
schedules, so that schedules are compared search by search.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.verdicts import INCONCLUSIVE, LEVEL
from ludoteca.evaluate.statistics.wilcoxon import holm, signed_rank
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.tuning.annealing import DEFAULT_COOLING

Record = Mapping[str, Any]


def cooling_rows(records: Records) -> list[dict[str, Any]]:
    """Return a row for each number of rounds, number of arms and schedule: what it found.

    `excess` is the mean difference in % from the lowest regret that any search found, with half its
    95 % interval over the searches. `alpha` is the median of the constants that they found.
    `best_alpha` is the constant with the lowest regret, of the searches of all schedules.
    `against` is the mean difference of the excess from the default schedule, with its 95 %
    interval, and `p` that of Wilcoxon's signed-rank test with Holm's correction for all schedules;
    both are None for the default schedule.
    """
    rows = []
    for group in groups(records):
        default = next(record for record in group if record["cooling"] == DEFAULT_COOLING)
        for arms in default["found"]:
            searches = [found for record in group for found in record["found"][arms]]
            best = min(searches, key=lambda found: found["regret"])
            reference = excesses(default, arms, best["regret"])
            for record in group:
                excess = excesses(record, arms, best["regret"])
                alphas = [found["alpha"] for found in record["found"][arms]]
                mean, low, _ = mean_interval(excess)
                is_default = record is default
                rows.append(
                    {
                        "rounds": record["settings"]["rounds"],
                        "cooling": record["cooling"].replace("_", "-"),
                        "arms": arms,
                        "excess": mean,
                        "half": mean - low,
                        "alpha": float(np.median(alphas)),
                        "lowest_alpha": min(alphas),
                        "highest_alpha": max(alphas),
                        "best_alpha": best["alpha"],
                        "against": None if is_default else mean_interval(excess - reference),
                        "p": None if is_default else signed_rank(excess, reference).p,
                    }
                )
    tested = [row for row in rows if row["p"] is not None]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p"] = p
    return rows


def groups(records: Records) -> list[list[Record]]:
    """Return the records of the schedules by number of rounds, the highest number first."""
    cooling = [record for record in records.values() if "cooling" in record]
    all_rounds = sorted({record["settings"]["rounds"] for record in cooling}, reverse=True)
    return [
        [record for record in cooling if record["settings"]["rounds"] == rounds]
        for rounds in all_rounds
    ]


def excesses(record: Record, arms: str, lowest: float) -> NDArray[np.float64]:
    """Return the regret that each search found, in % above the lowest one."""
    regrets = np.array([found["regret"] for found in record["found"][arms]])
    return 100 * (regrets / lowest - 1)


def verdict(row: Mapping[str, Any]) -> str:
    """Return whether a schedule is better or worse than the default one, or "inconclusive".

    Args:
        row: row of `cooling_rows` of another schedule than the default one.
    """
    _, low, high = row["against"]
    if row["p"] >= LEVEL or low <= 0 <= high:
        return INCONCLUSIVE
    return "worse" if low > 0 else "better"


def finding(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the finding on cooling schedules as a sentence; rows are those of `cooling_rows`."""
    tested = [row for row in rows if row["against"]]
    texts = [
        f"{len(cases)} {word}{f' ({cases_text(cases)})' if word != INCONCLUSIVE and cases else ''}"
        for word in ("better", "worse", INCONCLUSIVE)
        for cases in ([row for row in tested if verdict(row) == word],)
    ]
    return (
        f"Cooling schedules compared with the thesis' geometric one, {len(tested)} comparisons: "
        f"{texts[0]}, {texts[1]}, {texts[2]}."
    )


def cases_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the schedules of some rows by number of rounds and of arms, as text."""
    cases: dict[int, dict[str, list[str]]] = {}
    for row in rows:
        cases.setdefault(row["rounds"], {}).setdefault(row["arms"], []).append(row["cooling"])
    return ". ".join(
        f"{rounds:,} rounds: "
        + "; ".join(f"K = {arms}: {', '.join(names)}" for arms, names in by_arms.items())
        for rounds, by_arms in cases.items()
    )
