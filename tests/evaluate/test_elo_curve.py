"""Tests of the Elo curve of a run's checkpoints."""

import csv
import json
import sys

import pytest

from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.evaluate.elo_curve import main, numbered_checkpoints, rate_checkpoints
from ludoteca.train.alphazero import AlphaZeroConfig
from ludoteca.train.loop import RLTraining


@pytest.mark.slow
def test_later_checkpoints_have_higher_ratings(tmp_path):
    config = AlphaZeroConfig(
        run_dir=tmp_path,
        game="tictactoe",
        network=PVConfig(filters=16, blocks=1),
        games=800,
        games_per_iteration=100,
        num_simulations=8,
        batch_size=128,
        buffer_size=5000,
        learning_starts=400,
        log_interval=400,
        eval_interval=10_000,
        eval_games=1,
        eval_opponents=("random",),
        final_eval_games=1,
        checkpoint_interval=200,
    )
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    assert [games for games, _ in sorted(numbered_checkpoints(tmp_path))] == [200, 400, 600, 800]
    agent = "az:path={path},simulations=0"
    rated_agents = rate_checkpoints(
        tmp_path, ("random", "mcts:simulations=300"), agent, games=60, random_plies=1
    )
    names = [rated.name for rated in rated_agents]
    assert names[:4] == ["200 games", "400 games", "600 games", "800 games"]
    elo = {rated.name: rated.elo for rated in rated_agents}
    assert elo["800 games"] > elo["200 games"]
    assert elo["mcts:simulations=300"] > elo["random"] + 100
    assert abs(sum(elo.values())) < 1e-6  # ratings have mean 0
    assert all(rated.low < rated.elo < rated.high for rated in rated_agents)
    with (tmp_path / "elo_curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == names
    content = json.loads((tmp_path / "elo_curve.json").read_text())
    assert content["game"].startswith("tictactoe")
    assert (tmp_path / "elo_curve.png").read_bytes().startswith(b"\x89PNG")


def test_invalid_arguments_are_rejected(tmp_path):
    with pytest.raises(ValueError, match="has no checkpoints: train with --checkpoint-interval"):
        rate_checkpoints(tmp_path)
    with pytest.raises(ValueError, match=r"agent must contain \{path\}, which stands for"):
        rate_checkpoints(tmp_path, agent="az:x")
    with pytest.raises(ValueError, match="games must be an integer from 2"):
        rate_checkpoints(tmp_path, games=1)


def test_first_argument_of_the_command_is_the_run_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["elo_curve", str(tmp_path), "--against", "random", "--games", "4"]
    )
    assert main() == 2
    assert capsys.readouterr().err == (
        f"elo_curve: {tmp_path} has no checkpoints: train with --checkpoint-interval, or with "
        "`ludoteca train GAME --set checkpoint_interval=100`\n"
    )
