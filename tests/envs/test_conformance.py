"""The environments pass the conformance suites of PettingZoo, Gymnasium and Stable-Baselines3."""

import importlib
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_match import check_environments_match
from pettingzoo_make import HAS_REGISTRY, make_pettingzoo

from ludoteca.envs.api.registration import register_all
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

with warnings.catch_warnings():
    # On import, PettingZoo's tests use a deprecated interface.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
        state_test,
    )

# These tests concern the Python code around the rules. `test_interpreted` compares both modes.
pytestmark = pytest.mark.interpreted
SLOW = (pytest.mark.interpreted, pytest.mark.slow)  # marks of slow tests that compile nothing

ids = pytest.mark.parametrize("id_", GAMES)
boards = pytest.mark.parametrize("board", [pytest.param("default", marks=SLOW), "small"])
# Either maker makes either board, by default one of them each.
STYLES = ("make", "module") if HAS_REGISTRY else ("module",)
styled_boards = pytest.mark.parametrize(
    ("style", "board"),
    [
        pytest.param(
            style,
            board,
            marks=SLOW if HAS_REGISTRY and (style == "make") != (board == "small") else (),
        )
        for style in STYLES
        for board in ("default", "small")
    ],
)

# PettingZoo's api_test warns of spaces that are not boxes, except for a list of its own games.
dictionaries = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be gymnasium.spaces.box:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
)
# PettingZoo warns of observations that are all zeros, as those of an empty board are.
empty_boards = pytest.mark.filterwarnings(
    "ignore:Observation numpy array is all zeros:UserWarning",
    "ignore:State numpy array is all zeros:UserWarning",
)
# SB3 treats every box with three axes as an image of bytes, also planes of 0 and 1.
not_images = pytest.mark.filterwarnings(
    "ignore:It seems that your observation.*is an image:UserWarning",
    "ignore:The minimal resolution for an image is 36x36:UserWarning",
    "ignore:.*is an image but the upper and lower bounds:UserWarning",
    "ignore:Treating image space as channels-last:UserWarning",
)


@pytest.fixture
def params(id_: str, board: str, make_small_game: Callable[[str], Game]) -> dict[str, Any]:
    """Return the parameters of a game on its default or a small board."""
    return {} if board == "default" else dict(make_small_game(id_).params)


def maker(style: str, kind: str, id_: str) -> Callable[..., Any]:
    """Return a maker of AEC or parallel environments, by PettingZoo's registry or our module."""
    if style == "make":
        return partial(make_pettingzoo, kind, f"ludoteca/{id_}")
    module = importlib.import_module(f"ludoteca.envs.{make_game(id_).name}_v0")
    made: Callable[..., Any] = getattr(module, "env" if kind == "aec" else "parallel_env")
    return made


@styled_boards
@ids
@dictionaries
@empty_boards
def test_pettingzoo_api_test(style: str, id_: str, params: dict[str, Any]) -> None:
    api_test(maker(style, "aec", id_)(**params), num_cycles=60)


@styled_boards
@ids
def test_pettingzoo_parallel_api_test(style: str, id_: str, params: dict[str, Any]) -> None:
    parallel_api_test(maker(style, "parallel", id_)(**params), num_cycles=60)


@ids
@boards
def test_pettingzoo_seed_tests(id_: str, params: dict[str, Any]) -> None:
    seed_test(lambda: maker("make", "aec", id_)(**params), num_cycles=15)
    parallel_seed_test(lambda: maker("make", "parallel", id_)(**params), num_cycles=15)


@ids
@boards
@empty_boards
def test_pettingzoo_state_test(id_: str, params: dict[str, Any]) -> None:
    make, make_parallel = maker("make", "aec", id_), maker("make", "parallel", id_)
    state_test(make(**params), make_parallel(**params))


@ids
def test_pettingzoo_render_test(id_: str, make_small_game: Callable[[str], Game]) -> None:
    # PettingZoo's test checks rgb_array, ansi and human itself.
    svg = {"svg": lambda drawn: drawn.startswith("<svg") and drawn.rstrip().endswith("</svg>")}
    make = partial(maker("make", "aec", id_), **make_small_game(id_).params)
    render_test(make, custom_tests=svg)


@ids
def test_parallel_environments_render_in_every_mode(id_: str) -> None:
    make = maker("make", "parallel", id_)
    kinds = {"human": type(None), "rgb_array": np.ndarray, "ansi": str, "svg": str}
    assert set(make().metadata["render_modes"]) == set(kinds)
    for mode, kind in kinds.items():
        env = make(render_mode=mode)
        env.reset(seed=0)
        env.step({agent: 0 for agent in env.agents})
        assert isinstance(env.render(), kind)
        env.close()
        env.close()


@ids
def test_the_last_move_is_marked_in_pictures(id_: str) -> None:
    game = make_game(id_)
    env = gym.make(f"ludoteca/{id_}", render_mode="svg", opponent="random").unwrapped
    env.reset(seed=0)
    before = env.render()
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert env.render() != before
    if not game.simultaneous:
        assert env.replay().actions != []


