"""What is kept of the pieces of the study on Hungry Geese: enough to write the report."""

from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.geese_pieces import Games, Piece, Planned, Recorded, SelfPlay
from ludoteca.evaluate.studies.geese_runs import OPPONENT
from ludoteca.evaluate.studies.study import as_json, earlier_with_settings, measured
from ludoteca.files import read_json

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
    found = read_json(piece.product(folder))
    if isinstance(piece, SelfPlay):
        found = {key: found[key] for key in ("about", "training", "evaluation")}
        found["curve"] = curve(folder / piece.name)
    elif "training" in found:
        found = {key: found[key] for key in KEPT}
    return {"settings": as_json(piece), **found}


def curve(folder: Path) -> list[dict[str, Any]]:
    """Return how self-play went: the wins in each evaluation, and what was kept until then.

    Args:
        folder: of the run.
    """
    name = f"{OPPONENT}__any"
    return [
        {
            "games": int(row["step"]),
            "win_rate": float(row[name]),
            # Only the thesis' loop puts its networks to a test.
            **{
                key: int(row[key])
                for key in ("candidates_tested", "candidates_accepted")
                if key in row
            },
        }
        for row in measured(folder, name)
    ]


def earlier(out: Path, planned: dict[str, Planned]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, see `earlier_with_settings`."""
    return earlier_with_settings(out, planned, is_recorded)


def is_recorded(piece: Piece) -> bool:
    """Tell whether anything is kept of a piece."""
    return not isinstance(piece, Games | Recorded)
