import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
import tyro

from ludoteca.agents.sb3 import SB3Agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.match import play_match
from ludoteca.train.demo import Config, main, train

TINY = {
    "game": "hex:board_size=3",
    "steps": 2048,
    "n_envs": 16,
    "n_steps": 32,
    "batch_size": 128,
    "hidden": (16,),
    "curve_every": 600,
    "curve_games": 20,
    "games": 60,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "demo"
    threads, arguments = torch.get_num_threads(), sys.argv
    sys.argv = ["demo", "--steps", "2048"]
    yield folder, main(Config(folder=folder, **TINY))
    sys.argv = arguments
    torch.set_num_threads(threads)


def test_all_files_are_there_and_whole(run):
    folder, results = run
    assert sorted(path.name for path in folder.iterdir()) == [
        "game.svg",
        "learning_curve.png",
        "model.zip",
        "replay.json",
        "report.md",
        "results.json",
        "tensorboard",
    ]
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results))
    assert (folder / "learning_curve.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ET.parse(folder / "game.svg").getroot().tag.endswith("svg")
    assert list(folder.glob("tensorboard/*/events.out.tfevents.*"))


def test_the_report_says_what_the_numbers_say(run):
    folder, results = run
    text = (folder / "report.md").read_text()
    rows = re.findall(r"^\| (first|second) \| (.*) \|$", text, re.M)
    assert len(rows) == 2
    for (name, cells), seat in zip(rows, results["evaluation"]["seats"], strict=True):
        values = cells.split(" | ")
        assert name == seat["seat"]
        assert [int(value) for value in values[:4]] == [
            seat["games"], seat["wins"], seat["draws"], seat["losses"],
        ]  # fmt: skip
        low, high = wilson(seat["wins"], seat["games"])
        assert values[4:] == [
            f"{100 * seat['wins'] / seat['games']:.2f} %",
            f"{100 * low:.2f} % to {100 * high:.2f} %",
        ]
    assert f"{results['training']['steps']:,} moves" in text
    assert "`python -m ludoteca.train.demo --steps 2048`" in text
    for link in re.findall(r"\]\((.*?)\)", text):
        assert (folder / link).is_file()


def test_the_numbers_can_be_had_again_from_the_checkpoint(run):
    folder, results = run
    seats = results["evaluation"]["seats"]
    game = make_game(results["game"])
    agent = SB3Agent(game, folder / "model.zip")
    match = play_match(game, [agent, "random"], 120, seed=results["evaluation"]["seed"])
    assert [tally.wins for tally in match.seats[0]] == [seat["wins"] for seat in seats]
    assert [seat["games"] for seat in seats] == [60, 60]
    # The first game of the match is the one that is shown.
    replay = Replay.load(folder / "replay.json")
    assert replay.players == ("MaskablePPO", "random")
    assert replay.returns is not None


def test_the_curve_begins_untrained_and_ends_with_the_model(run):
    _, results = run
    training = results["training"]
    steps = [point["steps"] for point in training["curve"]]
    assert steps == [0, 1024, 2048]
    assert training["ended_by"] == "steps"
    assert training["steps"] == 2048


def test_the_seed_decides(run, tmp_path):
    folder, _ = run
    game = make_game(TINY["game"])
    again, _ = train(Config(folder=tmp_path, **TINY), game)
    other, _ = train(Config(folder=tmp_path, **TINY | {"seed": 1, "steps": 512}), game)
    saved = SB3Agent(game, folder / "model.zip")._policy.state_dict()
    assert all(torch.equal(saved[name], value) for name, value in again.policy.state_dict().items())
    assert not all(
        torch.equal(saved[name], value) for name, value in other.policy.state_dict().items()
    )


def test_training_ends_when_time_is_up(tmp_path):
    config = Config(folder=tmp_path, **TINY | {"steps": 10**8, "seconds": 1.0})
    _, training = train(config, make_game(config.game))
    assert training["ended_by"] == "seconds"
    assert 1.0 <= training["seconds"] < 20
    assert training["steps"] < 10**8


def test_settings_are_the_command_line():
    config = tyro.cli(Config, args=["--steps", "99", "--hidden", "8", "9", "--folder", "x/y"])
    assert config == Config(steps=99, hidden=(8, 9), folder=Path("x/y"))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"games": -1}, "games must be an integer from 1"),
        ({"game": "hungry_geese"}, "game must be for two players, got 'hungry_geese' for 4"),
        ({"game": "go"}, "unknown game 'go'"),
    ],
)
def test_settings_out_of_range_are_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        Config(**settings)
