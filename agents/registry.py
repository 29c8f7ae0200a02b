"""Which agents exist, and how a spec string becomes one."""

import importlib
import inspect
from collections.abc import Callable
from functools import partial

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean, plain_name
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
    "torch": "ludoteca.agents.torch_agent:TorchAgent",
    "kaggle": "ludoteca.agents.kaggle.agent:KaggleAgent",
    "function": "ludoteca.agents.function:FunctionAgent",
}
# Other names of agents, as spec strings; case, hyphens and underscores do not matter.
ALIASES = {
    "uniform": "random",
    "stable_baselines3": "sb3",
    "flat_monte_carlo": "flat",
    "monte_carlo_tree_search": "mcts",
    "uct": "mcts:policy=uct",
    "deep_q_network": "dqn",
    "alphazero": "az",
    "actor_critic": "ac",
    "ppo": "ac",
    # What libraries of PyTorch's have trained is written by `torch_agent.save_policy`.
    "torchrl": "torch",
    "tianshou": "torch",
}


def make_agent(spec: str, game: Game) -> Agent:
    """Return the agent that a spec string names, for example `"sb3:path=model.zip"`.

    The first parameter's value may stand without its key: `"mixed:0.5"` is `"mixed:x=0.5"`. Aliases
    are names, too: `"alphazero:connect4"` is `"az:connect4"`.

    Raises:
        ValueError: if there is no such agent or parameter, or it does not play `game`.
    """
    alias = agent_alias(parse_name(spec))
    name = parse_name(alias)
    maker = find_maker(name)
    known = agent_params(name)
    implied = parse_spec(alias)[1]
    first = next((key for key in known if key not in implied), None)
    params = implied | parse_spec(spec, first=first, known=known)[1]
    for key in params:
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            near = did_you_mean(key, known)
            raise ValueError(f"agent {name} has no parameter {key!r}{near}; {has}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in params:
            raise ValueError(f"agent {name} needs {key}=..., got {spec!r}")
    return call_checked(spec, partial(maker, game), params, known)


def find_maker(name: str) -> Callable[..., Agent]:
    """Return what makes agents called `name`; its docstring tells what they do.

    Raises:
        ValueError: if there is no such agent.
    """
    name = parse_name(agent_alias(name))
    if name not in AGENTS:
        near = did_you_mean(name, [*AGENTS, *ALIASES])
        raise ValueError(f"unknown agent {name!r}{near}; there are {', '.join(AGENTS)}")
    module, _, attribute = AGENTS[name].partition(":")
    maker: Callable[..., Agent] = getattr(importlib.import_module(module), attribute)
    return maker


def agent_params(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters that the spec string of an agent may have, by name."""
    parameters = list(inspect.signature(find_maker(name)).parameters.values())
    return {parameter.name: parameter for parameter in parameters[1:]}  # the first is the game


def why_not(name: str, game: Game) -> str:
    """Return why agents called `name` cannot play a game, or `""` if they can.

    Agents without required parameters are made; classes of the others declare what they can play,
    see `Agent.check_game`.

    Raises:
        ImportError: if a package that the agent needs is missing.
    """
    maker, params = find_maker(name), agent_params(name).values()
    try:
        if isinstance(maker, type) and issubclass(maker, Agent):
            maker.check_game(game)
        if all(one.default is not one.empty for one in params):
            maker(game)
    except ValueError as error:
        return str(error)
    return ""


def agent_alias(name: str) -> str:
    """Return the spec string of an agent's name or alias in any spelling, or the name unchanged."""
    plain = plain_name(name)
    for known in AGENTS:
        if plain == plain_name(known):
            return known
    return next((spec for key, spec in ALIASES.items() if plain == plain_name(key)), name)
