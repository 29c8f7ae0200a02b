"""Stable-Baselines3: the vector environment, training, evaluation and its checkers."""

import sys
from typing import Any

import numpy as np
import pytest
import torch
from boards import EVERY_GAME, small_spec
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import ludoteca  # noqa: F401  # registers agents, which opponents are named by
from ludoteca.agents.agent import Agent
from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.registry import GAMES, make_game

pytestmark = pytest.mark.interpreted

SMALL = {"net_arch": [32]}  # arguments of a small policy


class FirstLegal(Agent):
    """Agent that plays the legal action with the lowest number."""

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        legal = np.zeros(self.game.num_actions, np.int16)
        actions = []
        for s, seat in zip(states.view(np.recarray), seats, strict=True):
            arguments = (s, seat, legal) if self.game.simultaneous else (s, legal)
            self.game.legal_actions(*arguments)
            actions.append(int(legal[0]))
        return np.array(actions)


@pytest.fixture(autouse=True)
def _one_thread():
    """Run PyTorch with one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw_legal(masks, rng):
    """Sample a legal action for each row of masks `[N, actions]`."""
    return (rng.random(masks.shape) * masks).argmax(1)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_of_a_batch_equals_a_single_environment_with_its_seed(game):
    game = small_spec(game)
    envs = SB3VecEnv(game, 3, agent_seat="random", seed=40)
    singles = [GameEnv(game, agent_seat="random") for _ in range(3)]
    observations = envs.reset()
    for i, single in enumerate(singles):
        first, _ = single.reset(seed=40 + i)
        assert np.array_equal(observations[i], first)
    rng, ended = np.random.default_rng(0), 0
    while ended < 6:
        masks = get_action_masks(envs)
        assert masks.any(1).all()
        actions = draw_legal(masks, rng)
        observations, rewards, dones, infos = envs.step(actions)
        for i, single in enumerate(singles):
            assert np.array_equal(masks[i], single.action_masks())
            seat = single.game_batch.episode_states["seat"][0]
            seen, reward, terminated, _, info = single.step(actions[i])
            assert (rewards[i], dones[i]) == (np.float32(reward), terminated)
            if terminated:
                ended += 1
                assert np.array_equal(infos[i]["terminal_observation"], seen)
                assert infos[i]["TimeLimit.truncated"] is False
                assert infos[i]["is_success"] == (reward > 0)
                assert infos[i]["player"] == seat
                assert np.array_equal(infos[i]["rewards"], info["rewards"])
                seen, _ = single.reset()
            else:
                assert infos[i] == {}
            assert np.array_equal(observations[i], seen)


def test_the_loser_gets_its_reward_and_the_final_observation():
    #  o o o    The agent (x) plays 8, 7, 5; its opponent answers with 0, 1, 2.
    #  . . x
    #  . x x
    game = make_game("tictactoe")
    envs = VecMonitor(SB3VecEnv(game, 2, opponent=FirstLegal(game), seed=0))
    envs.reset()
    for action, done in ((8, False), (7, False), (5, True)):
        observations, rewards, dones, infos = envs.step(np.array([action, action]))
        assert dones.tolist() == [done, done]
        assert rewards.tolist() == [-1.0 if done else 0.0] * 2
    final = infos[0]["terminal_observation"]
    assert np.flatnonzero(final[0]).tolist() == [5, 7, 8]
    assert np.flatnonzero(final[1]).tolist() == [0, 1, 2]
    assert infos[0]["rewards"].tolist() == [-1, 1]
    assert infos[0]["is_success"] is False
    assert (infos[0]["episode"]["r"], infos[0]["episode"]["l"]) == (-1, 3)
    assert not observations.any()  # the next game has begun


def test_the_seat_is_sampled_for_each_game():
    envs = SB3VecEnv("connect4:rows=2,columns=2,connect=2", 64, agent_seat="random", seed=3)
    envs.reset()
    rng, seats = np.random.default_rng(0), []
    while len(seats) < 400:
        _, _, _, infos = envs.step(draw_legal(envs.action_masks(), rng))
        seats += [info["player"] for info in infos if info]
    assert 0.4 < np.mean(seats) < 0.6
    second = SB3VecEnv("connect4", 8, agent_seat=1, seed=3)
    assert (second.reset().sum((1, 2, 3)) == 1).all()  # the opponent has moved


def test_monitored_episodes_add_up():
    envs = VecMonitor(SB3VecEnv("tron:rows=4,columns=5", 8, agent_seat="random", seed=0))
    envs.reset()
    rng, moves, total_reward, episodes = np.random.default_rng(0), 0, 0.0, []
    for _ in range(40):
        _, rewards, _, infos = envs.step(draw_legal(get_action_masks(envs), rng))
        moves, total_reward = moves + 8, total_reward + rewards.sum()
        episodes += [info["episode"] for info in infos if info]
    assert len(episodes) > 20
    unfinished = envs.episode_lengths.sum()
    assert sum(episode["l"] for episode in episodes) + unfinished == moves
    assert sum(episode["r"] for episode in episodes) == pytest.approx(total_reward)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_masked_ppo_never_plays_illegal_actions(game):
    envs = SB3VecEnv(small_spec(game), 4, agent_seat="random", illegal_action="raise")
    model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=128, policy_kwargs=SMALL, seed=0)
    assert is_masking_supported(VecMonitor(envs))
    model.learn(256)


def test_plain_ppo_and_dqn_learn_with_penalties_for_illegal_actions():
    envs = SB3VecEnv("tictactoe", 4, illegal_action="penalize")
    ppo = PPO("MlpPolicy", envs, n_steps=32, batch_size=128, policy_kwargs=SMALL)
    dqn = DQN("MlpPolicy", envs, learning_starts=64, buffer_size=500, policy_kwargs=SMALL)
    for model, steps in ((ppo, 256), (dqn, 200)):
        before = [weight.detach().clone() for weight in model.policy.parameters()]
        model.learn(steps)
        assert model.num_timesteps >= steps
        trained = list(model.policy.parameters())
        assert any((old != new).any() for old, new in zip(before, trained, strict=True))
        assert all(weight.isfinite().all() for weight in trained)
    rewards = dqn.replay_buffer.rewards[: dqn.replay_buffer.size()]
    assert (rewards < 0).any()  # penalties for illegal actions


@pytest.mark.slow
@pytest.mark.compiled
def test_masked_ppo_learns_tic_tac_toe():
    envs = VecMonitor(SB3VecEnv("tictactoe", 64, agent_seat="random"))
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=16, batch_size=256, n_epochs=4, learning_rate=2e-3, gamma=1.0,
        policy_kwargs={"net_arch": [64, 64]}, seed=0, device="cpu",
    )  # fmt: skip
    eval_envs = VecMonitor(SB3VecEnv("tictactoe", 64, agent_seat="random", seed=1000))
    before, _ = evaluate_masked(model, eval_envs, n_eval_episodes=500)
    model.learn(25_000)
    reward, _ = evaluate_masked(model, eval_envs, n_eval_episodes=500)
    # Mean returns against the random opponent.
    assert before < 0.4
    assert reward > 0.65


def test_a_model_can_play_itself():
    envs = SB3VecEnv("tron", 8, agent_seat="random", seed=0)
    model = MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=128, policy_kwargs=SMALL, seed=0)
    envs.set_opponent(SB3Agent.from_model(envs.game, model))
    model.learn(128)
    assert isinstance(envs.game_batch.opponents[0], SB3Agent)


def test_games_continue_when_the_opponent_changes():
    game = make_game("tictactoe")
    envs = SB3VecEnv(game, 5, opponent="random", seed=0)
    envs.reset()
    before, _, _, _ = envs.step(np.full(5, 8))
    masks = envs.action_masks()
    envs.set_opponent(FirstLegal(game))
    assert np.array_equal(envs.action_masks(), masks)
    actions = masks.shape[1] - 1 - masks[:, ::-1].argmax(1)  # the highest legal one
    after, _, dones, _ = envs.step(actions)
    assert not dones.any()
    for i in range(5):
        opponent_moves = np.flatnonzero((after[i, 1] != before[i, 1]).ravel())
        assert opponent_moves.tolist() == [masks[i].argmax()]


def test_evaluate_policy_works_with_and_without_masks():
    envs = VecMonitor(SB3VecEnv("connect4", 4, illegal_action="lose", seed=0))
    plain = PPO("MlpPolicy", envs, n_steps=8, batch_size=32, policy_kwargs=SMALL)
    masked = MaskablePPO("MlpPolicy", envs, n_steps=8, batch_size=32, policy_kwargs=SMALL)
    for returns in (
        evaluate_policy(plain, envs, 8, return_episode_rewards=True)[0],
        evaluate_masked(masked, envs, 8, return_episode_rewards=True)[0],
    ):
        assert len(returns) == 8
        assert set(returns) <= {-1, 0, 1}


@pytest.mark.parametrize("game", GAMES)
# SB3 treats observations with three axes as images, and warns of their type and size.
@pytest.mark.filterwarnings("ignore:It seems that your observation:UserWarning")
@pytest.mark.filterwarnings("ignore:The minimal resolution for an image:UserWarning")
@pytest.mark.filterwarnings("ignore:Treating image space as channels-last:UserWarning")
def test_single_environments_pass_the_checker_of_sb3(game):
    check_env(GameEnv(game, illegal_action="random"))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_observations_match_the_space(dtype, channels_last):
    envs = SB3VecEnv("hex:board_size=3", 2, dtype=dtype, channels_last=channels_last, seed=0)
    observations = envs.reset()
    assert observations.shape[1:] == ((5, 5, 6) if channels_last else (6, 5, 5))
    assert observations.dtype == dtype
    assert envs.observation_space.contains(observations[0])


def test_seeds_determine_games_and_without_them_games_differ():
    def play(envs):
        rng = np.random.default_rng(0)
        steps = [envs.reset()]
        for _ in range(20):
            steps.append(envs.step(draw_legal(envs.action_masks(), rng))[0])
        return np.stack(steps)

    def make(**options):
        return SB3VecEnv("connect4", 4, agent_seat="random", **options)

    seeded = make(seed=5)
    first = play(seeded)
    assert np.array_equal(first, play(make(seed=5)))
    assert not np.array_equal(first, play(seeded))  # the random streams continue
    seeded.seed(5)
    assert np.array_equal(first, play(seeded))
    assert not np.array_equal(play(make()), play(make()))


def test_images_are_tiled():
    envs = SB3VecEnv("tictactoe", 4, render_mode="rgb_array", seed=0)
    envs.reset()
    images = envs.get_images()
    height, width, _ = images[0].shape
    assert envs.render().shape == (2 * height, 2 * width, 3)
    assert np.array_equal(envs.env_method("get_images", indices=2)[0], images[2])


def test_attributes_are_shared_by_all_games():
    envs = SB3VecEnv("tictactoe", 3)
    assert envs.get_attr("game", [0, 2]) == [envs.game, envs.game]
    assert envs.env_is_wrapped(VecMonitor, 1) == [False]
    assert envs.has_attr("action_masks")
    assert not envs.has_attr("nothing")
    envs.set_attr("note", 7)
    assert envs.get_attr("note") == [7, 7, 7]
    with pytest.raises(ValueError, match="all games share 'note'"):
        envs.set_attr("note", 8, indices=1)
    with pytest.raises(AttributeError, match=r"expected the method .*, got 'fly'"):
        envs.env_method("fly")


@pytest.mark.slow
def test_threads_change_nothing():
    single, two = (SB3VecEnv("tictactoe", 8, num_threads=n, seed=0) for n in (1, 2))
    rng = np.random.default_rng(0)
    assert np.array_equal(single.reset(), two.reset())
    for _ in range(30):
        actions = draw_legal(single.action_masks(), rng)
        assert np.array_equal(single.step(actions)[0], two.step(actions)[0])
    two.close()


@pytest.mark.parametrize("game", ["connect4", "tron"])
def test_self_play_without_an_opponent_is_an_error(game):
    with pytest.raises(ValueError, match=r"needs opponent=.*set_opponent"):
        SB3VecEnv(game, 2, opponent=None)


@pytest.mark.parametrize(
    "actions", [np.zeros(3, int), np.zeros((2, 1), int), np.zeros(2), np.zeros(2, bool)]
)
def test_actions_of_the_wrong_shape_or_dtype_are_errors(actions):
    envs = SB3VecEnv("tictactoe", 2, seed=0)
    envs.reset()
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(2,\)"):
        envs.step(actions)
    assert not envs.game_batch.observations.any()


def test_an_illegal_action_is_named_and_changes_nothing():
    envs = SB3VecEnv("tictactoe", 2, illegal_action="raise", seed=0)
    with pytest.raises(ValueError, match="call reset before step"):
        envs.step(np.zeros(2, int))
    before = envs.reset()
    with pytest.raises(ValueError, match="action 9 is illegal in game 1"):
        envs.step(np.array([0, 9]))
    assert np.array_equal(envs.game_batch.observations[:, 0], before)


def test_without_sb3_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "ludoteca.envs.adapters.sb3")
    with pytest.raises(ImportError, match=r'pip install "ludoteca\[train\]"'):
        __import__("ludoteca.envs.adapters.sb3")
