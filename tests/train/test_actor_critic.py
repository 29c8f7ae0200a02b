"""Tests of actor-critic training: losses by hand, learning, rollouts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from actor_critic_settings import TINY, TINY_SEARCH, TINY_SEARCH_GEESE, algorithm_of

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.evaluate.match import play_match
from ludoteca.train.actor_critic_rollout import LEARNER
from ludoteca.train.loop import RLTraining
from ludoteca.train.ppo import PPO, clipped_loss
from ludoteca.train.returns import advantages
from ludoteca.train.search_imitation import SearchImitation
from ludoteca.train.uib2021 import uib2021_loss

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    "changes",
    [
        {"games": 3_000, "games_per_iteration": 200, "batch_size": 256, "replay_ratio": 6.0},
        {
            "games": 1_000,
            "games_per_iteration": 100,
            "batch_size": 128,
            "replay_ratio": 16.0,
            "num_simulations": 24,
            "search_prob": 0.5,
            "buffer_size": 5_000,
            "augment": True,
        },
    ],
    ids=["ppo", "search"],
)
@pytest.mark.slow
def test_actor_critic_learns_tron(changes, tmp_path):
    search_without_sampling = replace(TINY_SEARCH, improvement_fraction=0.0)
    config = replace(
        search_without_sampling if "num_simulations" in changes else TINY,
        run_dir=tmp_path,
        game="tron:rows=5,columns=5",
        network=ACConfig(kind="residual", view="plain", filters=16, blocks=1),
        learning_rate=3e-3,
        opponent_pool=(),
        num_past_opponents=0,
        log_interval=1_000,
        eval_interval=5_000,
        eval_games=10,
        save_seconds=1e9,
        **changes,
    )
    training = RLTraining(config, tensorboard=False)
    candidate = training.algorithm.agent()
    assert candidate.simulations == changes.get("num_simulations", 0)
    candidate.set_search(simulations=0)
    scores = [play_match(config.game, [candidate, "random"], 400, seed=5).totals[0].score]
    for _ in training.run():
        pass
    scores.append(
        play_match(config.game, [f"ac:{tmp_path}", "random"], 400, seed=5).totals[0].score
    )
    assert scores[0] < 0.5  # before training
    assert scores[1] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    "tiny",
    [TINY_SEARCH, TINY_SEARCH_GEESE],
    ids=["tron", "hungry_geese"],
)
def test_searched_decisions_are_those_of_the_search(tiny):
    def infer(planes):  # uniform policy, value 0
        return np.zeros((len(planes), 5), np.float32)

    config = replace(tiny, games_per_iteration=60, num_simulations=20, search_prob=0.4)
    rollout = algorithm_of(SearchImitation, config).collect(infer, np.random.default_rng(0), 0)
    assert (rollout.seat_agents[rollout.env_indices, rollout.seats] == LEARNER).all()
    assert abs(rollout.searched.mean() - 0.4) < 0.05
    assert np.allclose(rollout.policies.sum(1), 1, atol=1e-5)
    assert (rollout.policies[rollout.masks == 0] == 0).all()
    rows = np.arange(len(rollout.actions))
    assert np.allclose(rollout.probs, rollout.policies[rows, rollout.actions])
    uniform = rollout.masks / rollout.masks.sum(1, keepdims=True)
    assert np.allclose(rollout.policies[~rollout.searched], uniform[~rollout.searched])
    assert (rollout.values[~rollout.searched] == 0).all()
    # The search finds crashes and results, which the network does not predict.
    assert abs(rollout.policies - uniform)[rollout.searched].max() > 0.2
    assert abs(rollout.values[rollout.searched]).max() > 0.2
    # The search improves a uniform policy.
    assert (rollout.improvements[~rollout.searched] == 0).all()
    assert (rollout.improvements >= 0).all()
    assert rollout.improvements.max() > 0.1


def test_decisions_are_sampled_by_policy_improvement(tmp_path):
    config = replace(TINY_SEARCH, run_dir=tmp_path, improvement_fraction=0.5)
    algorithm, rng = algorithm_of(SearchImitation, config), np.random.default_rng(0)
    improvements = np.zeros(100_000, np.float32)
    improvements[:1000] = 0.1  # expected: 0.5 + 0.5 * 0.1 / 0.00111 copies, more than the maximum
    improvements[1000:2000] = 0.01
    improvements[2000:3000] = 0.001
    assert np.isclose(improvements.mean(), 0.00111)
    num_copies = np.bincount(algorithm.copies(improvements, rng), minlength=len(improvements))
    assert np.allclose(num_copies[:1000].mean(), 16)  # the maximum
    assert abs(num_copies[1000:2000].mean() - (0.5 + 0.5 * 0.01 / 0.00111)) < 0.1
    assert abs(num_copies[2000:3000].mean() - (0.5 + 0.5 * 0.001 / 0.00111)) < 0.1
    assert abs(num_copies[3000:].mean() - 0.5) < 0.01
    # Without improvements the sampling does not fail.
    assert (algorithm.copies(np.zeros(10, np.float32), rng) < 10).all()
    algorithm.config = replace(config, improvement_fraction=0)
    assert np.array_equal(algorithm.copies(improvements, rng), np.arange(len(improvements)))


def test_gae_matches_hand_computation():
    rollout = (  # games, players, values and returns of five decisions
        np.zeros(5, np.int32),
        np.array([0, 1, 0, 1, 0], np.int8),
        np.array([0.1, -0.3, 0.2, -0.5, 0.6], np.float32),
        np.array([[1.0, -1.0]], np.float32),
    )
    last = 1 - 0.6
    middle = 0.9 * 0.6 - 0.2 + 0.9 * 0.5 * last
    first = 0.9 * 0.2 - 0.1 + 0.9 * 0.5 * middle
    other = -1 + 0.5
    expected = [first, 0.9 * -0.5 + 0.3 + 0.9 * 0.5 * other, middle, other, last]
    assert np.allclose(advantages(*rollout, 0.9, 0.5), expected)
    # With lambda 1 and gamma 1, it is the return minus the value.
    assert np.allclose(advantages(*rollout, 1, 1), [0.9, -0.7, 0.8, -0.5, 0.4])


def test_losses_match_hand_computation():
    log_ratios = torch.log(torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1]))
    advantage = torch.tensor([1.0, -1.0, 1.0, -1.0, 2.0])
    # Means of min(ratio * advantage, clipped ratio * advantage), with ratios clipped to 0.8 to 1.2.
    expected = -(1.2 - 1.5 + 0.5 - 0.8 + 2.2) / 5
    assert torch.isclose(clipped_loss(log_ratios, advantage, 0.2), torch.tensor(expected))
    logs = torch.log(torch.tensor([0.5, 0.25]))
    loss = uib2021_loss(logs, torch.tensor([1.0, -0.5]))
    assert torch.isclose(loss, torch.tensor(-(np.log(0.5) - 0.5 * np.log(0.25)) / 2).float())


def test_uib2021_loss_is_bounded_below():
    log_probs = torch.tensor([-10.0, -50.0, -1000.0], requires_grad=True)
    # Probabilities below 1e-7 are clipped.
    loss = uib2021_loss(log_probs, torch.tensor([-1.0, -1.0, -1.0]))
    loss.backward()
    assert torch.isclose(loss, torch.tensor((-10 + 2 * np.log(1e-7)) / 3).float())
    assert torch.isclose(log_probs.grad, torch.tensor([1 / 3, 0, 0])).all()


@pytest.mark.slow
def test_rollouts_hold_games_of_the_learning_seats():
    def infer(planes):  # uniform policy, value 0
        return np.zeros((len(planes), 5), np.float32)

    pool = ("random_safe", "greedy")
    algorithm = algorithm_of(PPO, replace(TINY, games_per_iteration=60, opponent_pool=pool))
    rollout = algorithm.collect(infer, np.random.default_rng(0), 0)
    assert set(np.unique(rollout.seat_agents)) == {0, 1, 2}
    assert (rollout.seat_agents == LEARNER).any(1).all()
    assert (rollout.seat_agents[rollout.env_indices, rollout.seats] == LEARNER).all()
    # Winners decide in every ply, and no player decides after its elimination.
    decided = np.zeros(rollout.seat_agents.shape, int)
    np.add.at(decided, (rollout.env_indices, rollout.seats), 1)
    best = (rollout.returns == 1) & (rollout.seat_agents == LEARNER)
    assert best.any()
    assert (decided[best] == rollout.lengths[np.nonzero(best)[0]]).all()
    assert (decided <= rollout.lengths[:, None]).all()
    assert np.allclose(rollout.probs, 1 / rollout.masks.sum(1))
    assert abs(rollout.returns.sum(1)).max() < 1e-6


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
def test_a_fraction_of_confident_decisions_is_trained_on(fraction, tmp_path, monkeypatch):
    training = RLTraining(
        replace(TINY, run_dir=tmp_path, confident_fraction=fraction), tensorboard=False
    )
    training.actor.load(training.network)
    rollout = training.play(0)
    max_probs = np.random.default_rng(0).choice(
        np.array([0.5, 0.99], np.float32), len(rollout.values)
    )
    batches, update = [], training.learner.update
    monkeypatch.setattr(
        training.learner,
        "update",
        lambda batch, progress: batches.append(batch["prob"]) or update(batch, progress),
    )
    assert (rollout.max_probs >= rollout.probs).all()
    training.learn(replace(rollout, max_probs=max_probs, probs=max_probs))
    seen = np.concatenate(batches)
    assert (seen == 0.5).sum() == (max_probs == 0.5).sum()
    num_confident = (max_probs > 0.5).sum()
    # Three standard deviations of a binomial count.
    assert abs((seen > 0.5).sum() - fraction * num_confident) <= 3 * np.sqrt(
        fraction * (1 - fraction) * num_confident
    )
