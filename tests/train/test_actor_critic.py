"""Tests of actor-critic training: losses by hand, learning, exact resume."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from boards import small_spec

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.train.command import parse
from ludoteca.train.command import run as main
from ludoteca.train.loop import RLTraining
from ludoteca.train.opponent_pool import ActorCriticConfig
from ludoteca.train.ppo import LEARNER, PPO, PPOConfig, clipped_loss
from ludoteca.train.returns import advantages
from ludoteca.train.search_imitation import SearchImitation, SearchImitationConfig
from ludoteca.train.uib2021 import UIB2021, uib2021_loss

pytestmark = pytest.mark.interpreted

UIB2021_CONFIG = parse("ppo", ["uib2021"])
TINY = PPOConfig(
    game=small_spec("HungryGeese-v0"),
    network=ACConfig(filters=8, blocks=1),
    games=48,
    games_per_iteration=8,
    batch_size=64,
    opponent_pool=("random_safe",),
    opponent_pool_prob=0.5,
    num_past_opponents=2,
    past_opponent_interval=8,
    log_interval=16,
    eval_interval=16,
    eval_games=2,
    eval_opponents=("random",),
    final_eval_games=3,
    save_seconds=0.0,
    overlap_actor_learner=True,
    threads=1,
)
TINY_SEARCH_GEESE = replace(
    SearchImitationConfig(
        **{field.name: getattr(TINY, field.name) for field in fields(ActorCriticConfig)}
    ),
    num_simulations=6,
    search_prob=0.5,
    augment=True,
    improvement_fraction=0.5,
    buffer_size=150,
    replay_ratio=3.0,
    games=24,
    log_interval=8,
    eval_interval=8,
)
# The search of Tron is compiled in a third of the time.
TINY_SEARCH = replace(
    TINY_SEARCH_GEESE,
    game="tron:rows=5,columns=5",
    network=ACConfig(kind="residual", view="plain", filters=8, blocks=1),
)
TINY_UIB2021 = replace(
    UIB2021_CONFIG,
    game=TINY.game,
    network=ACConfig(kind="uib2021", view="plain", filters=8, blocks=1),
    games=24,
    games_per_iteration=8,
    gating_games=4,
    max_rollouts=2,
    log_interval=8,
    eval_interval=8,
    eval_games=2,
    eval_opponents=("random",),
    final_eval_games=3,
    save_seconds=0.0,
    threads=1,
)


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


def algorithm_of(algorithm, config):
    """Return an instance of an algorithm class, with a random network."""
    game = make_game(config.game)
    config = replace(config, precision="float32")
    return algorithm(config, game, algorithm.make_network(config.network, game))


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


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(TINY, marks=pytest.mark.slow, id="ppo"),
        pytest.param(
            replace(TINY_SEARCH, games_per_iteration=24),
            marks=pytest.mark.slow,
            id="search-imitation",
        ),
        pytest.param(TINY_UIB2021, id="uib2021"),
    ],
)
def test_non_finite_losses_end_a_run(config, tmp_path):
    training = RLTraining(replace(config, run_dir=tmp_path), tensorboard=False)
    with torch.no_grad():
        next(training.network.parameters()).fill_(torch.nan)
    with pytest.raises(ValueError, match=r"losses of update 1 are nan and nan: learning_rate="):
        training.learn(training.play(0))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        TINY,
        replace(TINY, overlap_actor_learner=False, augment=True),
        TINY_SEARCH,
        TINY_SEARCH_GEESE,
        TINY_UIB2021,
    ],
    ids=["ppo", "no-overlap", "search", "search_geese", "uib2021"],
)
def test_interrupted_run_resumes_to_the_same_result(config, tmp_path):
    uninterrupted = RLTraining(
        replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False
    )
    for _ in uninterrupted.run():
        pass
    parts = replace(config, run_dir=tmp_path / "parts")
    for rollouts in (1, 2, 10):
        training = RLTraining(parts, tensorboard=False)
        for _, _ in zip(range(rollouts), training.run(), strict=False):
            pass
    assert training.finished
    for (name, one), other in zip(
        uninterrupted.network.state_dict().items(),
        training.network.state_dict().values(),
        strict=True,
    ):
        assert torch.equal(one, other), name
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in uninterrupted.metrics.rows]
    assert rows == [
        {k: v for k, v in row.items() if k != "seconds"} for row in training.metrics.rows
    ]
    assert uninterrupted.plies == training.plies > 0
    assert 0 < training.learning_seconds < training.seconds


@pytest.mark.parametrize("name", ["opponent_pool", "eval_opponents"])
@pytest.mark.parametrize(
    ("spec", "message"),
    [("nonsense", "unknown agent 'nonsense'"), ("ac:nowhere", "nowhere")],
)
def test_invalid_opponents_leave_no_run_folder(name, spec, message, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises((ValueError, OSError), match=message):
        RLTraining(replace(TINY, run_dir=folder, **{name: (spec,)}), tensorboard=False)
    assert not folder.exists()


def test_uib2021_accepts_only_winning_candidates(tmp_path, monkeypatch):
    training = RLTraining(replace(TINY_UIB2021, run_dir=tmp_path), tensorboard=False)
    algorithm = training.algorithm
    assert isinstance(algorithm, UIB2021)
    scores, states = iter([0.4, 0.4, 0.6]), []
    monkeypatch.setattr(algorithm, "score_against_previous", lambda: next(scores))
    num_pending = [
        len(algorithm.pending_rollouts)
        for _ in training.run()
        if states.append(_trained_state(training)) is None
    ]
    assert num_pending == [1, 2, 0]
    # The optimizer has no moments before a network is accepted.
    assert states[0].keys() == states[1].keys() < states[2].keys()
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])
    assert not any(np.array_equal(states[1][name], states[2][name]) for name in states[1])
    assert training.updates > 2
    assert (algorithm.tested, algorithm.accepted) == (3, 1)


def _trained_state(training):
    """Return the trainable weights and the optimizer's moments."""
    trainable = {f"network/{name}" for name, _ in training.network.named_parameters()}
    return {
        name: array.copy()
        for name, array in training.learner.state().items()
        if name in trainable or name.startswith("optimizer/")
    }


