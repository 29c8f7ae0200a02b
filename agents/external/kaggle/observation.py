"""Conversion of positions of Hungry Geese to Kaggle's observations, and back."""

from typing import Any

import numpy as np

from ludoteca.agents.external.kaggle.position import follow
from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import NONE, geese

RUN_TIMEOUT = 1200  # seconds per game, kaggle-environments' default; not enforced


def configuration(game: Game, act_timeout: float = 1) -> dict[str, Any]:
    """Return the configuration of a game in kaggle-environments.

    Args:
        game: one of Hungry Geese.
        act_timeout: seconds per move.
    """
    return {
        "episodeSteps": game.params["episode_steps"],
        "actTimeout": act_timeout,
        "runTimeout": RUN_TIMEOUT,
        "columns": game.params["columns"],
        "rows": game.params["rows"],
        "hunger_rate": game.params["hunger_rate"],
        "min_food": game.params["min_food"],
        "max_length": game.params["max_length"],
    }


def observation(s: Any, seat: int, overage: float = 60) -> dict[str, Any]:
    """Return the observation of a goose in kaggle-environments.

    Geese are lists of cells, `row * columns + column`, head first, and empty when dead; food is in
    order of its appearance.

    Args:
        s: the position, a record as `Game.new` returns.
        seat: the observing goose.
        overage: seconds left in its time bank.
    """
    return {
        "remainingOverageTime": overage,
        "step": int(s.steps),
        "geese": geese(s),
        "food": s.food[: s.num_food].tolist(),
        "index": seat,
    }


def position(game: Game, seen: Any, before: Any = None) -> Any:
    """Return the position of an observation, as a record.

    Observations lack the random stream and the last action of geese that died in the last step.
    Without the previous position, the scores of dead geese are unknown as well, and the last action
    and previous cell of geese of length 1; these are 0 and `NONE`.

    Args:
        game: one of Hungry Geese.
        seen: the observation.
        before: the previous position, as a record.

    Raises:
        ValueError: if it is not an observation of this game.
    """
    s = game.empty(1).view(np.recarray)[0]
    if before is None:
        s.length[:], s.steps = 0, NONE
    else:
        for name in game.state.names or ():
            s[name] = before[name]
    wrong = _misfit(game, s, seen)
    if not wrong:
        follow(s, seen)
        wrong = game.validate(s)
    if wrong:
        raise ValueError(f"no observation of {game.spec}: {wrong}")
    return s


def _misfit(game: Game, s: Any, seen: Any) -> str:
    """Return the reason why an observation does not fit into a record, or ""."""
    cells, room = s.occupied.size, s.body.shape[1]
    if len(seen["geese"]) != game.num_players:
        return f"it shows {len(seen['geese'])} geese"
    if len(seen["food"]) > len(s.food):
        return f"it shows {len(seen['food'])} foods, and there are at most {len(s.food)}"
    for goose in seen["geese"]:
        if len(goose) > room:
            return f"a goose has length {len(goose)}, more than {room}"
    for cell in (*seen["food"], *(cell for goose in seen["geese"] for cell in goose)):
        if not 0 <= cell < cells:
            return f"cell {cell} is none of 0 to {cells - 1}"
    return ""
