"""Tests of commands with custom games and agents, given as module:factory."""

import sys

import pytest

from ludoteca.__main__ import main
from ludoteca.envs import targets
from ludoteca.envs.replay import Replay

PLAYERS = """
import numpy as np
from ludoteca.agents import Agent

class LastAgent(Agent):
    '''Plays the last legal action.'''

    def __init__(self, game, skip: int = 0):
        super().__init__(game)
        self.skip = skip

    def act(self, states, seats, rngs, env_indices):
        return np.array([self.game.legal(s)[-1] for s in states.view(np.recarray)])

def first(planes, masks):
    return masks.argmax(1)

def illegal(planes, masks):
    return 0 * masks.argmax(1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working directory, with modules of a game and agents."""
    (tmp_path / "own_games.py").write_text("from dots_and_boxes import dots_and_boxes\n")
    (tmp_path / "own_players.py").write_text(PLAYERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(targets, "_search_folders", [])
    monkeypatch.setattr(targets, "_loaded", {})
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


@pytest.mark.slow
def test_match_of_custom_agents_in_a_custom_game(folder, capsys):
    agents = ["--agents", "own_players:LastAgent:skip=2", "function:own_players:first"]
    command = ["match", "own_games:dots_and_boxes:size=1", *agents, "--games", "10"]
    assert main([*command, "--replays", "replays"]) == 0
    printed = capsys.readouterr()
    assert "Dots and Boxes, size=1: 10 games" in printed.out
    assert "own_players:LastAgent:skip=2" in printed.out
    replay = Replay.load(next((folder / "replays").iterdir()))
    assert replay.game == "own_games:dots_and_boxes:size=1"
    assert main(["match", *agents, "--games", "4", "--size", "1", "own_games:dots_and_boxes"]) == 0
    assert main(["match", "own_games.py:dots_and_boxes", "--size", "1", "--games", "4"]) == 0


def test_a_replay_does_not_import_its_game(folder, capsys):
    replay = Replay("own_games:dots_and_boxes:size=1", 0, [0, 1], None)
    replay.save(folder / "replay.json")
    assert main(["replay", "replay.json"]) == 2
    assert "which is not imported, because the name comes from a file" in capsys.readouterr().err
    assert "own_games" not in sys.modules


@pytest.mark.slow  # imports all agents, to list those that play the game
def test_list_shows_a_custom_game(folder, capsys):
    assert main(["list", "own_games:dots_and_boxes"]) == 0
    printed = capsys.readouterr().out
    assert "own_games:dots_and_boxes:size=2" in printed
    assert "the module own_games" in printed


def test_lists_show_custom_games_and_agents(folder, capsys):
    assert main(["list", "own_players:LastAgent"]) == 0
    assert "Plays the last legal action." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["match", "own_games:dots_and_boxes", "--help"])
    assert "--size INT" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["match", "own_games:dots"], "own_games has no 'dots'"),
        (["match", "nowhere:dots"], "unknown game 'nowhere'"),
        (
            ["match", "tictactoe", "--agents", "own_players:Last", "random"],
            "has no 'Last' (did you",
        ),
        (["match", "tictactoe", "--agents", "own_players:first", "random"], "use function:own_"),
        (["match", "tictactoe", "--agents", "nowhere:A", "random"], "unknown agent 'nowhere'"),
        (
            ["match", "tictactoe", "--agents", "function:own_players:illegal", "random"],
            "the policy own_players:illegal chose 0",
        ),
        (["list", "own_games:nothing"], "own_games has no 'nothing'"),
    ],
)
def test_error_messages_name_the_problem(command, problem, folder, capsys):
    assert main(command) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.slow
def test_tournament_of_custom_games_in_processes(folder, capsys):
    command = ["tournament", "--games", "own_games:dots_and_boxes:size=1", "--out", "out"]
    command += ["--agents", "own_players:LastAgent", "function:own_players:first", "random"]
    assert main([*command, "--games-per-pair", "12", "--processes", "2"]) == 0
    text = (folder / "out" / "results.json").read_text()
    assert "own_players:LastAgent" in text
