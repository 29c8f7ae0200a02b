"""Observations and masks in every format, from every environment, of every game."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from boards import REPRESENTATIVES
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KINDS, ObservationFormat
from ludoteca.envs.registry import GAMES, make_game

pytestmark = pytest.mark.interpreted

with warnings.catch_warnings():
    # On import, PettingZoo's own tests make a game in its old style, which it deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

MakeSmallGame = Callable[[str], Game]
FORMATS = [
    *(ObservationFormat(kind) for kind in OBSERVATION_KINDS),
    ObservationFormat("flat", mask_dtype="float32"),
    ObservationFormat("dict", keys=("obs", "mask"), mask_dtype="bool", end_mask="ones"),
    ObservationFormat("flat_dict", keys=["observations", "action_mask"], end_mask="zeros"),
]
# Other games than the representative ones have two formats by default.
SOME_FORMATS = {
    name: [FORMATS[(k + shift) % len(FORMATS)] for shift in (0, 3)]
    for k, name in enumerate(GAMES)
    if name not in REPRESENTATIVES
}
games_and_formats = pytest.mark.parametrize(
    ("name", "forms"),
    [
        *(
            pytest.param(name, FORMATS, marks=pytest.mark.slow if name in SOME_FORMATS else ())
            for name in GAMES
        ),
        *SOME_FORMATS.items(),
    ],
)
OPTIONS = ("observation", "dtype", "channels_last", "keys", "mask_dtype", "end_mask")
# PettingZoo's tests warn of dictionaries, and of zeros: boards may be empty, and agents out.
api_warnings = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be gymnasium.spaces.box:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation numpy array is all zeros:UserWarning",
    "ignore:State numpy array is all zeros:UserWarning",
)


def options_of(form: ObservationFormat) -> dict[str, Any]:
    """Return the options of an environment that make a format."""
    return {name: getattr(form, name) for name in OPTIONS}


def formatted(form: ObservationFormat, planes: Any, mask: Any) -> tuple[Any, Any]:
    """Return an observation and a mask in a format, from int8 planes and an int8 mask.

    Both have as many leading axes as the mask has before its last.
    """
    leading = mask.ndim - 1
    if form.channels_last:
        planes = np.moveaxis(planes, leading, -1)
    planes = planes.astype(form.dtype)
    if form.observation.startswith("flat"):
        planes = planes.reshape(*mask.shape[:-1], -1)
    if form.end_mask == "ones":
        mask = np.where(mask.any(-1, keepdims=True), mask, 1)
    mask = mask.astype(form.mask_dtype)
    if not form.observation.endswith("dict"):
        return planes, mask
    return {form.keys[0]: planes, form.keys[1]: mask}, mask


def assert_equal(first: Any, other: Any) -> None:
    """Assert that observations are equal, dtypes included."""
    if isinstance(other, dict):
        assert first.keys() == other.keys()
        for key in other:
            assert_equal(first[key], other[key])
    else:
        assert first.dtype == other.dtype
        np.testing.assert_array_equal(first, other)


def draw(rng: np.random.Generator, masks: Any) -> Any:
    """Sample a legal action for each mask."""
    return (rng.random(masks.shape) * masks).argmax(-1)


def check_single(game: Game, form: ObservationFormat) -> None:
    """Compare a game in a format with the same game in planes, in a single environment."""
    rng = np.random.default_rng(0)
    plain, env = GameEnv(game), GameEnv(game, **options_of(form))
    planes, info = plain.reset(seed=3)
    seen, shown_info = env.reset(seed=3)
    ends = 0
    while True:
        observation, mask = formatted(form, planes, info["action_mask"])
        assert_equal(seen, observation)
        assert seen in env.observation_space
        assert_equal(shown_info["action_mask"], mask)
        np.testing.assert_array_equal(env.action_masks(), mask.astype(bool))
        if ends:
            break
        action = draw(rng, info["action_mask"])
        planes, reward, over, _, info = plain.step(action)
        seen, seen_reward, ended, _, shown_info = env.step(action)
        assert (seen_reward, ended) == (reward, over)
        ends += over


def check_vector(game: Game, form: ObservationFormat, mode: AutoresetMode) -> None:
    """Compare games in a format with the same games in planes, in a vector environment."""
    rng = np.random.default_rng(0)
    plain = GameVectorEnv(game, 3, autoreset_mode=mode)
    env = GameVectorEnv(game, 3, autoreset_mode=mode, **options_of(form))
    assert env.observation_space == gym.vector.utils.batch_space(env.single_observation_space, 3)
    planes, info = plain.reset(seed=3)
    seen, shown_info = env.reset(seed=3)
    ends = 0
    while ends < 2:
        observation, mask = formatted(form, planes, info["action_mask"])
        assert_equal(seen, observation)
        assert seen in env.observation_space
        assert_equal(shown_info["action_mask"], mask)
        np.testing.assert_array_equal(env.action_masks(), mask.astype(bool))
        actions = draw(rng, info["action_mask"])
        planes, rewards, over, _, info = plain.step(actions)
        seen, seen_rewards, ended, _, shown_info = env.step(actions)
        np.testing.assert_array_equal(seen_rewards, rewards)
        np.testing.assert_array_equal(ended, over)
        ends += over.sum()
        if "final_obs" in info:
            last, last_mask = info["final_obs"], info["final_info"]["action_mask"]
            assert not last_mask.any()
            observation, mask = formatted(form, last[over], last_mask[over])
            final, final_mask = shown_info["final_obs"], shown_info["final_info"]["action_mask"]
            assert final in env.observation_space
            parts = final.items() if isinstance(final, dict) else [(None, final)]
            for key, values in parts:
                assert_equal(values[over], observation if key is None else observation[key])
                assert not values[~over].any()
            assert_equal(final_mask[over], mask)
            assert not final_mask[~over].any()
        if mode == AutoresetMode.DISABLED and over.any():
            planes, info = plain.reset(options={"reset_mask": over})
            seen, shown_info = env.reset(options={"reset_mask": over})


@games_and_formats
@pytest.mark.interpreted
def test_gymnasiums_environments_return_every_format(
    name: str, forms: list[ObservationFormat], make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(name)
    for form, mode in zip(forms, [*AutoresetMode] * 3, strict=False):
        check_single(game, form)
        check_vector(game, form, mode)
    if forms == FORMATS:
        check_vector(game, FORMATS[-2], AutoresetMode.SAME_STEP)  # final masks of ones


def walk(env: Any, seed: int) -> Iterator[tuple[str, Any, bool]]:
    """Play a game of an AEC environment at random.

    Before each step, yield the agent, its action mask and whether it is terminated or truncated.
    """
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        over = terminated or truncated
        yield agent, info["action_mask"], over
        env.step(None if over else int(draw(rng, info["action_mask"])))


@games_and_formats
@pytest.mark.interpreted
def test_pettingzoos_environments_return_every_format(
    name: str, forms: list[ObservationFormat], make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(name)
    for form in forms:
        plain, env = aec_env(game), aec_env(game, **options_of(form))
        twin, parallel = parallel_env(game), parallel_env(game, **options_of(form))
        for (agent, mask, over), _ in zip(walk(plain, 3), walk(env, 3), strict=True):
            assert env.agent_selection == agent
            assert (env.terminations[agent] or env.truncations[agent]) == over
            for other in env.agents:
                expected = plain.observe(other)
                mask = expected["action_mask"]
                # Agents that are not to move have a mask of zeros, whatever `end_mask` is.
                waits = not (mask.any() or over)
                agent_form = replace(form, end_mask="zeros") if waits else form
                seen, seen_mask = formatted(agent_form, expected["observation"], mask)
                assert_equal(env.observe(other), seen)
                assert_equal(env.infos[other]["action_mask"], seen_mask)
                assert env.observe(other) in env.observation_space(other)
            assert env.state() in env.state_space
            assert env.state().size == plain.state().size
        rng = np.random.default_rng(0)
        twin.reset(seed=3)
        observations, infos = parallel.reset(seed=3)
        while twin.agents:
            actions = {name: int(draw(rng, infos[name]["action_mask"])) for name in twin.agents}
            expected, *expected_rest, _ = twin.step(actions)
            observations, *rest, infos = parallel.step(actions)
            assert rest == expected_rest  # rewards, terminations, truncations
            for name, pair in expected.items():
                mask = pair["action_mask"]
                waits = not mask.any() and bool(twin.agents) and not game.simultaneous
                agent_form = replace(form, end_mask="zeros") if waits else form
                seen, seen_mask = formatted(agent_form, pair["observation"], mask)
                assert_equal(observations[name], seen)
                assert_equal(infos[name]["action_mask"], seen_mask)
                assert observations[name] in parallel.observation_space(name)


@games_and_formats
@pytest.mark.interpreted
def test_sb3s_environment_returns_every_format(
    name: str, forms: list[ObservationFormat], make_small_game: MakeSmallGame
) -> None:
    pytest.importorskip("stable_baselines3")
    from ludoteca.envs.adapters.sb3 import SB3VecEnv

    game = make_small_game(name)
    for form in forms:
        rng = np.random.default_rng(0)
        plain, env = SB3VecEnv(game, 2, seed=3), SB3VecEnv(game, 2, seed=3, **options_of(form))
        planes, seen = plain.reset(), env.reset()
        ends = 0
        while ends < 2:
            masks = plain.action_masks().astype(np.int8)
            assert_equal(seen, formatted(form, planes, masks)[0])
            for i in range(2):
                observation = (
                    {key: seen[key][i] for key in seen} if isinstance(seen, dict) else seen[i]
                )
                assert observation in env.observation_space
            actions = draw(rng, masks)
            planes, *_, infos = plain.step(actions)
            seen, _, dones, shown_info = env.step(actions)
            for i in np.flatnonzero(dones):
                last = infos[i]["terminal_observation"]
                nothing = np.zeros(game.num_actions, np.int8)
                assert_equal(
                    shown_info[i]["terminal_observation"], formatted(form, last, nothing)[0]
                )
            ends += dones.sum()


@pytest.mark.parametrize("id_", GAMES)
@api_warnings
def test_conformance_suites_pass_in_every_format(id_: str, make_small_game: MakeSmallGame) -> None:
    params, name = dict(make_small_game(id_).params), id_
    kinds = ("planes", "flat", "flat_dict")
    for kind in kinds if id_ in REPRESENTATIVES else [kinds[list(GAMES).index(id_) % 3]]:
        options = {"observation": kind} | params
        check_env(GameEnv(name, **options), skip_render_check=True)
        api_test(aec_env(name, **options), num_cycles=10)
        parallel_api_test(parallel_env(name, **options), num_cycles=10)
        parallel_api_test(parallel_env(name, keep_eliminated=True, **options), num_cycles=10)
    options = {"observation": "flat", "keep_eliminated": True} | params
    seed_test(lambda: aec_env(name, **options), num_cycles=10)
    parallel_seed_test(lambda: parallel_env(name, **options), num_cycles=10)


@pytest.mark.parametrize(
    ("id_", "channels_last"),
    [("TicTacToe-v0", False), ("TicTacToe-v0", True), ("Tron-v0", True)],
)
def test_floats_and_the_order_of_channels_hold_in_every_format(
    id_: str, channels_last: bool, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    for form in FORMATS:
        other = replace(form, dtype="float32", channels_last=channels_last)
        check_single(game, other)
        check_vector(game, other, AutoresetMode.NEXT_STEP)
        env = aec_env(game, **options_of(other))
        env.reset(seed=0)
        assert env.observe("player_0") in env.observation_space("player_0")
        assert env.state() in env.state_space
        assert env.state().dtype == np.float32
        twin = parallel_env(game, **options_of(other))
        observations, _ = twin.reset(seed=0)
        for name, seen in observations.items():
            assert_equal(seen, env.observe(name))


def test_final_masks_are_ones_by_default_in_dictionaries_of_vector_environments() -> None:
    for kind in OBSERVATION_KINDS:
        default = "ones" if kind.endswith("dict") else "zeros"
        assert GameVectorEnv("tictactoe", 2, observation=kind).format.end_mask == default
        for end in ("zeros", "ones"):
            made = GameVectorEnv("tictactoe", 2, observation=kind, end_mask=end)
            assert made.format.end_mask == end
        assert GameEnv("tictactoe", observation=kind).format.end_mask == "zeros"
        assert aec_env("tictactoe", observation=kind).format.end_mask == "zeros"


def test_every_mask_of_a_dictionary_allows_an_action(make_small_game: MakeSmallGame) -> None:
    # Also where opponents win before the agent's first move, and for players that are out.
    for game, options in (
        (make_game("knight_through:rows=4,columns=4"), {"opponent": "random", "agent_seat": 1}),
        (make_small_game("HungryGeese-v0"), {}),
    ):
        for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            env = GameVectorEnv(game, 6, observation="dict", autoreset_mode=mode, **options)
            rng = np.random.default_rng(0)
            seen, _ = env.reset(seed=0)
            for _ in range(20):
                assert seen["action_mask"].any(-1).all()
                seen, *_ = env.step(draw(rng, seen["action_mask"]))


def test_formats_are_compared_hashed_and_pickled_by_value() -> None:
    original = ObservationFormat("dict", dtype=np.float32, keys=["a", "b"], mask_dtype=bool)
    assert original == ObservationFormat(
        "dict", dtype="float32", keys=("a", "b"), mask_dtype="bool"
    )
    assert original != replace(original, end_mask="ones")
    assert hash(original) == hash(pickle.loads(pickle.dumps(original)))
    with pytest.raises(FrozenInstanceError):
        original.observation = "planes"  # type: ignore[misc]
    game = make_game("tictactoe")
    box, mask = spaces.Box(0, 1, (2, 2, 3, 3), np.float32), spaces.Box(0, 1, (2, 9), np.bool_)
    assert original.space(game, 2) == spaces.Dict({"a": box, "b": mask})
    assert ObservationFormat("flat").space(game) == spaces.Box(0, 1, (18,), np.int8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "plane"}, r"observation must be one of .*\(did you mean 'planes'\?\)"),
        (
            {"mask_dtype": "int32"},
            "mask_dtype must be one of 'int8', 'bool', 'float32'",
        ),
        ({"end_mask": "one"}, "end_mask must be one of None, 'zeros', 'ones', got 'one'"),
        ({"keys": "ab"}, "keys must be two names, such as .*, got 'ab'"),
        ({"keys": ("obs",)}, "keys must be two names"),
        ({"keys": ("obs", "obs"), "observation": "dict"}, "keys must be two different names"),
        (
            {"keys": ("obs", "mask"), "observation": "flat"},
            "need observation='dict' or 'flat_dict'",
        ),
    ],
    ids=str,
)
def test_invalid_formats_are_errors(options: dict[str, Any], message: str) -> None:
    for make in (GameEnv, GameVectorEnv, aec_env, parallel_env):
        with pytest.raises(ValueError, match=message):
            make("tictactoe", **options)


@pytest.mark.parametrize("id_", ["Connect4-v0", "Tron-v0"])
def test_an_unknown_keyword_is_a_type_error_and_a_value_error(id_: str) -> None:
    text = "got an unexpected keyword argument 'frameskip'; it has rows, columns.*; the environment"
    name = f"ludoteca/{id_}"
    makers = [
        lambda **options: gym.make(name, **options),
        lambda **options: gym.make_vec(name, num_envs=2, **options),
        lambda **options: aec_env(id_, **options),
        lambda **options: parallel_env(id_, **options),
    ]
    for make in makers:
        for kind in (TypeError, ValueError):
            with pytest.raises(kind, match=text):
                make(frameskip=4)
        with pytest.raises(TypeError, match=r"\(did you mean 'render_mode'\?\)"):
            make(render_mod="ansi")
    with pytest.raises(TypeError, match=r"\(did you mean 'opponent'\?\)"):
        makers[0](oponent="greedy")
    with pytest.raises(TypeError, match="already made"):
        GameEnv(make_game(id_), frameskip=4)
