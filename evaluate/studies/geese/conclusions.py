"""Conclusions of Martín Miralles' thesis on Hungry Geese, and verdicts on them by our results.

The data file `uib2021.toml` cites the thesis (2021). A record has the results of a task of the
study, such as a match.
"""

from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.studies.conclusions import Conclusion, conclusions_of
from ludoteca.evaluate.studies.geese.agents import agent_title
from ludoteca.evaluate.studies.geese.dead_ends import FLAT, among_four, count_verdicts, in_matches
from ludoteca.evaluate.studies.study import Records

# In place of a verdict on a way of training, which needs several training runs with their seeds.
ONE_RUN = "no verdict"


def conclusions(records: Records) -> list[Conclusion]:
    """Return the conclusions in `conclusions.md.j2` whose tasks have records, with verdicts.

    Args:
        records: records of the tasks of all parts.
    """
    names = {
        "records": records, "FLAT": FLAT, "ONE_RUN": ONE_RUN, "read_outcomes": read_outcomes,
        "among_four": among_four, "in_matches": in_matches, "count_verdicts": count_verdicts,
        "agent_title": agent_title,
    }  # fmt: skip
    return conclusions_of("geese/conclusions.md.j2", names)
