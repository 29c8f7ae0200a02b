"""Tests of every selection policy: references from the papers, by hand, and as a bandit."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.distributions import sample_gamma, sample_uniform
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_BEST, Parent, update_best
from ludoteca.agents.search.sequential.selection import make_selection
from ludoteca.agents.search.sequential.tree import ROOT, node_dtype
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bandits import play_bandits, random_problems

DRAWN = [name for name, policy in POLICIES.items() if policy.kind == "weights"]
INDICES = [name for name in POLICIES if name not in DRAWN and name != "thompson"]


@dataclass(frozen=True)
class Statistics:
    """What is known of K arms: pulls, sums of scores, of their squares and of weighted scores."""

    n: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    gains: NDArray[np.float64]
    priors: NDArray[np.float64]

    @property
    def k(self) -> int:
        return len(self.n)

    @property
    def t(self) -> float:
        return float(self.n.sum())

    @property
    def x(self) -> NDArray[np.float64]:
        return self.sums / self.n

    @property
    def variance(self) -> NDArray[np.float64]:
        return self.squares / self.n - self.x**2

    @property
    def smoothed(self) -> NDArray[np.float64]:
        """The variance after one more win and one more loss."""
        n = self.n + 2
        return (self.squares + 1) / n - ((self.sums + 1) / n) ** 2

    @property
    def best(self) -> int:
        return int(self.x.argmax())

    def records(self, policy: str) -> Any:
        arms = np.zeros(self.k, node_dtype(policy))
        for name, values in (
            ("visits", self.n),
            ("value", self.sums),
            ("square", self.squares),
            ("reward_estimate", self.gains),
            ("prior", self.priors),
        ):
            if name in (arms.dtype.names or ()):
                arms[name] = values
        return view_records(arms)


def random_statistics(rng: np.random.Generator, arms: int, draws: bool = True) -> Statistics:
    """Arms pulled 1 to 60 times, with scores 0, 1/2 (if there are draws) and 1."""
    n = rng.integers(1, 60, arms)
    scores = [rng.choice([0, 0.5, 1] if draws else [0, 1], pulls) for pulls in n]
    return Statistics(
        n.astype(float),
        np.array([s.sum() for s in scores]),
        np.array([(s**2).sum() for s in scores]),
        np.array([s.sum() * rng.uniform(1, arms) for s in scores]),
        rng.dirichlet(np.ones(arms)).astype(np.float32).astype(float),
    )


# Audibert, Munos and Szepesvari (2009), eq. (1): X + sqrt(2 V E / s) + 3 b c E / s, E = zeta log t.
def ucb_v(s: Statistics, c: Any) -> NDArray[np.float64]:
    e = c[0] * np.log(s.t)
    return s.x + np.sqrt(2 * s.variance.clip(0) * e / s.n) + 3 * c[1] * e / s.n


# Auer, Cesa-Bianchi and Fischer (2002), section 4.
def ucb_tuned(s: Statistics, c: Any) -> NDArray[np.float64]:
    v = s.variance + np.sqrt(2 * np.log(s.t) / s.n)
    return s.x + np.sqrt(np.log(s.t) / s.n * np.minimum(0.25, v))


# Rewards in [-1, 1], as the formula wants them, and the result mapped back to [0, 1].
def uct(s: Statistics, c: Any) -> NDArray[np.float64]:
    q = 2 * s.x - 1
    return (q + c[0] * np.sqrt(2 * np.log(s.t) / s.n) + 1) / 2


def etc(s: Statistics, c: Any) -> NDArray[np.float64]:
    # Those pulled fewer than m times come first, the least pulled before the others.
    return np.where(s.n >= c[0], s.x, 2 + c[0] - s.n)


# Chaslot et al. (2006): urgency U = erfc((best - x) / (sqrt(2) sigma)); fairness t U / (T sum U).
def urgency(s: Statistics) -> NDArray[np.float64]:
    return special.erfc((s.x.max() - s.x) / (np.sqrt(2) * np.sqrt(s.smoothed)))


# Garivier and Cappe (2011), algorithm 1, on a grid: max{q: n d(x, q) <= ln t + c ln ln t}.
def kl_ucb(s: Statistics, c: Any) -> NDArray[np.float64]:
    bound = (np.log(s.t) + c[0] * np.log(max(np.log(s.t), 1.0))) / s.n
    indices = []
    for x, most in zip(s.x, bound, strict=True):
        q = np.linspace(x, 1, 200_001)
        d = special.rel_entr(x, q) + special.rel_entr(1 - x, 1 - q)
        indices.append(q[d <= most].max())
    return np.array(indices)


INDEX: dict[str, Callable[[Statistics, Any], NDArray[np.float64]]] = {
    "ucb1": lambda s, c: s.x + np.sqrt(c[0] * np.log(s.t) / s.n),
    "ucb_tuned": ucb_tuned,
    "ucb_v": ucb_v,
    "ucb_minimal": lambda s, c: s.x + c[0] / s.n,
    "moss": lambda s, c: s.x + np.sqrt(np.maximum(np.log(s.t / (s.k * s.n)), 0) / s.n),
    "etc": etc,
    "ucb_alpha1": lambda s, c: s.x + np.sqrt(np.log(s.t) / s.k / s.n),
    "ucb_alpha2": lambda s, c: s.x + np.sqrt(np.e / (2 * s.k) * np.log(s.t) / s.n),
    "uct": uct,
    "omc": lambda s, c: s.t * urgency(s) / (s.n * urgency(s).sum()),
    "puct": lambda s, c: s.x + c[0] * s.priors * np.sqrt(s.t) / (1 + s.n),
    "kl_ucb": kl_ucb,
}


def normalized(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights / weights.sum()


# Auer, Cesa-Bianchi and Fischer (2002), fig. 3; the arms that are best together share equally.
def epsilon_greedy(s: Statistics, c: Any) -> NDArray[np.float64]:
    epsilon = min(1.0, c[0] * s.k / (c[1] ** 2 * s.t))
    best = s.x == s.x.max()
    return epsilon / s.k + (1 - epsilon) * best / best.sum()


# Auer, Cesa-Bianchi, Freund and Schapire (2002), fig. 1, with w_i = exp(gamma gain_i / K).
def exp3(s: Statistics, c: Any) -> NDArray[np.float64]:
    weights = special.softmax(c[0] * s.gains / s.k)
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


def test_every_policy_has_a_reference() -> None:
    assert list(INDEX) == INDICES
    assert sorted(PROBABILITY) == sorted(DRAWN)


def stream(seed: int) -> NDArray[np.uint64]:
    return np.array([seed], np.uint64)


def scores(name: str, s: Statistics, c: list[float]) -> NDArray[np.float64]:
    """Call the policy's kernel for each arm, as the search does."""
    arms, rng = s.records(name), stream(1)
    best = NO_BEST
    for arm, x in zip(arms, s.x, strict=True):
        best = update_best(best, arm, x)
    parent = Parent(int(s.t), math.log(s.t), s.k, best, np.array(c), rng)
    return np.array(
        [POLICIES[name].score(arm, x, parent) for arm, x in zip(arms, s.x, strict=True)]
    )


