"""Selection policy: the score of an arm, its parameters, and a statistic of its own.

An arm is an action of one player in one node, as in a multi-armed bandit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import kernel
from ludoteca.envs.names import did_you_mean

NO_BEST = (-1.0, 0.0, 0)  # `Parent.best` before any arm: means are 0 or more


class Parent(NamedTuple):
    """Node whose arms are compared.

    Attributes:
        visits: visits of all arms together, t.
        log_visits: its natural logarithm.
        num_arms: number of arms, K.
        best: highest mean, its smoothed variance divided by visits, and the number of arms that
            have that mean; `NO_BEST` unless the policy needs it.
        params: parameters of the policy, in the order of `SelectionPolicy.params`.
        rng: random stream of the search.
    """

    visits: Any
    log_visits: Any
    num_arms: Any
    best: Any
    params: Any
    rng: Any


@kernel
def reset_nothing(arm: Any) -> None:
    """Reset the statistic of policies that have none."""


@kernel
def update_nothing(arm: Any, score: float, probability: float) -> None:
    """Update the statistic of policies that have none."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """Statistic that a policy keeps of every arm, besides visits and scores.

    Attributes:
        fields: names and types of its fields in the record of an arm.
        reset: kernel `reset(arm)`.
        update: kernel `update(arm, score, probability)`, called with the score of each visit and
            the probability with which the arm was selected.
    """

    fields: tuple[tuple[str, Any], ...] = ()
    reset: Callable[..., None] = reset_nothing
    update: Callable[..., None] = update_nothing


NO_STATISTIC = Statistic()


@dataclass(frozen=True, eq=False)
class SelectionPolicy:
    """Selection policy, an entry of `ludoteca.agents.search.policies.POLICIES`.

    Attributes:
        score: kernel `score(arm, mean, parent) -> float`.
        params: names of the parameters, and their defaults.
        kind: `"max"`, the arm of highest score is visited, or `"weights"`, an arm is sampled with
            probability proportional to its score.
        exponential: whether scores are log-weights, and the first parameter is the share of uniform
            exploration (EXP3).
        needs_best: whether the score depends on `Parent.best`.
        has_exploration_term: whether the score is the mean plus an exploration term, which the
            factor of `exploration.py` can scale.
        statistic: further statistic that the policy keeps of every arm.
    """

    score: Callable[..., float]
    params: Mapping[str, float]
    kind: Literal["max", "weights"] = "max"
    exponential: bool = False
    needs_best: bool = False
    has_exploration_term: bool = False
    statistic: Statistic = NO_STATISTIC

    def parameters(self, given: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the parameters in the order of `params`, padded with zeros to 4 numbers.

        The result is the field `policy_params` of `ludoteca.agents.search.config.SEARCH_PARAMS`.

        Raises:
            ValueError: if the policy does not have a given parameter.
        """
        check_parameter_names("the policy", given, self.params)
        values = [float(given.get(name, default)) for name, default in self.params.items()]
        return np.array(values + [0.0] * (4 - len(values)), np.float64)


def check_parameter_names(owner: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Check that all `given` parameters are in `known`, both by name.

    Raises:
        ValueError: if one is not; the message names `owner`, to which the parameters belong.
    """
    for name in given:
        if name not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            near = did_you_mean(name, known)
            raise ValueError(f"{owner} has no parameter {name!r}{near}; {has}")


@kernel
def update_best(best: Any, arm: Any, mean: float) -> Any:
    """Return `Parent.best` with an arm included; the initial value is `NO_BEST`."""
    if mean > best[0]:
        return (mean, smoothed_variance(arm) / arm.visits, 1)
    return (best[0], best[1], best[2] + int(mean == best[0]))


@kernel
def smoothed_variance(arm: Any) -> Any:
    """Return the variance of an arm's scores with one win and one loss added, which is never zero.

    With a zero variance after two equal scores, policies that estimate the probability that an arm
    is the best would never change their estimate.
    """
    n = arm.visits + 2
    mean = (arm.value + 1) / n
    return (arm.square + 1) / n - mean * mean
