"""Conclusions of Martín Miralles' thesis on Hungry Geese, and verdicts on them by our results.

The data file `uib2021.toml` cites the thesis (2021). A record has the results of a task of the
study, such as a match.
"""

from functools import partial

from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.studies.conclusions import Conclusion, conclusions_of
from ludoteca.evaluate.studies.geese.agents import agent_title
from ludoteca.evaluate.studies.geese.dead_ends import FLAT, among_four, count_verdicts, in_matches
from ludoteca.evaluate.studies.geese.seeds import mean_contrast
from ludoteca.evaluate.studies.seeds import of_first_seed
from ludoteca.evaluate.studies.study import Records


def conclusions(records: Records) -> list[Conclusion]:
    """Return the conclusions in `conclusions.md.j2` whose tasks have records, with verdicts.

    Args:
        records: records of the tasks of all parts.
    """
    names = {
        "records": of_first_seed(records), "FLAT": FLAT, "read_outcomes": read_outcomes,
        "among_four": among_four, "in_matches": in_matches, "count_verdicts": count_verdicts,
        "agent_title": agent_title, "mean_contrast": partial(mean_contrast, records),
    }  # fmt: skip
    return conclusions_of("geese/conclusions.md.j2", names)
