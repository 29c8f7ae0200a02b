"""Errors of calls before the first reset, after the game, and without actions."""

from typing import Any

import numpy as np
import pytest
from first_games import Make, MakeSmallGame, apis, ids, legal_joint, move_once
from pettingzoo_make import make_pettingzoo

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv

pytestmark = pytest.mark.interpreted


@ids
@apis
def test_calls_before_the_first_reset(
    id_: str, api: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    params = make_small_game(id_).params
    if api in ("aec", "parallel"):
        env = make_pettingzoo(api, f"ludoteca/{id_}", render_mode="ansi", **params)
        step: Any = {"player_0": 0} if api == "parallel" else 0
    elif api == "single":
        env = GameEnv(make_small_game(id_), render_mode="ansi")
        step = 0
    else:
        opponent = "random" if api == "opponents" else None
        env = GameVectorEnv(make_small_game(id_), 3, opponent=opponent, render_mode="ansi")
        step = np.zeros(env.action_space.shape, np.int64)
    with pytest.raises(ValueError, match="call reset before step"):
        env.step(step)
    with pytest.raises(ValueError, match="call reset before render"):
        env.render()
    with pytest.raises(ValueError, match="call reset before save"):
        env.save()
    if api == "aec":
        assert env.agents == []
        for read in (env.last, lambda: env.observe("player_1"), env.state):
            with pytest.raises(ValueError, match=r"call reset before (observe|state)"):
                read()
    if not isinstance(env, GameVectorEnv):
        with pytest.raises(ValueError, match="call reset before replay"):
            env.replay()
    env.reset(seed=0)
    env.step(step if api != "parallel" else legal_joint(env))


@ids
@apis
def test_calls_after_the_game(
    id_: str, api: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    if api in ("self-play", "opponents"):
        env = make(api, id_, autoreset_mode="Disabled")
        actions = env.action_masks().argmax(-1)
        actions[1] = -1  # loses
        env.step(actions)
        before = env.save()
        with pytest.raises(ValueError, match=r"cannot step games that are over: \[.*1.*\] must be"):
            env.step(env.action_masks().argmax(-1))
        assert env.save() == before
        env.reset(options={"reset_mask": env.game_batch.episode_states["over"]})
        env.step(env.action_masks().argmax(-1))
        return
    env = make(api, id_)
    if api == "single":
        assert env.step(-1)[2]
        before = env.save()
        with pytest.raises(ValueError, match=r"games that are over: \[0\] must be reset first"):
            env.step(0)
        assert env.save() == before
    elif api == "aec":
        for _ in env.possible_agents if make_small_game(id_).simultaneous else [0]:
            env.step(-1)
        assert all(env.terminations.values())
        with pytest.raises(ValueError, match="when an agent is dead, the only valid action is N"):
            env.step(0)
        for _ in env.agent_iter():
            env.step(None)
        assert env.agents == []
        before = env.save()
        for action in (None, 0):
            with pytest.raises(ValueError, match="all agents are done: call reset"):
                env.step(action)
        assert env.save() == before
    else:
        env.step(legal_joint(env) | {"player_0": -1})
        assert env.agents == []
        before = env.save()
        for actions in ({}, {"player_0": 0}):
            with pytest.raises(ValueError, match="all agents are done: call reset"):
                env.step(actions)
        assert env.save() == before
    env.reset(seed=0)
    move_once(env)


@ids
def test_missing_actions_of_a_parallel_environment(id_: str, make: Make) -> None:
    env = make("parallel", id_)
    before = env.save()
    incomplete = legal_joint(env)
    del incomplete["player_0"]
    with pytest.raises(ValueError, match=r"player_0.*player_1"):
        env.step(incomplete)
    with pytest.raises(ValueError, match="player_0"):
        env.step({})
    assert env.save() == before
    env.step(legal_joint(env) | {"nobody": "nothing"})  # actions of unknown agents are ignored


def test_a_goose_that_is_out_need_not_act(make: Make) -> None:
    env = make("parallel", "HungryGeese-v0", illegal_action="raise")
    # Goose 1 moves east (1) and then back west (3), which kills it; the others move north (0).
    while len(env.agents) == 3:
        env.step({agent: 0 if agent != "player_1" else 1 for agent in env.agents})
        if len(env.agents) == 3:
            env.step({agent: 0 if agent != "player_1" else 3 for agent in env.agents})
    assert env.agents == ["player_0", "player_2"]
    before = env.save()
    with pytest.raises(ValueError, match=r"expected actions of \['player_0', 'player_2'\], got"):
        env.step({"player_0": 0, "player_1": 0})
    assert env.save() == before
    env.step({"player_0": 0, "player_1": 99, "player_2": 0})
    assert env.replay().actions[-1] == [0, 0, 0]
