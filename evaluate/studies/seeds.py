"""Tasks of a study that repeat others with further seeds.

The task `seed-SEED-NAME` repeats the task `NAME`, whose seed is 0: a training run, or a competition
of the networks with that seed.
"""

import re
from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.studies.study import Records

REPEATED = re.compile(r"seed-(\d+)-(.+)")


def of_first_seed(records: Records) -> Records:
    """Return the records without those of further seeds."""
    return {name: record for name, record in records.items() if not REPEATED.fullmatch(name)}


def by_seed(records: Records, name: str) -> dict[int, Mapping[str, Any]]:
    """Return the finished tasks that repeat the task `name`, itself included, by seed."""
    found = {0: records[name]} if name in records else {}
    for task, record in records.items():
        if (match := REPEATED.fullmatch(task)) and match[2] == name:
            found[int(match[1])] = record
    return dict(sorted(found.items()))
