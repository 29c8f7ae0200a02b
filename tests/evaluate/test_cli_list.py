"""Tests of `ludoteca list`."""

import re

import pytest
from command_line import run

from ludoteca.__main__ import main
from ludoteca.agents.registry import AGENTS, incompatibility_reason, make_agent
from ludoteca.envs.registry import GAMES, find_factory, make_game
from ludoteca.evaluate.docstring_params import describe_params

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def test_list_shows_every_game(capsys):
    status, out, err = run(capsys, "list")
    assert (status, err) == (0, "")
    for id_ in GAMES:
        game = make_game(id_)
        assert game.name in out
        assert id_ in out
        assert " x ".join(map(str, game.observation_shape)) in out
        for key, value in game.params.items():
            assert f"{key}={value}" in out
    assert f"Agents: {', '.join(AGENTS)}." in out


@pytest.mark.parametrize("name", GAMES)
def test_list_shows_everything_about_a_game(capsys, name):
    status, out, err = run(capsys, "list", name)
    game = make_game(name)
    assert (status, err) == (0, "")
    planes, rows, columns = game.observation_shape
    assert f"spec {game.spec}" in out
    assert f"observation {planes} planes of {rows} x {columns}, 0 to {game.observation_high}" in out
    assert f"actions {game.num_actions}: {game.action_names[0]}" in out
    assert f"longest game {game.max_plies} plies" in out
    assert f"symmetries {len(game.symmetries())}, with the identity" in out
    for key in game.params:
        assert f"--{key.replace('_', '-')}" in out
    listed = {agent for agent in AGENTS if re.search(rf" {agent} [A-Z]", out)}
    assert {"random", "greedy", "sb3", "mcts"} <= listed
    assert ("kaggle" in listed) == (name == "HungryGeese-v0")
    assert ("heuristic" in listed) == (name == "Hex-v0")


def test_list_keeps_the_lines_of_an_encoding(capsys):
    main(["list", "othello"])
    out = capsys.readouterr().out
    assert "\n     8  9 10 11           4  5  6  7\n    16 17 18 19" in out


@pytest.mark.parametrize("name", GAMES)
def test_list_of_a_game_has_the_agents_that_play_it(name):
    game = make_game(name)
    is_sequential = not game.simultaneous
    for agent in ("dqn", "az", "uctnet"):
        assert (incompatibility_reason(agent, game) == "") == is_sequential
    for agent in ("ac", "cnn"):
        assert incompatibility_reason(agent, game) == ""
    for agent in ("greedy", "deterministic", "heuristic", "random_safe", "mcts"):
        reason = incompatibility_reason(agent, game)
        if reason:
            with pytest.raises(ValueError, match=re.escape(reason)):
                make_agent(agent, game)
        else:
            assert make_agent(agent, game).game is game


def test_list_shows_shipped_networks(capsys):
    assert "Comes with the package: az:hex5." in run(capsys, "list", "hex:board_size=5")[1]
    assert "az:hex5" not in run(capsys, "list", "connect4")[1]


def test_list_shows_everything_about_an_agent(capsys):
    status, out, err = run(capsys, "list", "MCTS")
    assert (status, err) == (0, "")
    assert out.startswith("mcts: Monte Carlo tree search with any selection policy.")
    assert "simulations 1000 simulations per move." in out
    assert "uct (mcts:policy=uct)" in out
    assert run(capsys, "list", "uct")[1] == out
    _, out, _ = run(capsys, "list", "alphazero")
    assert "path required a network file, the folder of a training" in out
    assert "az:connect4, az:hex5, az:othello" in out


@pytest.mark.parametrize("name", GAMES)
def test_every_parameter_is_described(name):
    factory = find_factory(make_game(name).name)
    assert list(describe_params(factory)) == list(make_game(name).params)
    assert all(describe_params(factory).values())


@pytest.mark.parametrize("columns", [60, 80, pytest.param(120, marks=pytest.mark.slow)])
def test_lists_fit_the_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for arguments, expected in (
        (["list"], ["BreakthroughSuicide-v0", "17 x 7 x 11", "episode_steps=200", "observation"]),
        (["list", "hex"], ["--board-size", "parameter", 'gymnasium.make("ludoteca/Hex-v0")']),
        (["list", "hungry_geese"], ["--episode-steps", "deterministic", "random_valid"]),
        (["list", "mcts"], ["action_selection", "reference", "default", "1000000"]),
    ):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= columns
        assert all(text in out for text in expected)