def masked_moves(env: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Play a game of an AEC environment at random.

    Before each step, yield the agent to step and whether it is terminated or truncated.
    """
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        yield agent, over
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if over else int(rng.choice(legal)))


# PettingZoo's max_cycles_test is not usable: it samples actions without masks, so that the default
# rule for illegal actions ends its games before truncation, and it requires that no agent dies.
@ids
@boards
def test_max_cycles_truncates_aec_games(id_: str, params: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    env = maker("make", "aec", id_)(max_cycles=2, **params)
    for seed in range(3):
        env.reset(seed=seed)
        moves = dict.fromkeys(env.possible_agents, 0)
        truncated = set()
        for agent, over in masked_moves(env, rng):
            if over:
                assert env.truncations[agent] != env.terminations[agent]
                truncated |= {agent} if env.truncations[agent] else set()
            else:
                moves[agent] += 1
        assert max(moves.values()) <= 2
        # A truncated game has `max_cycles` moves.
        if truncated:
            assert max(moves.values()) == 2
            assert all(moves[agent] == 2 for agent in truncated)


@ids
@boards
def test_max_cycles_truncates_parallel_games(id_: str, params: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    game = make_game(id_, **params)
    steps_allowed = 2 if game.simultaneous else 2 * game.num_players
    env = maker("make", "parallel", id_)(max_cycles=2, **params)
    for seed in range(3):
        observations, _ = env.reset(seed=seed)
        steps = 0
        while env.agents:
            playing = env.agents[:]
            masks = {agent: observations[agent]["action_mask"] for agent in playing}
            actions = {
                agent: int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0
                for agent, mask in masks.items()
            }
            observations, _, terminations, truncations, _ = env.step(actions)
            steps += 1
            assert not any(terminations[agent] and truncations[agent] for agent in playing)
            if steps == steps_allowed:
                assert all(terminations[agent] or truncations[agent] for agent in playing)
            else:
                assert not any(truncations.values())
        assert steps <= steps_allowed


@ids
def test_max_cycles_of_max_plies_truncates_nothing(id_: str) -> None:
    env = maker("make", "aec", id_)(max_cycles=make_game(id_).max_plies)
    env.reset(seed=0)
    for agent, over in masked_moves(env, np.random.default_rng(1)):
        assert env.terminations[agent] == over


@ids
@pytest.mark.parametrize(
    ("board", "observation"),
    [
        ("default", "planes"),
        ("small", "dict"),
        pytest.param("default", "dict", marks=SLOW),
        pytest.param("small", "planes", marks=SLOW),
    ],
)
def test_gymnasium_check_env(id_: str, params: dict[str, Any], observation: str) -> None:
    env = gym.make(f"ludoteca/{id_}", observation=observation, disable_env_checker=True, **params)
    # All render modes take time: once is enough.
    check_env(env.unwrapped, skip_render_check=bool(params) or observation == "dict")


@ids
def test_gymnasium_check_env_with_a_render_mode(id_: str) -> None:
    for mode in ("rgb_array", "ansi"):
        env = gym.make(f"ludoteca/{id_}", render_mode=mode, disable_env_checker=True)
        check_env(env.unwrapped, skip_render_check=mode == "ansi")


@ids
@pytest.mark.parametrize("options", [{}, {"observation": "dict"}, {"dtype": "float32"}], ids=str)
@not_images
def test_sb3_check_env(id_: str, options: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gym.make(f"ludoteca/{id_}", **options))


@ids
def test_equally_made_environments_match(id_: str, make_small_game: Callable[[str], Game]) -> None:
    options: dict[str, Any] = {"agent_seat": "random", "illegal_action": "random"}
    options |= make_small_game(id_).params
    first, other = (gym.make(f"ludoteca/{id_}", **options) for _ in range(2))
    check_environments_match(first, other, num_steps=25, seed=3)


@ids
def test_dictionaries_hold_the_planes_and_the_mask(id_: str) -> None:
    options = {"agent_seat": "random", "illegal_action": "random"}
    planes = gym.make(f"ludoteca/{id_}", **options)
    both = gym.make(f"ludoteca/{id_}", observation="dict", **options)
    seen, info = planes.reset(seed=5)
    seen_too, _ = both.reset(seed=5)
    for action in range(20):
        np.testing.assert_array_equal(seen_too["observation"], seen)
        np.testing.assert_array_equal(seen_too["action_mask"], info["action_mask"])
        seen, _, terminated, _, info = planes.step(action % planes.action_space.n)
        seen_too, *_ = both.step(action % planes.action_space.n)
        if terminated:
            break


def test_a_module_prefix_needs_no_import() -> None:
    script = (
        "import gymnasium\n"
        "env = gymnasium.make('ludoteca:ludoteca/Hex-v0', board_size=3)\n"
        "env.reset(seed=0)\n"
        "vector = gymnasium.make_vec('ludoteca:ludoteca/Hex-v0', num_envs=2, board_size=3)\n"
        "vector.reset(seed=0)\n"
        "import ludoteca.envs.hex_v0\n"
        "from ludoteca.envs import tron_v0\n"
        "print(ludoteca.envs.hex_v0.env().metadata['name'], tron_v0.raw_env().metadata['name'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error::UserWarning", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["hex_v0", "tron_v0"]


def test_registering_twice_is_harmless() -> None:
    registries = [gym.registry]
    if HAS_REGISTRY:
        registries += [pettingzoo.aec_registry, pettingzoo.parallel_registry]
    before = [dict(registry) for registry in registries]
    register_all()
    assert before == registries


def test_pettingzoo_without_a_registry_is_supported() -> None:
    # PettingZoo has a registry since 1.27.
    script = (
        "import pettingzoo\n"
        "for name in ('make', 'register', 'aec_registry', 'parallel_registry'):\n"
        "    vars(pettingzoo).pop(name, None)\n"
        "import ludoteca\n"
        "from ludoteca.envs import tictactoe_v0, tron_v0\n"
        "env = tictactoe_v0.env(board_size=4)\n"
        "env.reset(seed=0)\n"
        "print(env.metadata['name'], len(env.observe('player_0')['action_mask']))\n"
        "print(tron_v0.parallel_env().possible_agents)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "tictactoe_v0 16"
    assert "player_1" in done.stdout


@ids
def test_ids_names_and_agents_have_the_usual_form(id_: str) -> None:
    game = make_game(id_)
    assert re.fullmatch(r"[A-Za-z0-9]+-v0", id_)
    assert re.fullmatch(r"[a-z0-9_]+", game.name)
    for kind in ("aec", "parallel"):
        env = maker("make", kind, id_)()
        assert re.fullmatch(r"[a-z0-9_]+_v0", env.metadata["name"])
        assert env.metadata["name"] == f"{game.name}_v0"
        assert env.possible_agents == [f"player_{i}" for i in range(game.num_players)]
        assert env.metadata["is_parallelizable"] == (kind == "parallel" or game.simultaneous)
    module = importlib.import_module(f"ludoteca.envs.{game.name}_v0")
    assert type(module.raw_env()) is type(module.env())


@ids
def test_spaces_are_the_same_objects_at_every_call(id_: str) -> None:
    for kind in ("aec", "parallel"):
        env = maker("make", kind, id_)()
        first = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
        env.reset(seed=0)
        again = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
        for one, other in zip(first, again, strict=True):
            assert one[0] is other[0]
            assert one[1] is other[1]
        # Each agent's action space samples from its own random generator.
        assert len({id(action_space) for _, action_space in first}) == len(first)
    single = gym.make(f"ludoteca/{id_}").unwrapped
    spaces = single.observation_space, single.action_space
    single.reset(seed=0)
    assert spaces[0] is single.observation_space
    assert spaces[1] is single.action_space


@ids
@boards
def test_observations_and_masks_lie_in_their_spaces(id_: str, params: dict[str, Any]) -> None:
    env = maker("make", "aec", id_)(**params)
    env.reset(seed=1)
    for agent, _ in masked_moves(env, np.random.default_rng(2)):
        observation, _, _, _, info = env.last()
        assert observation in env.observation_space(agent)
        np.testing.assert_array_equal(info["action_mask"], observation["action_mask"])
        assert info["action_mask"].dtype == np.int8
        assert env.state() in env.state_space


@ids
def test_in_sequential_games_only_the_mover_has_a_mask(
    id_: str, make_small_game: Callable[[str], Game]
) -> None:
    if make_game(id_).simultaneous:
        pytest.skip("a simultaneous game")
    env = maker("make", "aec", id_)(**make_small_game(id_).params)
    env.reset(seed=1)
    for agent, over in masked_moves(env, np.random.default_rng(2)):
        for other in env.agents:
            mask = env.observe(other)["action_mask"]
            np.testing.assert_array_equal(mask, env.infos[other]["action_mask"])
            assert mask.any() == (other == agent and not over)


@ids
def test_mutating_results_of_an_aec_environment_changes_nothing(
    id_: str, make_small_game: Callable[[str], Game]
) -> None:
    def play(spoil: bool) -> list[Any]:
        env = maker("make", "aec", id_)(**make_small_game(id_).params)
        env.reset(seed=4)
        log = []
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            log.append((agent, reward, observation["observation"].tobytes()))
            over = terminated or truncated
            action = None if over else int(np.flatnonzero(observation["action_mask"])[-1])
            if spoil:
                for other in env.agents:
                    env.infos[other]["action_mask"][:] = 1
                observation["observation"][:] = 1
                observation["action_mask"][:] = 1
                info["action_mask"][:] = 1
            env.step(action)
        return log

    assert play(spoil=False) == play(spoil=True)
