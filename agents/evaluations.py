"""Evaluations: what a position is worth in which a playout was cut short.

An evaluation is a kernel `evaluate(s, out)` that writes one score in [-1, 1] per player, as
`Game.returns` does for games that are over; it is asked about those that are not.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import count
from ludoteca.envs.jit import kernel
from ludoteca.envs.names import did_you_mean

Evaluation = Callable[[Any, Any], None]


def find_evaluation(name: str, game: Game) -> Evaluation:
    """Return an evaluation of `game`: `"returns"`, or one of its own (`EVALUATIONS`).

    `""` stands for the first of its own if it has one, otherwise for `"returns"`.

    Raises:
        ValueError: if there is no such evaluation.
    """
    own = EVALUATIONS.get(game.name, {})
    known = own | {"returns": game.returns}
    name = name or next(iter(known))
    if name not in known:
        near = did_you_mean(name, known)
        raise ValueError(f"{game.name} has no evaluation {name!r}{near}; it has {', '.join(known)}")
    return known[name]


@kernel
def standing(s: Any, out: Any) -> None:
    """Score every goose as if the game ended now.

    The mean over opponents of sign(own score - theirs): the longer of two who live is ahead, and
    who died lost to all who outlived him, as he has for good.
    """
    players = s.length.shape[0]
    for p in range(players):
        better = 0
        for q in range(players):
            better += int(s.score[p] > s.score[q]) - int(s.score[p] < s.score[q])
        out[p] = better / max(1, players - 1)


@kernel
def discs(s: Any, out: Any) -> None:
    """Score Othello by the share of the discs: +1 if all are one's own, 0 if as many as theirs."""
    black, white = count(s.discs[0]), count(s.discs[1])
    out[0] = (black - white) / (black + white)
    out[1] = -out[0]


EVALUATIONS: dict[str, dict[str, Evaluation]] = {
    "hungry_geese": {"standing": standing},
    "othello": {"discs": discs},
}
