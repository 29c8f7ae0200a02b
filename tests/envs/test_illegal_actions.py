"""Illegal actions in every environment API: rules of `illegal_action`; errors change nothing."""

from typing import Any

import numpy as np
import pytest
from first_games import Make, MakeSmallGame, apis, ids, legal_joint, masks, move_once

pytestmark = pytest.mark.interpreted

kinds = pytest.mark.parametrize("kind", ["illegal", "negative", "next", "huge"])
rules = pytest.mark.parametrize("rule", ["lose", "raise", "penalize", "random"])


def wrong_action(kind: str, mask: Any) -> int | None:
    """Return an action that is not legal, or None if there is no such action."""
    illegal = np.flatnonzero(np.asarray(mask) == 0)
    if kind == "illegal":
        return int(illegal[0]) if len(illegal) else None
    return {"negative": -1, "next": len(mask), "huge": 2**62}[kind]


def play_until_some_illegal(env: Any) -> None:
    """Play until some action is illegal, at most 4 moves: in some games all are always legal."""
    for _ in range(4):
        if not np.all(masks(env)):
            return
        move_once(env)


@ids
@kinds
@rules
def test_illegal_actions_of_aec_environments(
    id_: str, kind: str, rule: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    env = make("aec", id_, illegal_action=rule)
    game = make_small_game(id_)
    if not game.simultaneous:
        play_until_some_illegal(env)
    mover, others = env.agent_selection, [a for a in env.agents if a != env.agent_selection]
    action = wrong_action(kind, masks(env))
    if action is None:
        assert game.simultaneous
        return
    before, state = env.save(), env.state()
    if rule == "raise":
        with pytest.raises(
            ValueError, match=rf"action {action}.* is illegal.*: the legal actions are \["
        ):
            env.step(action)
        assert env.save() == before
        assert env.agent_selection == mover
        move_once(env)
        return
    env.step(action)
    if game.simultaneous:  # the joint action is applied once every agent has chosen
        for _ in others:
            env.step(0)
    if rule == "random":
        assert not np.array_equal(env.state(), state)
        assert not env.rewards[mover]
        return
    assert env.rewards == {mover: -1} | dict.fromkeys(others, 0)
    np.testing.assert_array_equal(env.state(), state)
    if rule == "penalize":
        assert not any(env.terminations.values())
        assert env.agent_selection == mover
        assert env.last()[1] == -1
        move_once(env)
        return
    assert all(env.terminations.values())
    final_rewards = {}
    for agent in env.agent_iter():
        _, final_rewards[agent], terminated, _, info = env.last()
        assert terminated
        assert not info["action_mask"].any()
        env.step(None)
    assert final_rewards == {mover: -1} | dict.fromkeys(others, 0)


@ids
@kinds
@rules
def test_illegal_actions_of_parallel_environments(
    id_: str, kind: str, rule: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    env = make("parallel", id_, illegal_action=rule)
    game = make_small_game(id_)
    if not game.simultaneous:
        move_once(env)
    game_batch = env.unwrapped.game_batch
    seat = game.num_players - 1 if game.simultaneous else int(game_batch.episode_states["mover"][0])
    mover = env.possible_agents[seat]
    action = wrong_action(kind, game_batch.masks[0, seat if game_batch.num_acting > 1 else 0])
    if action is None:
        return
    before, state = env.save(), env.state()
    actions = legal_joint(env) | {mover: action}
    if rule == "raise":
        with pytest.raises(
            ValueError, match=rf"action {action}.* is illegal .*: the legal actions are \["
        ):
            env.step(actions)
        assert env.save() == before
        env.step(legal_joint(env))
        return
    _, rewards, terminations, truncations, infos = env.step(actions)
    assert not any(truncations.values())
    if rule == "random":
        assert not np.array_equal(env.state(), state)
        assert rewards[mover] == 0
        return
    assert rewards == {agent: -int(agent == mover) for agent in env.possible_agents}
    np.testing.assert_array_equal(env.state(), state)
    if rule == "penalize":
        assert env.agents == env.possible_agents
        env.step(legal_joint(env))
    else:
        assert env.agents == []
        assert all(terminations.values())
        assert not any(info["action_mask"].any() for info in infos.values())


@ids
@kinds
@rules
def test_illegal_actions_of_single_environments(
    id_: str, kind: str, rule: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    env = make("single", id_, illegal_action=rule, agent_seat=1)
    game = make_small_game(id_)
    if not game.simultaneous:
        play_until_some_illegal(env)
    action = wrong_action(kind, masks(env))
    if action is None:
        assert game.simultaneous
        return
    before, state = env.save(), env.game_batch.states.copy()
    if rule == "raise":
        with pytest.raises(
            ValueError, match=rf"action {action} is illegal .*: the legal actions are \["
        ):
            env.step(action)
        assert env.save() == before
        move_once(env)
        return
    _, reward, terminated, truncated, info = env.step(action)
    assert info["illegal_action"]
    assert not truncated
    if rule == "random":
        assert (env.game_batch.states != state).any()
        return
    assert (env.game_batch.states == state).all()
    assert reward == -1
    assert info["rewards"].tolist() == [-int(seat == 1) for seat in range(game.num_players)]
    assert terminated == (rule == "lose")
    assert info["action_mask"].any() == (rule == "penalize")
    if rule == "penalize":
        move_once(env)
        assert not env.game_batch.episode_states["illegal"][0]


@ids
@kinds
@rules
@pytest.mark.parametrize("api", ["self-play", "opponents"])
def test_illegal_actions_of_vector_environments(
    id_: str, kind: str, rule: str, api: str, make_small_game: MakeSmallGame, make: Make
) -> None:
    env = make(api, id_, illegal_action=rule)
    move_once(env)
    action_masks = masks(env)
    actions = action_masks.argmax(-1)
    # One player of game 1 chooses an illegal action.
    index = (1, make_small_game(id_).num_players - 1) if action_masks.ndim == 3 else (1,)
    action = wrong_action(kind, action_masks[index])
    if action is None:
        return
    actions[index] = action
    before, state = env.save(), env.game_batch.states.copy()
    if rule == "raise":
        with pytest.raises(
            ValueError, match=rf"action {action}.* is illegal in game 1: the legal actions are \["
        ):
            env.step(actions)
        assert env.save() == before
        move_once(env)
        return
    _, rewards, terminated, _, info = env.step(actions)
    assert info["illegal_action"].tolist() == [False, True, False]
    same = env.game_batch.states == state
    assert not same[[0, 2]].any()
    assert same[1] == (rule != "random")
    if rule != "random":
        assert info["rewards"][1].min() == info["rewards"][1].sum() == -1
        assert rewards[1] == info["rewards"][1, info["player"][1] if action_masks.ndim < 3 else 0]
        assert terminated[1] == (rule == "lose")


@ids
@apis
def test_actions_outside_int64_are_illegal(id_: str, api: str, make: Make) -> None:
    if api in ("self-play", "opponents"):
        env = make(api, id_, illegal_action="raise")
        for huge in (2**63, 2**64 - 1):
            actions = np.zeros(env.action_space.shape, np.uint64)
            actions[0] = huge
            with pytest.raises(ValueError, match="is illegal in game 0"):
                env.step(actions)
        with pytest.raises(ValueError, match="actions must be integers"):
            env.step([10**30] * 3)
        return
    for huge in (10**30, -(10**30), np.uint64(2**64 - 1), np.array([2**63], np.uint64)):
        env = make(api, id_, illegal_action="raise")
        before = env.save()
        actions = legal_joint(env) | {"player_0": huge} if api == "parallel" else huge
        with pytest.raises(ValueError, match=r"action -?\d+.* is illegal"):
            env.step(actions)
        assert env.save() == before


@ids
@pytest.mark.parametrize("api", ["aec", "parallel", "single"])
@pytest.mark.parametrize(
    "action",
    [1.0, np.float32(0), True, np.bool_(False), "0", [0, 1], np.zeros(2, int), None, [], {}],
)
@pytest.mark.parametrize("rule", ["lose", "raise"])
def test_an_action_must_be_an_integer(
    id_: str, api: str, action: Any, rule: str, make: Make
) -> None:
    env = make(api, id_, illegal_action=rule)
    before = env.save()
    actions = legal_joint(env) | {"player_0": action} if api == "parallel" else action
    with pytest.raises(ValueError, match="an action must be an integer, got"):
        env.step(actions)
    assert env.save() == before


@pytest.mark.parametrize("api", ["aec", "parallel", "single"])
@pytest.mark.parametrize("action", [np.int8(2), np.uint8(2), np.array(2), np.array([2]), [[2]]])
def test_integers_of_all_kinds_are_actions(api: str, action: Any, make: Make) -> None:
    env = make(api, "TicTacToe-v0", illegal_action="raise")
    env.step({"player_0": action} if api == "parallel" else action)
    assert env.replay().actions[0] == 2


@ids
@pytest.mark.parametrize("api", ["self-play", "opponents"])
@pytest.mark.parametrize("rule", ["lose", "raise"])
def test_actions_of_the_wrong_shape_or_dtype_change_nothing(
    id_: str, api: str, rule: str, make: Make
) -> None:
    env = make(api, id_, illegal_action=rule)
    right = env.action_masks().argmax(-1)
    before = env.save()
    for wrong in (
        right.astype(float),
        right.astype(bool),
        right.astype(object),
        right[:2],
        right[:, None],
        np.concatenate([right, right]),
        right.ravel()[0],
        right.astype(str),
        None,
        {},
    ):
        with pytest.raises(ValueError, match=r"actions must be integers of shape \(3,.*\), got "):
            env.step(wrong)
        assert env.save() == before
    env.step(right.astype(np.uint8))
    twice = np.repeat(env.action_masks().argmax(-1), 2, axis=0)
    env.step(twice[::2])  # not contiguous
    env.step(env.action_masks().argmax(-1).tolist())


def test_several_illegal_actions_in_one_step(make: Make) -> None:
    env = make("parallel", "HungryGeese-v0")
    _, rewards, terminations, _, _ = env.step({"player_0": 4, "player_1": 0, "player_2": -1})
    assert rewards == {"player_0": -1, "player_1": 0, "player_2": -1}
    assert all(terminations.values())
