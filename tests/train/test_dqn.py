"""Tests of DQN training: transitions and targets by hand, resume after a kill, learning."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch import nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import QConfig, make_q_network
from ludoteca.agents.networks.weights import load_weights
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match
from ludoteca.train import command
from ludoteca.train.command import parse as parse_command
from ludoteca.train.command import run as main
from ludoteca.train.demo import DEMO
from ludoteca.train.dqn import DQN, DQNConfig, DQNRollout, epsilon_at, rewards
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.learner import NetworkLearner
from ludoteca.train.loop import RLTraining
from ludoteca.train.optimizer import learning_rate

DEFAULT = DQNConfig()


def parse(arguments):
    """Parse the command line of deep Q-learning."""
    return parse_command("dqn", arguments)


TANAKA2018 = parse(["tanaka2018"])

TINY = replace(
    DEFAULT,
    game="tictactoe",
    network=QConfig(filters=(8,), blocks=1),
    games=200,
    games_per_iteration=20,
    batch_size=32,
    buffer_size=1000,
    learning_starts=100,
    log_interval=40,
    eval_interval=80,
    eval_games=10,
    final_eval_games=20,
    save_seconds=0.0,
)


def by_hand(lengths, movers, explored=(), returns=((1, -1),), seats=(0,)) -> DQNRollout:
    """A round in which ply t of game g saw the number 10 g + t and did action t."""
    games, plies = len(lengths), max(lengths)
    seen = 10 * np.arange(games)[:, None] + np.arange(plies)
    flags = np.zeros((games, plies), np.bool_)
    for place in explored:
        flags[place] = True
    return DQNRollout(
        lengths=np.array(lengths),
        returns=np.array(returns, np.float32),
        seats=np.array(seats, np.int8),
        planes=seen[:, :, None].astype(np.uint8),
        masks=(seen[:, :, None] + 100).astype(np.uint8),
        actions=np.tile(np.arange(plies), (games, 1)),
        movers=np.resize(np.array(movers, np.int8), (games, plies)),
        explored=flags,
    )


class Bytes:
    """An encoder whose planes are one byte, in a game of eight actions."""

    game, shape, scale = SimpleNamespace(num_actions=8), (1, 1, 1), 0.5


def linked(rollout: DQNRollout, **settings):
    """Return (ply, reward, discount, ply of what follows or None) of each transition."""
    algorithm = DQN(replace(DEFAULT, gamma=0.5, **settings), make_game("tictactoe"), None)
    algorithm.layout = ExampleLayout(Bytes, algorithm.layout.columns)
    return [
        (
            int(r["planes"][0]),
            float(r["reward"]),
            float(r["discount"]),
            int(r["next_planes"][0]) if r["discount"] else None,
        )
        for r in algorithm.targets(rollout, np.random.default_rng(0))
    ]


def test_replies_link_positions_of_the_same_player():
    game = by_hand([5], [0, 1, 0, 1, 0])  # the first player wins at ply 4
    simple = {"td_target": "reply", "experience": "simple"}
    assert linked(game, n_step=1, **simple) == [
        (0, 0.0, 0.5, 2),
        (2, 0.0, 0.5, 4),
        (4, 1.0, 0.0, None),
    ]
    assert linked(game, n_step=2, **simple) == [
        (0, 0.0, 0.25, 4),
        (2, 0.5, 0.0, None),
        (4, 1.0, 0.0, None),
    ]
    # Mirrored: the loser's moves, too, which lead to his loss.
    assert linked(game, n_step=1, td_target="reply", experience="mirrored") == [
        (0, 0.0, 0.5, 2),
        (1, 0.0, 0.5, 3),
        (2, 0.0, 0.5, 4),
        (3, -1.0, 0.0, None),
        (4, 1.0, 0.0, None),
    ]


def test_negamax_links_positions_of_opponents_with_a_minus():
    game = by_hand([4], [0, 1, 0, 1], returns=[(-1, 1)], seats=[-1])
    assert linked(game, n_step=1, td_target="negamax") == [
        (0, 0.0, -0.5, 1),
        (1, 0.0, -0.5, 2),
        (2, 0.0, -0.5, 3),
        (3, 1.0, 0.0, None),
    ]
    assert linked(game, n_step=3, td_target="negamax") == [
        (0, 0.0, -0.125, 3),
        (1, 0.25, 0.0, None),
        (2, -0.5, 0.0, None),
        (3, 1.0, 0.0, None),
    ]
    # A player who moves twice in a row (after a pass) keeps the sign.
    twice = by_hand([3], [0, 0, 1], seats=[-1])
    assert linked(twice, n_step=1, td_target="negamax")[0] == (0, 0.0, 0.5, 1)


def test_n_step_returns_end_at_random_moves():
    game = by_hand([6], [0, 1, 0, 1, 0, 1], explored=[(0, 2)], returns=[(-1, 1)], seats=[-1])
    found = linked(game, n_step=9, td_target="negamax")
    assert found[0] == (0, 0.0, 0.25, 2)  # to the random move, and no further
    assert found[1] == (1, 0.0, -0.5, 2)
    assert found[2] == (2, -(0.5**3), 0.0, None)  # the random move itself counts


def test_transitions_stay_within_games_and_learning_seats():
    rollout = by_hand([3, 2], [0, 1, 0], returns=[(1, -1), (-1, 1)], seats=[0, 1])
    found = linked(rollout, n_step=1, td_target="reply", experience="simple")
    assert [ply for ply, *_ in found] == [0, 2, 11]
    assert found[-1] == (11, 1.0, 0.0, None)


def test_losses_weigh_less_the_later_they_come():
    rollout = by_hand([9, 19], [0, 1], returns=[(1, -1), (-1, 1)], seats=[0, 0])
    # By hand: 1 - 9 / 26 and 1 - 19 / 26 of -100.
    paid = rewards(rollout, TANAKA2018, 25)
    assert np.allclose(paid, [[100, -65.3846], [-26.9231, 100]])
    drawn = by_hand([9], [0, 1], returns=[(0, 0)])
    assert rewards(drawn, TANAKA2018, 25).tolist() == [[0, 0]]


class Fixed(nn.Module):
    """A network of one weight that says the same everywhere."""

    def __init__(self, outputs):
        super().__init__()
        self.outputs = nn.Parameter(torch.tensor(outputs))

    def forward(self, planes):
        return self.outputs.expand(len(planes), -1)

    def values(self, outputs):
        return outputs


def batch_of(discount: float, legal) -> dict[str, np.ndarray]:
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
    algorithm = DQN(replace(config, precision="float32"), make_game("tictactoe"), Fixed(outputs))
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
    batch = {name: torch.from_numpy(one) for name, one in batch_of(-0.5, [1, 0, 1]).items()}
    assert np.allclose(algorithm.td_targets(batch), [1 - 0.5 * expected, 2.0])


def test_update_matches_hand_computation():
    """SGD on 0.5 (y - Q)^2: each chosen output moves by rate * error / batch size."""
    _, learner = learner_of([0.0, 0.0, 4.0], replace(TANAKA2018, momentum=0.0, opponent="self"))
    losses, errors = learner.update(batch_of(0.8, [1, 1, 1]), 0.0)
    # Targets 1 + 0.8 * 4 and 2.
    assert np.isclose(losses["loss"], (0.5 * 4.2**2 + 0.5 * 2.0**2) / 2)
    assert np.allclose(errors, [4.2, 2.0])
    moved = learner.network.outputs.detach().numpy()
    assert np.allclose(moved, [0.01 * 4.2 / 2, 0.01 * 2 / 2, 4.0])


@pytest.mark.parametrize(("every", "copied"), [(1, range(1, 9)), (3, [3, 6]), (7, [7]), (0, [])])
def test_target_network_is_updated_at_its_interval(every, copied):
    """The target network is copied after exactly these updates, and stays the same in between."""
    config = replace(TANAKA2018, target_update_interval=every, opponent="self")
    algorithm, learner = learner_of([0.0, 0.0, 4.0], config)
    if every == 0:
        assert algorithm.target is learner.network
        return
    held = algorithm.target.outputs.detach().clone()
    for update in range(1, 9):
        learner.update(batch_of(0.8, [1, 1, 1]), 0.0)
        now = learner.network.outputs.detach().clone()
        assert not torch.equal(now, held)
        if update in copied:
            held = now
        assert torch.equal(algorithm.target.outputs, held), update


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
    best = np.arange(game.num_actions, dtype=np.float32)  # the highest number first
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


def test_dqn_learns_tic_tac_toe(tmp_path):
    config = replace(
        TINY,
        run_dir=tmp_path,
        games=7_000,
        games_per_iteration=200,
        batch_size=256,
        replay_ratio=4.0,
        buffer_size=30_000,
        learning_starts=1000,
        network=QConfig(filters=(32,), blocks=2),
        learning_rate=2e-3,
        exploration_initial_eps=1.0,
        exploration_final_eps=0.3,
        exploration_fraction=1.0,
        log_interval=2000,
        eval_interval=5000,
        eval_games=200,
        save_seconds=1e9,
    )
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    untrained = training.metrics.rows[0]["random__first"]
    assert untrained is not None
    assert untrained < 0.85
    game = make_game("tictactoe")
    match = play_match(game, [f"dqn:{tmp_path}", "random"], 2000, seed=9)
    first, second = match.seats[0]
    # Perfect play never loses.
    assert first.losses <= 3
    assert second.losses <= 10
    assert first.wins >= 950
    assert second.wins >= 800


# One of each kind of action by default, the others in `make test-slow`.
QUICK = ("Connect4-v0", "Othello-v0", "Hex-v0", "Breakthrough-v0", "Tron-v0")


@pytest.mark.parametrize(
    "id_", [id_ if id_ in QUICK else pytest.param(id_, marks=pytest.mark.slow) for id_ in GAMES]
)
@pytest.mark.interpreted
def test_every_sequential_game_can_be_learned(id_, tmp_path):
    game = make_game(id_)
    config = replace(
        TINY,
        run_dir=tmp_path,
        game=game.spec,
        opponent="random",
        games=2,
        games_per_iteration=2,
        learning_starts=1,
        batch_size=8,
        eval_games=1,
    )
    if game.simultaneous:
        with pytest.raises(ValueError, match="two players who move in turn"):
            RLTraining(config, tensorboard=False)
        return
    training = RLTraining(config, tensorboard=False)
    before = {name: weight.clone() for name, weight in training.network.state_dict().items()}
    for _ in training.run():
        pass
    assert training.learner.updates > 0
    after = training.network.state_dict()
    assert any(not torch.equal(after[name], weight) for name, weight in before.items())
    assert all(bool(torch.isfinite(weight).all()) for weight in after.values())


def test_seed_determines_a_run_with_and_without_overlap(tmp_path):
    found = {}
    for name, settings in {
        "a": {},
        "b": {},
        "other": {"seed": 1},
        "alone": {"overlap_actor_learner": False},
    }.items():
        training = RLTraining(
            replace(TINY, run_dir=tmp_path / name, games=120, **settings), tensorboard=False
        )
        assert [*training.run()] == [20, 40, 60, 80, 100, 120]
        found[name] = training.network.state_dict()
    same = {
        name: all(torch.equal(weight, found["a"][key]) for key, weight in weights.items())
        for name, weights in found.items()
    }
    assert same == {"a": True, "b": True, "other": False, "alone": False}


def test_evaluation_interval_is_independent_of_metrics_rows(tmp_path):
    config = replace(TINY, run_dir=tmp_path, games=120, log_interval=50, eval_interval=80)
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    evaluated = {row["step"]: "random__first" in row for row in training.metrics.rows}
    assert evaluated == {0: True, 60: False, 80: True, 100: False, 120: True}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param(
            {
                "opponent": "random",
                "prioritized_replay": False,
                "optimizer": "sgd",
                "overlap_actor_learner": False,
            },
            marks=pytest.mark.slow,
        ),
    ],
    ids=["modern", "plain"],
)
def test_killed_run_resumes_to_the_same_result(tmp_path, settings):
    config = replace(TINY, **settings)
    whole = RLTraining(replace(config, run_dir=tmp_path / "whole"), tensorboard=False)
    for _ in whole.run():
        pass
    killed = replace(config, run_dir=tmp_path / "killed")
    code = (
        "import time; from pathlib import PosixPath;"
        "from ludoteca.train.dqn import DQNConfig;"
        "from ludoteca.agents.networks.q_network import QConfig;"
        "from ludoteca.train.loop import RLTraining\n"
        f"for games in RLTraining({killed!r}, tensorboard=False).run():\n"
        "    print(games, flush=True); time.sleep(0.05)"
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 100:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    again = RLTraining(killed, tensorboard=False)
    assert 0 < again.games < config.games
    for _ in again.run():
        pass
    expected = whole.network.state_dict()
    for name, weight in again.network.state_dict().items():
        assert torch.equal(weight, expected[name]), name
    without_time = [{**row, "seconds": 0} for row in whole.metrics.rows]
    assert [{**row, "seconds": 0} for row in again.metrics.rows] == without_time
    assert again.best == whole.best


def test_a_folder_belongs_to_one_run(tmp_path):
    config = replace(TINY, run_dir=tmp_path)
    RLTraining(config, tensorboard=False)
    RLTraining(replace(config, minutes=1.0, save_seconds=5), tensorboard=False)
    with pytest.raises(ValueError, match=r"other settings.*gamma: 1.0 there, 0.5 here"):
        RLTraining(replace(config, gamma=0.5), tensorboard=False)
    (tmp_path / "state.npz").write_bytes(b"half a fi")
    with pytest.raises(ValueError, match=r"state.npz is damaged .*: remove it to begin anew"):
        RLTraining(config, tensorboard=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "demo"
    config = replace(
        DEMO,
        run_dir=folder,
        game="hex:board_size=3",
        opponent="mixed:epsilon=0.2",
        eval_opponents=("mixed:epsilon=0.2", "heuristic"),
        network=QConfig(filters=(8,), blocks=1),
        games=512,
        learning_starts=500,
        batch_size=64,
        log_interval=256,
        eval_interval=256,
        eval_games=20,
        final_eval_games=30,
    )
    threads = torch.get_num_threads()
    results = main(config)
    torch.set_num_threads(threads)
    return folder, results


def test_finished_run_writes_a_report(finished):
    folder, results = finished
    assert {path.name for path in folder.iterdir()} == {
        ".lock", "best.safetensors", "config.json", "game.png", "game.svg", "learning_curve.png",
        "metrics.csv", "network.safetensors", "replay.json", "report.md", "results.json",
        "state.npz", "tensorboard",
    }  # fmt: skip
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results))
    for name in ("learning_curve.png", "game.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ET.parse(folder / "game.svg").getroot().tag.endswith("svg")
    text = (folder / "report.md").read_text()
    for link in re.findall(r"\]\((.*?)\)", text):
        assert (folder / link).is_file()
    for part in results["evaluation"]:
        for seat in part["seats"]:
            assert seat["games"] == 30
            games = "30 (all the same)" if seat["distinct"] == 1 else "30"
            assert f"| {part['opponent']} | {seat['seat']} | {games} | {seat['wins']} |" in text
    assert [part["opponent"] for part in results["evaluation"]] == [
        "mixed:epsilon=0.2", "heuristic", "random",
    ]  # fmt: skip
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == [0, 256, 512]


def test_tensorboard_has_hyperparameters_the_command_and_boards(finished):
    folder, _ = finished
    accumulator = EventAccumulator(str(folder / "tensorboard"))
    accumulator.Reload()
    tags = accumulator.Tags()
    assert "evaluation game" in tags["images"]
    assert [image.step for image in accumulator.Images("evaluation game")] == [0, 256, 512]
    assert {"loss", "mixed:epsilon=0.2/first", "plies"} <= set(tags["scalars"])
    texts = accumulator.PluginTagToContent("text")
    assert "command/text_summary" in texts
    plugin = accumulator.PluginTagToContent("hparams")["_hparams_/session_start_info"]
    hparams = HParamsPluginData.FromString(plugin).session_start_info.hparams
    assert hparams["gamma"].number_value == 1.0
    assert hparams["network.blocks"].number_value == 1
    assert hparams["opponent"].string_value == "mixed:epsilon=0.2"


def test_results_can_be_recomputed_from_the_checkpoint(finished):
    folder, results = finished
    game = make_game(results["game"])
    match = play_match(game, [f"dqn:{folder}", "mixed:0.2"], 60, seed=results["evaluation_seed"])
    expected = [seat["wins"] for seat in results["evaluation"][0]["seats"]]
    assert [record.wins for record in match.seats[0]] == expected
    card = load_weights(folder / "best.safetensors")[1]["card"]
    assert card["evaluation"] == json.loads(json.dumps(results["evaluation"]))
    assert card["config"]["seed"] == 0
    replay = Replay.load(folder / "replay.json")
    assert replay.players[1] == "mixed:epsilon=0.2"
    assert replay.returns is not None


def test_a_finished_run_can_be_reported_again(finished):
    folder, results = finished
    config = replace(
        DEMO,
        **{
            key: value
            for key, value in results["config"].items()
            if key not in ("run_dir", "network", "start_from", "eval_opponents")
        },
        run_dir=folder,
        network=QConfig(filters=(8,), blocks=1),
        eval_opponents=("mixed:epsilon=0.2", "heuristic"),
    )
    again = main(config)
    assert again is not None
    assert again["evaluation"] == results["evaluation"]


def test_run_ended_by_time_resumes(tmp_path, capsys, monkeypatch):
    # A command that this process ran long ago does not count.
    monkeypatch.setattr(command, "STARTED", time.monotonic() - 3600)
    command.run_command("test", lambda: None)
    warm = replace(TINY, run_dir=tmp_path / "warm", games=120)  # compiles, and imports the report's
    assert main(warm) is not None
    capsys.readouterr()
    config = replace(TINY, run_dir=tmp_path, games=10**6, minutes=0.1, save_seconds=1e9)
    start = time.monotonic()
    assert main(config) is None
    assert time.monotonic() - start < 20  # 6 seconds and, on a busy machine, the report
    about = load_weights(tmp_path / "best.safetensors")[1]
    training = RLTraining(config, tensorboard=False)
    assert 0 < training.games < 10**6
    assert not (tmp_path / "results.json").exists()
    results = json.loads((tmp_path / "results_so_far.json").read_text())
    assert results["training"]["games"] == training.games
    where = f"stopped after {training.games:,} of 1,000,000 games"
    assert where in (tmp_path / "report.md").read_text()
    # What was learned is what `dqn:FOLDER` plays, although the last evaluation was long ago.
    assert about["games"] == results["training"]["best"]["games"] > 0
    assert about["updates"] > 0
    out = capsys.readouterr().out
    assert f"time is up after {training.games:,} of 1,000,000 games; the same command" in out
    assert f"next: ludoteca play tictactoe --agent dqn:{tmp_path}" in out


def test_weights_transfer_from_a_small_board(tmp_path):
    small = replace(TINY, run_dir=tmp_path / "a", game="hex:board_size=3", games=40)
    first = RLTraining(small, tensorboard=False)
    for _ in first.run():
        pass
    large = replace(
        small, run_dir=tmp_path / "b", game="hex:board_size=5", start_from=tmp_path / "a"
    )
    second = RLTraining(large, tensorboard=False)
    best = load_weights(tmp_path / "a" / "best.safetensors")[0]
    assert all(torch.equal(best[name], w) for name, w in second.network.state_dict().items())
    other = replace(large, run_dir=tmp_path / "c", network=QConfig(filters=(16,), blocks=1))
    with pytest.raises(ValueError, match="has a different architecture"):
        RLTraining(other, tensorboard=False)


def test_tanaka2018_preset_matches_the_document():
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
            r"a bounded network needs rewards in \[-1, 1\], got win_reward=100.0",
        ),
        ({"exploration_initial_eps": 1.5}, "exploration_initial_eps must be a number from 0 to 1"),
    ],
)
def test_invalid_settings_raise(settings, problem):
    with pytest.raises(ValueError, match=problem):
        DQNConfig(**settings)


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "ludoteca.train.dqn", *arguments],
        capture_output=True, text=True, cwd=folder, env=os.environ | {"COLUMNS": "120"},
    )  # fmt: skip


def test_command_line_parses_settings(tmp_path):
    assert parse(["--gamma", "0.9"]) == replace(DEFAULT, gamma=0.9)
    assert parse(["tanaka2018", "--gamma", "0.9"]) == replace(TANAKA2018, gamma=0.9)
    shown = run("--help", folder=tmp_path)
    assert shown.returncode == 0
    for text in (
        "Deep Q-learning", "`tanaka2018 --help`", "--td-target", "--n-step", "--network.filters",
        "--prioritized-replay", "--start-from",
    ):  # fmt: skip
        assert text in shown.stdout
    for arguments, problem in (
        (("default", "--game", "go"), "unknown game 'go'"),
        (("tanaka2018", "--opponent", "nobody"), "unknown agent 'nobody'"),
    ):
        failed = run(*arguments, "--run-dir", str(tmp_path / "x"), folder=tmp_path)
        assert failed.returncode == 1
        assert problem in failed.stderr
        assert "Traceback" not in failed.stderr
