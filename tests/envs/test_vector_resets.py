"""Vector environments: returned arrays, resets, seeds, registration, wrappers, images."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers
from numpy.typing import NDArray
from vector_games import (
    MakeSmallGame,
    assert_same,
    ids,
    modes,
    opponents,
    sample_actions,
    trajectory,
)

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


@ids
@opponents
@modes
def test_returned_arrays_belong_to_the_caller(
    id_: str, opponent: Any, mode: AutoresetMode, make_small_game: MakeSmallGame
) -> None:
    """Later steps do not change returned arrays, and changing the arrays affects no game."""

    def arrays(container: Any) -> list[NDArray[Any]]:
        if isinstance(container, dict):
            return [array for value in container.values() for array in arrays(value)]
        if isinstance(container, list | tuple):
            return [array for value in container for array in arrays(value)]
        return [container]

    env = GameVectorEnv(make_small_game(id_), 2, opponent=opponent, autoreset_mode=mode)
    original = trajectory(env, 14)
    before = [array.copy() for array in arrays(original)]
    later = trajectory(env, 14)
    for old, new in zip(before, arrays(original), strict=True):
        np.testing.assert_array_equal(old, new)
    assert_same(original, later)

    env = GameVectorEnv(make_small_game(id_), 2, opponent=opponent, autoreset_mode=mode)
    rng = np.random.default_rng(11)
    observations, info = env.reset(seed=11)
    log: list[Any] = [np.array(observations), {key: v.copy() for key, v in info.items()}]
    for _ in range(14):
        mask = info["action_mask"].copy()
        ended = env.game_batch.episode_states["over"].copy()
        if mode == AutoresetMode.DISABLED and ended.any():
            observations, info = env.reset(options={"reset_mask": ended})
            log += [np.array(observations), {key: v.copy() for key, v in info.items()}]
            mask = info["action_mask"].copy()
        for array in [observations, *arrays(info)]:
            array[...] = 1
        *returned, info = env.step(sample_actions(rng, mask, 0.1))
        log += [array.copy() for array in returned]
        log.append({k: v if isinstance(v, dict) else v.copy() for k, v in info.items()})
        if "final_info" in log[-1]:
            log[-1]["final_info"] = {k: v.copy() for k, v in info["final_info"].items()}
        for array in returned:
            array[...] = 1
    assert_same(log, later)


@pytest.mark.slow
@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.compiled
def test_later_steps_do_not_change_returned_observations(opponent: Any) -> None:
    torch = pytest.importorskip("torch")
    env = GameVectorEnv("tictactoe", 2048, opponent=opponent)
    # Objects that share the memory of an observation.
    make_views = [
        lambda seen: seen[5:],
        lambda seen: seen.T,
        lambda seen: memoryview(seen.reshape(-1)),
        lambda seen: torch.from_numpy(seen),
        lambda seen: np.frombuffer(seen.reshape(-1), np.int8),
    ]
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    held = []
    for step in range(40):
        seen, *_, info = env.step(sample_actions(rng, info["action_mask"], 0.0))
        if step % 3 == 0:
            make_view = make_views[step // 3 % len(make_views)]
            held.append((make_view(seen), make_view(seen.copy())))
    for view, copied in held:
        np.testing.assert_array_equal(np.asarray(view), np.asarray(copied))


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("num_envs", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_final_observations_of_other_games_are_zero(opponent: Any, num_envs: int) -> None:
    env = GameVectorEnv(
        "tictactoe", num_envs, opponent=opponent, autoreset_mode=AutoresetMode.SAME_STEP
    )
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(40):
        *_, terminated, _, info = env.step(sample_actions(rng, info["action_mask"], 0.0))
        if terminated.any():
            finals, final_info = info["final_obs"], info["final_info"]
            ends += 1
            assert (finals[terminated].sum((1, 2, 3)) >= 5).all()  # marks on the board
            assert not finals[~terminated].any()
            assert (final_info["_rewards"] == terminated).all()
            assert not final_info["rewards"][~terminated].any()
            assert not final_info["action_mask"].any()
    assert ends > 1


@ids
def test_reset_mask_does_not_change_other_games(id_: str, make_small_game: MakeSmallGame) -> None:
    env = GameVectorEnv(make_small_game(id_), 4, opponent="random")
    observations, info = env.reset(seed=0)
    for _ in range(2):
        observations, *_, info = env.step(info["action_mask"].argmax(-1))
    reset_mask = np.array([True, False, False, True])
    before = env.game_batch.states.copy(), env.game_batch.episode_states.copy()
    again, info_too = env.reset(seed=[70, None, None, None], options={"reset_mask": reset_mask})
    after = env.game_batch.states, env.game_batch.episode_states
    for old, new in zip(before, after, strict=True):
        assert (old[~reset_mask] == new[~reset_mask]).all()
    np.testing.assert_array_equal(again[~reset_mask], observations[~reset_mask])
    np.testing.assert_array_equal(
        info_too["action_mask"][~reset_mask], info["action_mask"][~reset_mask]
    )
    fresh, _ = GameEnv(make_small_game(id_)).reset(seed=70)
    np.testing.assert_array_equal(again[0], fresh)


def test_seeds_are_one_number_or_one_per_game() -> None:
    env = GameVectorEnv("hungry_geese", 3)
    by_number, _ = env.reset(seed=np.int64(4))
    by_list, _ = env.reset(seed=[4, 5, 6])
    by_array, _ = env.reset(seed=np.arange(4, 7))
    np.testing.assert_array_equal(by_number, by_list)
    np.testing.assert_array_equal(by_number, by_array)
    next_games, _ = env.reset()
    assert (next_games != by_number).any(axis=(1, 2, 3, 4)).all()
    env.reset(seed=[4, 5, 6])
    again, _ = env.reset(seed=[None, 5, None])
    np.testing.assert_array_equal(again[[0, 2]], next_games[[0, 2]])
    np.testing.assert_array_equal(again[1], by_number[1])


def test_without_a_seed_all_games_differ() -> None:
    for seed in (None, [1, None, None]):
        first, second = GameVectorEnv("hungry_geese", 3), GameVectorEnv("hungry_geese", 3)
        observations, other = first.reset(seed=seed)[0], second.reset(seed=seed)[0]
        assert len({game.tobytes() for game in [*observations[1:], *other[1:]]}) == 4


@pytest.mark.parametrize("seed", [-1, [0, -1], 2**63, [0], [0, 1, 2], 1.5, [0, 0.5], "a"])
def test_invalid_seeds_are_errors(seed: Any) -> None:
    env = GameVectorEnv("tictactoe", 2)
    with pytest.raises((ValueError, TypeError), match=r"seed|float"):
        env.reset(seed=seed)


@pytest.mark.parametrize(
    "mask", [[1, 0], [False, False], [True], np.ones((2, 1), bool), "ab", np.array([1.0, 0.0])]
)
def test_invalid_reset_masks_are_errors(mask: Any) -> None:
    env = GameVectorEnv("tictactoe", 2)
    env.reset(seed=0)
    before = env.save()
    with pytest.raises(ValueError, match=r"reset_mask must be booleans of shape \(2,\)"):
        env.reset(options={"reset_mask": mask})
    assert env.save() == before


def test_the_first_reset_must_reset_all_games() -> None:
    env = GameVectorEnv("tictactoe", 2)
    with pytest.raises(ValueError, match="first reset must reset all games"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(options={"reset_mask": np.array([True, True])})


def test_single_player_games_have_an_axis_of_players() -> None:
    env = gym.make_vec("ludoteca/HungryGeese-v0", num_envs=2, num_players=1)
    observations, info = env.reset(seed=0)
    assert observations in env.observation_space
    assert observations.shape == (2, 1, 5, 7, 11)
    assert info["action_mask"].shape == (2, 1, 4)
    assert info["player"].tolist() == [-1, -1]
    _, rewards, terminated, _, _ = env.step(env.action_space.sample())
    assert terminated.all()
    assert rewards.tolist() == [0.0, 0.0]
    alone = gym.make("ludoteca/HungryGeese-v0", num_players=1, opponent=[])
    alone.reset(seed=0)
    assert alone.step(0)[1:3] == (0.0, True)


@ids
@opponents
def test_make_vec_passes_parameters_and_has_the_right_spaces(
    id_: str, opponent: Any, make_small_game: MakeSmallGame
) -> None:
    params = make_small_game(id_).params
    env = gym.make_vec(f"ludoteca/{id_}", num_envs=3, opponent=opponent, **params)
    game = make_game(id_, **params)
    assert env.unwrapped.game is game
    spaces = env.observation_space, env.action_space
    observations, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(10):
        assert observations in env.observation_space
        assert info["action_mask"].dtype == np.int8
        np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"] == 1)
        observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())
        assert rewards.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
    assert spaces[0] is env.observation_space
    assert spaces[1] is env.action_space


@pytest.mark.parametrize("id_", ["Connect4-v0", "HungryGeese-v0"])
@modes
def test_gymnasiums_vector_wrappers_work(
    id_: str, mode: AutoresetMode, make_small_game: MakeSmallGame
) -> None:
    options: dict[str, Any] = {"opponent": "random", "autoreset_mode": mode} | dict(
        make_small_game(id_).params
    )
    env = gym.make_vec(f"ludoteca/{id_}", num_envs=4, **options)
    env = wrappers.RecordEpisodeStatistics(env)
    if mode != AutoresetMode.SAME_STEP:  # Gymnasium refuses to flatten observations then
        env = wrappers.FlattenObservation(env)
    env = wrappers.DictInfoToList(env)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    lengths, finished = np.zeros(4, int), 0
    over = np.zeros(4, bool)
    for _ in range(40):
        if mode == AutoresetMode.DISABLED and over.any():
            env.reset(options={"reset_mask": over})
            infos = [{"action_mask": mask.astype(np.int8)} for mask in env.unwrapped.action_masks()]
            lengths[over], over = 0, np.zeros(4, bool)
        masks = np.stack([info["action_mask"] for info in infos])
        _, rewards, terminated, _, infos = env.step(sample_actions(rng, masks, 0.0))
        for i, info in enumerate(infos):
            skipped = over[i] and mode == AutoresetMode.NEXT_STEP
            lengths[i] = 0 if skipped else lengths[i] + 1
            assert ("episode" in info) == terminated[i]
            assert ("final_obs" in info) == (terminated[i] and mode == AutoresetMode.SAME_STEP)
            if terminated[i]:
                assert info["episode"]["l"] == lengths[i]
                assert info["episode"]["r"] == rewards[i]
                finished += 1
                if mode == AutoresetMode.SAME_STEP:
                    lengths[i] = 0
        over = terminated.copy()
    assert finished > 8


def test_render_returns_one_image_per_game() -> None:
    for mode, kind in (("rgb_array", np.ndarray), ("ansi", str), ("svg", str)):
        env = gym.make_vec("ludoteca/TicTacToe-v0", num_envs=2, render_mode=mode)
        with pytest.raises(ValueError, match="call reset before render"):
            env.render()
        env.reset(seed=0)
        env.step(np.array([0, 8]))
        image, other = env.render()
        assert isinstance(image, kind)
        assert isinstance(other, kind)
        assert np.any(image != other)
    assert gym.make_vec("ludoteca/TicTacToe-v0", num_envs=2).render() is None
