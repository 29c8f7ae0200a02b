"""Tests of AlphaZero training: samples by hand, learning, exact resume."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from ludoteca.agents.alphazero import PolicyValueAgent
from ludoteca.agents.games.endgame import solve_endgame
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.weights import load_weights
from ludoteca.agents.search.network.selection import NetworkSearchConfig
from ludoteca.divergence import DivergedError
from ludoteca.envs.games.othello import placements
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match
from ludoteca.train.actors import LocalActor, make_self_play_actor
from ludoteca.train.alphazero import AlphaZero, AlphaZeroConfig, AlphaZeroRollout
from ludoteca.train.command import run as main
from ludoteca.train.gatekeeper import Gatekeeper
from ludoteca.train.loop import RLTraining
from ludoteca.train.replay import Packing

pytestmark = pytest.mark.interpreted

TINY = AlphaZeroConfig(
    game="tictactoe",
    network=PVConfig(filters=8, blocks=1),
    games=80,
    games_per_iteration=20,
    num_simulations=8,
    fast_simulations=2,
    batch_size=32,
    buffer_size=1000,
    learning_starts=100,
    log_interval=20,
    eval_interval=40,
    eval_games=5,
    eval_opponents=("random",),
    eval_simulations=4,
    final_eval_games=10,
    save_seconds=0.0,
)


@pytest.mark.slow
def test_alphazero_learns_perfect_tic_tac_toe(tmp_path):
    config = replace(
        TINY,
        run_dir=tmp_path,
        games=3000,
        games_per_iteration=100,
        network=PVConfig(filters=32, blocks=2),
        num_simulations=16,
        batch_size=256,
        buffer_size=10_000,
        learning_starts=1000,
        log_interval=1000,
        eval_interval=1000,
        eval_games=50,
        eval_simulations=16,
        save_seconds=1e9,
    )
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    match = play_match("tictactoe", [f"az:{tmp_path},simulations=32", "random"], 600, seed=9)
    assert match.totals[0].losses <= 1
    assert match.totals[0].wins >= 520
    # Perfect play: it draws against a strong search.
    strong_match = play_match(
        "tictactoe", [f"az:{tmp_path},simulations=64", "mcts:simulations=5000"], 20, seed=1
    )
    assert strong_match.totals[0].losses <= 1


def test_samples_of_a_game_match_hand_computation():
    # Two games with 3 and 2 plies; the last ply of the first is without a full search.
    rollout = AlphaZeroRollout(
        lengths=np.array([3, 2]),
        returns=np.array([1, -1], np.float32),
        planes=np.arange(6, dtype=np.uint8).reshape(2, 3, 1),
        policies=np.full((2, 3, 4), 0.25, np.float16),
        values=np.array([[0.2, -0.4, 0.6], [0.1, 0.5, 9.0]], np.float32),
        movers=np.array([[0, 1, 0], [0, 1, 0]], np.int8),
        full=np.array([[True, True, False], [True, True, True]]),
        opening=np.array([0, 1], np.int16),
    )
    dtype = np.dtype(
        [("planes", np.uint8, (1,)), ("policy", np.float16, (4,)), ("value", np.float32)]
    )
    algorithm = AlphaZero(TINY, make_game("tictactoe"), None)
    algorithm.layout.dtype = dtype
    assert TINY.outcome_weight == 0.75
    records = algorithm.targets(rollout, np.random.default_rng(0))
    assert records["planes"].ravel().tolist() == [0, 1, 3, 4]
    # The first move of the second game is random: its target is the root value alone.
    expected = [0.75 + 0.25 * 0.2, -0.75 + 0.25 * -0.4, 0.1, 0.75 + 0.25 * 0.5]
    assert np.allclose(records["value"], expected)


@pytest.mark.parametrize("search_policy", ["puct", "gumbel"])
def test_rollouts_are_valid_games(search_policy):
    game = make_game("hex:board_size=3")
    config = replace(TINY, game=game.spec, search_policy=search_policy, full_search_prob=0.5)

    def infer(planes):  # uniform policy, value 0
        return np.zeros((len(planes), 10), np.float32)

    rollout = AlphaZero(config, game, None).collect(infer, np.random.default_rng(0), 0)
    assert ((rollout.lengths >= 5) & (rollout.lengths <= 9)).all()
    assert set(np.unique(rollout.returns)) == {-1.0, 1.0}
    # The player of the last move wins.
    last = rollout.movers[np.arange(20), rollout.lengths - 1]
    assert np.array_equal(rollout.returns > 0, last == 0)
    inside = np.arange(9) < rollout.lengths[:, None]
    assert np.allclose(rollout.policies[inside].astype(np.float32).sum(1), 1, atol=0.01)
    assert 0.3 < rollout.full[inside].mean() < 0.7
    assert len({observation.tobytes() for observation in rollout.planes[:, 1]}) > 2  # games differ


@pytest.mark.parametrize(
    ("spec", "solver_empties"),
    [
        pytest.param("othello:board_size=4", 7, marks=pytest.mark.interpreted),
        pytest.param("connect4:rows=4,columns=4", 10, marks=pytest.mark.interpreted),
        pytest.param("connect4", 28, marks=pytest.mark.slow),
    ],
)
def test_self_play_follows_solved_endgames(spec, solver_empties):
    game = make_game(spec)
    encoder = Encoder(game)

    def infer(planes):  # uniform policy, value 0
        return np.zeros((len(planes), game.num_actions + 1), np.float32)

    config = replace(TINY, game=spec, solver_empties=solver_empties, games_per_iteration=6)
    rollout = AlphaZero(config, game, None).collect(infer, np.random.default_rng(0), 0)
    planes = Packing(encoder.shape, True).unpack(
        rollout.planes.reshape(-1, rollout.planes.shape[2])
    )
    planes = planes.reshape(6, -1, *encoder.shape)
    squares, solved = planes[0, 0, 0].size, 0
    for b, length in enumerate(rollout.lengths):
        signs = np.where(rollout.movers[b, :length] == 0, 1, -1)
        empty = squares - planes[b, :length, :2].sum((1, 2, 3))
        near = np.flatnonzero(empty <= solver_empties)
        assert (rollout.policies[b, near].max(1) == 1).all()
        assert (rollout.values[b, near] == rollout.returns[b] * signs[near]).all()
        assert rollout.full[b, :length].all()
        if len(near) > 0 and game.name == "othello":  # the position, from its planes
            s, mover = game.new(), int(rollout.movers[b, near[0]])
            for plane, player in enumerate((mover, 1 - mover)):
                observation = np.argwhere(planes[b, near[0], plane])
                s.discs[player] = sum(1 << int(8 * row + column) for row, column in observation)
            s.to_move = mover
            with np.errstate(over="ignore"):  # shifts of bitboards wrap around
                s.legal = placements(s, mover)
            solution = solve_endgame(game, s)
            assert rollout.policies[b, near[0], solution.action] == 1
        solved += len(near)
    assert solved > 20


def test_agent_follows_solved_endgames():
    game = make_game("othello:board_size=4")
    runner = Runner(make_pv_network(TINY.network, game))
    agent = PolicyValueAgent(game, runner, 4, NetworkSearchConfig(), solver_empties=11)
    agent.prepare()
    states = np.repeat(batch_of_one(game), 2)
    game.step(states.view(np.recarray)[1], game.legal(game.new())[0])
    streams = np.zeros((2, 1), np.uint64)
    actions = agent.act(states, np.array([0, 1]), streams, np.arange(2))
    assert actions[1] == solve_endgame(game, states[1]).action
    without_solver = PolicyValueAgent(game, runner, 4, NetworkSearchConfig())
    assert actions[0] == without_solver.act(states[:1], np.array([0]), streams, np.arange(1))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("search_policy", "gating_interval"),
    [("puct", 0), ("puct", 40), ("gumbel", 0), ("gumbel", 40)],
)
def test_resumed_run_ends_with_the_same_result(tmp_path, search_policy, gating_interval):
    config = replace(
        TINY,
        search_policy=search_policy,
        full_search_prob=0.5,
        gating_interval=gating_interval,
        gating_games=4,
    )
    uninterrupted = RLTraining(
        replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False
    )
    for _ in uninterrupted.run():
        pass
    interrupted = RLTraining(replace(config, run_dir=tmp_path / "parts"), tensorboard=False)
    for games in interrupted.run():
        if games >= 40:
            break
    again = RLTraining(replace(config, run_dir=tmp_path / "parts"), tensorboard=False)
    assert again.games == 40
    for _ in again.run():
        pass
    expected = uninterrupted.network.state_dict()
    assert all(torch.equal(w, expected[name]) for name, w in again.network.state_dict().items())
    without_time = [{**row, "seconds": 0} for row in uninterrupted.metrics.rows]
    assert [{**row, "seconds": 0} for row in again.metrics.rows] == without_time


@pytest.mark.slow
def test_finished_run_can_be_extended(tmp_path):
    for games in (40, 60):
        training = RLTraining(replace(TINY, run_dir=tmp_path, games=games), tensorboard=False)
        assert training.games == games - (40 if games == 40 else 20)
        for _ in training.run():
            pass
        assert training.games == games
    assert training.metrics.rows[-1]["step"] == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("select", "scores", "best_games"),
    [("best", (0.2, 0.9, 0.5), 40), ("best", (0.2, 0.9, 0.9), 80), ("last", (0.2, 0.9, 0.5), 80)],
)
def test_checkpoint_selection(tmp_path, monkeypatch, select, scores, best_games):
    # Evaluations are after 0, 40 and 80 games.
    measured = iter(scores)
    monkeypatch.setattr(AlphaZero, "score", lambda self, matches: next(measured))
    training = RLTraining(
        replace(TINY, run_dir=tmp_path, checkpoint_selection=select), tensorboard=False
    )
    for _ in training.run():
        pass
    assert list(measured) == []
    assert training.best == {"win_rate": scores[best_games // 40], "games": best_games}
    assert load_weights(tmp_path / "best.safetensors")[1]["games"] == best_games


@pytest.mark.slow
def test_self_play_in_several_processes_is_reproducible(tmp_path):
    config = replace(TINY, games=40, num_actors=2, eval_games=1, final_eval_games=1)
    weights = []
    for name in ("one", "two"):
        training = RLTraining(replace(config, run_dir=tmp_path / name), tensorboard=False)
        for _ in training.run():
            pass
        weights.append(training.network.state_dict())
    assert all(torch.equal(w, weights[1][name]) for name, w in weights[0].items())


@pytest.mark.slow
def test_rollout_of_several_processes_joins_their_parts():
    game = make_game("tictactoe")
    network = make_pv_network(TINY.network, game)
    torch.set_num_threads(1)
    config = replace(TINY, num_actors=2, precision="float32")
    actors, _ = make_self_play_actor(AlphaZero(config, game, network))
    actors.load(network)
    joined_rollout = actors.play(np.random.default_rng(3), 0)
    actors.close()
    part = replace(config, games_per_iteration=10)
    for k, seed in enumerate(np.random.default_rng(3).integers(2**63, size=2)):
        part_rollout = LocalActor(AlphaZero(part, game, network)).play(
            np.random.default_rng(int(seed))
        )
        for field in fields(AlphaZeroRollout):
            expected = getattr(joined_rollout, field.name)[10 * k : 10 * k + 10].astype(np.float64)
            assert np.allclose(expected, getattr(part_rollout, field.name), atol=1e-3)


@pytest.mark.slow
def test_gatekeeper_accepts_only_winning_candidates():
    game = make_game("tictactoe")

    class RecordingActor:
        """Actor that records the networks that it loads."""

        def load(self, network):
            weights = torch.cat([tensor.flatten() for tensor in network.state_dict().values()])
            self.networks.add(tuple(weights.tolist()))

    trials = 4
    for threshold, num_accepted in ((0.0, trials), (1.0, 0)):
        actor = RecordingActor()
        actor.networks = set()
        config = replace(
            TINY,
            precision="float32",
            gating_interval=40,
            gating_games=24,
            gating_threshold=threshold,
        )
        network = make_pv_network(TINY.network, game)
        gatekeeper = Gatekeeper(AlphaZero(config, game, network), actor)
        for _ in range(2 * trials):  # rollouts of 20 games
            gatekeeper.load(make_pv_network(TINY.network, game))
        assert (gatekeeper.tested, gatekeeper.accepted) == (trials, num_accepted)
        assert len(actor.networks) == 1 + num_accepted


# Games by default: one without and one with an origin of its moves, and one that is refused.
QUICK = ("Connect4-v0", "Breakthrough-v0", "Tron-v0")


@pytest.mark.parametrize(
    "id_", [id_ if id_ in QUICK else pytest.param(id_, marks=pytest.mark.slow) for id_ in GAMES]
)
@pytest.mark.interpreted
def test_every_sequential_game_can_be_learned(id_, tmp_path):
    config = replace(
        TINY,
        run_dir=tmp_path,
        game=make_game(id_).spec,
        games=2,
        games_per_iteration=2,
        num_simulations=2,
        learning_starts=1,
        batch_size=8,
        eval_games=1,
        eval_simulations=1,
    )
    if make_game(id_).simultaneous:
        with pytest.raises(ValueError, match="a sequential game for two players"):
            RLTraining(config, tensorboard=False)
        return
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    assert training.updates > 0
    weights = training.network.state_dict().values()
    assert all(bool(torch.isfinite(weight).all()) for weight in weights)


def test_non_finite_losses_end_a_run(tmp_path):
    training = RLTraining(replace(TINY, run_dir=tmp_path), tensorboard=False)
    planes = np.zeros((2, *Encoder(training.game).shape), np.int8)
    policies = np.full((2, training.game.num_actions), 1 / training.game.num_actions, np.float32)
    batch = {"planes": planes, "policy": policies, "value": np.zeros(2, np.float32)}
    with torch.no_grad():
        next(training.network.parameters()).fill_(torch.nan)
    with pytest.raises(DivergedError, match="losses of update 1 are nan and nan: learning_rate="):
        training.learner.update(batch, 0.0)


@pytest.mark.parametrize("games", [40, pytest.param(80, marks=pytest.mark.slow)])
def test_finished_run_writes_a_report(games, tmp_path):
    config = replace(TINY, games=games, eval_games=2, final_eval_games=6)
    results = main(replace(config, run_dir=tmp_path))
    assert results is not None
    text = (tmp_path / "report.md").read_text()
    assert "# AlphaZero in Tic-Tac-Toe" in text
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")
    match = play_match(
        "tictactoe",
        [f"az:{tmp_path},simulations=4,policy=gumbel", "random"],
        12,
        seed=results["evaluation_seed"],
    )
    expected = [seat["wins"] for seat in results["evaluation"][0]["seats"]]
    assert [record.wins for record in match.seats[0]] == expected


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"search_policy": "uct"}, "search_policy must be one of 'puct', 'gumbel', got 'uct'"),
        ({"num_simulations": 0}, "num_simulations must be an integer from 1"),
        ({"eval_opponents": ()}, "must name at least one opponent"),
        (
            {"num_actors": 3, "games_per_iteration": 256},
            "games_per_iteration=256 must be a multiple of num_actors=3",
        ),
        ({"full_search_prob": 2.0}, "full_search_prob must be a number from 0 to 1"),
    ],
)
def test_invalid_settings_raise(settings, problem):
    with pytest.raises(ValueError, match=problem):
        AlphaZeroConfig(**settings)
