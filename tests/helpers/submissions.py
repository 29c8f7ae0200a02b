"""Boards and positions for tests of Kaggle submissions, and calls of their agents."""

import numpy as np

from ludoteca.agents.games.hungry_geese.policies import safe_goose

BOARDS = (
    "hungry_geese",
    "hungry_geese:num_players=2,rows=3,columns=4,hunger_rate=3,min_food=4,max_length=3",
    "hungry_geese:num_players=8,rows=9,columns=13,min_food=5,episode_steps=60",
    "hungry_geese:num_players=3,rows=5,columns=5,max_length=1,hunger_rate=1000",
    "hungry_geese:num_players=1",
    "hungry_geese:num_players=5,rows=4,columns=4,min_food=500",
)


def ask(agent, s=None, seat=0, env_index=0, rng=0):
    """Return an agent's action in one position."""
    states = agent.game.empty(1)
    states[0] = agent.game.new() if s is None else s
    rngs = np.full((1, 1), rng, np.uint64)
    return int(agent.act(states, np.array([seat]), rngs, np.array([env_index]))[0])


def positions_of(game, seed=0):
    """Return the positions of a game of random geese that avoid collisions, in order."""
    s, rng, legal = game.new(seed), np.array([seed], np.uint64), np.arange(4)
    positions = [s.copy()]
    with np.errstate(over="ignore"):
        while not game.is_terminal(s):
            joint = [safe_goose(s, p, legal, 4, rng) for p in range(game.num_players)]
            game.step(s, np.array(joint))
            positions.append(s.copy())
    return positions
