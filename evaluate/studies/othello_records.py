"""What is kept of the pieces of the study on Othello: enough to write the report without them."""

from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.othello_runs import Data, Piece, Planned
from ludoteca.evaluate.studies.study import as_json, earlier_with_settings
from ludoteca.files import read_json

PARTS = ("document", "alphazero")
# What a network's training found, without its machine's details.
KEPT = ("data", "training", "validation", "metrics")


def record(piece: Piece, folder: Path) -> dict[str, Any] | None:
    """Return what is kept of a finished piece; None of games, which are only learned from.

    Args:
        piece: the piece.
        folder: where all pieces are.
    """
    if isinstance(piece, Data):
        return None
    found = read_json(piece.product(folder))
    if "metrics" in found:
        found = {key: found[key] for key in ("about", "game", *KEPT)}
    return {"settings": as_json(piece), **found}


def earlier(out: Path, planned: dict[str, Planned]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, see `earlier_with_settings`."""
    return earlier_with_settings(out, planned, lambda piece: not isinstance(piece, Data))
