"""Tests of the environment for Tianshou, and of Tianshou's policies as agents."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library_pages import run_page

pytest.importorskip("tianshou")

import torch
from tianshou.algorithm import DQN, PPO, Algorithm
from tianshou.algorithm.modelfree.c51 import C51, C51Policy
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from torch import nn

from ludoteca import make_agent
from ludoteca.agents.external.tianshou import PolicyNetwork, agent_of_policy, save_tianshou_policy
from ludoteca.envs import hungry_geese_v0, tictactoe_v0
from ludoteca.envs.adapters.tianshou import MaskedActor, PlanesNet, TianshouVecEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.filterwarnings("default")  # Tianshou's own warnings are not errors


def features() -> PlanesNet:
    """Return a small network of the features that actor and critic read."""
    return PlanesNet(nn.Sequential(nn.Flatten(), nn.Linear(18, 32), nn.Tanh()), 32)


def make_algorithm(name: str, space: Any) -> Algorithm:
    """Return a small untrained algorithm ("dqn", "c51" or "ppo") for tic-tac-toe."""
    adam = AdamOptimizerFactory(lr=2e-3)
    if name == "dqn":
        net = Net(state_shape=18, action_shape=9, hidden_sizes=[64])
        policy = DiscreteQLearningPolicy(model=net, action_space=space, eps_training=0.2)
        return DQN(policy=policy, optim=adam, target_update_freq=100)
    if name == "c51":
        atoms = Net(state_shape=18, action_shape=9, hidden_sizes=[32], softmax=True, num_atoms=11)
        c51 = C51Policy(model=atoms, action_space=space, num_atoms=11, v_min=-1, v_max=1)
        return C51(policy=c51, optim=adam)
    actor = MaskedActor(preprocess_net=features(), action_shape=9)
    policy = DiscreteActorPolicy(actor=actor, action_space=space)
    critic = DiscreteCritic(preprocess_net=features())
    return PPO(policy=policy, critic=critic, optim=adam, gamma=1.0, advantage_normalization=True)


def collector_of(algorithm: Algorithm, env: TianshouVecEnv, size: int = 200) -> Collector[Any]:
    """Return a collector whose buffer holds `size` steps of each game."""
    buffer = VectorReplayBuffer(size * len(env), len(env))
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    collector.reset()
    return collector


def test_the_same_games_as_the_native_environment() -> None:
    native = GameVectorEnv("tictactoe", 4, opponent="random", autoreset_mode="Disabled")
    env = TianshouVecEnv("tictactoe", 4, seed=5)
    (seen, info), (batch, _) = native.reset(seed=5), env.reset()
    for _ in range(20):
        mask = info["action_mask"].astype(bool)
        mask[~mask.any(1)] = True  # as Tianshou requires of finished games
        assert (batch.obs == seen).all()
        assert batch.mask.dtype == np.bool_
        assert (batch.mask == mask).all()
        actions = info["action_mask"].argmax(1)
        batch, rewards, terminated, truncated, _ = env.step(actions)
        seen, reward, over, _, info = native.step(actions)
        assert (rewards == reward).all()
        assert (terminated == over).all()
        assert not truncated.any()
        if over.any():
            seen, info = native.reset(options={"reset_mask": over})
            again, _ = env.reset(np.flatnonzero(over))
            batch[over] = again


@pytest.mark.parametrize("name", ["dqn", "ppo"])
def test_collected_actions_are_legal(name: str) -> None:
    env = TianshouVecEnv("tictactoe", 5, agent_seat="random", seed=1)
    collector = collector_of(make_algorithm(name, env.action_space[0]), env)
    # When fewer episodes remain than there are environments, only some environments are stepped.
    for count in (23, 7):
        stats = collector.collect(n_episode=count)
        assert stats.n_collected_episodes == count
    rows = collector.buffer[:]
    assert rows.obs.mask[np.arange(len(rows)), rows.act].all()
    assert set(np.unique(rows.rew[rows.terminated])) == {-1.0, 0.0, 1.0}
    assert (rows.rew[~rows.terminated] == 0).all()


def test_seeds_repeat_games_attributes_are_shared_and_bad_arguments_raise() -> None:
    env = TianshouVecEnv("tictactoe", 3, observation="flat", render_mode="ansi")
    assert env.seed(4) == [4, 5, 6]
    first, _ = env.reset()
    env.step([0, 1, 2])
    second, _ = env.reset(seed=4)
    assert (first.obs == second.obs).all()
    assert first.obs.shape == (3, 18)
    assert len(env.render()) == 3
    assert env.get_env_attr("action_space", 1) == [env.action_space[0]]
    env.set_env_attr("spec", "a")
    assert env.spec == ["a"] * 3
    for call, message in [
        (lambda: env.step([0, 1], [0, 0]), r"expected distinct indices of games.* got \[0, 0\]"),
        (lambda: env.step([0.0] * 3), "actions must be integers of shape"),
        (lambda: env.seed([1]), "expected 3 seeds"),
        (lambda: env.reset(3), "expected distinct indices of games, 0 to 2"),
        (lambda: env.set_env_attr("spec", "b", 0), "all games share 'spec'"),
        (lambda: TianshouVecEnv("tictactoe", 2, opponent=None), r"need opponent=\.\.\."),
        (lambda: TianshouVecEnv("tictactoe", 2).step([0, 0]), "call reset before step"),
        (lambda: TianshouVecEnv("tictactoe", 2).reset(0), "first reset must reset all"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument 'env_num'"):
        TianshouVecEnv("tictactoe", env_num=3)
    env.close()
    with pytest.raises(AssertionError, match="after close"):
        env.reset()


@pytest.mark.parametrize("name", ["dqn", "c51", "ppo"])
def test_policies_play_in_memory_and_from_files(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    env = TianshouVecEnv("tictactoe", 4, seed=0)
    algorithm = make_algorithm(name, env.action_space[0])
    live = agent_of_policy(env.game, algorithm)
    assert live.metadata["kind"] == ("logits" if name == "ppo" else "values")
    path = save_tianshou_policy(tmp_path / name, env.game, algorithm)
    expected = play_match(env.game, [live, "random"], 40)
    for agent in (make_agent(f"tianshou:{path}", env.game), copy.deepcopy(live)):
        result = play_match(env.game, [agent, "random"], 40)
        assert (result.game_digests == expected.game_digests).all()  # type: ignore[union-attr]
    env.set_opponent(copy.deepcopy(live))
    collector_of(algorithm, env).collect(n_episode=8)


def test_actors_with_softmax_have_probabilities_and_other_policies_raise() -> None:
    space = TianshouVecEnv("tictactoe").action_space[0]
    actor = DiscreteActor(preprocess_net=features(), action_shape=9)
    assert (
        PolicyNetwork(DiscreteActorPolicy(actor=actor, action_space=space)).kind == "probabilities"
    )
    without_network = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=space)
    with pytest.raises(ValueError, match="is neither a DiscreteQLearningPolicy nor"):
        PolicyNetwork(without_network)


@pytest.mark.parametrize("module", [tictactoe_v0, hungry_geese_v0])
def test_multi_agent_policies_collect_through_pettingzoo(module: Any) -> None:
    env = DummyVectorEnv([lambda: PettingZooEnv(module.env()) for _ in range(2)])
    inner = PettingZooEnv(module.env())
    size = int(np.prod(inner.observation_space["observation"].shape))
    net = Net(state_shape=size, action_shape=inner.action_space.n, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=net, action_space=inner.action_space, eps_training=0.5)
    learner: Algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))
    others = [
        MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=inner.action_space)
        for _ in inner.agents[1:]
    ]
    team = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=inner)
    collector = Collector(team, env, VectorReplayBuffer(2000, 2), exploration_noise=True)
    stats = collector.collect(n_episode=4, reset_before_collect=True)
    assert stats.returns.shape == (4, len(inner.agents))
    if module is tictactoe_v0:
        assert (stats.returns.sum(1) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dqn", "ppo"])
def test_algorithms_learn_to_win_more(name: str) -> None:
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  Tianshou explores with it
    env = TianshouVecEnv("tictactoe", 32, agent_seat="random", seed=0)
    algorithm = make_algorithm(name, env.action_space[0])
    collector = collector_of(algorithm, env, 1000 if name == "dqn" else 32)
    common = {
        "training_collector": collector, "max_epochs": 1, "epoch_num_steps": 24 * 1024,
        "test_collector": None, "batch_size": 256, "show_progress": False, "verbose": False,
    }  # fmt: skip
    params: Any = OffPolicyTrainerParams(
        **common, collection_step_num_env_steps=64, update_step_num_gradient_steps_per_sample=1 / 32
    ) if name == "dqn" else OnPolicyTrainerParams(
        **common, collection_step_num_env_steps=1024, update_step_num_repetitions=4
    )  # fmt: skip
    untrained = copy.deepcopy(agent_of_policy(env.game, algorithm))
    algorithm.run_training(params)
    agents = (agent_of_policy(env.game, algorithm), untrained)
    scores = [play_match(env.game, [member, "random"], 400).totals[0] for member in agents]
    assert scores[0].wins > 300 > scores[1].wins


def test_examples_of_the_documentation_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    num_examples = run_page("tianshou")
    assert num_examples > 4
