"""Random games and positions that tests of the renderer draw."""

from functools import cache

import numpy as np

from ludoteca.envs.registry import make_game
from ludoteca.envs.render.__main__ import choose_action
from ludoteca.envs.render.status import as_record

SVG = "{http://www.w3.org/2000/svg}"


@np.errstate(over="ignore")
@cache
def play(game, seed=0):
    """Play a random game; return pairs of each position and the action that led to it, or None."""
    rng = np.random.default_rng(seed)
    s, action = game.new(seed), None
    history = []
    while True:
        history.append((as_record(game, np.array([s], game.state)), action))
        if game.is_terminal(s):
            return history
        action = choose_action(game, s, rng)
        game.step(s, action)


def sample(game):
    """Return the first, the middle and the last pair of `play`."""
    history = play(game)
    return [history[0], history[len(history) // 2], history[-1]]


def position(spec, actions):
    """Return a game and its position after some actions, named except in simultaneous games."""
    game = make_game(spec)
    s = game.new()
    for action in actions:
        game.step(s, action if game.simultaneous else game.action_names.index(action))
    return game, s
