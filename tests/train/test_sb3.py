"""Tests of self-play of SB3 models: snapshots, opponents, win rates, resume."""

import sys
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecMonitor

import ludoteca  # noqa: F401  registers the environments
from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.agents.pool import PoolAgent
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.evaluate.match import play_match
from ludoteca.train.sb3 import SelfPlayCallback, frozen, set_opponents

pytestmark = pytest.mark.interpreted

SMALL = {"net_arch": [16]}
ON_POLICY = {"n_steps": 16, "policy_kwargs": SMALL}
OFF_POLICY = {
    "learning_starts": 32, "buffer_size": 500, "train_freq": 4, "batch_size": 16,
    "policy_kwargs": SMALL,
}  # fmt: skip
OPTIONS: dict[Any, dict[str, Any]] = {
    MaskablePPO: {**ON_POLICY, "batch_size": 64, "n_epochs": 2, "learning_rate": 0.01},
    PPO: {**ON_POLICY, "batch_size": 64, "n_epochs": 1},
    A2C: ON_POLICY,
    TRPO: {**ON_POLICY, "batch_size": 64},
    DQN: OFF_POLICY,
    QRDQN: OFF_POLICY,
    ARS: {"n_delta": 2, "n_eval_episodes": 2},
}


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """Let PyTorch use one thread, which is faster for small networks."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_envs(count: int = 8, **options: Any) -> SB3VecEnv:
    """Return environments of tic-tac-toe in which the model has either seat."""
    return SB3VecEnv("tictactoe", count, agent_seat="random", seed=0, **options)


def make_model(algorithm: Any = MaskablePPO, env: Any = None) -> Any:
    """Return an untrained model with a small network."""
    env = make_envs() if env is None else env
    policy = "LinearPolicy" if algorithm is ARS else "MlpPolicy"
    return algorithm(policy, env, seed=0, device="cpu", **OPTIONS[algorithm])


# The others of on-policy and off-policy algorithms share their code with one of these.
SOME_ALGORITHMS = (MaskablePPO, PPO, DQN, ARS)


@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(algorithm, marks=() if algorithm in SOME_ALGORITHMS else pytest.mark.slow)
        for algorithm in OPTIONS
    ],
)
def test_every_algorithm_plays_against_its_snapshots(algorithm: Any) -> None:
    envs = make_envs(illegal_action="random")
    model = make_model(algorithm, VecMonitor(envs))
    callback = SelfPlayCallback(snapshot_freq=128, pool_size=2, fixed_opponents=("random",))
    model.learn(400, callback=callback)
    names = [member.name for member in callback.pool.members]
    assert names[0] == "random"
    assert len(names) == 3
    steps = [int(name.removeprefix("step_")) for name in names[1:]]
    assert 128 <= steps[1] - steps[0] < 256
    (opponent,) = envs.game_batch.opponents
    assert isinstance(opponent, PoolAgent)
    if algorithm is not ARS:  # ARS does not call callbacks at its steps, so games are not counted
        assert sum(member.games for member in callback.pool.members) > 10


def test_a_frozen_copy_does_not_learn() -> None:
    model = make_model()
    copy = frozen(model.policy)
    before = [weight.clone() for weight in copy.parameters()]
    model.learn(128)
    changed = zip(before, model.policy.parameters(), strict=True)
    assert any((old != new).any() for old, new in changed)
    weights = list(copy.parameters())
    assert all((old == new).all() for old, new in zip(before, weights, strict=True))
    assert not any(weight.requires_grad for weight in weights)
    assert copy.optimizer is None
    assert model.policy.optimizer is not None
    assert frozen(model.policy).action_dist is not model.policy.action_dist


def test_a_snapshot_plays_like_the_model_at_that_time() -> None:
    envs = make_envs()
    model = make_model(env=envs)
    callback = SelfPlayCallback(snapshot_freq=10**6)
    model.learn(128, callback=callback)
    game = envs.game
    fresh = SB3Agent.from_model(game, make_model(), deterministic=False)
    (member,) = callback.pool.members
    trained = SB3Agent.from_model(game, model, deterministic=False)
    first, second, third = (
        play_match(game, [agent, "random"], 40, seed=5).game_digests
        for agent in (member.agent, fresh, trained)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_a_game_lost_to_a_snapshot_has_reward_minus_one() -> None:
    envs = make_envs(16)
    model = make_model(env=envs)
    model.learn(16 * 16, callback=SelfPlayCallback())
    final_rewards = []
    for _ in range(30):
        masks = envs.action_masks()
        _, rewards, dones, infos = envs.step(masks.argmax(1))
        for k in np.flatnonzero(dones):
            final_rewards.append(rewards[k])
            assert rewards[k] == infos[k]["rewards"][infos[k]["player"]]
            assert infos[k]["rewards"].sum() == 0
    assert {-1, 1} <= set(final_rewards)


def test_logged_win_rates_are_those_of_the_rewards(tmp_path: Any) -> None:
    class RewardRecorder(SelfPlayCallback):
        """Callback that also collects the rewards of the last steps of all games."""

        final_rewards: list[float] = []  # noqa: RUF012

        def _on_step(self) -> bool:
            self.final_rewards += self.locals["rewards"][self.locals["dones"]].tolist()
            return super()._on_step()

    model = make_model()
    model.set_logger(configure(str(tmp_path), ["csv"]))
    callback = RewardRecorder(snapshot_freq=10**6)
    model.learn(512, callback=callback, log_interval=1)
    model.logger.close()
    header, *_, last = (tmp_path / "progress.csv").read_text().splitlines()
    logged = dict(zip(header.split(","), last.split(","), strict=True))
    assert float(logged["self_play/members"]) == 1
    rate = np.mean([(1 + reward) / 2 for reward in RewardRecorder.final_rewards])
    assert callback.pool.members[0].games == len(RewardRecorder.final_rewards)
    assert callback.pool.members[0].points / len(RewardRecorder.final_rewards) == pytest.approx(
        rate
    )
    assert float(logged["self_play/win_rate"]) == pytest.approx(rate, abs=0.1)
    assert "self_play/win_rate_step_0" in logged


@pytest.mark.parametrize("algorithm", [MaskablePPO, DQN])
def test_a_pool_is_resumed_with_the_model(
    algorithm: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "selves"
    model = make_model(algorithm)
    first = SelfPlayCallback(
        snapshot_freq=128, pool_size=3, fixed_opponents=("random",), save_path=folder
    )
    model.learn(512, callback=first)
    model.save(tmp_path / "model.zip")
    resumed = algorithm.load(tmp_path / "model.zip", env=make_envs(), device="cpu")
    second = SelfPlayCallback(
        snapshot_freq=128, pool_size=3, fixed_opponents=("random",), save_path=folder
    )
    second.init_callback(resumed)
    with monkeypatch.context() as patch:
        patch.setattr("ludoteca.train.sb3.set_opponents", lambda env, pool: [])
        second._on_training_start()
    assert second.steps == first.steps
    for old, new in zip(first.pool.members, second.pool.members, strict=True):
        assert (new.name, new.fixed, new.games, new.points) == (
            old.name, old.fixed, old.games, old.points,
        )  # fmt: skip
        if not old.fixed:
            weights = (member.agent._policy.state_dict() for member in (old, new))
            for a, b in zip(*(tensors.values() for tensors in weights), strict=True):
                assert torch.equal(a, b)
    sampled = ([m.name for m in callback.pool.sample(20)] for callback in (first, second))
    assert next(sampled) == next(sampled)
    resumed.learn(256, callback=second)
    latest = second.pool.members[-1].name
    assert int(latest.removeprefix("step_")) > first.steps
    assert (folder / f"{latest}.zip").exists()
    # Snapshots are saved as models, which can play as agents.
    result = play_match("tictactoe", [f"sb3:path={folder / latest}.zip", "random"], 8, seed=0)
    assert result.games == 8


def test_steps_add_up_over_several_calls_of_learn() -> None:
    model, callback = make_model(), SelfPlayCallback(snapshot_freq=128, pool_size=9)
    model.learn(256, callback=callback)
    model.learn(256, callback=callback)
    model.learn(128, callback=callback, reset_num_timesteps=False)
    names = [member.name for member in callback.pool.members]
    assert names == [f"step_{128 * k}" for k in range(5)]
    assert callback.steps == 640


def test_a_smaller_pool_resumes_with_the_latest_snapshots(tmp_path: Any) -> None:
    model, first = (
        make_model(),
        SelfPlayCallback(snapshot_freq=128, pool_size=3, save_path=tmp_path),
    )
    model.learn(512, callback=first)
    second = SelfPlayCallback(snapshot_freq=10**6, pool_size=2, save_path=tmp_path)
    model.learn(1, callback=second)
    names = [[member.name for member in callback.pool.members] for callback in (first, second)]
    assert len(names[0]) == 3
    assert names[1] == names[0][1:]


def test_a_pool_of_another_game_is_refused(tmp_path: Any) -> None:
    make_model().learn(1, callback=SelfPlayCallback(save_path=tmp_path))
    other = SB3VecEnv("connect4", 2)
    with pytest.raises(ValueError, match=r"the pool in .* is for tictactoe.*, expected connect4"):
        make_model(env=other).learn(1, callback=SelfPlayCallback(save_path=tmp_path))


def test_single_environments_get_opponents_of_their_own() -> None:
    env = make_vec_env("ludoteca/TicTacToe-v0", 3, seed=0, env_kwargs={"agent_seat": "random"})
    model = make_model(env=env)
    callback = SelfPlayCallback(snapshot_freq=64)
    model.learn(192, callback=callback)
    assert sum(member.games for member in callback.pool.members) > 10
    opponents = [batch.opponents[0] for batch in env.get_attr("game_batch")]
    assert len({id(opponent) for opponent in opponents}) == 3


def test_a_single_environment_needs_no_wrapper() -> None:
    model = make_model(env=gym.make("ludoteca/TicTacToe-v0", agent_seat="random"))
    callback = SelfPlayCallback(snapshot_freq=64)
    model.learn(128, callback=callback)
    assert callback.pool.members[0].games > 5


def test_other_environment_classes_are_refused() -> None:
    remote: Any = SimpleNamespace(unwrapped=object())
    with pytest.raises(TypeError, match=r"self-play needs an SB3VecEnv, .*; got object"):
        set_opponents(remote, SelfPlayCallback().pool)


def test_invalid_parameters_are_named_in_the_error() -> None:
    with pytest.raises(ValueError, match="snapshot_freq must be an integer from 1 to"):
        SelfPlayCallback(0)
    with pytest.raises(ValueError, match="epsilon must be a number from 0 to 1"):
        SelfPlayCallback(epsilon=2)


def test_missing_sb3_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.callbacks", None)
    monkeypatch.delitem(sys.modules, "ludoteca.train.sb3")
    with pytest.raises(ImportError, match=r'pip install "ludoteca\[train\]"'):
        __import__("ludoteca.train.sb3")
