"""Tests of the study of solved games: commands and report."""

import json

import pytest
import tyro

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.spec import parse_spec
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.solved import study as solved
from ludoteca.evaluate.studies.solved.study import NETWORKS, OPPONENTS, make_study
from ludoteca.train.alphazero import AlphaZeroConfig

STUDY = make_study()
TASKS = STUDY.tasks


def test_training_tasks_have_valid_commands(tmp_path):
    assert tuple(NETWORKS) == ("tictactoe", "hex", "connect4")
    for name, (game, settings) in NETWORKS.items():
        arguments = TASKS[name].arguments(tmp_path)
        assert arguments[:3] == ["-P", "-m", "ludoteca.train.alphazero"]
        config = tyro.cli(AlphaZeroConfig, args=arguments[3:])
        assert (config.game, config.games) == (game, settings["games"])
        assert config.run_dir == tmp_path / name
    fast = make_study(fast=True).tasks["hex"]
    assert tyro.cli(AlphaZeroConfig, args=fast.arguments(tmp_path)[3:]).games == 512


def test_all_opponents_play_hex():
    game = make_game(NETWORKS["hex"][0])
    for opponent in OPPONENTS:
        _, params = parse_spec(opponent, first="path")
        agent = make_agent(opponent, game)
        assert agent.game is game
        assert getattr(agent, "simulations", None) == params.get("simulations")


ABOUT = {"date": "2026-01-02T03:04:05", "cpu": "fast", "cores": 2}


def example_record(task):
    """Return a record of a task without running it."""
    settings = dict(task.settings)
    if task.kind == "network":
        config = {"game": settings["game"], "network": {"filters": 8, "blocks": 1}}
        training = {"games": 1_000, "seconds": 90, "precision": "bfloat16"}
        content = {"config": config, "training": training}
    elif task.kind == "best-response":
        result = {"decisions": 1234, "wins": 55, "draws": 0, "losses": 6, "example": ["a1"]}
        content = {"game": task.positional_arguments[1], "result": result}
    elif task.kind == "positions":
        result = {"positions": 500, "perfect": 450, "low": 0.87, "high": 0.92}
        content = {
            "game": task.positional_arguments[1],
            "result": result | {"won": [300, 280], "drawn": [200, 170]},
        }
    else:
        content = {"agents": [{"seats": [{"games": 100, "wins": 90}, {"games": 100, "wins": 3}]}]}
    return content | {"about": ABOUT, "settings": settings}


def test_report_has_the_figures_of_the_records(tmp_path):
    records = {"solved": {name: example_record(task) for name, task in TASKS.items()}}
    write_report(STUDY, records, tmp_path, tmp_path / "no runs")
    text = (tmp_path / "report.md").read_text()
    assert "| hex:board_size=5 | first | 4 | 1,234 | 55 | 0 | 6 |" in text
    both = "100 | 90.0 (82.6 to 94.5) | 100 | 3.0 (1.0 to 8.5)"
    assert f"| mcts:simulations=10000 | {both} |" in text
    assert "| dqn:hex5 | 1 | not won | 1 | not won |" in text  # all games of a seat are the same
    assert "one training run with one seed, and computed in bfloat16" in text
    assert "| 12 to 18 | 200 | 500 | 90.0 (87.0 to 92.0) | 280 of 300 | 170 of 200 |" in text
    assert "| connect4 | 1,000 | 1.5 | 8 | 1 |" in text
    assert f"{len(TASKS)} of {len(TASKS)} tasks" in text
    del records["solved"]["match-0"]
    write_report(STUDY, records, tmp_path, tmp_path / "no runs")
    assert "other agents" not in (tmp_path / "report.md").read_text()


def test_tasks_with_records_are_not_run_again(tmp_path, capsys):
    records = {"solved": {name: example_record(task) for name, task in TASKS.items()}}
    write_report(STUDY, records, tmp_path / "out", tmp_path / "no runs")
    solved.reproduce(tmp_path / "out", tmp_path / "runs", keep=True)
    assert "solved: 0 of" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_fast_run_fills_the_report(tmp_path):
    solved.reproduce(tmp_path / "out", tmp_path / "runs", fast=True)
    content = json.loads((tmp_path / "out/results.json").read_text())
    assert content["solved"].keys() == make_study(fast=True).tasks.keys()
    assert "A fast run" in (tmp_path / "out/report.md").read_text()
