"""Tests of steps of many games together: they equal single steps in every environment."""

from dataclasses import replace

import numpy as np
import pytest

from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.contract_many import check_many
from ludoteca.envs.contract_positions import ContractError
from ludoteca.envs.registry import make_game

SIZE = 66  # more than `MIN_TOGETHER`, and no multiple of 64
SMALL_SIZE = 34
SETTINGS = [
    {},
    {"opponent": "random", "agent_seat": "random", "autoreset_mode": "SameStep"},
    {"opponent": "random", "agent_seat": 1, "illegal_action": "random"},
    {"illegal_action": "penalize", "autoreset_mode": "SameStep"},
]


def step_randomly(game, settings, steps, size):
    """Return the results of random actions, a few of them illegal, in a vector environment."""
    rng = np.random.default_rng(1)
    env = GameVectorEnv(game, size, **settings)
    observations, info = env.reset(seed=3)
    results = [observations.copy(), info["action_mask"].copy()]
    for _ in range(steps):
        mask = info["action_mask"]
        scores = rng.random(mask.shape) + mask - 0.05 * (rng.random(mask.shape) < 0.05)
        observations, rewards, ends, _, info = env.step(scores.argmax(-1))
        results += [observations.copy(), rewards.copy(), ends.copy(), info["action_mask"].copy()]
        results += [np.asarray(info["final_obs"]).copy()] if "final_obs" in info else []
    return results


def require_equal_steps(sheet, settings, steps, size=SIZE):
    """Require the same results of steps together and one by one."""
    game = make_game(f"gdl:path={sheet}")
    assert game.many is not None
    together, single = (
        step_randomly(each, settings, steps, size) for each in (game, replace(game, many=None))
    )
    assert len(together) == len(single)
    for one, other in zip(together, single, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.interpreted
@pytest.mark.parametrize("settings", SETTINGS)
def test_games_are_stepped_together_as_one_by_one(settings):
    steps = 7 if "opponent" in settings else 11
    require_equal_steps("tictactoe", settings, steps, SMALL_SIZE if settings else SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("sheet", ["connect4", "three_in_line", "tron"])
def test_compiled_games_are_stepped_together_as_one_by_one(sheet, settings):
    require_equal_steps(sheet, settings, 60)


@pytest.mark.slow
@pytest.mark.parametrize("sheet", ["breakthrough", "hex", "othello", "tron"])  # gates of all kinds
def test_positions_of_compiled_games_that_are_stepped_together(sheet):
    check_many(make_game(f"gdl:path={sheet}"))


@pytest.mark.interpreted
def test_a_step_that_differs_is_found():
    game = make_game("gdl:path=tictactoe")
    wrong = replace(game, many=game.many._replace(end=lambda s: None))
    with pytest.raises(ContractError, match="stepped together, the game of seed 0 differs at ply"):
        check_many(wrong, interpreted=True)
