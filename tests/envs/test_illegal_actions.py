"""Invalid input in every environment: the chosen behavior or a clear error without changes."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo_make import make_pettingzoo

from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

pytestmark = pytest.mark.interpreted

Small = Callable[[str], Game]
Make = Callable[..., Any]
ids = pytest.mark.parametrize("id_", GAMES)
kinds = pytest.mark.parametrize("kind", ["illegal", "negative", "next", "huge"])
rules = pytest.mark.parametrize("rule", ["lose", "raise", "penalize", "random"])
apis = pytest.mark.parametrize("api", ["aec", "parallel", "single", "self-play", "opponents"])


@pytest.fixture(scope="module")
def make(small: Small) -> Make:
    """Make environments of any API on small boards, in their first games."""

    def make(api: str, id_: str, **options: Any) -> Any:
        name, options = f"ludoteca/{id_}", dict(small(id_).params) | options
        if api in ("aec", "parallel"):
            env: Any = make_pettingzoo(api, name, **options)
        elif api == "single":
            env = gym.make(name, **options).unwrapped
        else:
            opponent = "random" if api == "opponents" else None
            env = gym.make_vec(name, num_envs=3, opponent=opponent, **options).unwrapped
        env.reset(seed=0)
        return env

    return make


def masks(env: Any) -> Any:
    """Return the masks of the players to act."""
    if isinstance(env, GameEnv | GameVectorEnv):
        return env.action_masks().astype(np.int8)
    if hasattr(env, "agent_selection"):
        return env.observe(env.agent_selection)["action_mask"]
    return {agent: env.unwrapped.observe(agent)["action_mask"] for agent in env.agents}


def wrong_action(kind: str, mask: Any) -> int | None:
    """Return an action that is not legal, or None if there is no such action."""
    illegal = np.flatnonzero(np.asarray(mask) == 0)
    if kind == "illegal":
        return int(illegal[0]) if len(illegal) else None
    return {"negative": -1, "next": len(mask), "huge": 2**62}[kind]


def until_illegal(env: Any) -> None:
    """Play until some action is illegal; in some games none is until the end."""
    for _ in range(4):
        if not np.all(masks(env)):
            return
        move_once(env)


def move_once(env: Any) -> None:
    """Play a legal move, so that some action is illegal in most games."""
    if isinstance(env, GameVectorEnv):
        env.step(env.action_masks().argmax(-1))
    elif isinstance(env, GameEnv):
        env.step(int(env.action_masks().argmax()))
    elif hasattr(env, "agent_selection"):
        env.step(int(masks(env).argmax()))
    else:
        env.step(legal_joint(env))


def legal_joint(env: Any) -> dict[str, int]:
    game_batch = env.unwrapped.game_batch
    if game_batch.width > 1:
        seats = {agent: i for i, agent in enumerate(env.possible_agents)}
        return {agent: int(game_batch.masks[0, seats[agent]].argmax()) for agent in env.agents}
    return {agent: int(game_batch.masks[0, 0].argmax()) for agent in env.agents}


@ids
@kinds
@rules
def test_aec(id_: str, kind: str, rule: str, small: Small, make: Make) -> None:
    env = make("aec", id_, illegal_action=rule)
    game = small(id_)
    if not game.simultaneous:
        until_illegal(env)
    mover, others = env.agent_selection, [a for a in env.agents if a != env.agent_selection]
    action = wrong_action(kind, masks(env))
    if action is None:
        assert game.simultaneous
        return
    before, state = env.save(), env.state()
    if rule == "raise":
        with pytest.raises(ValueError, match=rf"action {action}.* is illegal.*: legal are \["):
            env.step(action)
        assert env.save() == before
        assert env.agent_selection == mover
        move_once(env)
        return
    env.step(action)
    if game.simultaneous:  # it is played once all have chosen
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
    paid = {}
    for agent in env.agent_iter():
        _, paid[agent], terminated, _, info = env.last()
        assert terminated
        assert not info["action_mask"].any()
        env.step(None)
    assert paid == {mover: -1} | dict.fromkeys(others, 0)


@ids
@kinds
@rules
def test_parallel(id_: str, kind: str, rule: str, small: Small, make: Make) -> None:
    env = make("parallel", id_, illegal_action=rule)
    game = small(id_)
    if not game.simultaneous:
        move_once(env)
    game_batch = env.unwrapped.game_batch
    seat = game.num_players - 1 if game.simultaneous else int(game_batch.episode_states["mover"][0])
    mover = env.possible_agents[seat]
    action = wrong_action(kind, game_batch.masks[0, seat if game_batch.width > 1 else 0])
    if action is None:
        return
    before, state = env.save(), env.state()
    offered = legal_joint(env) | {mover: action}
    if rule == "raise":
        with pytest.raises(ValueError, match=rf"action {action}.* is illegal .*: legal are \["):
            env.step(offered)
        assert env.save() == before
        env.step(legal_joint(env))
        return
    _, rewards, terminations, truncations, infos = env.step(offered)
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
def test_single(id_: str, kind: str, rule: str, small: Small, make: Make) -> None:
    env = make("single", id_, illegal_action=rule, agent_seat=1)
    game = small(id_)
    if not game.simultaneous:
        until_illegal(env)
    action = wrong_action(kind, masks(env))
    if action is None:
        assert game.simultaneous
        return
    before, state = env.save(), env.game_batch.states.copy()
    if rule == "raise":
        with pytest.raises(ValueError, match=rf"action {action} is illegal .*: legal are \["):
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
def test_vector(id_: str, kind: str, rule: str, api: str, small: Small, make: Make) -> None:
    env = make(api, id_, illegal_action=rule)
    move_once(env)
    seen = masks(env)
    actions = seen.argmax(-1)
    at = (1, small(id_).num_players - 1) if seen.ndim == 3 else (1,)
    action = wrong_action(kind, seen[at])
    if action is None:
        return
    actions[at] = action
    before, state = env.save(), env.game_batch.states.copy()
    if rule == "raise":
        with pytest.raises(
            ValueError, match=rf"action {action}.* is illegal in game 1: legal are \["
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
        assert rewards[1] == info["rewards"][1, info["player"][1] if seen.ndim < 3 else 0]
        assert terminated[1] == (rule == "lose")


@ids
@apis
def test_actions_of_more_than_64_bits_are_illegal(id_: str, api: str, make: Make) -> None:
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
        offered = legal_joint(env) | {"player_0": huge} if api == "parallel" else huge
        with pytest.raises(ValueError, match=r"action -?\d+.* is illegal"):
            env.step(offered)
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
    offered = legal_joint(env) | {"player_0": action} if api == "parallel" else action
    with pytest.raises(ValueError, match="an action must be an integer, got"):
        env.step(offered)
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
def test_vectors_of_the_wrong_form_change_nothing(
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


@ids
@apis
def test_calls_before_the_first_reset(id_: str, api: str, small: Small, make: Make) -> None:
    params = small(id_).params
    if api in ("aec", "parallel"):
        env = make_pettingzoo(api, f"ludoteca/{id_}", render_mode="ansi", **params)
        step: Any = {"player_0": 0} if api == "parallel" else 0
    elif api == "single":
        env = GameEnv(small(id_), render_mode="ansi")
        step = 0
    else:
        opponent = "random" if api == "opponents" else None
        env = GameVectorEnv(small(id_), 3, opponent=opponent, render_mode="ansi")
        step = np.zeros(env.action_space.shape, np.int64)
    with pytest.raises(ValueError, match="call reset before step"):
        env.step(step)
    with pytest.raises(ValueError, match="call reset before render"):
        env.render()
    with pytest.raises(ValueError, match="call reset before save"):
        env.save()
    if api == "aec":
        assert env.agents == []
        for look in (env.last, lambda: env.observe("player_1"), env.state):
            with pytest.raises(ValueError, match=r"call reset before (observe|state)"):
                look()
    if not isinstance(env, GameVectorEnv):
        with pytest.raises(ValueError, match="call reset before replay"):
            env.replay()
    env.reset(seed=0)
    env.step(step if api != "parallel" else legal_joint(env))


@ids
@apis
def test_calls_after_the_game(id_: str, api: str, small: Small, make: Make) -> None:
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
        for _ in env.possible_agents if small(id_).simultaneous else [0]:
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
    rest = legal_joint(env)
    del rest["player_0"]
    with pytest.raises(ValueError, match=r"player_0.*player_1"):
        env.step(rest)
    with pytest.raises(ValueError, match="player_0"):
        env.step({})
    assert env.save() == before
    env.step(legal_joint(env) | {"nobody": "nothing"})  # what is not asked for is not looked at


def test_a_goose_that_is_out_need_not_act(make: Make) -> None:
    env = make("parallel", "HungryGeese-v0", illegal_action="raise")
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


def test_several_illegal_actions_in_one_step(make: Make) -> None:
    env = make("parallel", "HungryGeese-v0")
    _, rewards, terminations, _, _ = env.step({"player_0": 4, "player_1": 0, "player_2": -1})
    assert rewards == {"player_0": -1, "player_1": 0, "player_2": -1}
    assert all(terminations.values())


@ids
@apis
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"illegal_action": "loose"}, "illegal_action must be one of 'lose', 'raise', 'penalize'"),
        ({"dtype": "int64"}, "dtype must be one of 'int8', 'uint8'.*got 'int64'"),
        ({"render_mode": "3d"}, "render_mode must be None or one of .*'ansi'.*got '3d'"),
        ({"no_such": 1}, "unexpected keyword argument 'no_such'; it has "),
    ],
    ids=["illegal_action", "dtype", "render_mode", "unknown"],
)
# Gymnasium warns of a strange render mode before it asks us, who refuse it.
@pytest.mark.filterwarnings("ignore:.*render_mode='3d' that is not in the possible:UserWarning")
def test_invalid_options(
    id_: str, api: str, options: dict[str, Any], message: str, make: Make
) -> None:
    with pytest.raises(ValueError, match=message):
        make(api, id_, **options)


@pytest.mark.parametrize("api", ["single", "opponents", "self-play"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent_seat": 2}, "agent_seat must be one of 'random', 0, 1, got 2"),
        ({"agent_seat": -1}, "agent_seat must be one of"),
        ({"agent_seat": "first"}, "agent_seat must be one of"),
        ({"agent_seat": True}, "agent_seat must be one of"),
        ({"opponent": ["random", "random"]}, "1 other seats, so opponent must be one spec or 1, g"),
        ({"opponent": []}, "so opponent must be one spec or 1, got 0"),
        ({"opponent": "nobody"}, "unknown agent 'nobody'"),
        ({"opponent": "random:x=1"}, "agent random has no parameter 'x'; it has none"),
        ({"opponent": 3}, "opponent must be a spec string such as 'random' or an agent .*got 3"),
        ({"opponent": [None]}, "opponent must be a spec string .*got None"),
    ],
    ids=str,
)
def test_invalid_opponents_and_seats(
    api: str, options: dict[str, Any], message: str, make: Make
) -> None:
    if api == "self-play":
        options = {"opponent": "random"} | options
        with pytest.raises((ValueError, TypeError), match=message):
            GameVectorEnv("hex", 2, **options)
    elif api == "opponents":
        options = {"opponent": "random"} | options
        with pytest.raises((ValueError, TypeError), match=message):
            gym.make_vec("ludoteca/Hex-v0", num_envs=2, **options)
    else:
        with pytest.raises((ValueError, TypeError), match=message):
            gym.make("ludoteca/Hex-v0", **options)


def test_inconsistent_seats_and_opponents_are_errors(make: Make) -> None:
    for seat in (1, "random", 7):
        with pytest.raises(ValueError, match=r"agent_seat=.* needs opponents for the other seats"):
            GameVectorEnv("hex", 2, agent_seat=seat)
    with pytest.raises(ValueError, match="opponent must be a spec string or an agent, got None"):
        gym.make("ludoteca/Hex-v0", opponent=None)
    other = RandomAgent(make_game("hex:board_size=5"))
    with pytest.raises(ValueError, match=r"was made for hex:board_size=5.*, not hex:board_size=11"):
        GameVectorEnv("hex", 2, opponent=other)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chess", r"unknown game 'chess'; there are .*hex"),
        ("ludoteca/Hex-v1", "unknown game 'ludoteca/Hex-v1'"),
        ("", "unknown game ''"),
        (
            "hex:size=5",
            r"hex has no parameter 'size' \(did you mean 'board_size'\?\); "
            "it has board_size, first, swap",
        ),
        ("hex:board_size=1", "board_size must be an integer from 2 to 19, got 1"),
        ("hex:board_size=5.0", "board_size must be an integer from 2 to 19, got 5.0"),
        ("hex:board_size=True", "board_size must be an integer"),
        ("hex:first=red", "first must be one of 'black', 'white', got 'red'"),
        ("hex:swap=1", "swap must be one of False, True, got 1"),
        ("hex:board_size", "expected key=value after the colon of 'hex:board_size', got"),
        ("hex:board_size=5,board_size=6", "'board_size' comes twice"),
        ("othello:board_size=5", "board_size must be one of 4, 6, 8, got 5"),
        ("connect4:connect=9", "connect must be an integer from 2 to 7, got 9"),
        ("tictactoe:line=4", "line must be an integer from 3 to 3, got 4"),
        ("hungry_geese:num_players=9", "num_players must be an integer from 1 to 8, got 9"),
        ("tron:rows=1", "rows must be an integer from 2 to 100, got 1"),
    ],
)
def test_unknown_games_and_parameters_out_of_range(name: str, message: str) -> None:
    for make_it in (make_game, GameEnv, GameVectorEnv):
        with pytest.raises(ValueError, match=message):
            make_it(name)


def test_unknown_ids_of_the_libraries(make: Make) -> None:
    with pytest.raises(gym.error.NameNotFound, match="Environment `Chess` doesn't exist"):
        gym.make("ludoteca/Chess-v0")
    with pytest.raises(gym.error.VersionNotFound, match="`v7`"):
        gym.make_vec("ludoteca/Hex-v7", num_envs=2)
    for kind in ("aec", "parallel"):
        with pytest.raises(Exception, match="Chess"):
            make_pettingzoo(kind, "ludoteca/Chess-v0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer from 1 to"),
        ({"num_envs": 2.0}, "num_envs must be an integer from 1 to"),
        ({"num_threads": 0}, "num_threads must be an integer from 1 to"),
        (
            {"autoreset_mode": "sometimes"},
            "one of 'NextStep', 'SameStep', 'Disabled', got 'sometimes'",
        ),
        ({"render_mode": "human"}, "render_mode must be None or one of"),
    ],
    ids=str,
)
def test_invalid_options_of_vectors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameVectorEnv("tictactoe", **options)


@pytest.mark.parametrize("kind", ["aec", "parallel"])
@pytest.mark.parametrize("cycles", [0, -5, 1.5, "9", True])
@pytest.mark.parametrize("id_", ["TicTacToe-v0", "Tron-v0"])
def test_invalid_max_cycles(kind: str, cycles: Any, id_: str, make: Make) -> None:
    with pytest.raises(ValueError, match="max_cycles must be an integer from 1 to"):
        make_pettingzoo(kind, f"ludoteca/{id_}", max_cycles=cycles)


def test_parameters_of_a_game_object_are_errors() -> None:
    for make_it in (GameEnv, GameVectorEnv):
        with pytest.raises(ValueError, match=r"already made, so it cannot take {'board_size': 5}"):
            make_it(make_game("hex"), board_size=5)


@ids
@pytest.mark.parametrize("kind", ["aec", "parallel"])
def test_invalid_seeds(id_: str, kind: str, make: Make) -> None:
    env = make(kind, id_)
    before = env.save()
    for seed in (-1, 2**63, 1.5, "0"):
        with pytest.raises(
            ValueError, match=r"a seed must be an integer from 0 to 2\*\*63 - 1, got"
        ):
            env.reset(seed=seed)
        assert env.save() == before
