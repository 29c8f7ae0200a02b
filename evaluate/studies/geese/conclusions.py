"""Conclusions of the thesis on Hungry Geese, and whether they hold in our records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.geese.names import FINALS, FLAT, SIMULATIONS, called
from ludoteca.evaluate.studies.geese.outcomes import Difference, difference, read_outcomes
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, by_interval

Texts = dict[str, str]
Weights = Sequence[float]  # of the agents of a competition


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the thesis, checked.

    Attributes:
        claim: what the thesis says.
        verdict: whether it is so in the numbers at hand, see `verdicts`.
        evidence: the numbers that decide it.
    """

    claim: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A conclusion of the thesis, and how it is checked.

    Attributes:
        text: what the thesis says.
        competition: whose games decide.
        weights: of the agents; the claim holds if the weighted sum of their scores is positive.
            None: `more` returns the verdict.
        evidence: format string of the numbers; `{difference}` is the sum that decides.
        differences: weights of further sums, by name in `evidence`.
        more: function of all records that returns further texts of `evidence`, by name.
        survival: whether the sums are of survived games instead of scores.
        needs: names of further tasks whose records are read.
    """

    text: str
    competition: str
    weights: Weights | None
    evidence: str
    differences: Mapping[str, Weights] | None = None
    more: Callable[[Records], Texts] = lambda found: {}
    survival: bool = False
    needs: tuple[str, ...] = ()

    def check(self, found: Records) -> Conclusion:
        """Return the conclusion, given the records of the tasks it needs."""
        match, texts = found[self.competition], self.more(found)
        for name, weights in (self.differences or {}).items():
            texts[name] = signed(scores(match, weights))
        if self.weights is not None:
            decides = (survival if self.survival else scores)(match, self.weights)
            texts["verdict"] = by_interval(decides.low, decides.high)
            texts["difference"] = signed(decides, 100, 1) if self.survival else signed(decides)
        return Conclusion(self.text, texts["verdict"], self.evidence.format(**texts))


def conclusions(found: Records) -> Iterator[Conclusion]:
    """Check the thesis' conclusions whose tasks have records; `found` has those of all parts."""
    for claim in CLAIMS:
        if found.keys() >= {claim.competition, *claim.needs}:
            yield claim.check(found)


def scores(match: Mapping[str, Any], weights: Weights) -> Difference:
    """Return a weighted sum of the agents' scores in the same games, each in [-1, 1]."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.scores, outcomes.games, weights)


def survival(match: Mapping[str, Any], weights: Weights) -> Difference:
    """Return a weighted sum of how often agents lived to the end, as a share of the games."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.alive.astype(float), outcomes.games, weights)


def signed(found: Difference, scale: float = 1.0, digits: int = 3) -> str:
    """Return a difference with its interval."""
    mean, low, high = (scale * x for x in (found.mean, found.low, found.high))
    return f"{mean:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def forced_shares(found: Records, agent: str) -> list[float]:
    """Return the shares of deaths without a way out, of agents whose spec string begins so."""
    return [
        sum(one["lives"]["forced"].values()) / one["lives"]["deaths"]
        for match in found.values()
        if "outcomes" in match
        for one in match["agents"]
        if one["agent"].startswith(agent) and one["lives"]["deaths"]
    ]


def share_range(shares: Sequence[float]) -> str:
    """Return the range of some shares in %."""
    return f"{percent(min(shares))} to {percent(max(shares))}" if shares else "-"


def _dead_ends(found: Records) -> Texts:
    """Count deaths in dead ends: at least the forced ones, at most all but avoidable heads' own."""
    lives = [agent["lives"] for name in FLAT for agent in found[name]["agents"]]
    deaths = sum(one["deaths"] for one in lives)
    forced = sum(sum(one["forced"].values()) for one in lives)
    avoidable = sum(one["causes"]["head on"] - one["forced"]["head on"] for one in lives)
    low, high = wilson(forced, deaths)[0], wilson(deaths - avoidable, deaths)[1]
    shares = forced_shares({k: v for k, v in found.items() if k not in FLAT}, "flat:")
    others = ". That is among equals: against agents of other kinds it is {}, by the competition"
    return {
        "verdict": HOLDS if low > 0.5 else FAILS if high < 0.5 else OPEN,
        "deaths": f"{deaths:,}",
        "forced": percent(forced / deaths),
        "heads": percent(avoidable / deaths),
        "others": others.format(share_range(shares)) if shares else "",
    }


