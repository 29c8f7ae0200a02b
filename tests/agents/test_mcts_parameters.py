"""Parameters of Monte Carlo tree search: errors, specifications, options with parameters."""

import math
from dataclasses import fields
from typing import Any

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig
from ludoteca.agents.search.select import LOSS, WIN
from ludoteca.agents.search.sequential.tree import SIZE
from ludoteca.agents.search.sequential.workspace import ThreadWorkspace
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "ucb2"}, "policy must be one of 'ucb1'"),
        ({"simulations": 0}, "simulations must be an integer from 1"),
        ({"simulations": 1.5}, "simulations must be an integer from 1"),
        ({"seconds": -1}, "seconds must be a number from 0.0001"),
        (
            {"action_selection": "best"},
            "action_selection must be one of 'max', 'robust', 'max_robust'",
        ),
        ({"policy": "moss:alpha=1.0"}, "policy 'moss' has no parameter 'alpha'; it has no"),
        ({"policy": "ucb1:gamma=1.0"}, "no parameter 'gamma'; its parameters are alpha"),
        ({"amaf": "raves"}, "amaf must be one of '', 'amaf', 'rave', 'grave'"),
        ({"threads": 0}, "threads must be an integer from 1"),
        ({"playout": "wild"}, "playout must be one of 'uniform', 'valid', 'safe', 'greedy'"),
        ({"playout": "greedy"}, "connect4 has no playout 'greedy'; games with it are othello"),
        (
            {"playout": "safe", "mast": "gibbs"},
            "mast='gibbs' needs uniform playouts, got playout='safe'",
        ),
        (
            {"playout": ":evaluation=discs"},
            "connect4 has no evaluation 'discs'; expected one of lines, returns",
        ),
        ({"threads": 2, "parallel": "root", "reuse": True}, "reuse=True needs"),
    ],
)
def test_invalid_parameters_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MCTSAgent(make_game("connect4"), **options)


def test_config_has_the_compile_time_options_and_defaults_of_parameters() -> None:
    names = {field.name for field in fields(SearchConfig)}
    assert names == {
        "policy", "draw_is_loss", "solver", "amaf", "amaf_fpu", "mast", "decisive",
        "transpositions", "shared_tree", "playout", "evaluation", "exploration_schedule",
        "exploration_by_depth", "exploration_stdev", "groups", "tune", "many_playouts",
    }  # fmt: skip
    assert WIN > LOSS
    assert SIZE == 1
    assert math.isinf(MCTSAgent(make_game("connect4"))._params["fpu"][0])
    assert ThreadWorkspace.make(make_game("connect4"), SearchConfig(), 10).size == 0
    assert SEARCH_PARAMS.isalignedstruct


def test_options_may_have_parameters_of_their_own() -> None:
    game = make_game("connect4")
    spec = "mcts:policy=ucb_v,policy.zeta=2,amaf=grave,amaf.reference=7,playout.depth=3"
    by_spec = make_agent(spec, game)
    by_name = MCTSAgent(game, policy="ucb_v:zeta=2", amaf="grave:reference=7", playout=":depth=3")
    for agent in (by_spec, by_name):
        assert isinstance(agent, MCTSAgent)
        assert (agent.config.policy, agent.config.amaf) == ("ucb_v", "grave")
        assert agent._params["policy_params"][0].tolist() == [2, 1, 0, 0]
        assert agent._params["grave_reference"][0] == 7
        assert agent._params["playout_depth"][0] == 3
    assert by_spec.config == by_name.config


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts:policy=moss,policy.c=1", "policy 'moss' has no parameter 'c'; it has no parameters"),
        ("mcts:policy.alhpa=1", r"policy has no parameter 'alhpa' \(did you mean 'alpha'\?\)"),
        ("mcts:policy.alpha=1,policy.alpha=2", "'policy.alpha' comes twice"),
        ("mcts:policy.alpha=x", "policy.alpha must be a number"),
        ("mcts:.alpha=1", "expected key=value"),
        ("mcts:amaf=rave,amaf.bias=1", "no parameter 'bias'; its parameters are weight, reference"),
        ("mcts:playout.depth=-1", "must be an integer from 0"),
        ("mcts:amaf.fpu=True", "amaf.fpu needs amaf=amaf, rave or grave"),
        ("mcts:amaf=rave,amaf.fpu=2", "amaf.fpu must be one of False, True"),
        ("mcts:amaf=rave,amaf.fpu=True,groups=column", "amaf.fpu needs groups=''"),
    ],
)
def test_invalid_parameters_of_options_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game("connect4"))
