"""Selection policies of tree search: UCB variants, PUCT, Thompson sampling, EXP3 and others.

A policy is one kernel, `score(arm, mean, parent) -> float`, and one line of `POLICIES`. An arm is
an action of the player to move. It is scored after its first visit (except by `puct` in
network-guided searches).

    arm      the arm's record, see `ludoteca.agents.search.statistics.arm_dtype`; its visits are T_i
    mean     its mean score x_i, in [0, 1]
    parent   the node whose arms are compared, see `Parent`

Policies of kind "max" visit the arm of highest score; those of kind "weights" sample an arm with
probability proportional to its score. A policy may keep a `Statistic` of its own. `kl_ucb.py` is an
example of a policy in a file of its own.

Sources, unless a formula cites its own: Valencia's thesis on General Game Playing (UAEMex, 2021),
sections 1.3.3 and 1.3.6 for UCB1, UCB-Tuned, UCB-V, UCB-Minimal, MOSS and ETC, and 4.2 for
UCB-alpha1 and UCB-alpha2. Perick, St-Pierre, Maes and Ernst, "Comparison of different selection
strategies in Monte-Carlo tree search for the game of Tron" (CIG 2012), compare all others but
the variants of ETC, uniform sampling, UCT, PUCT and KL-UCB.

Formulas cite by authors and year:
    Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002
    Audibert, Munos and Szepesvari, "Exploration-exploitation tradeoff using variance estimates in
        multi-armed bandits", 2009
    Maes, Wehenkel and Ernst, "Automatic discovery of ranking formulas for playing with multi-armed
        bandits", 2011
    Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits", 2009
    Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", 2002
    Lattimore and Szepesvari, "Bandit algorithms", 2020
    Vakili, Liu and Zhao, "Deterministic sequencing of exploration and exploitation for multi-armed
        bandit problems", 2013
    Even-Dar, Mannor and Mansour, "Action elimination and stopping conditions for the multi-armed
        bandit and reinforcement learning problems", 2006
    Chaslot, Saito, Bouzy, Uiterwijk and van den Herik, "Monte-Carlo strategies for computer Go",
        2006
"""

import math
from typing import Any

import numpy as np

from ludoteca.agents.search.distributions import sample_gamma
from ludoteca.agents.search.kl_ucb import KL_UCB
from ludoteca.agents.search.policy import SelectionPolicy, Statistic, smoothed_variance
from ludoteca.envs.jit import kernel


