"""Conversion of positions of Hungry Geese to Kaggle's observations, and back."""

from typing import Any

import numpy as np

from ludoteca.agents.external.kaggle.position import update_position
from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import NONE, geese

RUN_TIMEOUT = 1200  # seconds per game, kaggle-environments' default; not enforced


def configuration(game: Game, act_timeout: float = 1) -> dict[str, Any]:
    """Return the configuration of a game in kaggle-environments.

    Args:
        game: a Hungry Geese game.
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

    Geese are lists of cells, `row * columns + column`, head first, empty when dead; food is in
    order of appearance.

    Args:
        s: the position, a record as `Game.new` returns.
        seat: the observing goose.
        overage: remaining overage time in seconds.
    """
    return {
        "remainingOverageTime": overage,
        "step": int(s.steps),
        "geese": geese(s),
        "food": s.food[: s.num_food].tolist(),
        "index": seat,
    }


def position(game: Game, kaggle_observation: Any, previous: Any = None) -> Any:
    """Return the position of an observation, as a record.

    Observations lack the random stream and the last action of geese that died in the last step.
    Without the previous position, the scores of dead geese are unknown, too (0), and so are the
    last action and previous head of geese of length 1 (`NONE`).

    Args:
        game: a Hungry Geese game.
        kaggle_observation: the observation.
        previous: the position one step earlier, as a record, if known.

    Raises:
        ValueError: if it is not an observation of this game.
    """
    s = game.empty(1).view(np.recarray)[0]
    if previous is None:
        s.length[:], s.steps = 0, NONE
    else:
        for name in game.state.names or ():
            s[name] = previous[name]
    problem = _size_error(game, s, kaggle_observation)
    if not problem:
        update_position(s, kaggle_observation)
        problem = game.validate(s)
    if problem:
        raise ValueError(f"not an observation of {game.spec}: {problem}")
    return s


def _size_error(game: Game, s: Any, kaggle_observation: Any) -> str:
    """Return an error message if an observation does not fit into a record, else ""."""
    cells, capacity = s.occupied.size, s.body.shape[1]
    if len(kaggle_observation["geese"]) != game.num_players:
        return f"it shows {len(kaggle_observation['geese'])} geese, expected {game.num_players}"
    if len(kaggle_observation["food"]) > len(s.food):
        return (
            f"it shows {len(kaggle_observation['food'])} cells with food, more than {len(s.food)}"
        )
    for goose in kaggle_observation["geese"]:
        if len(goose) > capacity:
            return f"a goose has length {len(goose)}, more than {capacity}"
    for cell in (
        *kaggle_observation["food"],
        *(cell for goose in kaggle_observation["geese"] for cell in goose),
    ):
        if not 0 <= cell < cells:
            return f"expected cells from 0 to {cells - 1}, got {cell}"
    return ""
