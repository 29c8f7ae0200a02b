"""Reference implementations of selection policies: indices and weights, after their sources."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from ludoteca.agents.search.sequential.tree import node_dtype
from ludoteca.envs.record_views import view_records


@dataclass(frozen=True)
class Statistics:
    """Statistics of K arms, with the letters of the papers. All arrays have the shape `[K]`.

    Attributes:
        n: numbers of pulls.
        sums: sums of the scores, which are in [0, 1].
        squares: sums of the squared scores.
        reward_estimates: sums of EXP3's reward estimates.
        priors: prior probabilities.
    """

    n: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    reward_estimates: NDArray[np.float64]
    priors: NDArray[np.float64]

    @property
    def k(self) -> int:
        """Number of arms."""
        return len(self.n)

    @property
    def t(self) -> float:
        """Number of pulls of all arms."""
        return float(self.n.sum())

    @property
    def x(self) -> NDArray[np.float64]:
        """Mean scores."""
        return self.sums / self.n

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variances of the scores."""
        return self.squares / self.n - self.x**2

    @property
    def smoothed(self) -> NDArray[np.float64]:
        """The variance after one more win and one more loss."""
        n = self.n + 2
        return (self.squares + 1) / n - ((self.sums + 1) / n) ** 2

    @property
    def best(self) -> int:
        """Index of the arm with the highest mean score."""
        return int(self.x.argmax())

    def records(self, policy: str) -> Any:
        """Return the statistics as the node records of a policy."""
        arms = np.zeros(self.k, node_dtype(policy))
        for name, values in (
            ("visits", self.n),
            ("value", self.sums),
            ("square", self.squares),
            ("reward_estimate", self.reward_estimates),
            ("prior", self.priors),
        ):
            if name in (arms.dtype.names or ()):
                arms[name] = values
        return view_records(arms)


def random_statistics(rng: np.random.Generator, arms: int, draws: bool = True) -> Statistics:
    """Return statistics of arms with 1 to 59 pulls and scores 0, 1/2 (with `draws`) and 1."""
    n = rng.integers(1, 60, arms)
    scores = [rng.choice([0, 0.5, 1] if draws else [0, 1], pulls) for pulls in n]
    return Statistics(
        n.astype(float),
        np.array([s.sum() for s in scores]),
        np.array([(s**2).sum() for s in scores]),
        np.array([s.sum() * rng.uniform(1, arms) for s in scores]),
        rng.dirichlet(np.ones(arms)).astype(np.float32).astype(float),
    )


# In all functions below, `c` holds the parameters of the policy, in the order of its table.
# Audibert, Munos and Szepesvari (2009), eq. (1): X + sqrt(2 V E / s) + 3 b c E / s, E = zeta log t.
def ucb_v(s: Statistics, c: Any) -> NDArray[np.float64]:
    e = c[0] * np.log(s.t)
    return s.x + np.sqrt(2 * s.variance.clip(0) * e / s.n) + 3 * c[1] * e / s.n


# Auer, Cesa-Bianchi and Fischer (2002), section 4, with the bound c[0] and scores times c[1].
def ucb_tuned(s: Statistics, c: Any) -> NDArray[np.float64]:
    x, squares = c[1] * s.x, c[1] ** 2 * s.squares / s.n
    v = squares - x**2 + np.sqrt(2 * np.log(s.t) / s.n)
    return (x + np.sqrt(np.log(s.t) / s.n * np.minimum(c[0], v))) / c[1]


# Rewards in [-1, 1], as in the formula; the result is mapped to [0, 1].
def uct(s: Statistics, c: Any) -> NDArray[np.float64]:
    q = 2 * s.x - 1
    return (q + c[0] * np.sqrt(2 * np.log(s.t) / s.n) + 1) / 2


def etc(s: Statistics, c: Any) -> NDArray[np.float64]:
    """Return the indices of explore-then-commit, with c[0] = m."""
    # Arms with fewer than m pulls come first, in the order of their pulls.
    return np.where(s.n >= c[0], s.x, 2 + c[0] - s.n)


def etc_log(s: Statistics, c: Any) -> NDArray[np.float64]:
    """Return the indices of explore-then-commit whose m depends on t, with c = (m, c)."""
    return etc(s, [max(c[0], c[1] * np.log(s.t))])