@kernel
def ucb1(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB1; alpha = 2 is Auer, Cesa-Bianchi and Fischer, 2002, fig. 1."""
    return mean + math.sqrt(parent.params[0] * parent.log_visits / arm.visits)


@kernel
def uct(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCT, Browne et al., "A survey of MCTS methods", 2012, section 3.3.1.

    Q/N + C sqrt(2 ln N(parent) / N(child)) is for rewards in [-1, 1]; for scores in [0, 1], C is
    halved.
    """
    return mean + parent.params[0] / 2 * math.sqrt(2 * parent.log_visits / arm.visits)


@kernel
def ucb_tuned(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB1-Tuned, Auer, Cesa-Bianchi and Fischer, 2002, section 4.

    The parameters are the bound of the variance, by default 1/4, the maximum variance of scores in
    [0, 1], and the scale of the scores in the formula, from 0 to `scale`, to whose index the
    result is proportional. They are for experiments with readings of the formula.
    """
    n, scale = arm.visits, parent.params[1]
    variance = scale * scale * (arm.square / n - mean * mean)
    v = variance + math.sqrt(2 * parent.log_visits / n)
    return mean + math.sqrt(parent.log_visits / n * min(parent.params[0], v)) / scale


@kernel
def ucb_v(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB-V, Audibert, Munos and Szepesvari, 2009, eq. 1."""
    n = arm.visits
    variance = max(arm.square / n - mean * mean, 0.0)
    explore = parent.params[0] * parent.log_visits
    return mean + math.sqrt(2 * variance * explore / n) + parent.params[1] * 3 * explore / n


@kernel
def ucb_minimal(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB-Minimal, Maes, Wehenkel and Ernst, 2011."""
    return mean + parent.params[0] / arm.visits


@kernel
def moss(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of MOSS, Audibert and Bubeck, 2009; the horizon is the visits so far."""
    n = arm.visits
    return mean + math.sqrt(max(math.log(parent.visits / (parent.num_arms * n)), 0.0) / n)


@kernel
def etc(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of explore-then-commit: m visits each, in turn, then the highest mean.

    Equation 1.13 of Valencia's thesis. Scores of arms with fewer visits are above every mean, and
    higher the fewer visits there are.
    """
    return mean if arm.visits >= parent.params[0] else 2 + parent.params[0] - arm.visits


@kernel
def etc_log(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of explore-then-commit whose m grows: max(m, c ln t) visits each.

    After t visits, m is that of Lattimore and Szepesvari, 2020, section 6.1, up to a constant, with
    the horizon t. A commitment is thus revised: rejected arms are explored again at a rate c / t,
    as in deterministic sequencing of exploration and exploitation, Vakili, Liu and Zhao, 2013.
    """
    m = max(parent.params[0], parent.params[1] * parent.log_visits)
    return mean if arm.visits >= m else 2 + m - arm.visits


@kernel
def etc_elimination(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of explore-then-commit that explores until differences are clear.

    Successive elimination, Even-Dar, Mannor and Mansour, 2006, section 4: arms with fewer than m
    visits, and arms whose mean differs from the best by at most sqrt(c ln t (v_best + v)), where v
    is the smoothed variance of a mean, are visited in turn. The radius is not theirs, and it grows
    with the visits t of all arms, so that an eliminated arm can come back.
    """
    gap = parent.best[0] - mean
    bound = parent.params[1] * parent.log_visits
    variance = parent.best[1] + smoothed_variance(arm) / arm.visits
    is_candidate = arm.visits < parent.params[0] or gap * gap <= bound * variance
    return 2 + 1 / arm.visits if is_candidate else mean


@kernel
def ucb_alpha1(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB-alpha1: UCB1 with alpha = 1 / K; Valencia's algorithm 17."""
    return mean + math.sqrt(parent.log_visits / (parent.num_arms * arm.visits))


@kernel
def ucb_alpha2(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of UCB-alpha2: UCB1 with alpha = e / (2 K); Valencia's algorithm 18."""
    return mean + math.sqrt(math.e * parent.log_visits / (2 * parent.num_arms * arm.visits))


@kernel
def puct(arm: Any, mean: float, parent: Any) -> Any:
    """Return the score of PUCT, Silver et al., "Mastering the game of Go without human knowledge".

    2017, section "Methods".
    """
    return mean + parent.params[0] * arm.prior * math.sqrt(parent.visits) / (1 + arm.visits)


@kernel
def uniform(arm: Any, mean: float, parent: Any) -> Any:
    """Return equal weights: arms are sampled uniformly."""
    return 1.0


@kernel
def epsilon_greedy(arm: Any, mean: float, parent: Any) -> Any:
    """Return the weight of epsilon_n-greedy, Auer, Cesa-Bianchi and Fischer, 2002, fig. 3.

    With probability epsilon = min(1, c K / (d^2 t)) any arm is sampled, otherwise one of the best.
    """
    epsilon = min(
        1.0,
        parent.params[0] * parent.num_arms / (parent.params[1] * parent.params[1] * parent.visits),
    )
    return epsilon / parent.num_arms + (
        (1 - epsilon) / parent.best[2] if mean >= parent.best[0] else 0.0
    )


@kernel
def thompson(arm: Any, mean: float, parent: Any) -> Any:
    """Sample the score of Thompson sampling from Beta(1 + wins, 1 + losses); a draw counts half."""
    a = sample_gamma(1 + arm.value, parent.rng)
    return a / (a + sample_gamma(1 + arm.visits - arm.value, parent.rng))


@kernel
def exp3(arm: Any, mean: float, parent: Any) -> Any:
    """Return the log-weight of EXP3, Auer, Cesa-Bianchi, Freund and Schapire, 2002, fig. 1.

    `ludoteca.agents.search.select.make_select` mixes in uniform exploration, gamma / K.
    """
    return parent.params[0] / parent.num_arms * arm.reward_estimate


@kernel
def reset_estimate(arm: Any) -> None:
    """Reset EXP3's sum of importance-weighted scores."""
    arm.reward_estimate = 0.0


@kernel
def update_estimate(arm: Any, score: float, probability: float) -> None:
    """Add a score, divided by the probability of its arm."""
    arm.reward_estimate += score / probability


@kernel
def omc(arm: Any, mean: float, parent: Any) -> Any:
    """Return the urgency of objective Monte Carlo (OMC), Chaslot et al., 2006.

    It is the probability to beat the best arm, up to a constant factor.
    """
    return math.erfc((parent.best[0] - mean) / math.sqrt(2 * smoothed_variance(arm)))


@kernel
def omc_deterministic(arm: Any, mean: float, parent: Any) -> Any:
    """Return OMC's fairness function: urgency / visits, up to factors that all arms share."""
    return omc(arm, mean, parent) / arm.visits


@kernel
def pbbm(arm: Any, mean: float, parent: Any) -> Any:
    """Return the probability to beat the best move (PBBM), Coulom, 2006, section 3.2.

    "Efficient selectivity and backup operators in Monte-Carlo tree search"; 2.4 is his constant.
    Variances are those of the means. His epsilon, a minimum probability, is left out: smoothed
    variances replace it.
    """
    spread = math.sqrt(2 * (parent.best[1] + smoothed_variance(arm) / arm.visits))
    return math.exp(-2.4 * (parent.best[0] - mean) / spread)


POLICIES = {
    "ucb1": SelectionPolicy(ucb1, {"alpha": 2.0}, has_exploration_term=True),
    "ucb_tuned": SelectionPolicy(
        ucb_tuned, {"bound": 0.25, "scale": 1.0}, has_exploration_term=True
    ),
    "ucb_v": SelectionPolicy(ucb_v, {"zeta": 1.0, "c": 1.0}, has_exploration_term=True),
    "ucb_minimal": SelectionPolicy(ucb_minimal, {"c": 1.0}, has_exploration_term=True),
    "moss": SelectionPolicy(moss, {}, has_exploration_term=True),
    "etc": SelectionPolicy(etc, {"m": 2}),
    "etc_log": SelectionPolicy(etc_log, {"m": 2, "c": 1.0}),
    "etc_elimination": SelectionPolicy(etc_elimination, {"m": 2, "c": 0.2}, needs_best=True),
    "ucb_alpha1": SelectionPolicy(ucb_alpha1, {}, has_exploration_term=True),
    "ucb_alpha2": SelectionPolicy(ucb_alpha2, {}, has_exploration_term=True),
    "uct": SelectionPolicy(uct, {"c": math.sqrt(2)}, has_exploration_term=True),
    "uniform": SelectionPolicy(uniform, {}, "weights"),
    "omc": SelectionPolicy(omc_deterministic, {}, needs_best=True),
    "omc_stochastic": SelectionPolicy(omc, {}, "weights", needs_best=True),
    "epsilon_greedy": SelectionPolicy(
        epsilon_greedy, {"c": 1.0, "d": 0.8}, "weights", needs_best=True
    ),
    "exp3": SelectionPolicy(
        exp3,
        {"gamma": 0.3},
        "weights",
        exponential=True,
        statistic=Statistic((("reward_estimate", np.float64),), reset_estimate, update_estimate),
    ),
    "thompson": SelectionPolicy(thompson, {}),
    "pbbm": SelectionPolicy(pbbm, {}, "weights", needs_best=True),
    "puct": SelectionPolicy(puct, {"c": 1.5}, has_exploration_term=True),
    "kl_ucb": KL_UCB,
}
