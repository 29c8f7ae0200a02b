"""Result of a match with a sequential probability ratio test (SPRT), as text and as JSON values."""

import math
from dataclasses import asdict
from typing import Any

from ludoteca.evaluate.match_table import WIDTH, agent_names, match_json, match_text
from ludoteca.evaluate.sequential_match import SequentialResult
from ludoteca.evaluate.statistics.sprt import ACCEPT_H1, UNDECIDED
from ludoteca.terminal_table import wrap_text


def sequential_text(result: SequentialResult, width: int = WIDTH) -> str:
    """Return the result as text: match table, decision, log-likelihood ratio, Elo difference."""
    sentences = [_decision(result), _likelihood(result), _estimate(result)]
    uncounted = result.games_played - result.match.games
    if uncounted:
        sentences.append(f"{uncounted:,} games played after the decision do not count")
    lines = [line for sentence in sentences for line in wrap_text(sentence, width)]
    return "\n".join([match_text(result.match, width), "", *(line.rstrip() for line in lines)])


def sequential_json(result: SequentialResult) -> dict[str, Any]:
    """Return the result as JSON values; an infinite Elo difference is None."""
    test, elo = result.test, result.elo
    estimate = None
    if elo is not None:
        estimate = {
            name: value if math.isfinite(value) else None for name, value in asdict(elo).items()
        }
    return match_json(result.match) | {
        "sprt": {
            **asdict(test),
            "decision": result.decision,
            "interrupted": result.interrupted,
            "llr": result.llr,
            "lower": test.lower,
            "upper": test.upper,
            "frequencies": list(result.frequencies),
            "games_played": result.games_played,
            "elo": estimate,
        }
    }


def _decision(result: SequentialResult) -> str:
    """Return the sentence about the accepted hypothesis, or about why the test is undecided."""
    test, games = result.test, result.match.games
    first, second = agent_names(result.match)
    unit = "Elo points" if test.model == "logistic" else "points of normalized Elo"
    if result.decision == UNDECIDED:
        reason = (
            "the match was interrupted"
            if result.interrupted
            else "the match reached its maximum number of games"
        )
        return (
            f"undecided after {games:,} games, because {reason}: {first} is {test.elo0:g} (H0) or "
            f"{test.elo1:g} (H1) {unit} stronger than {second}"
        )
    accepted, rejected, error = (
        (test.elo1, test.elo0, test.alpha)
        if result.decision == ACCEPT_H1
        else (test.elo0, test.elo1, test.beta)
    )
    return (
        f"{result.decision} accepted after {games:,} games: {first} is {accepted:g} rather than "
        f"{rejected:g} {unit} stronger than {second} (nominal probability of this decision if the "
        f"difference is {rejected:g}: {error:g})"
    )


def _likelihood(result: SequentialResult) -> str:
    """Return the sentence with the log-likelihood ratio, its bounds and the counted results."""
    test, counts = result.test, " ".join(f"{count:,}" for count in result.frequencies)
    meaning = (
        "pairs of games with 0, 1/2, 1, 3/2 and 2 points"
        if test.games_per_result == 2
        else "losses, draws and wins"
    )
    return (
        f"log-likelihood ratio {result.llr:+.2f}, bounds {test.lower:.2f} and {test.upper:.2f}; "
        f"{meaning}: {counts}"
    )


def _estimate(result: SequentialResult) -> str:
    """Return the sentence with the estimated Elo difference and its interval."""
    elo = result.elo
    if elo is None:
        return "the Elo difference cannot be estimated, as all results are equal"
    return (
        f"Elo difference {elo.elo:+.1f} ({100 * elo.confidence:g} % confidence interval "
        f"{elo.low:+.1f} to {elo.high:+.1f}; median-unbiased; {elo.uncorrected:+.1f} without "
        "correction for the stopping rule)"
    )
