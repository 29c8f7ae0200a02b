"""Conclusions of a paper, collected from a template, with verdicts on them by our results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ludoteca.evaluate.statistics import verdicts
from ludoteca.evaluate.studies.report import render


@dataclass(frozen=True)
class Conclusion:
    """Conclusion of a paper, and our verdict on it."""

    simulations: str  # simulations per move in the games of the claim; "" if it is not about them
    claim: str  # statement of the paper
    verdict: str  # verdict by our results
    evidence: str  # the numbers that decide the verdict


def conclusions_of(template: str, names: Mapping[str, Any]) -> list[Conclusion]:
    """Return the conclusions in a template, which is rendered only to collect them.

    Each block `{% call conclude(claim, verdict) %}` of the template is a conclusion, and the text
    in the block is its evidence. The template may use the names of `statistics.verdicts`.

    Args:
        template: path of the template, as for `render`.
        names: further values and functions that the template uses, by name.
    """
    found: list[Conclusion] = []

    def conclude(
        claim: str, verdict: str, simulations: object = "", *, caller: Callable[[], str]
    ) -> str:
        """Add a conclusion; `caller` (Jinja2's name) renders the body of the block."""
        found.append(Conclusion(str(simulations), claim, verdict, " ".join(caller().split())))
        return ""

    render(template, {**vars(verdicts), **names, "conclude": conclude})
    return found
