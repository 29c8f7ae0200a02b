"""Vector environment, compared with a reference implementation and with other environments.

The others are single environments, PettingZoo's, and Gymnasium's vector environment.
"""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo_make import make_pettingzoo
from vector_games import (
    MakeSmallGame,
    PythonRandom,
    ReferenceGame,
    assert_same,
    ids,
    illegal_actions,
    modes,
    opponents,
    sample_actions,
    trajectory,
)

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.registry import GAMES
from ludoteca.envs.validation import DTYPES

pytestmark = pytest.mark.interpreted


@ids
@opponents
@illegal_actions
@np.errstate(over="ignore")  # SplitMix64 wraps around
def test_vector_environment_equals_a_reference_in_plain_python(
    id_: str, opponent: Any, illegal_action: str, make_small_game: MakeSmallGame
) -> None:
    game, count, steps = make_small_game(id_), 2, 16
    for mode in AutoresetMode:
        seat = 0 if opponent is None else "random"
        options = {"opponent": opponent, "agent_seat": seat, "illegal_action": illegal_action}
        env = GameVectorEnv(game, count, autoreset_mode=mode, **options)
        observations, info = env.reset(seed=7)
        references = [
            ReferenceGame(game, 7 + i, opponent, seat, illegal_action) for i in range(count)
        ]
        rng = np.random.default_rng(0)
        for _ in range(steps):
            for i, reference in enumerate(references):
                expected = reference.observe() | reference.rewards_info()
                np.testing.assert_array_equal(observations[i], expected.pop("observation"))
                for name, value in expected.items():
                    np.testing.assert_array_equal(info[name][i], value, err_msg=name)
            actions = sample_actions(rng, info["action_mask"], 0.1)
            if mode == AutoresetMode.DISABLED and any(reference.over for reference in references):
                reset_mask = np.array([reference.over for reference in references])
                observations, info = env.reset(options={"reset_mask": reset_mask})
                for reference in references:
                    if reference.over:
                        reference.reset()
                continue
            observations, rewards, terminated, truncated, info = env.step(actions)
            assert not truncated.any()
            finals = np.zeros(count, bool)
            for i, reference in enumerate(references):
                if reference.over and mode == AutoresetMode.NEXT_STEP:
                    reference.reset()
                else:
                    reference.step(np.atleast_1d(actions[i]).tolist())
                assert rewards[i] == np.float32(reference.reward)
                assert terminated[i] == reference.over
                if reference.over and mode == AutoresetMode.SAME_STEP:
                    finals[i] = True
                    final, step_info = reference.observe(), reference.rewards_info()
                    np.testing.assert_array_equal(info["final_obs"][i], final.pop("observation"))
                    for name, value in (final | step_info).items():
                        np.testing.assert_array_equal(info["final_info"][name][i], value)
                    reference.reset()
                    # The info after a same-step reset still has the rewards of the step.
                    reference.rewards = step_info["rewards"]
                    reference.illegal = step_info["illegal_action"]
            if mode == AutoresetMode.SAME_STEP and finals.any():
                for name in ("_final_obs", "_final_info"):
                    np.testing.assert_array_equal(info[name], finals)
                assert not info["final_obs"][~finals].any()
            else:
                assert not {"final_obs", "final_info", "_final_obs", "_final_info"} & info.keys()


@pytest.mark.slow
@pytest.mark.parametrize("id_", GAMES)
@opponents
@modes
@pytest.mark.compiled
def test_results_do_not_depend_on_threads(
    id_: str, opponent: Any, mode: AutoresetMode, make_small_game: MakeSmallGame
) -> None:
    logs = []
    for threads in (1, 2, 3, 9):
        env = GameVectorEnv(
            make_small_game(id_), 7, opponent=opponent, num_threads=threads, autoreset_mode=mode
        )
        logs.append(trajectory(env, 25))
        env.close()
    for log in logs[1:]:
        assert_same(logs[0], log)


@ids
@pytest.mark.parametrize("opponent", ["random", PythonRandom], ids=["compiled", "python"])
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_game_i_equals_a_single_environment_seeded_with_s_plus_i(
    id_: str, opponent: Any, seat: Any, make_small_game: MakeSmallGame
) -> None:
    game, count, seed = make_small_game(id_), 2, 2**40
    against = opponent if isinstance(opponent, str) else opponent(game)
    options = {"opponent": against, "agent_seat": seat, "illegal_action": "random"}
    env = GameVectorEnv(game, count, **options)
    singles = [GameEnv(game, **options) for _ in range(count)]
    observations, info = env.reset(seed=seed)
    rng = np.random.default_rng(0)
    over, episodes = np.zeros(count, bool), 0
    for i, single in enumerate(singles):
        seen, single_info = single.reset(seed=seed + i)
        np.testing.assert_array_equal(seen, observations[i])
        assert_same(single_info, as_single(info, i))
    for _ in range(25):
        actions = sample_actions(rng, info["action_mask"], 0.1)
        observations, rewards, terminated, _, info = env.step(actions)
        for i, single in enumerate(singles):
            if over[i]:
                seen, single_info = single.reset()
                reward, ended = 0.0, False
            else:
                seen, reward, ended, truncated, single_info = single.step(actions[i])
                assert truncated is False
            np.testing.assert_array_equal(seen, observations[i])
            assert (reward, ended) == (rewards[i], terminated[i])
            assert_same(single_info, as_single(info, i))
            over[i] = ended
            episodes += ended
    assert episodes > 2 * count


