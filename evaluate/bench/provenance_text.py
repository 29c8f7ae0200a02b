"""Paragraph of a page of results: the command, date, machine and versions of the measurement."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any


def measured_on(content: Mapping[str, Any]) -> str:
    """Return the paragraph, in lines of up to 120 columns.

    Args:
        content: results of a run with its provenance, see `run_provenance`.
    """
    about = content["about"]
    load = ", ".join(f"{value:.1f}" for value in about.get("load_average_at_start") or ())
    versions = ", ".join(
        f"{name} {version}"
        for name, version in content["versions"].items()
        if name in ("python", "numpy", "torch", "keras", "onnx", "onnxruntime", "cmaes", "optuna")
    )
    return fill(
        f"Measured by `{about['command']}` on {about['date'][:10]}, {about['cpu']}, beside other "
        f"programs (load average at the start: {load or 'unknown'}); {versions}.",
        120,
        break_long_words=False,
        break_on_hyphens=False,
    )
