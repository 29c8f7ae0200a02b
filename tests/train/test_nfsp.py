"""Tests of neural fictitious self-play (NFSP): transitions, losses, agents, learning.

In each game a player plays its best response (a Q network) or its average policy, which imitates
the best response from a reservoir buffer.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from chance_games import play, true_fluents
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.nfsp import NFSPAgent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.engine.chance_outcomes import starting_positions
from ludoteca.envs.record_views import view_records
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.exploit import exploitability
from ludoteca.evaluate.match import play_match
from ludoteca.train.loop import RLTraining
from ludoteca.train.nfsp import NFSPConfig, NFSPRollout
from ludoteca.train.optimizer import epsilon_at

NETWORK = ACConfig(kind="residual", view="plain", filters=8, blocks=1, value=False)
TRON = "tron:rows=5,columns=5"
DOCS = Path(__file__).resolve().parents[2] / "docs"
GOOFSPIEL = f"gdl:path={DOCS / 'results/nfsp/goofspiel.kif'}"
SETTINGS = {
    "games": 64,
    "games_per_iteration": 16,
    "network": NETWORK,
    "batch_size": 32,
    "learning_starts": 30,
    "buffer_size": 1_000,
    "reservoir_buffer_capacity": 1_000,
    "eval_interval": 10**6,
    "log_interval": 10**6,
    "eval_games": 2,
    "save_seconds": 1e9,
    "overlap_actor_learner": False,
    "precision": "float32",
}


def make_training(tmp_path, game=TRON, **changes) -> RLTraining:
    """Return a training with the small settings above, changed by `changes`."""
    config = NFSPConfig(run_dir=tmp_path, game=game, **(SETTINGS | changes))
    return RLTraining(config, tensorboard=False)


def two_game_rollout(algorithm) -> NFSPRollout:
    """Return a rollout of two games, with three joint moves and one.

    The first plane holds the number of the decision, from 1.
    """
    env_indices = np.array([0, 0, 1, 1, 0, 0, 0, 0], np.int32)
    seats = np.array([0, 1, 0, 1, 0, 1, 0, 1], np.int8)
    count = len(seats)
    planes = np.zeros((count, algorithm.layout.planes.size), np.uint8)
    planes[:, 0] = np.arange(1, count + 1)
    masks = algorithm.layout.masks.pack(np.eye(4, dtype=np.int8)[[0, 1, 2, 3, 0, 1, 2, 3]])
    return NFSPRollout(
        lengths=np.array([3, 1]),
        returns=np.array([[1, -1], [0.5, -0.5]], np.float32),
        responders=np.array([[True, False], [False, True]]),
        env_indices=env_indices,
        seats=seats,
        planes=planes,
        masks=masks,
        actions=np.arange(count).astype(np.int16) % 4,
    )


@pytest.mark.interpreted
def test_transitions_lead_to_the_next_decision_of_the_same_player(tmp_path):
    algorithm = make_training(tmp_path, gamma=0.9).algorithm
    rollout = two_game_rollout(algorithm)
    records = algorithm.targets(rollout, np.random.default_rng(0))
    assert records["planes"][:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert records["next_planes"][:, 0].tolist() == [5, 6, 0, 0, 7, 8, 0, 0]
    assert np.array_equal(records["next_mask"][[0, 1, 4, 5]], rollout.masks[[4, 5, 6, 7]])
    assert records["reward"].tolist() == [0, 0, 0.5, -0.5, 0, 0, 1, -1]
    assert records["discount"] == pytest.approx([0.9, 0.9, 0, 0, 0.9, 0.9, 0, 0])
    assert records["imitated"].tolist() == [1, 0, 0, 1, 1, 0, 1, 0]


@pytest.mark.interpreted
def test_networks_see_what_their_player_knows_and_no_more():
    game = make_game("gdl:path=kuhn_poker")
    encoder, planes_of, known_of = SeatEncoder(game, "plain"), {}, {}

    def visit(s, moves):
        if game.is_terminal(s):
            return
        player = game.player(s)
        planes, mask = encoder.encode(np.array([s], game.state), np.array([player]))
        (card,) = (
            f.split()[2] for f in true_fluents(game, s) if ("has first", "has second")[player] in f
        )
        known, seen = (player, card, *moves), (planes.tobytes(), mask.tobytes())
        assert planes_of.setdefault(known, seen) == seen
        assert known_of.setdefault(seen, known) == known
        for action in game.legal(s):
            after = s.copy()
            play(game, after, game.action_names[action])
            visit(after, [*moves, action])

    for s in view_records(starting_positions(game)[0]):
        visit(s, [])
    assert len(planes_of) == len(known_of) == 12


@pytest.mark.interpreted
def test_reservoir_holds_the_decisions_of_the_best_response_only(tmp_path):
    training = make_training(tmp_path, learning_starts=8)
    rollout = two_game_rollout(training.algorithm)
    minibatches = training.minibatches
    records = training.algorithm.targets(rollout, np.random.default_rng(0))
    minibatches.add(records[1:3], 1, training.learning_rng)
    assert minibatches.started is False
    minibatches.add(
        np.concatenate([records[:1], records[3:], records[1:3]]), 2, training.learning_rng
    )
    assert minibatches.started is True
    held = minibatches.reservoir.records[: len(minibatches.reservoir)]
    assert held["decision_planes"][:, 0].tolist() == [1, 4, 5, 7]
    assert held["decision_action"].tolist() == [0, 3, 0, 2]
    sampled = minibatches.sample(training.learning_rng).records
    assert set(sampled["decision_planes"][:, 0]) == {1, 4, 5, 7}
    assert set(sampled["planes"][:, 0]) == {1, 2, 3, 4, 5, 6, 7, 8}


@pytest.mark.interpreted
def test_loss_is_td_error_and_cross_entropy(tmp_path):
    training = make_training(tmp_path, target_update_interval=10**6)
    algorithm = training.algorithm
    training.learn(training.play(0))
    assert training.updates > 0
    batch = {
        name: torch.from_numpy(column)
        for name, column in algorithm.layout.unpack(
            training.minibatches.sample(training.learning_rng).records
        ).items()
    }
    batch["next_mask"][:, 1:] = 0  # north is the only legal action at the next decision
    losses = algorithm.loss(batch)
    network, model = training.network, algorithm.model
    with torch.no_grad():
        logits = model.evaluate(network.average_policy, batch["decision_planes"])
        q = model.evaluate(network.best_response, batch["planes"])
        next_q = model.evaluate(algorithm.target, batch["next_planes"])[:, 0]
    rows = torch.arange(len(q))
    td_error = batch["reward"] + batch["discount"] * next_q - q[rows, batch["action"]]
    assert losses["rl_loss"].item() == pytest.approx((td_error**2).mean().item(), rel=1e-4)
    cross_entropy = functional.cross_entropy(logits, batch["decision_action"])
    assert losses["sl_loss"].item() == pytest.approx(cross_entropy.item(), rel=1e-4)
    assert losses["loss"] == losses["rl_loss"] + losses["sl_loss"]


@pytest.mark.interpreted
def test_networks_learn_at_their_own_rates(tmp_path):
    def changed(folder, **rates):
        training = make_training(tmp_path / folder, weight_decay=0.0, **rates)
        before = {name: tensor.clone() for name, tensor in training.network.state_dict().items()}
        training.learn(training.play(0))
        after = training.network.state_dict()
        return {
            part: any(not torch.equal(before[name], after[name]) for name in before if part in name)
            for part in ("average_policy", "best_response")
        }

    assert changed("rl", sl_learning_rate=0.0, final_sl_learning_rate=0.0) == {
        "average_policy": False,
        "best_response": True,
    }
    assert changed("sl", learning_rate=0.0, final_learning_rate=0.0) == {
        "average_policy": True,
        "best_response": False,
    }


@pytest.mark.interpreted
def test_players_play_the_best_response_with_the_anticipatory_probability(tmp_path):
    training = make_training(tmp_path, game=TRON, anticipatory_param=0.25, games_per_iteration=200)
    rollout = training.play(0)
    # 100 of 400 are expected; the bounds are more than four standard deviations away.
    assert 60 < rollout.responders.sum() < 140
    # Without exploration, the best response takes the legal action of the highest Q value.
    greedy = make_training(tmp_path / "all", anticipatory_param=1.0, exploration_initial_eps=0.0)
    rollout, layout = greedy.play(0), greedy.algorithm.layout
    with torch.no_grad():
        planes = torch.from_numpy(layout.planes.unpack(rollout.planes))
        q = greedy.algorithm.model.evaluate(greedy.network.best_response, planes).numpy()
    assert np.array_equal(rollout.actions, q.argmax(1))


@pytest.mark.interpreted
def test_agent_plays_the_average_policy_or_the_best_response(tmp_path):
    training = make_training(tmp_path)
    training.learn(training.play(0))
    training.save()
    game = make_game(TRON)
    states, seats = batch_of_one(game), np.zeros(1, np.int64)
    average = make_agent(f"nfsp:{tmp_path}", game)
    probabilities = average.action_probabilities(states, seats)[0]
    assert probabilities.min() > 0.01
    assert np.allclose(probabilities, training.algorithm.agent().policies(states, seats)[0])
    best = make_agent(f"nfsp:{tmp_path},policy=best_response", game)
    planes, _ = best.encoder.encode(states, seats)
    with torch.no_grad():
        model = training.algorithm.model
        q = model.evaluate(training.network.best_response, torch.from_numpy(planes)).numpy()[0]
    assert best.action_probabilities(states, seats)[0].tolist() == np.eye(4)[q.argmax()].tolist()
    with pytest.raises(ValueError, match="policy must be"):
        NFSPAgent(game, tmp_path, policy="worst")
    with pytest.raises(ValueError, match="is damaged"):
        make_agent(f"ac:{tmp_path}", game)


def test_exploration_decays_and_settings_are_validated():
    config = NFSPConfig(games=1_000, exploration_initial_eps=0.2, exploration_fraction=0.5)
    epsilons = [epsilon_at(config, games) for games in (0, 250, 500, 1_000)]
    assert epsilons == pytest.approx([0.2, 0.1, 0, 0])
    with pytest.raises(ValueError, match=r"expected network.value=False, got True"):
        NFSPConfig(network=ACConfig())
    with pytest.raises(ValueError, match="anticipatory_param"):
        NFSPConfig(anticipatory_param=1.5)


# Settings of the results in docs/results/nfsp, with fewer games.
LEARNING = {
    "games": 6_000,
    "games_per_iteration": 64,
    "batch_size": 128,
    "replay_ratio": 4.0,
    "anticipatory_param": 0.2,
    "final_learning_rate": 1e-3,
    "buffer_size": 8_000,
    "reservoir_buffer_capacity": 100_000,
    "network": replace(NETWORK, filters=16),
}


@pytest.mark.slow
# The score of random moves is 0.5, with a standard error of 0.011.
@pytest.mark.parametrize(("game", "min_score"), [(TRON, 0.75), ("tictactoe", 0.6)])
def test_average_policy_beats_random_moves(game, min_score, tmp_path):
    training = make_training(tmp_path, game=game, **LEARNING)
    for _ in training.run():
        pass
    match = play_match(game, [f"nfsp:{tmp_path}", "random"], 2_000, seed=5)
    assert match.totals[0].score > min_score


@pytest.mark.slow
def test_average_policy_is_less_exploitable_than_the_best_response(tmp_path):
    game = make_game(GOOFSPIEL)
    random = exploitability(game, make_agent("random", game)).exploitability
    assert random == pytest.approx(0.75)
    training = make_training(tmp_path, game=GOOFSPIEL, **LEARNING)
    for _ in training.run():
        pass
    average = exploitability(game, make_agent(f"nfsp:{tmp_path}", game)).exploitability
    # Every deterministic policy of this game loses each game against its best response.
    best_response = make_agent(f"nfsp:{tmp_path},policy=best_response", game)
    assert exploitability(game, best_response).exploitability == 1
    assert average < 0.65


@pytest.mark.slow
def test_average_policy_of_kuhn_poker_approaches_an_equilibrium(tmp_path):
    name, network = "gdl:path=kuhn_poker", replace(NETWORK, kind="mlp", filters=64, blocks=2)
    game = make_game(name)
    random = exploitability(game, make_agent("random", game)).exploitability
    training = make_training(tmp_path, game=name, **(LEARNING | {"network": network}))
    for _ in training.run():
        pass
    average = exploitability(game, make_agent(f"nfsp:{tmp_path}", game)).exploitability
    assert average < 0.6 * random
