"""Episode files of Hungry Geese, as Kaggle published them and kaggle-environments writes them.

A file is the JSON of `env.toJSON()`: `steps[t][p]` is the state of agent p after t steps,
with the action that led to it. Only agent 0's observation holds the board. An agent that has
failed, and so forfeited, has the status ERROR, INVALID or TIMEOUT from then on. Eliminated agents
have the action NORTH.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.files import parse_json

# Parameters of the game, by their names in the file.
PARAMS = {
    "rows": "rows",
    "columns": "columns",
    "hunger_rate": "hunger_rate",
    "min_food": "min_food",
    "max_length": "max_length",
    "episodeSteps": "episode_steps",
}
ACTIONS = {"NORTH": 0, "EAST": 1, "SOUTH": 2, "WEST": 3}
NO_ACTION = -2  # in place of an action that is not in `ACTIONS`; differs from `FORFEIT`
# Whether an agent with this status has failed.
FAILED = {
    "ACTIVE": False, "INACTIVE": False, "DONE": False,
    "ERROR": True, "INVALID": True, "TIMEOUT": True,
}  # fmt: skip
# Exceptions of reading JSON that is not as expected.
MALFORMED = (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError)


@dataclass(frozen=True, eq=False)
class EpisodeRecord:
    """Recorded episode: P geese, T steps, T + 1 states.

    Attributes:
        id: the `EpisodeId`, or None.
        names: names of the agents; empty if the file has no names.
        actions: see `GameDataset`. int16, shape `[T, P]`.
        geese: cells of all geese in all states, concatenated, heads first. int16, shape `[C]`.
        lengths: length of each goose in each state; 0: eliminated. int16, shape `[T + 1, P]`.
        food: cells of all food in all states, concatenated. int16, shape `[F]`.
        food_counts: number of foods in each state. int16, shape `[T + 1]`.
        rewards: final rewards; NaN: the agent has failed. Shape `[P]`.
    """

    id: str | None
    names: tuple[str, ...]
    actions: NDArray[np.int16]
    geese: NDArray[np.int16]
    lengths: NDArray[np.int16]
    food: NDArray[np.int16]
    food_counts: NDArray[np.int16]
    rewards: NDArray[np.float64]


def read_record(data: bytes, game: Game) -> EpisodeRecord:
    """Parse an episode of Hungry Geese with the parameters of `game`.

    The rules are not checked; see `ludoteca.train.data.kaggle_verify`.

    Raises:
        ValueError: if the file is malformed.
    """
    episode = _parse(data)
    steps = _typed(episode, "steps", list)
    if len(steps) < 2 or not all(isinstance(step, list) for step in steps):
        raise ValueError("steps must be two or more lists of agents")
    players = len(steps[0])
    _check_params(_typed(episode, "configuration", dict), players, game)
    try:
        boards, actions, lengths = _read_steps(steps, players)
        rewards = [agent["reward"] for agent in steps[-1]]
        return EpisodeRecord(
            *_read_info(episode, players),
            actions=actions,
            geese=_cells([goose for board in boards for goose in board["geese"]], game),
            lengths=lengths,
            food=_cells([board["food"] for board in boards], game),
            food_counts=np.array([len(board["food"]) for board in boards], np.int16),
            rewards=np.array(
                [np.nan if reward is None else reward for reward in rewards], np.float64
            ),
        )
    except MALFORMED as error:
        raise ValueError(_locate(steps, players, error)) from None


def _parse(data: bytes) -> dict[str, Any]:
    """Return the JSON object of an episode of Hungry Geese."""
    try:
        episode = parse_json(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON, or truncated: {error}") from None
    if not isinstance(episode, dict) or "name" not in episode:
        raise ValueError("not an episode: expected JSON with a name, a configuration and steps")
    if episode["name"] != "hungry_geese":
        raise ValueError(
            f"expected an episode of 'hungry_geese', got one of {episode['name']!r:.80}"
        )
    return episode


def _check_params(configuration: dict[str, Any], players: int, game: Game) -> None:
    """Validate that an episode of `players` agents has the parameters of `game`."""
    values = {"num_players": players}
    for name, param in PARAMS.items():
        values[param] = _typed(configuration, name, int)
    different = [name for name, value in values.items() if game.params[name] != value]
    if different:
        raise ValueError(
            f"another configuration: expected {_listed(game.params, different)}, "
            f"got {_listed(values, different)}"
        )


def _listed(values: Mapping[str, Any], names: list[str]) -> str:
    """Return the values of these names as text."""
    return ", ".join(f"{name}={values[name]}" for name in names)


def _read_steps(
    steps: list[Any], players: int, first: int = 0
) -> tuple[list[Any], NDArray[np.int16], NDArray[np.int16]]:
    """Return boards, actions and lengths of geese of T + 1 states.

    Args:
        steps: the states, each a list of the states of all agents.
        players: number of agents.
        first: number of the first state.

    Returns:
        Observations of agent 0, with `geese` and `food`; and two arrays of `EpisodeRecord`.
    """
    for agents in steps:
        if len(agents) != players:
            raise ValueError(f"expected {players} agents, got {len(agents)}")
    boards = [agents[0]["observation"] for agents in steps]
    for t, board in enumerate(boards, first):
        if len(board["geese"]) != players:
            raise ValueError(f"expected {players} geese, got {len(board['geese'])}")
        if board.get("step", t) != t:
            raise ValueError(f"expected step {t}, got {board['step']}")
    lengths = np.array([[len(goose) for goose in board["geese"]] for board in boards], np.int16)
    played = np.array(
        [[ACTIONS.get(agent["action"], NO_ACTION) for agent in agents] for agents in steps[1:]],
        np.int16,
    ).reshape(-1, players)
    failed = np.array([[FAILED[agent["status"]] for agent in agents] for agents in steps])[1:]
    actions = np.where(lengths[:-1] > 0, np.where(failed, FORFEIT, played), 0)
    unknown = np.argwhere(actions == NO_ACTION)
    if len(unknown) > 0:
        t, p = unknown[0].tolist()
        expected = ", ".join(ACTIONS)
        raise ValueError(
            f"goose {p} played {steps[t + 1][p]['action']!r}, expected one of {expected}"
        )
    return boards, actions.astype(np.int16), lengths


def _cells(lists: list[Any], game: Game) -> NDArray[np.int16]:
    """Return the concatenated cells of lists, after checking that they are on the board."""
    flat = [cell for cells in lists for cell in cells]
    array = np.array(flat) if flat else np.zeros(0, np.int64)
    size = game.params["rows"] * game.params["columns"]
    if array.dtype.kind != "i" or array.ndim != 1:
        raise ValueError(f"cells must be integers, got {array.dtype}")
    if len(array) > 0 and not 0 <= array.min() <= array.max() < size:
        raise ValueError(
            f"cells must be from 0 to {size - 1}, got cells from {array.min()} to {array.max()}"
        )
    return array.astype(np.int16)


def _read_info(episode: dict[str, Any], players: int) -> tuple[str | None, tuple[str, ...]]:
    """Return the episode's id and the agents' names, where the file has them."""
    info = episode.get("info") or {}
    number = info.get("EpisodeId")
    names = info.get("TeamNames") or [agent["Name"] for agent in info.get("Agents") or []]
    if names and len(names) != players:
        raise ValueError(f"info names {len(names)} agents, but {players} play")
    return None if number is None else str(number), tuple(map(str, names))


def _locate(steps: list[Any], players: int, error: Exception) -> str:
    """Return a description of the error, with the first invalid state if there is one."""
    for t in range(len(steps)):
        try:
            _read_steps(steps[max(0, t - 1) : t + 1], players, max(0, t - 1))
        except MALFORMED as located:
            return f"state {t} is not as kaggle-environments writes it: {_describe(located)}"
    return f"not as kaggle-environments writes it: {_describe(error)}"


def _describe(error: Exception) -> str:
    """Return the message of an error, with its type unless the message is of this module."""
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _typed(data: dict[str, Any], name: str, kind: type[Any]) -> Any:
    """Return the value of a name, after checking that it is of type `kind`."""
    if type(data.get(name)) is not kind:
        raise ValueError(f"{name} must be of type {kind.__name__}, got {data.get(name)!r:.60}")
    return data[name]
