"""Results of policies in bandits: last checkpoints, the measured regret and its bounds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.bandits.bounds import moss_bound, ucb1_bound, ucb1_general_bound
from ludoteca.evaluate.studies.bandit_policies.problems import AUER
from ludoteca.evaluate.studies.study import Records

OTHER_CONSTANT = "ucb1:alpha=1.5"  # policy for theorem 2 with another constant than the default, 2
Z = 1.96  # standard errors of a 95 % interval
# Policy, name of the bound in Valencia's thesis (UAEMex, 2021), and function that returns the bound
# of the regret from success probabilities and numbers of rounds, see
# `ludoteca.evaluate.bandits.bounds`, which cites the thesis.
Bound = Callable[[Sequence[float], Sequence[int]], NDArray[np.float64]]
BOUNDS: tuple[tuple[str, str, Bound], ...] = (
    ("ucb1", "theorem 1", ucb1_bound),
    ("ucb1", "theorem 2", lambda p, t: ucb1_general_bound(p, t, 2.0)),
    (OTHER_CONSTANT, "theorem 2", lambda p, t: ucb1_general_bound(p, t, 1.5)),
    ("moss", "equation 1.12", moss_bound),
)


def record_of(records: Records, policy: str) -> Mapping[str, Any]:
    """Return the record of a policy."""
    return records[f"policy-{policy.replace(':', '-')}"]


def last(records: Records, policy: str, problem: str, measure: str) -> tuple[float, float]:
    """Return the mean and half the 95 % interval of a measure after the last round.

    Args:
        records: records of the tasks.
        policy: name of the policy.
        problem: name of the problem.
        measure: `"regret"`, or `"share"` of pulls of the best arm.
    """
    values = record_of(records, policy)["problems"][problem][measure]
    return values["mean"][-1], Z * values["error"][-1]


def is_best(
    records: Records, policies: Sequence[str], policy: str, problem: str, measure: str
) -> bool:
    """Return whether no policy has a lower mean regret, or a higher mean share."""
    means = [last(records, name, problem, measure)[0] for name in policies]
    best = min(means) if measure == "regret" else max(means)
    return last(records, policy, problem, measure)[0] == best


def bound_rows(records: Records) -> list[dict[str, Any]]:
    """Return a row for each of Auer's distributions and each bound: bound and measured regret.

    `violations` is the number of checkpoints after which the lower end of the 95 % interval of the
    regret is above the bound; `trivial` is the regret of always pulling the worst arm; `half` is
    half the 95 % interval of the regret.
    """
    rows = []
    for name, probabilities in AUER.items():
        for policy, label, bound in BOUNDS:
            record = record_of(records, policy)
            regret, rounds = record["problems"][f"auer-{name}"]["regret"], record["checkpoints"]
            bounds = bound(probabilities, rounds)
            lowest = np.array(regret["mean"]) - Z * np.array(regret["error"])
            rows.append(
                {
                    "distribution": name,
                    "policy": policy,
                    "label": label,
                    "regret": regret["mean"][-1],
                    "half": Z * regret["error"][-1],
                    "bound": float(bounds[-1]),
                    "violations": int((lowest > bounds).sum()),
                    "trivial": (max(probabilities) - min(probabilities)) * rounds[-1],
                }
            )
    return rows
