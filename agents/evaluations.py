"""Evaluations of the positions at which playouts are truncated.

An evaluation is a kernel `evaluate(s, out)` that writes one score in [-1, 1] per player, like
`Game.returns`, but for unfinished games.
"""

from ludoteca.agents.games.knowledge import Evaluation
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean


def find_evaluation(name: str, game: Game) -> Evaluation:
    """Return an evaluation of a game by its name: `"returns"`, or one of its `Knowledge`.

    `""` is the first of its `Knowledge`, or else `"returns"`.

    Raises:
        ValueError: if there is no such evaluation.
    """
    known = dict(find_knowledge(game).evaluations) | {"returns": game.returns}
    name = name or next(iter(known))
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"{game.name} has no evaluation {name!r}{hint}; it has {', '.join(known)}")
    return known[name]