def some_parameters(name: str, rng: np.random.Generator) -> list[list[float]]:
    """Return the table's parameters of a policy, and random ones."""
    default = [float(value) for value in POLICIES[name].params.values()]
    others = [[value * rng.uniform(0.2, 3) for value in default] for _ in range(3)]
    return [default, *(others if default else [])]


@pytest.mark.parametrize("name", INDICES)
def test_index_matches_the_source(name: str) -> None:
    rng = np.random.default_rng(7)
    for c in some_parameters(name, rng):
        for arms in (2, 3, 10, 57):
            s = random_statistics(rng, arms)
            ours, reference = scores(name, s, c), INDEX[name](s, c)
            if name == "omc":  # up to a factor that all arms share
                ours, reference = normalized(ours), normalized(reference)
            precision = 1e-5 if name == "kl_ucb" else 1e-9
            np.testing.assert_allclose(ours, reference, rtol=precision, atol=precision)


@pytest.mark.parametrize("name", DRAWN)
def test_weights_match_the_source(name: str) -> None:
    rng = np.random.default_rng(8)
    for c in some_parameters(name, rng):
        c = [0.9 * value / max(c) for value in c] if name == "exp3" else c  # gamma < 1
        for arms in (2, 3, 10, 57):
            s = random_statistics(rng, arms)
            weights = scores(name, s, c)
            if name == "exp3":  # the kernel returns exponents; the search mixes
                weights = (1 - c[0]) * special.softmax(weights) + c[0] / arms
            np.testing.assert_allclose(
                normalized(weights), PROBABILITY[name](s, c), rtol=1e-9, atol=1e-12
            )


