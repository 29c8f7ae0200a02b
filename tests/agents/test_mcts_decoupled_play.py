"""Strength and parameters of searches in simultaneous games."""

from dataclasses import replace

import pytest
from decoupled_search import GOOSE

from ludoteca.agents import make_agent
from ludoteca.agents.registry import agent_params
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent
from ludoteca.agents.search.simultaneous.tree import check_joint_actions
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.games.tron import tron
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted


@pytest.mark.compiled
@pytest.mark.slow
def test_search_beats_random():
    result = play_match("tron", ("mcts:simulations=100", "random"), 200, seed=1)
    assert result.totals[0].score > 0.9
    result = play_match("tron", ("mcts:simulations=300", "random_safe"), 100, seed=1)
    assert result.totals[0].score > 0.7


def test_playout_defaults_of_geese_and_tron():
    goose, rider = (make_agent("mcts", make_game(name)) for name in ("hungry_geese", "tron"))
    assert (goose.config.playout, goose._params["playout_depth"][0]) == ("safe", 6)
    assert (rider.config.playout, rider._params["playout_depth"][0]) == ("uniform", 50)
    other = make_agent("mcts:playout=uniform,playout.depth=200", goose.game)
    assert (other.config.playout, other._params["playout_depth"][0]) == ("uniform", 200)


@pytest.mark.compiled
@pytest.mark.slow
def test_search_beats_three_geese():
    agents = (GOOSE, "random", "random", "random")
    assert play_match("hungry_geese:min_food=1", agents, 60, seed=1).totals[0].win_rate > 0.9
    agents = (GOOSE, *["random_safe"] * 3)
    result = play_match("hungry_geese:min_food=1", agents, 20, seed=1)
    assert result.totals[0].score > 0.8
    assert result.totals[0].mean_return > 0.5


@pytest.mark.parametrize(
    ("game", "spec", "message"),
    [
        ("tron", "mcts:solver=True", "no parameter 'solver' where all move at once, as in tron"),
        ("tron", "mcts:transpositions=True", "no parameter 'transpositions' where all move"),
        ("hungry_geese", "mcts:reuse=True", "reuse needs a game without chance"),
        ("tron", "mcts:reuse=True,threads=2", "reuse=True needs"),
        ("hungry_geese", "mcts:decisive=win", "no parameter 'decisive' where .* hungry_geese"),
        (
            "connect4",
            "mcts:playout=safe",
            "connect4 has no playout 'safe'",
        ),
        (
            "tron",
            "mcts:playout=valid",
            "tron has no playout 'valid'; games with it are hungry_geese",
        ),
        (
            "tron",
            "mcts:playout=x",
            "playout must be one of 'uniform', 'valid', 'safe', 'greedy', got 'x'",
        ),
        ("tron", "mcts:policy=x", "policy must be one of"),
        ("tron", "mcts:policy.alpha=1,policy=moss", "policy 'moss' has no parameter 'alpha'"),
        ("tron", "mcts:simulations=0", "simulations must be an integer from 1"),
        ("tron", "mcts:x=1", "agent mcts has no parameter 'x'"),
    ],
)
def test_invalid_parameters_raise(game, spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(game))


def test_sequential_and_simultaneous_searches_reject_other_games():
    with pytest.raises(
        ValueError, match="MCTSAgent needs a turn-based game, and tron is simultaneous"
    ):
        MCTSAgent(tron())
    with pytest.raises(ValueError, match="connect4 is turn-based"):
        DecoupledMCTSAgent(make_game("connect4"))
    assert isinstance(make_agent("mcts:simulations=10", make_game("connect4")), MCTSAgent)
    assert {"policy", "solver", "playout"} <= set(agent_params("mcts"))


def test_too_many_joint_actions_are_refused():
    game = hungry_geese(8)
    check_joint_actions(game)
    many = replace(game, num_actions=256, action_names=("x",) * 256)
    with pytest.raises(ValueError, match=r"256\^8 joint actions"):
        check_joint_actions(many)
