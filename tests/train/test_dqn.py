"""Tests of deep Q-learning: transitions, targets and updates by hand, rollouts, presets."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from dqn_settings import DEFAULT, TANAKA2018
from torch import nn

from ludoteca.agents.function import FunctionAgent
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import make_q_network
from ludoteca.envs.registry import make_game
from ludoteca.train.dqn import DQN, DQNConfig, DQNRollout
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.learner import NetworkLearner
from ludoteca.train.optimizer import epsilon_at, learning_rate
from ludoteca.train.returns import final_rewards


def make_rollout(lengths, movers, explored=(), returns=((1, -1),), seats=(0,)) -> DQNRollout:
    """Return a rollout: in ply t of game g the observation is 10 g + t and the action is t."""
    games, plies = len(lengths), max(lengths)
    observations = 10 * np.arange(games)[:, None] + np.arange(plies)
    flags = np.zeros((games, plies), np.bool_)
    for place in explored:
        flags[place] = True
    return DQNRollout(
        lengths=np.array(lengths),
        returns=np.array(returns, np.float32),
        seats=np.array(seats, np.int8),
        planes=observations[:, :, None].astype(np.uint8),
        masks=(observations[:, :, None] + 100).astype(np.uint8),
        actions=np.tile(np.arange(plies), (games, 1)),
        movers=np.resize(np.array(movers, np.int8), (games, plies)),
        explored=flags,
    )


class ByteEncoder:
    """Encoder of one byte, for a game of eight actions."""

    game, shape, scale = SimpleNamespace(num_actions=8, action_dtype=np.int16), (1, 1, 1), 0.5


def transitions(rollout: DQNRollout, **settings):
    """Return (ply, reward, discount, ply of the bootstrap state or None) of each transition."""
    algorithm = DQN(replace(DEFAULT, gamma=0.5, **settings), make_game("tictactoe"), None)
    algorithm.layout = ExampleLayout(ByteEncoder, algorithm.layout.columns)
    return [
        (
            int(r["planes"][0]),
            float(r["reward"]),
            float(r["discount"]),
            int(r["next_planes"][0]) if r["discount"] else None,
        )
        for r in algorithm.targets(rollout, np.random.default_rng(0))
    ]


def test_reply_targets_bootstrap_from_the_next_turn_of_the_same_player():
    game = make_rollout([5], [0, 1, 0, 1, 0])  # the first player wins at ply 4
    simple = {"td_target": "reply", "experience": "simple"}
    assert transitions(game, n_step=1, **simple) == [
        (0, 0.0, 0.5, 2),
        (2, 0.0, 0.5, 4),
        (4, 1.0, 0.0, None),
    ]
    assert transitions(game, n_step=2, **simple) == [
        (0, 0.0, 0.25, 4),
        (2, 0.5, 0.0, None),
        (4, 1.0, 0.0, None),
    ]
    # Mirrored: also the transitions of the loser.
    assert transitions(game, n_step=1, td_target="reply", experience="mirrored") == [
        (0, 0.0, 0.5, 2),
        (1, 0.0, 0.5, 3),
        (2, 0.0, 0.5, 4),
        (3, -1.0, 0.0, None),
        (4, 1.0, 0.0, None),
    ]


def test_negamax_targets_bootstrap_from_the_opponent_with_negative_sign():
    game = make_rollout([4], [0, 1, 0, 1], returns=[(-1, 1)], seats=[-1])
    assert transitions(game, n_step=1, td_target="negamax") == [
        (0, 0.0, -0.5, 1),
        (1, 0.0, -0.5, 2),
        (2, 0.0, -0.5, 3),
        (3, 1.0, 0.0, None),
    ]
    assert transitions(game, n_step=3, td_target="negamax") == [
        (0, 0.0, -0.125, 3),
        (1, 0.25, 0.0, None),
        (2, -0.5, 0.0, None),
        (3, 1.0, 0.0, None),
    ]
    # A player who moves twice in a row (after a pass) keeps the sign.
    twice = make_rollout([3], [0, 0, 1], seats=[-1])
    assert transitions(twice, n_step=1, td_target="negamax")[0] == (0, 0.0, 0.5, 1)


def test_n_step_returns_end_at_random_moves():
    game = make_rollout([6], [0, 1, 0, 1, 0, 1], explored=[(0, 2)], returns=[(-1, 1)], seats=[-1])
    records = transitions(game, n_step=9, td_target="negamax")
    assert records[0] == (0, 0.0, 0.25, 2)  # the return ends before the random move
    assert records[1] == (1, 0.0, -0.5, 2)
    assert records[2] == (2, -(0.5**3), 0.0, None)  # the random move has a transition


def test_transitions_stay_within_games_and_learning_seats():
    rollout = make_rollout([3, 2], [0, 1, 0], returns=[(1, -1), (-1, 1)], seats=[0, 1])
    records = transitions(rollout, n_step=1, td_target="reply", experience="simple")
    assert [ply for ply, *_ in records] == [0, 2, 11]
    assert records[-1] == (11, 1.0, 0.0, None)


def test_later_losses_have_smaller_weights():
    rollout = make_rollout([9, 19], [0, 1], returns=[(1, -1), (-1, 1)], seats=[0, 0])
    # By hand: 1 - 9 / 26 and 1 - 19 / 26 of -100; the longest game has 25 plies.
    rewards = final_rewards(rollout.returns, rollout.lengths, 100, -100, 25)
    assert np.allclose(rewards, [[100, -65.3846], [-26.9231, 100]])
    drawn = make_rollout([9], [0, 1], returns=[(0, 0)])
    assert final_rewards(drawn.returns, drawn.lengths, 100, -100, 25).tolist() == [[0, 0]]
    game = make_rollout([3], [0, 1, 0])  # of at most 9 plies: a loss has reward -(1 - 3 / 10)
    records = transitions(game, n_step=1, td_target="reply", loss_reward_by_length=True)
    assert np.allclose([reward for _, reward, *_ in records], [0, -0.7, 1])


class ConstantNetwork(nn.Module):
    """Network with the same outputs in every position."""

    def __init__(self, outputs):
        super().__init__()
        self.outputs = nn.Parameter(torch.tensor(outputs))

    def forward(self, planes):
        return self.outputs.expand(len(planes), -1)

    def values(self, outputs):
        return outputs


def batch_of(discount: float, legal) -> dict[str, np.ndarray]:
    """Return two transitions; the second ends its game, the first leads to `legal` actions."""
    planes = np.zeros((2, 1, 1, 1), np.int8)
    return {
        "planes": planes,
        "action": np.array([0, 1]),
        "reward": np.array([1.0, 2.0], np.float32),
        "discount": np.array([discount, 0.0], np.float32),
        "next_planes": planes,
        "next_mask": np.array([legal, [0, 0, 0]], np.int8),
    }


def learner_of(outputs, config: DQNConfig) -> tuple[DQN, NetworkLearner]:
    """Return an algorithm and its learner, with a network of constant outputs."""
    algorithm = DQN(
        replace(config, precision="float32"), make_game("tictactoe"), ConstantNetwork(outputs)
    )
    return algorithm, NetworkLearner(algorithm)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # Target network (3, 1, 2), network (1, 5, 2); all legal but action 1.
        ({"double_q": False, "masked_targets": False}, 3.0),  # max of the target network
        ({"double_q": True, "masked_targets": False}, 1.0),  # action 1 is the network's best
        ({"double_q": True, "masked_targets": True}, 2.0),  # action 2 is, of the legal ones
        ({"double_q": False, "masked_targets": True}, 3.0),
    ],
)
def test_targets_match_hand_computation(settings, expected):
    network = replace(DEFAULT.network, bounded=False)
    config = replace(DEFAULT, network=network, loss_function="mse", **settings)
    algorithm, learner = learner_of([3.0, 1.0, 2.0], config)
    learner.network.outputs.data = torch.tensor([1.0, 5.0, 2.0])
    batch = {name: torch.from_numpy(column) for name, column in batch_of(-0.5, [1, 0, 1]).items()}
    assert np.allclose(algorithm.td_targets(batch), [1 - 0.5 * expected, 2.0])


def test_update_matches_hand_computation():
    """By hand: SGD on 0.5 (y - Q)^2 moves a chosen output by learning rate * error / batch size."""
    _, learner = learner_of([0.0, 0.0, 4.0], replace(TANAKA2018, momentum=0.0, opponent="self"))
    losses, errors = learner.update(batch_of(0.8, [1, 1, 1]), 0.0)
    # Targets 1 + 0.8 * 4 and 2.
    assert np.isclose(losses["loss"], (0.5 * 4.2**2 + 0.5 * 2.0**2) / 2)
    assert np.allclose(errors, [4.2, 2.0])
    moved = learner.network.outputs.detach().numpy()
    assert np.allclose(moved, [0.01 * 4.2 / 2, 0.01 * 2 / 2, 4.0])


@pytest.mark.parametrize(("interval", "copied"), [(1, range(1, 9)), (3, [3, 6]), (7, [7]), (0, [])])
def test_target_network_is_updated_at_its_interval(interval, copied):
    """Check that the target network is copied after the updates `copied` only."""
    config = replace(TANAKA2018, target_update_interval=interval, opponent="self")
    algorithm, learner = learner_of([0.0, 0.0, 4.0], config)
    if interval == 0:
        assert algorithm.target is learner.network
        return
    target_outputs = algorithm.target.outputs.detach().clone()
    for update in range(1, 9):
        learner.update(batch_of(0.8, [1, 1, 1]), 0.0)
        now = learner.network.outputs.detach().clone()
        assert not torch.equal(now, target_outputs)
        if update in copied:
            target_outputs = now
        assert torch.equal(algorithm.target.outputs, target_outputs), update


def test_schedules_are_linear_and_bounded():
    config = replace(
        DEFAULT,
        games=1000,
        exploration_initial_eps=0.3,
        exploration_final_eps=0.1,
        exploration_fraction=0.5,
    )
    assert [round(epsilon_at(config, games), 3) for games in (0, 250, 500, 1000)] == [
        0.3, 0.2, 0.1, 0.1,
    ]  # fmt: skip
    assert np.allclose([learning_rate(1.0, 0.0, x) for x in (0, 0.5, 1)], [1, 0.5, 0])


@pytest.mark.interpreted
def test_rollouts_are_valid_games():
    game = make_game("hex:board_size=3,swap=True")
    encoder = Encoder(game)
    config = replace(
        DEFAULT,
        opponent="random",
        games_per_iteration=30,
        exploration_initial_eps=0.25,
        exploration_final_eps=0.25,
    )
    algorithm = DQN(config, game, None)
    rng = np.random.default_rng(0)
    best = np.arange(game.num_actions, dtype=np.float32)  # the network prefers the highest action
    rollout = algorithm.collect(lambda planes: np.tile(best, (len(planes), 1)), rng, 0)
    explored = 0
    for g in range(30):
        s = game.new()
        for t in range(rollout.lengths[g]):
            mover = int(game.player(s))
            assert rollout.movers[g, t] == mover
            action = int(encoder.translate(rollout.actions[g, t : t + 1], np.array([mover]))[0])
            assert action in game.legal(s)
            if mover == rollout.seats[g]:
                legal = encoder.translate(
                    np.array(game.legal(s)), np.full(len(game.legal(s)), mover)
                )
                assert rollout.explored[g, t] == (rollout.actions[g, t] != legal.max())
                explored += int(rollout.explored[g, t])
            else:
                assert not rollout.explored[g, t]
            game.step(s, action)
        assert game.is_terminal(s)
        expected = np.zeros(2)
        game.returns(s, expected)
        assert rollout.returns[g].tolist() == expected.tolist()
    assert explored > 5
    assert sorted(set(rollout.seats.tolist())) == [0, 1]
    wins, played = algorithm.measure(rollout)["training__first"]
    assert played == 15
    assert wins == (rollout.returns[rollout.seats == 0, 0] > 0).sum()


def highest_action(planes, masks):
    """Return the legal action of the highest number in each position."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("prob", "seat", "counts"),
    # Games of the learner as both players, as the first and as the second. With probability 0.25:
    # of 60 games, 15 against the opponent are expected, with a standard deviation of 3.4.
    [
        (1.0, "both", [(0, 0), (30, 30), (30, 30)]),
        (0.0, "both", [(60, 60), (0, 0), (0, 0)]),
        (0.25, "both", [(35, 55), (2, 15), (2, 15)]),
        (0.25, "second", [(35, 55), (0, 0), (5, 25)]),
    ],
)
def test_part_of_the_games_is_against_the_opponent(prob, seat, counts):
    game = make_game("tictactoe")
    config = replace(
        DEFAULT,
        opponent="random",
        opponent_prob=prob,
        agent_seat=seat,
        experience="simple",
        games_per_iteration=60,
        exploration_initial_eps=0.0,
        exploration_final_eps=0.0,
    )
    algorithm = DQN(config, game, None)
    algorithm.opponent = FunctionAgent(game, highest_action)
    lowest = -np.arange(9, dtype=np.float32)  # the network prefers the lowest action
    rng = np.random.default_rng(0)
    rollout = algorithm.collect(lambda planes: np.tile(lowest, (len(planes), 1)), rng, 0)
    num_games = [int((rollout.seats == seat).sum()) for seat in (-1, 0, 1)]
    for number, (least, most) in zip(num_games, counts, strict=True):
        assert least <= number <= most
    own_moves = 0
    for g, learner in enumerate(rollout.seats):
        s = game.new()
        for t in range(rollout.lengths[g]):
            own = learner in (-1, game.player(s))
            own_moves += own
            action = (min if own else max)(game.legal(s))
            assert rollout.actions[g, t] == action
            game.step(s, action)
        assert game.is_terminal(s)
    # `simple` stores the moves of both players in self-play, and the agent's own in other games.
    assert len(algorithm.targets(rollout, rng)) == own_moves
    mirrored = DQN(replace(config, experience="mirrored"), game, None)
    assert len(mirrored.targets(rollout, rng)) == rollout.lengths.sum()
    # Wins are those against the opponent.
    measured = algorithm.measure(rollout)
    assert [measured[name][1] for name in ("training__first", "training__second")] == num_games[1:]
    partner = "random and itself" if prob < 1 else "random"
    assert algorithm.report_text() == (partner, seat, algorithm.report_text().plays)
    assert algorithm.opponents() == ("random",)


