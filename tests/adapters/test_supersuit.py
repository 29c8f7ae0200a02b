"""Tests of SuperSuit's wrappers and vector environments over ours, and of SB3 with them."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ludoteca  # noqa: F401  # registers the games
from ludoteca.envs import connect4_v0, hungry_geese_v0, tron_v0

ss = pytest.importorskip("supersuit")
pytestmark = pytest.mark.filterwarnings("ignore")  # SuperSuit warns, and Gymnasium about it

Wrap = Callable[[Any], Any]
OPTIONS = {"observation": "planes", "dtype": "float32", "illegal_action": "random"}
# Wrappers of PettingZoo's environments, and whether they wrap Gymnasium's, too.
WRAPPERS: dict[str, tuple[Wrap, bool]] = {
    "dtype": (lambda env: ss.dtype_v0(env, np.float32), True),
    "flatten": (ss.flatten_v0, True),
    "reshape": (lambda env: ss.reshape_v0(env, (env_size(env), 1)), True),
    "frame_stack": (lambda env: ss.frame_stack_v1(env, 3), True),
    "frame_skip": (lambda env: ss.frame_skip_v0(env, 1), True),
    "normalize_obs": (ss.normalize_obs_v0, True),
    "max_observation": (lambda env: ss.max_observation_v0(env, 2), True),
    "delay_observations": (lambda env: ss.delay_observations_v0(env, 2), True),
    "observation_lambda": (lambda env: ss.observation_lambda_v0(env, half), True),
    "clip_reward": (ss.clip_reward_v0, True),
    "reward_lambda": (lambda env: ss.reward_lambda_v0(env, lambda reward: 2 * reward), True),
    "sticky_actions": (lambda env: ss.sticky_actions_v0(env, 0.2), True),
    "nan_zeros": (ss.nan_zeros_v0, True),
    "nan_random": (ss.nan_random_v0, True),
    "pad_observations": (ss.pad_observations_v0, False),
    "pad_action_space": (ss.pad_action_space_v0, False),
    "agent_indicator": (ss.agent_indicator_v0, False),
}

wrappers = pytest.mark.parametrize("wrapper", WRAPPERS)


def half(observation: Any, space: Any) -> Any:
    """Return half of an observation, for `observation_lambda`."""
    return observation / 2


def env_size(env: Any) -> int:
    """Return the number of values of an observation, of Gymnasium or PettingZoo."""
    if isinstance(env, gym.Env):
        space = env.observation_space
    else:
        space = env.observation_space(env.possible_agents[0])
    return int(np.prod(space.shape))


@wrappers
@pytest.mark.parametrize(
    "module", [connect4_v0, hungry_geese_v0, tron_v0], ids=lambda m: m.__name__
)
def test_wrapped_aec_environments_observe_in_their_spaces(wrapper: str, module: Any) -> None:
    env = WRAPPERS[wrapper][0](module.env(**OPTIONS))
    env.reset(seed=0)
    for turn, agent in enumerate(env.agent_iter(60)):
        observation, _, terminated, truncated, _ = env.last()
        assert observation in env.observation_space(agent)
        env.step(None if terminated or truncated else turn % 4)
    assert turn > 3


@wrappers
@pytest.mark.parametrize("keep_eliminated", [False, True])
@pytest.mark.parametrize(
    "module", [connect4_v0, hungry_geese_v0, tron_v0], ids=lambda m: m.__name__
)
def test_wrapped_parallel_environments_observe_in_their_spaces_and_end(
    wrapper: str, module: Any, keep_eliminated: bool
) -> None:
    env = WRAPPERS[wrapper][0](module.parallel_env(keep_eliminated=keep_eliminated, **OPTIONS))
    for seed in range(2):
        observations, _ = env.reset(seed=seed)
        while env.agents:
            for agent, seen in observations.items():
                assert seen in env.observation_space(agent)
            agents = env.agents[:]
            observations, rewards, terminated, truncated, _ = env.step(
                {agent: int(env.action_space(agent).sample()) for agent in agents}
            )
            assert list(rewards) == agents
        assert all(terminated[agent] or truncated[agent] for agent in agents)


@pytest.mark.parametrize("wrapper", [name for name, (_, gym_too) in WRAPPERS.items() if gym_too])
def test_wrapped_gymnasium_environments_observe_in_their_spaces(wrapper: str) -> None:
    env = WRAPPERS[wrapper][0](gym.make("ludoteca/Connect4-v0", **OPTIONS))
    observation, _ = env.reset(seed=0)
    over = False
    while not over:
        assert observation in env.observation_space
        observation, _, over, _, _ = env.step(env.action_space.sample())


def test_kept_agents_equal_black_death() -> None:
    # SuperSuit's `black_death` ends only when all agents are terminated and truncated at the same
    # time. Games that end by their rules are never truncated, so it never ends them.
    env = hungry_geese_v0.parallel_env(**OPTIONS)
    wrapped = ss.black_death_v3(hungry_geese_v0.parallel_env(**OPTIONS))
    all_agents = hungry_geese_v0.parallel_env(keep_eliminated=True, **OPTIONS)
    rng, zeros = np.random.default_rng(0), 0
    for seed in range(5):
        for environment in (env, wrapped, all_agents):
            environment.reset(seed=seed)
        while all_agents.agents:
            actions = {agent: int(rng.integers(4)) for agent in all_agents.agents}
            env.step(actions)
            expected, expected_rewards, *_ = wrapped.step(actions)
            observations, rewards, *_ = all_agents.step(actions)
            assert rewards == expected_rewards
            for agent in all_agents.agents:
                if agent in env.agents:
                    np.testing.assert_array_equal(observations[agent], expected[agent])
                else:
                    assert not observations[agent].any()
                    zeros += 1
        assert len(wrapped.agents) == 4  # though the game is over
    assert zeros


@pytest.mark.parametrize("num_cpus", [0, 2])
def test_vector_environments_of_agents_restart_and_reward_all_agents(num_cpus: int) -> None:
    env = tron_v0.parallel_env(keep_eliminated=True, rows=4, columns=4, **OPTIONS)
    vector = ss.concat_vec_envs_v1(ss.pettingzoo_env_to_vec_env_v1(ss.flatten_v0(env)), 3, num_cpus)
    vector.reset(seed=0)
    rng, games = np.random.default_rng(0), 0
    for _ in range(40):
        observations, rewards, terminated, _, infos = vector.step(rng.integers(4, size=6))
        assert observations.shape == (6, env_size(env))
        for game in range(3):
            agents = slice(2 * game, 2 * game + 2)
            assert rewards[agents].sum() == 0
            assert terminated[agents].all() == terminated[agents].any()
            games += terminated[agents].all()
            if terminated[agents].all():
                assert "terminal_observation" in infos[2 * game]
    assert games > 5
    vector.close()


@pytest.mark.parametrize("game", ["hungry_geese", "connect4"])
def test_ppo_of_sb3_learns_with_all_agents_of_a_game(game: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from ludoteca.agents.external.sb3 import SB3Agent
    from ludoteca.envs.registry import make_game
    from ludoteca.evaluate.match import play_match

    module = {"hungry_geese": hungry_geese_v0, "connect4": connect4_v0}[game]
    env = ss.pettingzoo_env_to_vec_env_v1(module.parallel_env(keep_eliminated=True, **OPTIONS))
    vector = ss.concat_vec_envs_v1(env, 2, base_class="stable_baselines3")
    model = sb3.PPO("MlpPolicy", vector, n_steps=32, batch_size=64, n_epochs=2)
    model.learn(256)
    rules = make_game(game)
    agents = [SB3Agent.from_model(rules, model), *["random"] * (rules.num_players - 1)]
    assert play_match(rules, agents, 4 * len(agents)).games == 4 * len(agents)
    vector.close()


def test_gymnasiums_environments_become_vectors_of_sb3() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    env = gym.make("ludoteca/Connect4-v0", opponent="random", **OPTIONS)
    vector = ss.stable_baselines3_vec_env_v0(ss.flatten_v0(env), 2)
    sb3.PPO("MlpPolicy", vector, n_steps=16, batch_size=32, n_epochs=1).learn(64)
