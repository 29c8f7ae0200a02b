"""Positions from Kaggle's observations, in plain Python for exported agents."""

import types
from typing import Any

import numpy as np

from ludoteca.envs.games.goose_positions import FOOD, NONE
from ludoteca.envs.games.torus import neighbor


def new_position(players: int, configuration: Any) -> Any:
    """Return a position of Hungry Geese for `update_position`, as a plain object with its fields.

    Args:
        players: number of geese.
        configuration: Kaggle's configuration.
    """
    rows, columns = configuration["rows"], configuration["columns"]
    cells = rows * columns
    return types.SimpleNamespace(
        score=np.zeros(players, np.int64),
        occupied=np.zeros((rows, columns), np.int64),
        body=np.zeros((players, min(configuration["max_length"], cells)), np.int64),
        start=np.zeros(players, np.int64),
        length=np.zeros(players, np.int64),
        last_action=np.full(players, NONE),
        last_head=np.full(players, NONE),
        food=np.full(min(configuration["min_food"], cells), NONE),
        num_food=0,
        steps=NONE,
        hunger_rate=configuration["hunger_rate"],
        max_length=configuration["max_length"],
        max_steps=configuration["episodeSteps"] - 1,
        extra_planes=0,
    )


def update_position(s: Any, kaggle_observation: Any) -> None:
    """Update a position in place by an observation, which should be one step later.

    If the observation is of another step, fields that need the previous position are set to NONE or
    0; see `ludoteca.agents.external.kaggle.observation.position`.

    Args:
        s: the position; `steps` is NONE before the first observation.
        kaggle_observation: the observation.
    """
    columns = s.occupied.shape[1]
    step = kaggle_observation["step"]
    is_next = step > 0 and step == s.steps + 1
    s.steps = step
    s.occupied[:] = 0
    for p in range(len(kaggle_observation["geese"])):
        goose = kaggle_observation["geese"][p]
        if not is_next:  # the second segment is where the head was one step earlier
            s.last_head[p] = goose[1] if step > 0 and len(goose) > 1 else NONE
            s.last_action[p], s.score[p] = NONE, 0
        elif s.length[p] > 0:
            s.last_head[p] = s.body[p, s.start[p]]
        if goose and s.last_head[p] != NONE:
            s.last_action[p] = action_between(s.last_head[p], goose[0], s.occupied.shape)
        if goose and step > 0:  # the competition's score: first by survived steps, then by length
            s.score[p] = (step + 1) * (int(s.max_length) + 1) + len(goose)
        s.start[p], s.length[p] = 0, len(goose)
        for k in range(len(goose)):
            s.body[p, k] = goose[k]
            s.occupied[goose[k] // columns, goose[k] % columns] = 1
    s.food[:] = NONE
    s.num_food = len(kaggle_observation["food"])
    for i in range(s.num_food):
        cell = kaggle_observation["food"][i]
        s.food[i] = cell
        s.occupied[cell // columns, cell % columns] = FOOD


def action_between(cell: int, other: int, shape: tuple[int, int]) -> int:
    """Return the action that leads from one cell to another, or NONE."""
    for action in range(4):
        row, column = neighbor(cell, action, shape)
        if row * shape[1] + column == other:
            return action
    return NONE
