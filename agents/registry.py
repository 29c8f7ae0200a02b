"""Which agents exist, and how a spec string becomes one."""

import importlib
import inspect
from collections.abc import Callable
from functools import partial

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.spec import call_checked, parse_name, parse_spec

# One line per agent: its name, and what makes it from a game and the spec's parameters.
AGENTS = {
    "random": "ludoteca.agents.baselines:RandomAgent",
    "greedy": "ludoteca.agents.baselines:greedy",
    "sb3": "ludoteca.agents.sb3:SB3Agent",
    "random_valid": "ludoteca.agents.playouts:random_valid",
    "random_safe": "ludoteca.agents.playouts:random_safe",
    "deterministic": "ludoteca.agents.deterministic:deterministic",
    "flat": "ludoteca.agents.flat:FlatAgent",
    "mcts": "ludoteca.agents.mcts.maker:mcts",
    "openspiel": "ludoteca.agents.openspiel:OpenSpielAgent",
    "heuristic": "ludoteca.agents.resistance:HeuristicAgent",
    "mixed": "ludoteca.agents.resistance:MixedAgent",
    "dqn": "ludoteca.agents.dqn:DQNAgent",
    "az": "ludoteca.agents.alphazero:AlphaZeroAgent",
    "ac": "ludoteca.agents.actor_critic:ActorCriticAgent",
    "cnn": "ludoteca.agents.actor_critic:NetworkAgent",
    "uctnet": "ludoteca.agents.uctnet:UCTNetAgent",
    "kaggle": "ludoteca.agents.kaggle.agent:KaggleAgent",
}


def make_agent(spec: str, game: Game) -> Agent:
    """Return the agent that a spec string names, for example `"sb3:path=model.zip"`.

    The first parameter's value may stand without its key: `"mixed:0.5"` is `"mixed:x=0.5"`.

    Raises:
        ValueError: if there is no such agent or parameter, or it does not play `game`.
    """
    name = parse_name(spec)
    maker = find_maker(name)
    known = agent_params(name)
    _, params = parse_spec(spec, first=next(iter(known), None), known=known)
    for key in params:
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"agent {name} has no parameter {key!r}; {has}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in params:
            raise ValueError(f"agent {name} needs {key}=..., got {spec!r}")
    return call_checked(spec, partial(maker, game), params, known)


def find_maker(name: str) -> Callable[..., Agent]:
    """Return what makes agents called `name`; its docstring tells what they do.

    Raises:
        ValueError: if there is no such agent.
    """
    if name not in AGENTS:
        raise ValueError(f"unknown agent {name!r}; there are {', '.join(AGENTS)}")
    module, _, attribute = AGENTS[name].partition(":")
    maker: Callable[..., Agent] = getattr(importlib.import_module(module), attribute)
    return maker


def agent_params(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters that the spec string of an agent may have, by name."""
    parameters = list(inspect.signature(find_maker(name)).parameters.values())
    return {parameter.name: parameter for parameter in parameters[1:]}  # the first is the game
