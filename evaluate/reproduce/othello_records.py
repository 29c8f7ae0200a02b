"""What is kept of the pieces of the study on Othello: enough to write the report without them."""

import json
from pathlib import Path
from typing import Any

from ludoteca.evaluate.reproduce import study
from ludoteca.evaluate.reproduce.othello_runs import Data, Piece, Planned

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
    found = json.loads(piece.product(folder).read_text())
    if "metrics" in found:
        found = {key: found[key] for key in ("about", "game", *KEPT)}
    return {"settings": as_json(piece.settings), **found}


def earlier(out: Path, planned: dict[str, Planned]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, by part and name.

    Args:
        out: folder of the report.
        planned: what belongs there now; records of anything else, or with other settings, are left
            out, and those of matches whose networks are.
    """
    records = study.earlier(
        out, planned, lambda found, piece: bool(found["settings"] == as_json(piece.settings))
    )
    kept = {name for part in records.values() for name in part}
    every = {name: piece for pieces in planned.values() for name, piece in pieces.items()}
    for name, piece in every.items():  # in their order: what a piece needs comes before it
        needed = [other for other in piece.after if not isinstance(every.get(other), Data | None)]
        if not kept.issuperset(needed):
            kept.discard(name)
    return {
        part: {name: found for name, found in content.items() if name in kept}
        for part, content in records.items()
    }


def as_json(settings: dict[str, Any]) -> Any:
    """Return settings as they are when they have been written and read."""
    return json.loads(json.dumps(settings))
