"""Which agents exist, and how a spec string becomes one."""

import importlib
import inspect

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.spec import parse_spec

# One line per agent: its name, and the class that is made from a game and the spec's parameters.
AGENTS = {
    "random": "ludoteca.agents.baselines:RandomAgent",
    "greedy": "ludoteca.agents.baselines:GreedyAgent",
    "sb3": "ludoteca.agents.sb3:SB3Agent",
}


def make_agent(spec: str, game: Game) -> Agent:
    """Return the agent that a spec string names, for example `"sb3:path=model.zip"`.

    Raises:
        ValueError: if there is no such agent or parameter, or it does not play `game`.
    """
    name, params = parse_spec(spec)
    if name not in AGENTS:
        raise ValueError(f"unknown agent {name!r} in {spec!r}; there are {', '.join(AGENTS)}")
    module, _, attribute = AGENTS[name].partition(":")
    kind: type[Agent] = getattr(importlib.import_module(module), attribute)
    signature = list(inspect.signature(kind).parameters.values())[1:]  # the first is the game
    known = [parameter.name for parameter in signature]
    for key in params:
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"agent {name} has no parameter {key!r}; {has}")
    for parameter in signature:
        if parameter.default is parameter.empty and parameter.name not in params:
            raise ValueError(f"agent {name} needs {parameter.name}=..., got {spec!r}")
    return kind(game, **params)