def as_single(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the info of game i in the form of `GameEnv`."""
    return {
        "action_mask": info["action_mask"][i],
        "rewards": info["rewards"][i],
        "player": int(info["player"][i]),
        "illegal_action": bool(info["illegal_action"][i]),
    }


@ids
def test_self_play_equals_pettingzoos_environments(
    id_: str, make_small_game: MakeSmallGame
) -> None:
    game, seed = make_small_game(id_), 5
    env = GameVectorEnv(game, 2)
    observations, info = env.reset(seed=seed - 1)  # game 1, the compared one, has `seed`
    kind = "parallel" if game.simultaneous else "aec"
    other = make_pettingzoo(kind, f"ludoteca/{id_}", **make_small_game(id_).params)
    other.reset(seed=seed)
    rng = np.random.default_rng(3)
    ended, episodes = False, 0
    for _ in range(40):
        actions = sample_actions(rng, info["action_mask"], 0.05)
        observations, _, terminated, _, info = env.step(actions)
        rewards = dict(zip(other.possible_agents, info["rewards"][1].tolist(), strict=True))
        if ended:
            other.reset()
        elif game.simultaneous:
            playing = other.agents[:]
            seats = [other.possible_agents.index(agent) for agent in playing]
            joint_action = dict(zip(playing, actions[1, seats], strict=True))
            seen, other_rewards, over, _, _ = other.step(joint_action)
            assert other_rewards == {agent: rewards[agent] for agent in playing}
            assert all(over.values()) == terminated[1]
            for agent, seat in zip(playing, seats, strict=True):
                np.testing.assert_array_equal(seen[agent]["observation"], observations[1, seat])
                np.testing.assert_array_equal(
                    seen[agent]["action_mask"], info["action_mask"][1, seat]
                )
        else:
            other.step(actions[1])
            assert other.rewards == rewards
            assert set(other.terminations.values()) == {terminated[1]}
        if not game.simultaneous:
            assert other.agent_selection == f"player_{info['player'][1]}"
            seen = other.observe(other.agent_selection)
            np.testing.assert_array_equal(seen["observation"], observations[1])
            np.testing.assert_array_equal(seen["action_mask"], info["action_mask"][1])
        ended = bool(terminated[1])
        episodes += ended
    assert episodes > 2


@ids
@modes
def test_vector_environment_equals_gymnasiums_vector_of_single_environments(
    id_: str, mode: AutoresetMode, make_small_game: MakeSmallGame
) -> None:
    options: dict[str, Any] = {"opponent": "random", "agent_seat": "random"}
    options |= {"illegal_action": "penalize"} | dict(make_small_game(id_).params)
    name = f"ludoteca/{id_}"
    ours = gym.make_vec(name, num_envs=3, autoreset_mode=mode, **options)
    theirs = gym.make_vec(
        name,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **options,
    )
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    for space in ("observation_space", "action_space", "single_observation_space"):
        assert getattr(ours, space) == getattr(theirs, space)
    rng = np.random.default_rng(0)
    (observations, info), (expected, info_too) = ours.reset(seed=9), theirs.reset(seed=9)
    ends = 0
    for _ in range(25):
        np.testing.assert_array_equal(observations, expected)
        for key in ("action_mask", "player"):
            np.testing.assert_array_equal(info[key], info_too[key])
        actions = sample_actions(rng, info["action_mask"], 0.1)
        observations, rewards, terminated, truncated, info = ours.step(actions)
        expected, rewards_too, terminated_too, truncated_too, info_too = theirs.step(actions)
        np.testing.assert_array_equal(rewards, rewards_too)
        np.testing.assert_array_equal(terminated, terminated_too)
        np.testing.assert_array_equal(truncated, truncated_too)
        ends += int(terminated.sum())
        for key in ("final_obs", "final_info"):
            assert (key in info) == (key in info_too)
            if key in info:
                np.testing.assert_array_equal(info[f"_{key}"], info_too[f"_{key}"])
        if "final_info" in info:
            assert info["final_info"].keys() == info_too["final_info"].keys()
            for key, value in info_too["final_info"].items():
                np.testing.assert_array_equal(info["final_info"][key], value, err_msg=key)
            for i in np.flatnonzero(terminated):
                np.testing.assert_array_equal(info["final_obs"][i], info_too["final_obs"][i])
        elif mode != AutoresetMode.SAME_STEP:  # its `final_info` has been compared
            for key in ("rewards", "illegal_action"):
                np.testing.assert_array_equal(info[key], info_too[key])
        if mode == AutoresetMode.DISABLED and terminated.any():
            observations, info = ours.reset(options={"reset_mask": terminated})
            expected, info_too = theirs.reset(options={"reset_mask": terminated})
            # Gymnasium reports only the games that were reset.
            for key in ("action_mask", "player"):
                np.testing.assert_array_equal(info[key][terminated], info_too[key][terminated])
            info_too = info
    assert ends > 3
    ours.close()
    theirs.close()


@ids
@pytest.mark.parametrize("options", [{}, {"opponent": "random"}], ids=str)
def test_dtype_and_channels_last_have_the_same_values(
    id_: str, options: dict[str, Any], make_small_game: MakeSmallGame
) -> None:
    mode = AutoresetMode.SAME_STEP
    plain = GameVectorEnv(make_small_game(id_), 3, autoreset_mode=mode, **options)
    other = GameVectorEnv(
        make_small_game(id_), 3, autoreset_mode=mode, dtype="float32", channels_last=True, **options
    )
    assert other.observation_space.dtype == np.float32
    rng = np.random.default_rng(0)
    (seen, info), (seen_too, _) = plain.reset(seed=1), other.reset(seed=1)
    for _ in range(20):
        assert seen_too in other.observation_space
        np.testing.assert_array_equal(np.moveaxis(seen_too, -1, -3), seen)
        actions = sample_actions(rng, info["action_mask"], 0.0)
        seen, *_, info = plain.step(actions)
        seen_too, *_, info_too = other.step(actions)
        assert ("final_obs" in info) == ("final_obs" in info_too)
        if "final_obs" in info:
            final = np.moveaxis(info_too["final_obs"], -1, -3)
            np.testing.assert_array_equal(final, info["final_obs"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels_last", [False, True])
def test_every_dtype_in_single_and_aec_environments(dtype: str, channels_last: bool) -> None:
    options: dict[str, Any] = {"dtype": dtype, "channels_last": channels_last}
    shape = (3, 3, 2) if channels_last else (2, 3, 3)
    single = gym.make("ludoteca/TicTacToe-v0", **options)
    aec = make_pettingzoo("aec", "ludoteca/TicTacToe-v0", **options)
    aec.reset(seed=0)
    aec.step(5)
    aec.step(0)
    for seen, space in (
        (single.reset(seed=0)[0], single.observation_space),
        (aec.observe("player_0")["observation"], aec.observation_space("player_0")["observation"]),
        (aec.observe("player_1")["observation"], aec.observation_space("player_1")["observation"]),
        (aec.state(), aec.state_space),
    ):
        assert seen.dtype == space.dtype == np.dtype(dtype)
        assert seen.shape == space.shape == shape
        assert seen in space
    planes = np.moveaxis(aec.observe("player_0")["observation"], -1 if channels_last else 0, 0)
    np.testing.assert_array_equal(planes, [np.arange(9).reshape(3, 3) == cell for cell in (5, 0)])


@ids
@np.errstate(over="ignore")
def test_rewards_add_up_to_the_result_of_the_game(id_: str, make_small_game: MakeSmallGame) -> None:
    game = make_small_game(id_)
    count = 6
    env = GameVectorEnv(game, count, autoreset_mode=AutoresetMode.DISABLED)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    totals = np.zeros((count, game.num_players))
    playing = np.ones(count, bool)
    results = {}
    while playing.any():
        before = env.game_batch.episode_states["mover"].copy()
        _, rewards, terminated, _, info = env.step(sample_actions(rng, info["action_mask"], 0.0))
        totals += np.where(playing[:, None], info["rewards"], 0)
        for i in np.flatnonzero(terminated & playing):
            result = np.zeros(game.num_players, np.float32)
            game.returns(env.game_batch.states.view(np.recarray)[i], result)
            results[int(i)] = result
        rewarded = np.zeros(count, int) if game.simultaneous else before
        np.testing.assert_array_equal(rewards, info["rewards"][np.arange(count), rewarded])
        playing &= ~terminated
        if terminated.any() and playing.any():
            _, info = env.reset(options={"reset_mask": terminated})
    for i, result in results.items():
        np.testing.assert_allclose(totals[i], result, atol=1e-6)
        assert abs(totals[i].sum()) < 1e-6
    assert any(result.any() for result in results.values())