# One child of 4 with mean 0.6 after 10 of 100 visits, 6 wins and 4 losses; ln 100 = 4.605170.
BY_HAND = {
    "ucb1": 1.559705,  # 0.6 + sqrt(2 * 4.605170 / 10)
    "ucb_tuned": 0.939307,  # V = 0.24 + 0.959705 > 1/4: 0.6 + sqrt(0.4605170 / 4)
    "ucb_v": 2.451709,  # 0.6 + sqrt(2 * 0.24 * 4.605170 / 10) + 3 * 4.605170 / 10
    "ucb_minimal": 0.7,  # 0.6 + 1 / 10
    "moss": 0.902703,  # 0.6 + sqrt(ln(100 / 40) / 10)
    "etc": 0.6,
    "ucb_alpha1": 0.939307,  # 0.6 + sqrt(4.605170 / 40)
    "ucb_alpha2": 0.995572,  # 0.6 + sqrt(2.718282 * 4.605170 / 80)
    "uct": 1.278614,  # of rewards: q = 0.2 + sqrt(4 * 4.605170 / 10) = 1.557228; (q + 1) / 2
    "puct": 0.940909,  # 0.6 + 1.5 * 0.25 * 10 / 11
    "epsilon_greedy": 0.953125,  # epsilon = 4 / (0.64 * 100) = 1/16: 1/64 + 15/16
    "uniform": 1.0,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_index_matches_hand_computation(name: str) -> None:
    child = view_records(np.zeros(1, node_dtype(name)))[0]
    child.visits, child.value, child.square, child.prior = 10, 6, 6, 0.25
    c = list(POLICIES[name].params.values())
    parent = Parent(100, math.log(100), 4, (0.6, 0.1, 1), c, stream(1))
    score = POLICIES[name].score(child, 0.6, parent)
    assert score == pytest.approx(BY_HAND[name], abs=1e-6)


def test_further_indices_match_hand_computation() -> None:
    child = view_records(np.zeros(1, node_dtype("ucb1")))[0]

    def score(name: str, visits: int, wins: float, t: int, k: int, best: float = 1.0) -> float:
        child.visits, child.value, child.square = visits, wins, wins
        c = list(POLICIES[name].params.values())
        mean, log_t = wins / visits, math.log(t)
        parent = Parent(t, log_t, k, (best, 0.01, 2), c, stream(1))
        return POLICIES[name].score(child, mean, parent)

    # The variance counts: V = 0.0196 + 0.0606971 = 0.0802971 < 1/4.
    assert score("ucb_tuned", 5000, 100, 10_000, 2) == pytest.approx(0.0321619, abs=1e-6)
    # No bonus for the arms with more than their share of the pulls.
    assert score("moss", 50, 30, 100, 4) == 0.6
    # Explore: 1 pull of 2 scores above every mean, and none below 2.
    assert score("etc", 1, 1, 9, 4) == 3
    # epsilon / K, for those that are not the best.
    assert score("epsilon_greedy", 10, 6, 100, 4, best=0.7) == pytest.approx(1 / 64)
    # Two that are best share the rest, 15/16.
    assert score("epsilon_greedy", 10, 7, 100, 4, best=0.7) == pytest.approx(1 / 64 + 15 / 32)


# Which child the search itself visits.


def block_of(s: Statistics, name: str) -> tuple[Callable[[], tuple[int, float]], Any]:
    """Return a function that lets the search choose among children, and the random stream."""
    game, config = make_game("tictactoe"), SearchConfig(policy=name)
    choose, _, _ = make_selection(game, config)
    nodes = np.zeros(s.k + 1, node_dtype(name))
    nodes[1:] = s.records(name)
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"], nodes[ROOT]["visits"] = 1, s.k, s.t
    nodes[1]["num_visited"], nodes[1]["block_visits"] = s.k, s.t
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, : len(POLICIES[name].params)] = list(POLICIES[name].params.values())
    params["fpu"] = math.inf
    work = np.zeros(1, work_dtype(game))
    work["rng"] = 5
    memory = (
        view_records(nodes),
        ROOT,
        view_records(work)[0],
        view_records(params)[0],
    )
    return lambda: (choose(*memory) - 1, float(work["probability"][0])), work["rng"][0]


@pytest.mark.parametrize("name", DRAWN)
def test_search_samples_with_the_policy_probabilities(name: str) -> None:
    s = random_statistics(np.random.default_rng(3), 5)
    c = list(POLICIES[name].params.values())
    expected = PROBABILITY[name](s, c)
    choose, _ = block_of(s, name)
    draws = 4000
    counts = np.zeros(s.k)
    with np.errstate(over="ignore"):
        for _ in range(draws):
            arm, drawn = choose()
            counts[arm] += 1
            assert drawn == pytest.approx(expected[arm])
    likely = expected * draws >= 5  # the chi-square test needs some of each; the others together
    observed = [*counts[likely], counts[~likely].sum()]
    wanted = [*expected[likely] * draws, expected[~likely].sum() * draws]
    if not (~likely).any():
        observed, wanted = observed[:-1], wanted[:-1]
    assert stats.chisquare(observed, wanted).pvalue > 0.001


