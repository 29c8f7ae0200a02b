"""Findings of the study of policies in bandits, as sentences of its report."""

from collections.abc import Mapping, Sequence
from typing import Any

from ludoteca.evaluate.studies.bandit_policies.analysis import (
    bound_rows,
    is_best,
    last,
)
from ludoteca.evaluate.studies.bandit_policies.problems import AUER, GAME_ARMS
from ludoteca.evaluate.studies.study import Records

SPREAD_ARMS = 25  # number of arms for which the intervals of `SPREAD_POLICIES` are compared
SPREAD_POLICIES = ("ucb_alpha1", "ucb_alpha2", "ucb_tuned")


def policy_findings(records: Records, policies: Sequence[str]) -> list[str]:
    """Return the findings on the regret of the policies and on its bounds, as sentences.

    Args:
        records: records of the tasks.
        policies: names of the policies.
    """
    auer = {name: f"auer-{name}" for name in AUER}
    random = {f"K = {arms}": f"random-{arms}" for arms in GAME_ARMS}
    return [
        "Lowest mean regret in Auer's distributions, by their numbers: "
        f"{lowest_text(records, policies, auer)}.",
        *bound_findings(bound_rows(records)),
        "Lowest mean regret in random problems as large as games: "
        f"{lowest_text(records, policies, random)}.",
        f"Mean regret in random problems with {SPREAD_ARMS} arms, with its 95 % interval: "
        f"{spread_text(records, SPREAD_POLICIES, f'random-{SPREAD_ARMS}')}.",
    ]


def spread_text(records: Records, policies: Sequence[str], problem: str) -> str:
    """Return the mean regrets of some policies in a problem, with half their intervals, as text."""
    values = ((name, *last(records, name, problem, "regret")) for name in policies)
    return ", ".join(f"{name} {mean:.1f} ± {half:.1f}" for name, mean, half in values)


def lowest_text(records: Records, policies: Sequence[str], problems: Mapping[str, str]) -> str:
    """Return which policies have the lowest mean regret in which problems, as text.

    A problem is in brackets if the interval of another policy overlaps that of the best one.

    Args:
        records: records of the tasks.
        policies: names of the policies.
        problems: names of the problems by their labels in the text.
    """
    texts = []
    for policy in policies:
        best_in = [
            label if is_apart(records, policies, policy, problem) else f"({label})"
            for label, problem in problems.items()
            if is_best(records, policies, policy, problem, "regret")
        ]
        if best_in:
            texts.append(f"{policy} in {', '.join(best_in)}")
    return "; ".join(texts) + " (brackets: the interval of another policy overlaps)"


def is_apart(records: Records, policies: Sequence[str], policy: str, problem: str) -> bool:
    """Return whether the interval of a policy's regret lies below those of all other policies."""
    mean, half = last(records, policy, problem, "regret")
    others = (last(records, name, problem, "regret") for name in policies if name != policy)
    return all(mean + half < other - other_half for other, other_half in others)


def bound_findings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for UCB1 and one for MOSS on their bounds; rows are those of `bound_rows`.

    UCB1 counts with each of its constants.
    """
    sentences = []
    for name in ("ucb1", "moss"):
        chosen = [row for row in rows if row["policy"].partition(":")[0] == name]
        factors = [row["bound"] / row["regret"] for row in chosen]
        above = sum(row["violations"] for row in chosen)
        vacuous = {row["distribution"] for row in chosen if row["bound"] > row["trivial"]}
        sentence = (
            f"The bounds of {name} are {min(factors):.1f} to {max(factors):.1f} times its mean "
            f"regret after the last round. The 95 % interval of the regret is above its bound at "
            f"{above or 'none'} of the checkpoints."
        )
        if vacuous:
            sentence += (
                f" In {', '.join(name for name in AUER if name in vacuous)} the bound is above the "
                "regret of always pulling the worst arm, and so says nothing."
            )
        sentences.append(sentence)
    return sentences
