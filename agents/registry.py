"""Registry of agents, and their construction from spec strings.

A spec string begins with the name of a registered agent, or with a target, `module:maker` or
`path/to/file.py:maker`; parameters may follow after a colon. The name of the first parameter may be
omitted: `NAME:VALUE` then looks like `module:maker`. A registered name takes precedence over a
module of the same name.
"""

import importlib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from ludoteca.agents.agent import Agent
from ludoteca.agents.validation import check_maker
from ludoteca.envs.extensions import Extension
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean, plain_name
from ludoteca.envs.spec import call_checked, parse_name, parse_params, parse_spec
from ludoteca.envs.targets import NoSuchModuleError, load_target, split_target

# One line per agent: its name, and the import target of its maker, a class or function that is
# called with a game and parameters.
AGENTS = {
    "random": "ludoteca.agents.baselines:RandomAgent",
    "greedy": "ludoteca.agents.baselines:greedy",
    "sb3": "ludoteca.agents.external.sb3:load_sb3_agent",
    "rllib": "ludoteca.agents.external.rllib:load_rllib_agent",
    "random_valid": "ludoteca.agents.playouts:random_valid",
    "random_safe": "ludoteca.agents.playouts:random_safe",
    "deterministic": "ludoteca.agents.games.hungry_geese.deterministic:deterministic",
    "flat": "ludoteca.agents.flat:FlatAgent",
    "mcts": "ludoteca.agents.search.maker:mcts",
    "alphabeta": "ludoteca.agents.search.alphabeta.agent:AlphaBetaAgent",
    "openspiel": "ludoteca.agents.external.openspiel:OpenSpielAgent",
    "heuristic": "ludoteca.agents.games.hex.resistance:HeuristicAgent",
    "mixed": "ludoteca.agents.games.hex.resistance:MixedAgent",
    "conductance": "ludoteca.agents.games.hex.neurohex:ConductanceAgent",
    "dqn": "ludoteca.agents.dqn:DQNAgent",
    "az": "ludoteca.agents.alphazero:AlphaZeroAgent",
    "ac": "ludoteca.agents.actor_critic:ActorCriticAgent",
    "cnn": "ludoteca.agents.actor_critic:NetworkAgent",
    "uctnet": "ludoteca.agents.uctnet:UCTNetAgent",
    "nfsp": "ludoteca.agents.nfsp:NFSPAgent",
    "torch": "ludoteca.agents.external.torch_agent:load_torch_agent",
    "kaggle": "ludoteca.agents.external.kaggle.agent:KaggleAgent",
    "gtp": "ludoteca.agents.external.engines.gtp:GTPAgent",
    "htp": "ludoteca.agents.external.engines.gtp:HTPAgent",
    "nboard": "ludoteca.agents.external.engines.nboard:NBoardAgent",
    "function": "ludoteca.agents.function:FunctionAgent",
    "onnx": "ludoteca.agents.external.onnx:ONNXAgent",
}
# Other names of agents, as spec strings; case, hyphens and underscores do not matter.
ALIASES = {
    "uniform": "random",
    "stable_baselines3": "sb3",
    "flat_monte_carlo": "flat",
    "monte_carlo_tree_search": "mcts",
    "uct": "mcts:policy=uct",
    "minimax": "alphabeta",
    "negamax": "alphabeta",
    "principal_variation_search": "alphabeta",
    "deep_q_network": "dqn",
    "alphazero": "az",
    "actor_critic": "ac",
    "ppo": "ac",
    # Policies of other PyTorch libraries are written by
    # `ludoteca.agents.external.torch_agent.save_policy`.
    "torchrl": "torch",
    "tianshou": "torch",
}


# Agents registered by code or by entry points of other packages, by name.
EXTENSIONS: dict[str, Extension] = {}
# Makers of extensions and targets, by name or target: the loaded object, and its validated maker. A
# target whose file has changed loads another object, which is validated again.
_makers: dict[str, tuple[Any, Callable[..., Agent]]] = {}