def test_tanaka2018_preset_matches_the_paper():
    assert TANAKA2018.network.filters == (48, 384)
    assert (TANAKA2018.gamma, TANAKA2018.learning_rate, TANAKA2018.momentum) == (0.8, 0.01, 0.1)
    assert (TANAKA2018.buffer_size, TANAKA2018.batch_size, TANAKA2018.games_per_update) == (
        300,
        200,
        5,
    )
    assert (TANAKA2018.win_reward, TANAKA2018.loss_reward, TANAKA2018.exploration_initial_eps) == (
        100,
        -100,
        0.1,
    )
    network = make_q_network(TANAKA2018.network, make_game(TANAKA2018.game))
    shapes = [tuple(weight.shape) for weight in network.parameters() if weight.ndim > 1]
    assert shapes == [(48, 6, 2, 2), (384, 48, 2, 2), (25, 384 * 25)]
    assert all((weight == 0).all() for weight in network.parameters())


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"games": 0}, "games must be an integer from 1"),
        ({"td_target": "max"}, "td_target must be one of 'reply', 'negamax', got 'max'"),
        ({"loss_function": "mse"}, "the loss mse needs network.bounded=False"),
        (
            {"win_reward": 100.0},
            r"a bounded network needs -1 <= loss_reward <= win_reward <= 1, got win_reward=100.0",
        ),
        ({"exploration_initial_eps": 1.5}, "exploration_initial_eps must be a number from 0 to 1"),
        ({"opponent": "random", "opponent_prob": 1.1}, "opponent_prob must be a number from 0 to"),
        ({"opponent": "random", "opponent_prob": True}, "opponent_prob must be a number from 0"),
        ({"opponent_prob": 0.5}, "opponent_prob=0.5 needs an opponent, got self"),
    ],
)
def test_invalid_settings_raise(settings, problem):
    with pytest.raises(ValueError, match=problem):
        DQNConfig(**settings)
