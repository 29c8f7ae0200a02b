"""Totals and verdicts of the study of related work, for its report."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.studies.exploration.study import difference_interval
from ludoteca.evaluate.studies.related_work.tuning import share
from ludoteca.evaluate.studies.study import Records

Total = dict[str, int]  # `"wins"`, `"losses"`, `"draws"` and `"games"`


def pool(cells: Iterable[Mapping[str, Any]]) -> Total:
    """Return the sum of the results of some matches."""
    cells = list(cells)
    total = {key: sum(cell[key] for cell in cells) for key in ("wins", "draws", "games")}
    return total | {"losses": total["games"] - total["wins"] - total["draws"]}


def pool_records(records: Records) -> Total:
    """Return the sum of the results of all matches of some tasks."""
    return pool(cell for record in records.values() for cell in record["cells"])


def compare_budgets(few: Mapping[str, int], many: Mapping[str, int]) -> dict[str, Any]:
    """Return how much the score falls from few simulations to many, with its 95 % interval.

    The verdict is `"confirmed"` if the interval lies above 0, `"contradicted"` if below, otherwise
    `"inconclusive"`.
    """
    low, high = difference_interval(few, many)
    return {"value": (low + high) / 2, "low": low, "high": high, "verdict": verdict(low, high, 0)}


def verdict(low: float, high: float, threshold: float = 0.5) -> str:
    """Return the verdict on the claim that a value is above a threshold, by its interval."""
    return (
        "confirmed" if low > threshold else "contradicted" if high < threshold else "inconclusive"
    )


def claim(total: Mapping[str, int]) -> str:
    """Return the verdict on the claim that the score of some games is above one half."""
    return verdict(*score_interval(total["wins"], total["draws"], total["games"]))


def results_of(records: Records, policy: str) -> dict[str, Total]:
    """Return the results of a policy in Tron by opponent, whichever of the two the task names.

    Args:
        records: records of the matches in Tron.
        policy: selection policy.
    """
    results = dict[str, Total]()
    for record in records.values():
        for cell in record["cells"]:
            total = pool([cell])
            if record["policy"] == policy:
                results[cell["opponent"]] = total
            elif cell["opponent"] == policy:
                exchanged = {"wins": total["losses"], "losses": total["wins"]}
                results[record["policy"]] = total | exchanged
    return results


def interval(total: Mapping[str, int]) -> tuple[float, float]:
    """Return the 95 % interval of the share of wins in the decided games."""
    return wilson(total["wins"], total["wins"] + total["losses"])


def ranking(records: Records, policies: Iterable[str]) -> list[dict[str, Any]]:
    """Return the policies in Tron, the one with the highest share of wins first.

    Each row has the `policy`, its `total`, its `results` by opponent, and the numbers of opponents
    whose matches' intervals lie above (`beaten`) or below (`lost_to`) one half.
    """
    rows = list[dict[str, Any]]()
    for policy in policies:
        results = results_of(records, policy)
        intervals = [interval(result) for result in results.values()]
        row = {
            "policy": policy,
            "results": results,
            "total": pool(results.values()),
            "beaten": sum(low > 0.5 for low, _ in intervals),
            "lost_to": sum(high < 0.5 for _, high in intervals),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: share(row["total"]), reverse=True)


def top_verdict(rows: Sequence[Mapping[str, Any]], policy: str, above: Sequence[str] = ()) -> str:
    """Return the verdict on the claim that a policy is the best one, apart from those `above` it.

    It is `"confirmed"` if the interval of its share lies above those of all others,
    `"contradicted"` if it lies below that of any other, otherwise `"inconclusive"`.

    Args:
        rows: rows of `ranking`.
        policy: selection policy.
        above: policies that are not compared with it.
    """
    intervals = {row["policy"]: interval(row["total"]) for row in rows}
    low, high = intervals.pop(policy)
    others = [each for name, each in intervals.items() if name not in above]
    if any(high < other_low for other_low, _ in others):
        return "contradicted"
    return "confirmed" if all(low > other_high for _, other_high in others) else "inconclusive"


def pool_against(
    rows: Sequence[Mapping[str, Any]], policies: Sequence[str], opponents: Sequence[str]
) -> Total:
    """Return the results of all matches of one of `policies` against one of `opponents`."""
    return pool(
        result
        for row in rows
        if row["policy"] in policies
        for opponent, result in row["results"].items()
        if opponent in opponents
    )


def correlation_of_shares(
    rows: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> tuple[float, float]:
    """Return the rank correlation of the policies' shares in two rankings, and its p-value.

    Args:
        rows: rows of `ranking`.
        others: rows of `ranking` of the same policies in other games.
    """
    from scipy.stats import spearmanr

    shares = [{row["policy"]: share(row["total"]) for row in ranked} for ranked in (rows, others)]
    pairs = [(shares[0][policy], shares[1][policy]) for policy in shares[0]]
    result = spearmanr(pairs)
    return float(result.statistic), float(result.pvalue)


def share_text(total: Mapping[str, int]) -> str:
    """Return the share of wins in % with its interval, bold if that does not contain one half."""
    low, high = interval(total)
    text = f"{100 * share(total):.0f} ({100 * low:.0f} to {100 * high:.0f})"
    return f"**{text}**" if low > 0.5 or high < 0.5 else text


def constants_at_ends(tunings: Records) -> list[str]:
    """Return the chosen constants that are the lowest or highest of their grid, as text.

    Args:
        tunings: records of the tuning.
    """
    texts = []
    for record in tunings.values():
        given = [cell["constants"] for cell in record["cells"]]
        tried = [parse_constants(text) for text in (record["reference"], *given)]
        for name, value in parse_constants(record["chosen"]).items():
            values = {constants[name] for constants in tried}
            if len(values) > 1 and value in (min(values), max(values)):
                end = "lowest" if value == min(values) else "highest"
                texts.append(f"{name} = {value:g} of {record['policy']}, the {end} of its grid")
    return texts


def parse_constants(text: str) -> dict[str, float]:
    """Return the constants in options such as `"policy.zeta=1,policy.c=0.1"`, by name."""
    pairs = (option.removeprefix("policy.").split("=") for option in text.split(","))
    return {name: float(value) for name, value in pairs}


def core_hours(speed: Mapping[str, Any], decided: int, seconds: float) -> float:
    """Return the expected hours of processor time of matches in Tron with a time per move.

    A tenth of the games is assumed to be drawn.

    Args:
        speed: record of the measured speed, with the mean number of plies of a game, in each of
            which both agents search.
        decided: number of decided games of all matches.
        seconds: time per move.
    """
    return float(decided / 0.9 * speed["mean_plies"] * 2 * seconds / 3600)


def playing_minutes(records: Records) -> float:
    """Return the minutes of playing, compilation excluded."""
    return sum(float(record["seconds"]) for record in records.values()) / 60
