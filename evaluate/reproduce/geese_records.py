"""What is kept of the pieces of the study on Hungry Geese: enough to write the report."""

import json
from pathlib import Path
from typing import Any

from ludoteca.evaluate.reproduce.geese_runs import Games, Piece, Planned, Recorded
from ludoteca.evaluate.reproduce.study import as_json, earlier_with_settings

PARTS = ("document", "real", "beyond")
# What a network's training found, without the losses of each epoch.
KEPT = ("about", "data", "training")


def record(piece: Piece, folder: Path) -> dict[str, Any] | None:
    """Return what is kept of a finished piece; None of games, which are only learned from.

    Args:
        piece: the piece.
        folder: where all pieces are.
    """
    if not is_recorded(piece):
        return None
    found = json.loads(piece.product(folder).read_text())
    if "training" in found:
        found = {key: found[key] for key in KEPT}
    return {"settings": as_json(piece), **found}


def earlier(out: Path, planned: dict[str, Planned]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, see `earlier_with_settings`."""
    return earlier_with_settings(out, planned, is_recorded)


def is_recorded(piece: Piece) -> bool:
    """Tell whether anything is kept of a piece."""
    return not isinstance(piece, Games | Recorded)
