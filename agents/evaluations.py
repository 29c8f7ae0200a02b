"""Evaluation functions of unfinished positions: leaves of searches, ends of truncated playouts.

An evaluation function is a kernel `evaluate(s, out)` that writes one score in [-1, 1] per player to
`out`, like `Game.returns`, but for unfinished games. Those of a game are part of its `Knowledge`:
policies, evaluations and features beyond its rules, see `ludoteca.agents.games.knowledge`.
"""

from ludoteca.agents.games.knowledge import Evaluation
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean


def find_evaluation(name: str, game: Game, others: tuple[str, ...] = ()) -> Evaluation:
    """Return an evaluation function of a game.

    Args:
        name: name in the game's `Knowledge.evaluations`; or `"returns"`, which is 0 for unfinished
            games; or `""` for the first in `Knowledge.evaluations`, or else `"returns"`.
        game: the game.
        others: names of the caller's own evaluations, for the error message.

    Raises:
        ValueError: if there is no such evaluation function.
    """
    evaluations = dict(find_knowledge(game).evaluations) | {"returns": game.returns}
    name = name or next(iter(evaluations))
    if name not in evaluations:
        names = (*evaluations, *others)
        hint = did_you_mean(name, names)
        raise ValueError(
            f"{game.name} has no evaluation {name!r}{hint}; expected one of {', '.join(names)}"
        )
    return evaluations[name]
