"""Selection policies of tree search: UCB variants, PUCT, Thompson sampling, EXP3 and others.

A policy is one kernel, `score(child, mean, t, log_t, k, best, c, rng) -> float`, and one line of
`POLICIES`. Every child has been visited at least once (except with first-play urgency).

    child    the child's record, see `tree.NODE`; its visits are T_i
    mean     its mean score x_i, in [0, 1]
    t        visits of all children together, and log_t its natural logarithm
    k        number of children, K
    best     `(mean, variance, number)`: the highest mean, its smoothed variance, and how many
             children have that mean
    c        the policy's parameters, in the order of its table line
    rng      the search's random stream

Policies of kind "max" visit the child of highest score; those of kind "weights" sample a child
with probability proportional to its score.

Sources, unless a formula cites its own: the thesis in General Game Playing (Valencia, UAEMex,
2021), sections 1.3.3 and 1.3.6 for UCB1, UCB-Tuned, UCB-V, UCB-Minimal, MOSS and ETC, and 4.2 for
UCB-alpha1 and UCB-alpha2. Perick, St-Pierre, Maes and Ernst, "Comparison of different selection
strategies in Monte-Carlo tree search for the game of Tron" (CIG 2012), compare all others but
uniform sampling, UCT and PUCT.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import next_u64

NO_BEST = (-1.0, 0.0, 0)


@dataclass(frozen=True, eq=False)
class SelectionPolicy:
    """Entry of the table: the kernel, its kind, and its parameters with their defaults."""

    score: Callable[..., float]
    params: Mapping[str, float]
    kind: Literal["max", "weights"] = "max"
    importance_weighted: bool = False
    needs_best: bool = False


@kernel
def ucb1(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """UCB1 with its constant alpha; alpha = 2 is Auer, Cesa-Bianchi and Fischer, 2002, fig. 1."""
    return mean + math.sqrt(c[0] * log_t / child.visits)


@kernel
def uct(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """UCT, Browne et al., "A survey of MCTS methods", 2012, section 3.3.1.

    Q/N + C sqrt(2 ln N(parent) / N(child)) is for rewards in [-1, 1]; scores in [0, 1] halve it.
    """
    return mean + c[0] / 2 * math.sqrt(2 * log_t / child.visits)


@kernel
def ucb_tuned(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """UCB1-Tuned, Auer, Cesa-Bianchi and Fischer, 2002, section 4."""
    n = child.visits
    v = child.square / n - mean * mean + math.sqrt(2 * log_t / n)
    return mean + math.sqrt(log_t / n * min(0.25, v))


@kernel
def ucb_v(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """UCB-V, Audibert, Munos and Szepesvari, 2009, eq. 1; c = (zeta, c)."""
    n = child.visits
    variance = max(child.square / n - mean * mean, 0.0)
    explore = c[0] * log_t
    return mean + math.sqrt(2 * variance * explore / n) + c[1] * 3 * explore / n


@kernel
def ucb_minimal(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """UCB-Minimal, Maes, Wehenkel and Ernst, 2011."""
    return mean + c[0] / child.visits


@kernel
def moss(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """MOSS, Audibert and Bubeck, 2009, with the visits so far in place of the horizon."""
    n = child.visits
    return mean + math.sqrt(max(math.log(t / (k * n)), 0.0) / n)


@kernel
def etc(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """Explore then commit: m visits each, in turn, then the highest mean.

    Equation 1.13 of the thesis in General Game Playing (Valencia, UAEMex, 2021).
    """
    return mean if child.visits >= c[0] else 2 + c[0] - child.visits


@kernel
def ucb_alpha1(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """UCB-alpha1: UCB1 with alpha = 1 / K; algorithm 17 of the thesis."""
    return mean + math.sqrt(log_t / (k * child.visits))


@kernel
def ucb_alpha2(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """UCB-alpha2: UCB1 with alpha = e / (2 K); algorithm 18 of the thesis."""
    return mean + math.sqrt(math.e * log_t / (2 * k * child.visits))


@kernel
def puct(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """PUCT, Silver et al., "Mastering the game of Go without human knowledge", 2017, methods."""
    return mean + c[0] * child.prior * math.sqrt(t) / (1 + child.visits)


@kernel
def uniform(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """Sample children uniformly."""
    return 1.0


@kernel
def epsilon_greedy(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """epsilon_n-greedy, Auer, Cesa-Bianchi and Fischer, 2002, fig. 3; c = (c, d).

    With epsilon = min(1, c K / (d^2 t)) any child is sampled, otherwise one of the best.
    """
    epsilon = min(1.0, c[0] * k / (c[1] * c[1] * t))
    return epsilon / k + ((1 - epsilon) / best[2] if mean >= best[0] else 0.0)


@kernel
def thompson(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """Thompson sampling from Beta(1 + wins, 1 + losses); a drawn game counts half."""
    a = gamma(1 + child.value, rng)
    return a / (a + gamma(1 + child.visits - child.value, rng))


@kernel
def exp3(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """EXP3, Auer, Cesa-Bianchi, Freund and Schapire, 2002, fig. 1: log-weights.

    The search mixes in uniform exploration, gamma / K, and divides scores by probabilities.
    """
    return c[0] / k * child.reward_estimate


@kernel
def omc(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """Urgency of objective Monte Carlo, Chaslot et al., 2006: chance to beat the best child."""
    return math.erfc((best[0] - mean) / math.sqrt(2 * smoothed_variance(child)))


@kernel
def omc_deterministic(
    child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any
) -> Any:
    """OMC's fairness, t urgency / (visits, sum of urgencies), up to factors common to children."""
    return omc(child, mean, t, log_t, k, best, c, rng) / child.visits