def _noise(found: Records) -> Texts:
    answers = [one for one in found["agreement"]["agents"] if "flat" in one["agent"]]
    trainings = [found[name]["training"] for name in FLAT_NETWORKS]
    return {
        "ceilings": ", ".join(percent(one["predictable"]) for one in answers),
        "reached": ", ".join(percent(one["best"]["accuracy"]) for one in trainings),
    }


def _deterministic(found: Records) -> Texts:
    """Describe wins against the thesis' goose, and scores against other readings of it."""
    goose, flat = (f"{agent['lives']['wins']:,}" for agent in found["final"]["agents"][:2])
    others = [found[name] for name in FINALS[1:] if name in found]
    described = "; ".join(
        f"{called(match['agents'][0]['agent'])}: {signed(scores(match, (-1, 1, 0, 0)))}"
        for match in others
    )
    return {
        "goose": goose,
        "flat": f"{flat} of {found['final']['agents'][1]['lives']['geese']:,}",
        "others": f"; with other readings of that agent, {described}" if others else "",
    }


FLAT_NETWORKS = tuple(f"net-{count}" for count in SIMULATIONS)
# Agents of "factors": 125 and 1000 simulations with depth 4, then both with depth 6.
DEPTH, COUNT = (-0.5, -0.5, 0.5, 0.5), (-0.5, 0.5, -0.5, 0.5)
CLAIMS = (
    Claim(
        "depth matters more than the number of simulations",
        "factors",
        tuple(depth - count for depth, count in zip(DEPTH, COUNT, strict=True)),
        "score for depth 6 instead of 4: {depth}, for 1000 simulations instead of 125: {count}, "
        "difference {difference}",
        {"depth": DEPTH, "count": COUNT},
    ),
    Claim(
        "with depth 4, 125 and 250 simulations die less often than 500 and 1000",
        "depth-4",
        (0.5, 0.5, -0.5, -0.5),
        "they survive in {difference} % points more of the games",
        survival=True,
    ),
    Claim(
        "flat Monte Carlo dies because it does not see dead ends",
        "factors",
        None,
        "in competitions of four such agents, of {deaths} deaths, no other move would have helped "
        "in {forced}, and {heads} are collisions of heads that another move would have avoided; it "
        "holds if the former are more than half, and not if the latter are{others}",
        more=_dead_ends,
        needs=tuple(FLAT),
    ),
    Claim(
        "flat Monte Carlo plays better than the deterministic agent",
        "final",
        (-1, 1, 0, 0),
        "in the final with the thesis' rules to the letter it scores {difference} more, and wins "
        "{flat} games, the deterministic agent {goose}{others}",
        more=_deterministic,
    ),
    Claim(
        "a network that flat Monte Carlo teaches plays badly",
        "teachers",
        (1, -1, 0, 0),
        "the teacher with 1000 simulations scores {difference} more than its network",
    ),
    Claim(
        "... because its labels are noisy",
        "teachers",
        (1, -1, -1, 1),
        "behind a teacher without chance a network falls {clear}, behind flat Monte Carlo {gap}, "
        "difference {difference}; of its moves {ceilings} could be predicted, and the networks "
        "predict {reached}",
        {"gap": (1, -1, 0, 0), "clear": (0, 0, 1, -1)},
        _noise,
        needs=("agreement", *FLAT_NETWORKS),
    ),
    Claim(
        "a network that weak players teach plays better than one that strong players teach",
        "real",
        (1, 0, 0, -1),
        "score of the first of the four minus that of the last: {difference}",
    ),
    Claim(
        "a network that imitates recorded games plays better than flat Monte Carlo",
        "final",
        (0, -1, 0, 1),
        "score in the final: {difference} more",
    ),
)
