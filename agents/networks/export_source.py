"""Network files that the spec strings of agents name, for exports to other formats."""

from collections.abc import Collection
from pathlib import Path

from ludoteca.agents.networks.weights import find_weights, read_header
from ludoteca.agents.registry import agent_params, parse_agent_spec
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.spec import parse_params
from ludoteca.envs.targets import untrusted_names


def find_export_source(
    agent: str, supported: Collection[str], format_name: str, game: str | Game | None
) -> tuple[str, Path, Game]:
    """Return the name of an agent, the file of its network, and the game to export it for.

    Args:
        agent: spec string of the agent, such as `"az:connect4"`.
        supported: names of the agents whose networks can be exported to the format.
        format_name: name of the format in error messages, such as `"ONNX"`.
        game: the game; None for the one that the network was trained for.

    Raises:
        ValueError: if the agent cannot be exported, or its spec string names no network.
        FileNotFoundError: if there is no such network.
    """
    name, text = parse_agent_spec(agent)
    if name not in supported:
        names = ", ".join(supported)
        expected = names if len(supported) == 1 else f"one of {names}"
        raise ValueError(f"agent {name} cannot be exported to {format_name}; expected {expected}")
    params = parse_params(agent, text, first="path", known=agent_params(name))
    if "path" not in params:
        raise ValueError(f"agent {name} needs path=..., got {agent!r}")
    file = find_weights(params["path"], name)
    if game is None:
        with untrusted_names(file):  # the file's game must not import a module
            game = make_game(read_header(file).metadata["game"])
    return name, file, make_game(game) if isinstance(game, str) else game
