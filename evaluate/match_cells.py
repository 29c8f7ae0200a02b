"""Files of cells: results of matches, one cell for each combination of settings."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ludoteca.evaluate.match import MatchResult
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

Cell = dict[str, Any]


def match_cell(settings: Mapping[str, Any], result: MatchResult) -> Cell:
    """Return the cell of a match: its settings, the first agent's results, and the seconds."""
    record = result.totals[0]
    return {
        **settings,
        "wins": record.wins,
        "draws": record.draws,
        "games": record.games,
        "seconds": result.seconds,
    }


def write_cells(out: Path, settings: Mapping[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    """Write cells as JSON, with their common settings and the provenance; return the content."""
    content = {
        **settings,
        "cells": cells,
        "seconds": sum(cell["seconds"] for cell in cells),
        **run_provenance(),
    }
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content