@pytest.mark.parametrize("name", INDICES)
def test_the_search_visits_the_child_of_highest_index(name: str) -> None:
    rng = np.random.default_rng(4)
    with np.errstate(over="ignore"):
        for _ in range(20):
            s = random_statistics(rng, 6)
            index = INDEX[name](s, list(POLICIES[name].params.values()))
            choose, _ = block_of(s, name)
            precision = 1e-5 if name == "kl_ucb" else 1e-12
            assert index[choose()[0]] == pytest.approx(index.max(), abs=precision)


# Random variables.


@pytest.mark.parametrize(("visits", "wins"), [(1, 0.0), (1, 1.0), (9, 3.5), (400, 300.0)])
def test_thompson_draws_from_the_posterior(visits: int, wins: float) -> None:
    child = view_records(np.zeros(1, node_dtype("ucb1")))[0]
    child.visits, child.value = visits, wins
    rng, score = stream(11), POLICIES["thompson"].score
    with np.errstate(over="ignore"):
        parent = Parent(10, 2.3, 4, NO_BEST, [], rng)
        draws = [score(child, 0.5, parent) for _ in range(3000)]
    posterior = stats.beta(1 + wins, 1 + visits - wins)
    assert stats.kstest(draws, posterior.cdf).pvalue > 0.001


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 60.0])
def test_gamma_sampler_matches_the_distribution(shape: float) -> None:
    rng, count = stream(12), 4000
    with np.errstate(over="ignore"):
        draws = np.array([sample_gamma(shape, rng) for _ in range(count)])
    assert draws.mean() == pytest.approx(shape, abs=4 * math.sqrt(shape / count))
    assert draws.var() == pytest.approx(shape, rel=4 * math.sqrt((2 + 6 / shape) / count))
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 0.001


def test_unit_sampler_is_uniform_and_positive() -> None:
    rng = stream(13)
    with np.errstate(over="ignore"):
        draws = [sample_uniform(rng) for _ in range(4000)]
    assert stats.kstest(draws, "uniform").pvalue > 0.001
    # The state from which 64 zero bits come, and one from which only ones come.
    assert unit_of_bits(0) == 2.0**-53
    assert unit_of_bits(2**64 - 1) == 1.0


def unit_of_bits(bits: int) -> float:
    """Return `unit` for the stream whose next output is `bits`: SplitMix64 backwards."""
    mask = 2**64 - 1
    z = bits
    for shift, mix in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, None)):
        back = z
        for _ in range(64 // shift):
            back = z ^ (back >> shift)
        z = back * pow(mix, -1, 2**64) & mask if mix else back
    with np.errstate(over="ignore"):
        return sample_uniform(stream((z - 0x9E3779B97F4A7C15) & mask))


# As bandits.


# Each policy is compiled: those that other tests use, too, play here, the others in the slow tests.
COMPILED = ("ucb1", "exp3")
LOW_REGRET = ("kl_ucb", "ucb1", "ucb_tuned", "moss", "ucb_alpha1", "ucb_alpha2", "thompson", "pbbm")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in COMPILED else pytest.mark.slow) for name in POLICIES],
)
def test_every_policy_beats_uniform(name: str) -> None:
    problems = np.tile([0.5, 0.9, 0.4, 0.5, 0.2], (40, 1))
    regret = play_bandits(name, problems, 3000, seed=2).mean()
    # Uniform choices lose 0.9 less the mean of all, 0.5, each round.
    uniform = 0.4 * 3000
    if name == "uniform":
        assert regret == pytest.approx(uniform, rel=0.02)
    else:
        assert regret < 0.8 * uniform
    if name in LOW_REGRET:
        assert regret < 0.1 * uniform


@pytest.mark.parametrize("arms", [2, 10, 50])
@pytest.mark.slow
def test_the_thesis_policies_beat_ucb1(arms: int) -> None:
    problems = random_problems(200, arms, seed=1)
    ucb1 = play_bandits("ucb1", problems, 20_000)
    for name in ("ucb_alpha1", "ucb_alpha2"):
        reward_estimate = ucb1 - play_bandits(name, problems, 20_000)
        assert reward_estimate.mean() > 3 * reward_estimate.std() / math.sqrt(len(reward_estimate))
        assert reward_estimate.mean() > 0.3 * ucb1.mean()


