"""Reports of studies: Jinja2 templates in Markdown, rendered with the records of the tasks.

A record holds the results and settings of a finished task, see `ludoteca.evaluate.studies.study`.
"""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ludoteca.evaluate.markdown import (
    bold,
    number,
    p_text,
    p_value,
    percent,
    points_share,
    wilson_share,
    with_interval,
)
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.studies.study import RESULTS_FILE, Records, RecordsByPart, Study
from ludoteca.files import read_json, write_atomically
from ludoteca.provenance import run_provenance


def render(template: str, names: Mapping[str, Any]) -> str:
    """Return a rendered template.

    Templates have the functions of `ludoteca.evaluate.markdown` and those of `FILTERS` as filters.

    Args:
        template: path of the template in this folder, such as `"hex/report.md.j2"`.
        names: values and functions that the template uses, by name.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= FILTERS
    return environment.get_template(template).render(names)


def write_report(study: Study, records_by_part: RecordsByPart, out: Path, folder: Path) -> None:
    """Write `report.md`, `results.json` and the figures; sections without records are omitted.

    In the template, `records` has all records by name of the task. Patterns are wildcards for such
    names: `has(PATTERN, ...)` returns whether all tasks that match have records, and
    `select(PATTERN, ...)` returns their records by name, in the order of the study.

    Args:
        study: the study.
        records_by_part: records of finished tasks, by part and name.
        out: folder of the report.
        folder: folder of all tasks.
    """
    records = {name: record for part in records_by_part.values() for name, record in part.items()}
    run = provenance(out, records_by_part)

    def matching(*patterns: str) -> list[str]:
        """Return the names of the tasks that match any pattern, in the order of the study."""
        return [
            name for name in study.tasks if any(fnmatchcase(name, pattern) for pattern in patterns)
        ]

    names: dict[str, Any] = {"minutes": minutes, "precisions": precisions}
    names |= {
        **study.template_names,
        "fast": study.fast,
        "unavailable": study.unavailable,
        "records": records,
        "has": lambda *patterns: all(
            records.keys() >= set(matching(pattern) or [pattern]) for pattern in patterns
        ),
        "select": lambda *patterns: {k: records[k] for k in matching(*patterns) if k in records},
        "records_by_part": records_by_part,
        "tasks": study.tasks,
        "labels": {name: task.label for name, task in study.tasks.items() if task.label},
        "counts": {
            part: f"{len(records_by_part[part])} of {sum(t.has_record for t in tasks.values())}"
            for part, tasks in study.parts.items()
        },
        "provenance": provenance_lines(records_by_part, run["versions"]),
    }
    text = render(f"{study.name}/report.md.j2", names)
    for name, png in (study.draw(records, folder) if study.draw else {}).items():
        write_atomically(out / name, png)
    write_atomically(out / RESULTS_FILE, json.dumps({**run, **records_by_part}, indent=1) + "\n")
    write_atomically(out / "report.md", text)


def provenance(out: Path, records: RecordsByPart) -> dict[str, Any]:
    """Return the provenance of a report, `"about"` (command, date, machine) and `"versions"`.

    A report that is rewritten from the same records keeps its provenance.

    Args:
        out: folder of the report.
        records: records of the tasks, by part and name.
    """
    path = out / RESULTS_FILE
    if path.exists():
        content = read_json(path)
        # The comparison needs the types of JSON: lists instead of tuples, text as keys.
        if {part: content.get(part) for part in records} == json.loads(json.dumps(records)):
            return {key: content[key] for key in ("about", "versions")}
    return run_provenance()


def provenance_lines(records: RecordsByPart, versions: Mapping[str, str]) -> str:
    """Return the dates, versions and machines of the tasks of a study, as items of a list.

    If some results of a task were replaced later, its `about["played_again"]` has the name `"what"`
    of these results, and the `"command"`, `"date"`, `"commit"` and `"cpu"` of the later run.

    Args:
        records: records of the tasks, by part and name.
        versions: versions of the packages, for tasks whose records have no versions.
    """
    all_records = [record for part in records.values() for record in part.values()]
    if not all_records:
        return ""
    runs = [record["about"] for record in all_records]
    dates = sorted(run["date"][:16] for run in runs)
    machines = {f"{run['cpu']}, {run['cores']} cores" for run in runs}
    used = [dict(versions), *(record["versions"] for record in all_records if "versions" in record)]
    texts = (", ".join(f"{name} {number}" for name, number in each.items()) for each in used)
    distinct_texts = "; ".join(dict.fromkeys(texts))
    lines = [
        f"- Finished from {dates[0]} to {dates[-1]} (UTC); versions: {distinct_texts}",
        f"- Machine: {'; '.join(sorted(machines))}",
    ]
    again = [run["played_again"] for run in runs if "played_again" in run]
    if again:
        days = sorted(run["date"][:16] for run in again)
        names, cpus = (sorted({run[key] for run in again}) for key in ("what", "cpu"))
        lines.append(
            f"- Played again from {days[0]} to {days[-1]} ({'; '.join(cpus)}): {', '.join(names)}; "
            "the commands are in the records"
        )
    return "\n".join(lines)


def strength(total: Mapping[str, int]) -> str:
    """Return whether an agent is stronger than its opponent, by the 95 % interval of its points.

    Args:
        total: numbers of `"wins"`, `"draws"` and `"games"` of the agent.
    """
    low, high = score_interval(total["wins"], total["draws"], total["games"])
    return "stronger" if low > 0.5 else "weaker" if high < 0.5 else "no significant difference"


def precisions(records: Records) -> str:
    """Return the numeric precisions of the networks in some records of training runs, as text."""
    trained = [record["training"] for record in records.values() if "training" in record]
    return ", ".join(sorted({training["precision"] for training in trained}))


def minutes(records: Records) -> tuple[float, float]:
    """Return the total minutes of the training runs and of the other tasks among some records."""
    training = sum(run["training"]["seconds"] for run in records.values() if "training" in run)
    return training / 60, sum(run["seconds"] for run in records.values() if "seconds" in run) / 60


FILTERS = {
    "bold": bold, "number": number, "percent": percent, "p_text": p_text, "p_value": p_value,
    "wrap": partial(fill, width=100, break_on_hyphens=False),
    "points_share": points_share, "strength": strength, "wilson_share": wilson_share,
    "interval": with_interval, "thousands": "{:,}".format,
    "milliseconds": lambda seconds, digits=1: f"{1000 * seconds:.{digits}f}",
    "fixed": lambda x, digits=1: "-" if x is None else f"{x:.{digits}f}",
}  # fmt: skip