def etc_elimination(s: Statistics, c: Any) -> NDArray[np.float64]:
    """Return the indices of elimination: first arms that may be the best, or have few pulls."""
    deviation = np.sqrt(s.smoothed / s.n)
    radius = np.sqrt(c[1] * np.log(s.t)) * np.hypot(deviation[s.best], deviation)
    return np.where((s.n < c[0]) | (s.x[s.best] - s.x <= radius), 2 + 1 / s.n, s.x)


# Chaslot et al. (2006): urgency U = erfc((best - x) / (sqrt(2) sigma)); fairness t U / (T sum U).
def urgency(s: Statistics) -> NDArray[np.float64]:
    return special.erfc((s.x.max() - s.x) / (np.sqrt(2) * np.sqrt(s.smoothed)))


# Garivier and Cappe (2011), algorithm 1, on a grid: max{q: n d(x, q) <= ln t + c ln ln t}.
def kl_ucb(s: Statistics, c: Any) -> NDArray[np.float64]:
    bound = (np.log(s.t) + c[0] * np.log(max(np.log(s.t), 1.0))) / s.n
    indices = []
    for x, most in zip(s.x, bound, strict=True):

        def excess(q: float, x: float = x, most: float = most) -> float:
            return float(special.rel_entr(x, q) + special.rel_entr(1 - x, 1 - q) - most)

        highest = float(np.nextafter(1, 0))
        indices.append(optimize.brentq(excess, x, highest) if excess(highest) > 0 else 1.0)
    return np.array(indices)


INDEX: dict[str, Callable[[Statistics, Any], NDArray[np.float64]]] = {
    "ucb1": lambda s, c: s.x + np.sqrt(c[0] * np.log(s.t) / s.n),
    "ucb_tuned": ucb_tuned,
    "ucb_v": ucb_v,
    "ucb_minimal": lambda s, c: s.x + c[0] / s.n,
    "moss": lambda s, c: s.x + np.sqrt(np.maximum(np.log(s.t / (s.k * s.n)), 0) / s.n),
    "etc": etc,
    "etc_log": etc_log,
    "etc_elimination": etc_elimination,
    "ucb_alpha1": lambda s, c: s.x + np.sqrt(np.log(s.t) / s.k / s.n),
    "ucb_alpha2": lambda s, c: s.x + np.sqrt(np.e / (2 * s.k) * np.log(s.t) / s.n),
    "uct": uct,
    "omc": lambda s, c: s.t * urgency(s) / (s.n * urgency(s).sum()),
    "puct": lambda s, c: s.x + c[0] * s.priors * np.sqrt(s.t) / (1 + s.n),
    "kl_ucb": kl_ucb,
}


def normalized(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as probabilities."""
    return weights / weights.sum()


# Auer, Cesa-Bianchi and Fischer (2002), fig. 3; the best arms share the probability equally.
def epsilon_greedy(s: Statistics, c: Any) -> NDArray[np.float64]:
    epsilon = min(1.0, c[0] * s.k / (c[1] ** 2 * s.t))
    best = s.x == s.x.max()
    return epsilon / s.k + (1 - epsilon) * best / best.sum()


# Auer, Cesa-Bianchi, Freund and Schapire (2002), fig. 1, with w_i = exp(gamma estimate_i / K).
def exp3(s: Statistics, c: Any) -> NDArray[np.float64]:
    weights = special.softmax(c[0] * s.reward_estimates / s.k)
    return (1 - c[0]) * weights + c[0] / s.k


# Coulom (2006), section 3.2, without his epsilon; the variances are of the means.
def pbbm(s: Statistics, c: Any) -> NDArray[np.float64]:
    variance = s.smoothed / s.n
    distance = s.x[s.best] - s.x
    return np.exp(-2.4 * distance / np.sqrt(2 * (variance[s.best] + variance)))


PROBABILITY: dict[str, Callable[[Statistics, Any], NDArray[np.float64]]] = {
    "uniform": lambda s, c: np.full(s.k, 1 / s.k),
    "omc_stochastic": lambda s, c: normalized(urgency(s)),
    "epsilon_greedy": lambda s, c: normalized(epsilon_greedy(s, c)),
    "exp3": exp3,
    "pbbm": lambda s, c: normalized(pbbm(s, c)),
}


def stream(seed: int) -> NDArray[np.uint64]:
    """Return the state of a random generator."""
    return np.array([seed], np.uint64)