def test_regret_of_exp3_keeps_its_bound() -> None:
    """Auer et al. (2002), theorem 3.1: (e - 1) gamma G + K ln K / gamma."""
    arms, rounds, g = 5, 3000, POLICIES["exp3"].params["gamma"]
    problems = random_problems(50, arms, seed=4)
    bound = (math.e - 1) * g * rounds * problems.max(axis=1) + arms * math.log(arms) / g
    assert np.all(play_bandits("exp3", problems, rounds, runs=20)[:, 0] < bound)


# The mean of a child mixed with its AMAF mean, by hand: 10 visits with mean 0.4, 30 of AMAF with
# mean 0.8, and bias 0.3: the weight of AMAF is 30 / (30 + 10 + 4 * 0.3^2 * 30 * 10) = 30 / 148.
# An ancestor's child for the same action, for GRAVE: 60 with mean 0.6: 60 / (70 + 216) = 60 / 286.
MIXED = {
    "": (0.3, 10, 4.0, 30, 24.0, 0.4),
    "amaf": (0.3, 10, 4.0, 30, 24.0, 0.52),  # 0.7 * 0.4 + 0.3 * 0.8
    "rave": (0.3, 10, 4.0, 30, 24.0, 0.481081),  # 0.4 + 0.4 * 30 / 148
    "rave without bias": (0.0, 10, 4.0, 30, 24.0, 0.7),  # 0.4 + 0.4 * 30 / 40
    "rave of many visits": (1.0, 1000, 400.0, 30, 24.0, 0.400099),  # 0.4 + 0.4 * 30 / 121030
    "rave without amaf": (0.3, 10, 4.0, 0, 0.0, 0.4),
    "grave": (0.3, 10, 4.0, 30, 24.0, 0.441958),  # 0.4 + 0.2 * 60 / 286
    "grave without ancestor": (0.3, 10, 4.0, 30, 24.0, 0.481081),  # as RAVE
    "grave of an action unknown there": (0.3, 10, 4.0, 30, 24.0, 0.481081),
}


@pytest.mark.parametrize("case", MIXED)
def test_rave_weight_matches_hand_computation(case: str) -> None:
    """Another child without AMAF has a mean just above or below it; the better one is chosen."""
    bias, visits, value, amaf_visits, amaf_value, expected = MIXED[case]
    game = make_game("tictactoe")
    config = SearchConfig(policy="etc", amaf=case.partition(" ")[0])
    choose, clear_reference, set_reference = make_selection(game, config)
    nodes = np.zeros(8, node_dtype("etc"))
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"] = 1, 2
    nodes[1]["num_visited"], nodes[1]["block_visits"] = 2, 2 * visits
    nodes["action"][1:3] = 4, 7
    nodes["visits"][1:3], nodes["value"][1] = visits, value
    nodes["amaf_visits"][1], nodes["amaf_value"][1] = amaf_visits, amaf_value
    nodes[5]["first_child"], nodes[5]["num_children"] = (
        6,
        2,
    )  # the ancestor of GRAVE and its children
    nodes["action"][6:8] = (2, 4) if "unknown" not in case else (2, 3)
    nodes["amaf_visits"][6:8], nodes["amaf_value"][6:8] = (9, 60), (9.0, 36.0)
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, 0], params["fpu"], params["amaf_weight"] = 1, math.inf, bias
    work = view_records(np.zeros(1, work_dtype(game)))[0]
    tree = view_records(nodes)
    clear_reference(work)
    if case in ("grave", "grave of an action unknown there"):
        set_reference(tree, 5, work)
    for more, chosen in ((-2e-6, 1), (2e-6, 2)):
        tree.value[2] = visits * (expected + more)
        memory = (tree, ROOT, work, view_records(params)[0])
        assert choose(*memory) == chosen


@pytest.mark.parametrize("more", [-1e-6, 1e-6])
def test_unvisited_action_is_selected_below_first_play_urgency(more) -> None:
    """The best of two visited children has the index 0.6 + 1 / 10."""
    game = make_game("tictactoe")
    choose, _, _ = make_selection(game, SearchConfig(policy="ucb_minimal"))
    nodes = np.zeros(4, node_dtype("ucb_minimal"))
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"] = 1, 3
    nodes[1]["num_visited"], nodes[1]["block_visits"] = 2, 14
    nodes["visits"][1:3], nodes["value"][1:3] = (10, 4), (6.0, 1.0)
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, 0], params["fpu"] = 1, 0.7 + more
    work = np.zeros(1, work_dtype(game))
    work["rng"] = 5
    memory = (view_records(nodes), ROOT, view_records(work)[0])
    with np.errstate(over="ignore"):
        assert choose(*memory, view_records(params)[0]) == (3 if more > 0 else 1)
