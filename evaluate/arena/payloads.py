"""Analyses of positions as JSON values."""

from typing import Any

import numpy as np

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.evaluate.play.analysis import MoveAnalysis


def analysis_payload(game: Game, analysis: MoveAnalysis) -> dict[str, Any]:
    """Return a `MoveAnalysis` as JSON values; unknown numbers are None.

    The fields are those of `MoveAnalysis`, except for `name`, the name of the action, and the list
    `moves`: in an entry, `share` is the visit share of a move, and `policy` its prior by a network.
    `value_kind` is the scale of the moves' values: `"mean score"`, from 0 to 1, of the simulations
    of a search or of a solved position; or `"Q"`, from -1 to 1.
    """
    # A solved position has an exact score, but no visit shares; its values are scores, too.
    has_scores = analysis.shares is not None or analysis.exact is not None
    return {
        "agent": analysis.agent,
        "ply": analysis.ply,
        "seat": analysis.seat,
        "action": analysis.action,
        "name": action_label(game, analysis.action),
        "score": _rounded(analysis.score),
        "proven": analysis.proven,
        "exact": analysis.exact,
        "simulations": analysis.simulations,
        "seconds": round(analysis.seconds, 4),
        "variation": list(analysis.variation),
        "value_kind": "mean score" if has_scores else "Q",
        "moves": _moves(game, analysis),
    }


def action_label(game: Game, action: int) -> str:
    """Return the name of an action, or `"forfeit"`."""
    return "forfeit" if action == FORFEIT else str(game.action_names[action])


def _moves(game: Game, analysis: MoveAnalysis) -> list[dict[str, Any]]:
    """Return an entry for each move with visits, a value or a prior; see `analysis_payload`.

    The moves are in descending order of `MoveAnalysis.action_weights`; those that have only a prior
    come last.
    """
    order = analysis.best(game.num_actions)
    if analysis.priors is not None:
        # Priors that the page would show as 0.0 % are left out.
        known = np.flatnonzero(np.isfinite(analysis.priors) & (analysis.priors > 0.0005))
        others = [int(action) for action in known if int(action) not in order]
        order += sorted(others, key=lambda action: -float(analysis.priors[action]))  # type: ignore[index]
    return [
        {
            "action": action,
            "name": game.action_names[action],
            "visits": None if analysis.visits is None else int(analysis.visits[action]),
            "share": _entry(analysis.shares, action),
            "value": _entry(analysis.values, action),
            "policy": _entry(analysis.priors, action),
        }
        for action in order
    ]


def _entry(array: Any, action: int) -> float | None:
    return None if array is None else _rounded(float(array[action]))


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(value, 4)
