"""On-line tuning of search parameters: values that a search selects anew for each simulation.

Sironi and Winands, "On-line parameter tuning for Monte-Carlo tree search in general game playing"
(Computer Games, 2017). Each player has a combination of values for each simulation, and that
player's score is the reward: a multi-armed bandit whose arms are the combinations. Four
allocation strategies select them, whose kernels are in `tuner.py`:

    mab   UCB1 over all combinations
    he    hierarchical expansion: a tree with one level for each parameter, in the given order; UCB1
          selects a value at each level, and a node's statistics are those of the combinations that
          begin with the values on the way to it
    nmc   naive Monte Carlo (Ontanon, "The combinatorial multi-armed bandit problem and its
          application to real-time strategy games", 2013): at random, with the probability
          `ludoteca.agents.search.tuner.LOCAL_PROB`, UCB1 over the values of each parameter on its
          own, otherwise UCB1 over the combinations that were tried
    lsi   linear side information (Shleyfman, Komenda and Domshlak, "On combinatorial actions and
          CMABs with linear side information", 2014): half of the simulations estimate the values on
          their own; then sequential halving selects among combinations whose values are sampled in
          proportion to their mean scores

A combination is a number: the indices of its values are digits in the mixed radix `sizes` (see
`TUNED_PARAMS`), the first parameter's the lowest.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.config import SEARCH_PARAMS, STRATEGIES
from ludoteca.envs.params import check_choice, check_real

# Limits of the fixed-size arrays in `TUNED_PARAMS`.
MAX_PARAMS, MAX_VALUES, MAX_COMBINATIONS, MAX_CANDIDATES = 4, 16, 256, 16
# Values of `targets` for parameters outside `policy_params`, whose indices are 0 to 3.
FPU, AMAF_WEIGHT = 4, 5

# Parameters of a player's search, and the state of their tuning. Statistics by value are over all
# combinations with the value.
TUNED_PARAMS = np.dtype(
    [
        *((name, SEARCH_PARAMS[name]) for name in SEARCH_PARAMS.names or ()),
        ("grid", np.float64, (MAX_PARAMS, MAX_VALUES)),  # values of each parameter
        ("value", np.float64, (MAX_COMBINATIONS,)),  # sum of scores by combination
        ("local_value", np.float64, (MAX_PARAMS, MAX_VALUES)),  # sum of scores by value
        ("level_value", np.float64, (MAX_VALUES,)),  # he: scratch, sum of scores at a level
        ("total", np.int64),  # simulations so far
        ("budget", np.int64),  # lsi: simulations of the search
        ("round_end", np.int64),  # lsi: simulations at the end of the round of sequential halving
        ("sizes", np.int32, (MAX_PARAMS,)),  # number of values of each parameter
        ("targets", np.int32, (MAX_PARAMS,)),  # index in `policy_params`, `FPU` or `AMAF_WEIGHT`
        ("num_params", np.int32),
        ("num_combinations", np.int32),
        ("visits", np.int32, (MAX_COMBINATIONS,)),  # simulations by combination
        ("local_visits", np.int32, (MAX_PARAMS, MAX_VALUES)),  # simulations by value
        ("level_visits", np.int32, (MAX_VALUES,)),  # he: scratch, simulations at a level
        ("candidates", np.int32, (MAX_CANDIDATES,)),  # lsi: combinations that are compared
        ("num_candidates", np.int32),
        ("chosen", np.int32),  # combination of this simulation
    ],
    align=True,
)


class TunedCombination(NamedTuple):
    """Statistics of a combination of values, one of each tuned parameter.

    Attributes:
        values: values by the name of the parameter.
        visits: number of simulations with these values.
        mean: mean score of the player in these simulations; NaN if there are none.
    """

    values: dict[str, float]
    visits: int
    mean: float


def tuned_params(
    params: NDArray[np.void], strategy: str, grid: Mapping[str, Any], targets: Mapping[str, int]
) -> NDArray[np.void]:
    """Return parameters with the state of their tuning, dtype `TUNED_PARAMS`, shape `[1]`.

    Args:
        params: the parameters, a record of `SEARCH_PARAMS`, shape `[1]`.
        strategy: one of `STRATEGIES` except `""`.
        grid: values of each parameter as text, such as `"0.5/1/2"`, or one number.
        targets: target of each parameter that can be tuned, by its name; see `TUNED_PARAMS`.

    Raises:
        ValueError: if the strategy is unknown, there are no parameters or too many, or too many
            values or combinations, or a value is not a number from -1e9 to 1e9 (`fpu` may be inf:
            actions without visits first).
    """
    check_choice("tune", strategy, STRATEGIES[1:])
    if not 1 <= len(grid) <= MAX_PARAMS:
        known = ", ".join(targets)
        raise ValueError(
            f"tune={strategy} needs the values of 1 to {MAX_PARAMS} parameters, such as "
            f"tune.{next(iter(targets))}=0.5/1/2, got {len(grid)}; parameters that "
            f"can be tuned: {known}"
        )
    tuned = np.zeros(1, TUNED_PARAMS)
    for name in SEARCH_PARAMS.names or ():
        tuned[name] = params[name]
    record, combinations = tuned[0], 1
    for p, (name, text) in enumerate(grid.items()):
        value_texts = str(text).split("/")
        if len(value_texts) > MAX_VALUES:
            raise ValueError(
                f"tune.{name} can have up to {MAX_VALUES} values, got {len(value_texts)}"
            )
        try:
            values = [float(value_text) for value_text in value_texts]
        except ValueError:
            raise ValueError(f"tune.{name} must be numbers such as 0.5/1/2, got {text!r}") from None
        for value in values:
            if value != math.inf or targets[name] != FPU:
                check_real(f"tune.{name}", value, -1e9, 1e9)
        record["grid"][p, : len(values)], record["sizes"][p] = values, len(values)
        record["targets"][p] = targets[name]
        combinations *= len(values)
    if combinations > MAX_COMBINATIONS:
        raise ValueError(f"tune can have up to {MAX_COMBINATIONS} combinations, got {combinations}")
    record["num_params"], record["num_combinations"] = len(grid), combinations
    return tuned


def tuning_result(record: Any, names: tuple[str, ...]) -> list[TunedCombination]:
    """Return the statistics of all combinations of a player's last search.

    With `lsi` they are those of the second half of the simulations.

    Args:
        record: the player's record of `TUNED_PARAMS` after the search.
        names: names of the parameters, in the order of the `grid` of `tuned_params`.
    """
    results = []
    for combination in range(record["num_combinations"]):
        visits = int(record["visits"][combination])
        mean = float(record["value"][combination]) / visits if visits else math.nan
        values, rest = {}, combination
        for p, name in enumerate(names):
            rest, index = divmod(rest, int(record["sizes"][p]))
            values[name] = float(record["grid"][p, index])
        results.append(TunedCombination(values, visits, mean))
    return results
