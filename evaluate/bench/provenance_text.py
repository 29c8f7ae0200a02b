"""Paragraph of a page of results: the command, date, machine and versions of the measurement.

The load average shows whether other programs ran at the same time.
"""

from collections.abc import Mapping
from textwrap import fill
from typing import Any


def measured_on(content: Mapping[str, Any]) -> str:
    """Return the paragraph, in lines of up to 120 columns.

    Args:
        content: results of a run with its provenance, see `run_provenance`.
    """
    about = content["about"]
    averages = about.get("load_average_at_start")  # of 1, 5 and 15 minutes
    load = f"load average before: {averages[0]:.1f}" if averages else "load average unknown"
    versions = ", ".join(
        f"{name} {version}"
        for name, version in content["versions"].items()
        if name in ("python", "numpy", "torch", "keras", "onnx", "onnxruntime", "cmaes", "optuna")
    )
    return fill(
        f"Measured by `{about['command']}` on {about['date'][:10]}, {about['cpu']}, "
        f"{about['cores']} cores ({load}); {versions}.",
        120,
        break_long_words=False,
        break_on_hyphens=False,
    )