def test_the_command_writes_a_report(tmp_path, capsys):
    arguments = ["--run-dir", str(tmp_path / "run"), "--games", "16", "--games-per-iteration", "8"]
    config = replace(TINY, run_dir=tmp_path / "run", games=16)
    assert parse("ppo", arguments).games == 16
    assert parse("ppo", ["uib2021"]) == UIB2021_CONFIG
    assert main(config) is not None
    text = (tmp_path / "run" / "report.md").read_text()
    assert "Proximal policy optimization in Hungry Geese" in text
    assert "| random | any | 9 |" in text  # 3 games for each of 3 seats
    # Each living goose decides once per ply.
    counts = json.loads((tmp_path / "run" / "results.json").read_text())["training"]
    assert counts["plies"] < counts["decisions"] < 3 * counts["plies"]
    assert (
        f"({counts['decisions'] / counts['learning_seconds']:,.0f} decisions of the network)"
        in text
    )
    for name in ("best.safetensors", "learning_curve.png", "game.svg", "game.png", "replay.json"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    assert "random" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"game": "othello"}, "support only view='plain', got view='hand_crafted'"),
        ({"game": "othello", "num_simulations": 4}, "needs a simultaneous game"),
        ({"network": ACConfig(value=False)}, "network.value=True"),
        ({"eval_opponents": ()}, "at least one opponent"),
        ({"gamma": 1.5}, "gamma"),
        ({"num_simulations": 0}, "num_simulations"),
        ({"improvement_fraction": 1.5}, "improvement_fraction"),
        ({"root_uniform_fraction": 1.5}, "root_uniform_fraction"),
        ({"max_rollouts": 2, "overlap_actor_learner": True}, "overlap_actor_learner"),
        ({"opponent_pool": ("nobody",)}, "unknown agent"),
    ],
)
def test_invalid_settings_raise(changes, problem, tmp_path):
    is_of_search = any(hasattr(TINY_SEARCH, name) and not hasattr(TINY, name) for name in changes)
    config = TINY_SEARCH if is_of_search else TINY_UIB2021 if "max_rollouts" in changes else TINY
    with pytest.raises(ValueError, match=problem):
        RLTraining(replace(config, run_dir=tmp_path, **changes), tensorboard=False)