@kernel
def pbbm(child: Any, mean: float, t: int, log_t: float, k: int, best: Any, c: Any, rng: Any) -> Any:
    """Probability to beat the best move, Coulom, "Efficient selectivity", 2006, section 3.2.

    Variances are those of the means; Coulom's epsilon, a floor under every probability that keeps
    urgent moves from being starved, is left out, as the smoothed variances serve for that.
    """
    spread = math.sqrt(2 * (best[1] + smoothed_variance(child) / child.visits))
    return math.exp(-2.4 * (best[0] - mean) / spread)


@kernel
def leading(best: Any, child: Any, mean: float) -> Any:
    """Return `best` updated with a child; the initial value is `NO_BEST`."""
    if mean > best[0]:
        return (mean, smoothed_variance(child) / child.visits, 1)
    return (best[0], best[1], best[2] + int(mean == best[0]))


@kernel
def smoothed_variance(child: Any) -> Any:
    """Variance of a child's scores with one win and one loss added, so that it is never zero.

    Without them two equal scores would be final for policies that estimate the probability of a
    child to be the best.
    """
    n = child.visits + 2
    mean = (child.value + 1) / n
    return (child.square + 1) / n - mean * mean


@kernel
def gamma(shape: float, rng: Any) -> float:
    """Sample from a gamma distribution of scale 1 and shape >= 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    """
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        # A normal variable by Box and Muller.
        x = math.sqrt(-2 * math.log(unit(rng))) * math.cos(2 * math.pi * unit(rng))
        v = (1 + c * x) ** 3
        if v > 0 and math.log(unit(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@kernel
def unit(rng: Any) -> float:
    """Sample uniformly from (0, 1]."""
    return (float(next_u64(rng) >> np.uint64(11)) + 1.0) / 9007199254740992.0


POLICIES = {
    "ucb1": SelectionPolicy(ucb1, {"alpha": 2.0}),
    "ucb_tuned": SelectionPolicy(ucb_tuned, {}),
    "ucb_v": SelectionPolicy(ucb_v, {"zeta": 1.0, "c": 1.0}),
    "ucb_minimal": SelectionPolicy(ucb_minimal, {"c": 1.0}),
    "moss": SelectionPolicy(moss, {}),
    "etc": SelectionPolicy(etc, {"m": 2}),
    "ucb_alpha1": SelectionPolicy(ucb_alpha1, {}),
    "ucb_alpha2": SelectionPolicy(ucb_alpha2, {}),
    "uct": SelectionPolicy(uct, {"c": math.sqrt(2)}),
    "uniform": SelectionPolicy(uniform, {}, "weights"),
    "omc": SelectionPolicy(omc_deterministic, {}, needs_best=True),
    "omc_stochastic": SelectionPolicy(omc, {}, "weights", needs_best=True),
    "epsilon_greedy": SelectionPolicy(
        epsilon_greedy, {"c": 1.0, "d": 0.8}, "weights", needs_best=True
    ),
    "exp3": SelectionPolicy(exp3, {"gamma": 0.3}, "weights", importance_weighted=True),
    "thompson": SelectionPolicy(thompson, {}),
    "pbbm": SelectionPolicy(pbbm, {}, "weights", needs_best=True),
    "puct": SelectionPolicy(puct, {"c": 1.5}),
}