def make_agent(spec: str, game: Game) -> Agent:
    """Make the agent of a spec string, for example `"sb3:path=model.zip"`.

    The key of the first parameter may be omitted: `"mixed:0.5"` is `"mixed:epsilon=0.5"`. Aliases
    are names, too: `"alphazero:connect4"` is `"az:connect4"`. An agent that is not registered is
    given as the target of its maker, a subclass of `Agent` or a function: `"mymodule:MyAgent"` or
    `"agents/mine.py:MyAgent:depth=3"`.

    Raises:
        ValueError: if there is no such agent or parameter, or the agent cannot play `game`.
        ImportError: if a package that it needs, or the module of a target, is missing.
    """
    name, text = parse_agent_spec(spec)
    maker = _maker(name)
    known = agent_params(name)
    alias_params = parse_spec(resolve_alias(parse_name(spec)))[1] if name in AGENTS else {}
    first = next((key for key in known if key not in alias_params), None)
    params = alias_params | _parse_agent_params(spec, text, first, known)
    for key in params:
        if key not in known:
            parameter_list = f"it has {', '.join(known)}" if known else "it has no parameters"
            hint = did_you_mean(key, known)
            raise ValueError(f"agent {name} has no parameter {key!r}{hint}; {parameter_list}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in params:
            hint = "" if name in AGENTS or isinstance(maker, type) else _function_hint(name)
            raise ValueError(f"agent {name} needs {key}=..., got {spec!r}{hint}")
    agent = call_checked(spec, partial(maker, game), params, known)
    if not isinstance(agent, Agent):
        raise ValueError(
            f"{name} must make an agent, a subclass of ludoteca.agents.Agent; it made "
            f"{agent!r:.80}{_function_hint(name)}"
        )
    return agent


def find_maker(name: str) -> Callable[..., Agent]:
    """Return the agent maker (a class or function) of a name or spec string.

    Raises:
        ValueError: if there is no such agent.
        ImportError: if the package that provides the agent is broken, or a target's module is
            missing.
    """
    return _maker(parse_agent_spec(name)[0])


def parse_agent_spec(spec: str) -> tuple[str, str]:
    """Split a spec string into a registered name or a target, and the text of its parameters.

    Raises:
        ValueError: if there is no such agent, or the object of a target is not a maker of agents.
        ImportError: if the module of a target is missing.
    """
    name = parse_name(spec)
    target, text = split_agent_spec(spec)
    registered = parse_name(resolve_alias(target))
    if registered in AGENTS:
        return registered, text
    if ":" not in target:
        raise ValueError(_unknown_agent(name))
    try:
        loaded = load_target(target)
    except NoSuchModuleError as error:
        raise ValueError(f"{_unknown_agent(name)}; and not a module: {error}") from None
    if target not in _makers or _makers[target][0] is not loaded:
        try:
            _makers[target] = loaded, check_maker(loaded, target)
        except TypeError as error:
            raise ValueError(f"{error}{_function_hint(target)}") from None
    return target, text


def split_agent_spec(spec: str) -> tuple[str, str]:
    """Split a spec string into the name or target as written, and the text of its parameters.

    Nothing is imported: the name may be unknown, and the target may not exist.
    """
    name = parse_name(spec)
    is_name = parse_name(resolve_alias(name)) in AGENTS
    split = None if is_name else split_target(spec)
    return (name, spec.partition(":")[2]) if split is None else split


def agent_source(name: str) -> str:
    """Return the source of a registered agent, such as `"package dots-games 0.1"`."""
    return EXTENSIONS[name].source if name in EXTENSIONS else "ludoteca"


def add_agent(name: str, extension: Extension) -> None:
    """Add an agent that is not part of this package; see `ludoteca.register_agent`."""
    EXTENSIONS[name], AGENTS[name] = extension, extension.target
    _makers.pop(name, None)


def remove_agent(name: str) -> None:
    """Remove an agent that `add_agent` added."""
    for table in (EXTENSIONS, AGENTS, _makers):
        table.pop(name, None)


def _maker(name: str) -> Callable[..., Agent]:
    """Return the maker of an agent, by a name or target from `parse_agent_spec`."""
    if name in _makers:
        return _makers[name][1]
    if name in EXTENSIONS:
        extension, label = EXTENSIONS[name], f"{name} ({EXTENSIONS[name].source})"
        loaded = extension.load()
        try:
            _makers[name] = loaded, check_maker(loaded, label)
        except (TypeError, ValueError) as error:
            raise ImportError(f"{label} is broken: {error}") from error
        return _makers[name][1]
    module, _, attribute = AGENTS[name].partition(":")
    builtin: Callable[..., Agent] = getattr(importlib.import_module(module), attribute)
    return builtin


def _parse_agent_params(spec: str, text: str, first: str | None, known: Any) -> dict[str, Any]:
    """Parse the parameters of a spec string.

    If `NAME:...` names an agent but may be meant as a module, errors suggest `NAME.py:...`.

    Args:
        spec: the spec string.
        text: its part with the parameters.
        first: parameter whose name may be omitted; None if the agent has none.
        known: parameters of the agent, from `agent_params`.
    """
    try:
        return parse_params(spec, text, first, known)
    except ValueError as error:
        split, name = split_target(spec), parse_name(spec)
        if split is None or first is not None or split[0].partition(":")[0] != name:
            raise
        raise ValueError(
            f"{error}: {name} is an agent; for a module of that name, write its file, "
            f"{name}.py:{split[0].partition(':')[2]}"
        ) from None


def _function_hint(target: str) -> str:
    """Return a hint for targets that may be policies instead of makers of agents."""
    return f"; for a function policy(planes, masks), use function:{target}"


def _unknown_agent(name: str) -> str:
    """Return the error message for an unknown name."""
    hint = did_you_mean(name, [*AGENTS, *ALIASES])
    return f"unknown agent {name!r}{hint}; there are {', '.join(AGENTS)}"


def agent_params(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of an agent's spec string, by name."""
    parameters = list(inspect.signature(find_maker(name)).parameters.values())
    return {parameter.name: parameter for parameter in parameters[1:]}  # the first is the game


def incompatibility_reason(name: str, game: Game) -> str:
    """Return why the agent `name` cannot play a game, or `""` if it can.

    `Agent.check_game` is called, and agents without required parameters are made.

    Raises:
        ImportError: if a package that the agent needs is missing.
    """
    maker, params = find_maker(name), agent_params(name).values()
    try:
        if isinstance(maker, type) and issubclass(maker, Agent):
            maker.check_game(game)
        if all(parameter.default is not parameter.empty for parameter in params):
            maker(game)
    except ValueError as error:
        return str(error)
    except Exception as error:
        if name not in EXTENSIONS:
            raise
        raise ImportError(
            f"{agent_source(name)} is broken: its agent {name} raises "
            f"{type(error).__name__}: {error!s:.400}"
        ) from error
    return ""


def resolve_alias(name: str) -> str:
    """Return the spec string that a name or an alias of an agent stands for.

    Case, hyphens and underscores in `name` do not matter. An unknown name is returned unchanged.
    """
    plain = plain_name(name)
    for agent in AGENTS:
        if plain == plain_name(agent):
            return agent
    return next((spec for key, spec in ALIASES.items() if plain == plain_name(key)), name)
