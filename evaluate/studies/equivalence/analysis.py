"""Scores of the candidates against UCB-alpha2, and verdicts by tests of equivalence."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.statistics.equivalence import stratified_score
from ludoteca.evaluate.statistics.verdicts import INCONCLUSIVE, LEVEL
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.amaf.study import score
from ludoteca.evaluate.studies.study import Records

EQUIVALENT, STRONGER, WEAKER = "equivalent", "stronger", "weaker"
VERDICTS = (EQUIVALENT, STRONGER, WEAKER, INCONCLUSIVE)
Totals = dict[str, dict[str, int]]  # `"wins"`, `"draws"` and `"games"` by game


def totals_by_game(records: Records, candidate: str) -> Totals:
    """Return the results of a candidate by game, each summed over its matches.

    Args:
        records: records of the tasks.
        candidate: options of the candidate.
    """
    totals: Totals = defaultdict(lambda: {"wins": 0, "draws": 0, "games": 0})
    for record in records.values():
        for cell in record["cells"]:
            if cell["candidate"] == candidate:
                total = totals[record["game"]]
                for key in total:
                    total[key] += cell[key]
    return dict(totals)


def records_until(records: Records, games: int) -> Records:
    """Return the records of the first games of each match, those seen at an interim look.

    Args:
        records: records of the tasks, each a block of games.
        games: number of games of each candidate and game; blocks with later games are omitted.
    """
    ends = {
        name: record["settings"]["first_game"] + record["settings"]["games"]
        for name, record in records.items()
    }
    return {name: records[name] for name, end in ends.items() if end <= games}


def compare(
    records: Records, candidates: Mapping[str, str], margin: float
) -> dict[str, dict[str, Any]]:
    """Return the mean score of each candidate, its p-values and its verdict, by name.

    Holm's correction of the p-values is over the candidates, separately for the claims that the
    strengths are equivalent and that they differ. If both claims hold, the difference is smaller
    than the margin, and the verdict is "equivalent".

    Args:
        records: records of the tasks.
        candidates: options of the candidates, by name.
        margin: largest difference of the score from one half that counts as equivalent.
    """
    rows = dict[str, dict[str, Any]]()
    for name, options in candidates.items():
        by_game = totals_by_game(records, options)
        matches = [(total["wins"], total["draws"], total["games"]) for total in by_game.values()]
        rows[name] = {
            "by_game": by_game,
            "mean": stratified_score(matches),
            "games": sum(games for _, _, games in matches),
            "draws": sum(draws for _, draws, _ in matches),
        }
    means = [row["mean"] for row in rows.values()]
    equivalent = holm([mean.p_equivalent(margin) for mean in means])
    different = holm([mean.p_different() for mean in means])
    for row, p_equivalent, p_different in zip(rows.values(), equivalent, different, strict=True):
        row |= {"p_equivalent": p_equivalent, "p_different": p_different}
        row["verdict"] = verdict(row["mean"].score, p_equivalent, p_different)
    return rows


def verdict(mean_score: float, p_equivalent: float, p_different: float) -> str:
    """Return the verdict on a candidate, one of `VERDICTS`, by its corrected p-values."""
    if p_equivalent < LEVEL:
        return EQUIVALENT
    if p_different < LEVEL:
        return STRONGER if mean_score > 0.5 else WEAKER
    return INCONCLUSIVE


def names_by_verdict(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the names of the candidates by verdict, the highest score first."""
    names = sorted(rows, key=lambda name: rows[name]["mean"].score, reverse=True)
    return {each: [name for name in names if rows[name]["verdict"] == each] for each in VERDICTS}


def extremes(by_game: Totals) -> list[tuple[str, float]]:
    """Return the games with the lowest and the highest score of a candidate, and these scores.

    Args:
        by_game: results of the candidate by game.
    """
    scores = sorted((score(total), game) for game, total in by_game.items())
    return [(game, value) for value, game in (scores[0], scores[-1])]
