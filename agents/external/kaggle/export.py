"""Export of agents as Kaggle submissions: one file that needs only NumPy.

Kaggle calls the last function of the file with an observation; see docs/kaggle.md.
"""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import ludoteca
from ludoteca.agents.agent import Agent
from ludoteca.agents.external.kaggle.bundle import Bundle, Precision
from ludoteca.agents.external.kaggle.layers import Layers, run_layers
from ludoteca.agents.external.kaggle.submission import play
from ludoteca.agents.registry import make_agent, parse_agent_spec
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.params import check_choice
from ludoteca.files import write_atomically

Choose = Callable[[Any, int, Any, int, Any], int]  # `choose(s, player, legal, n, rng) -> action`
TEMPLATE = '''"""A goose for Kaggle's Hungry Geese: {agent}, written by ludoteca {version}.

Kaggle calls `agent`, the last function, once for every step. Needs NumPy and nothing else.
"""

{source}

MEMORY = {{}}


def agent(observation, configuration):
    """Return NORTH, EAST, SOUTH or WEST."""
    return {play}(observation, configuration, MEMORY, {choose})
'''


def export_agent(agent: str, out: str | Path, precision: Precision = "float32") -> int:
    """Write an agent of Hungry Geese as a submission; return the size of the file in bytes.

    Args:
        agent: a spec string; its name must be in `EXPORTERS`.
        out: path of the Python file.
        precision: float type of a network's weights in the file. Inference is in float32.

    Raises:
        ValueError: if the agent cannot be exported.
        OSError: if the file cannot be written.
    """
    if Path(out).suffix != ".py":
        raise ValueError(f"the file of a submission must end in .py, got {out}")
    text = submission_source(agent, precision)
    write_atomically(out, text)
    return len(text.encode())


def submission_source(agent: str, precision: Precision = "float32") -> str:
    """Return the source of a submission; see `export_agent`."""
    check_choice("precision", precision, get_args(Precision))
    name, _ = parse_agent_spec(agent)
    if name not in EXPORTERS:
        raise ValueError(
            f"agent {name} cannot be exported to Kaggle; expected one of {', '.join(EXPORTERS)}"
        )
    choose = EXPORTERS[name](make_agent(agent, hungry_geese()))
    bundle = Bundle(precision)
    for template_name in ("agent", "MEMORY"):
        bundle.reserve(template_name)
    names = {"choose": bundle.add(choose, "choose"), "play": bundle.add(play, "play")}
    # Characters that have a meaning in a docstring are replaced.
    description = agent.replace("\\", "/").replace('"', "'")
    text = TEMPLATE.format(
        agent=description, version=ludoteca.__version__, source=bundle.text(), **names
    )
    ast.parse(text)  # validates the source
    return text


def policy_kernel(agent: Agent) -> Choose:
    """Return the policy kernel of an agent."""
    assert agent.choose is not None
    return agent.choose


def network_kernel(agent: Agent) -> Choose:
    """Return the policy of an agent with a network, in NumPy."""
    from ludoteca.agents.external.kaggle.networks import network_choose

    return network_choose(agent)  # type: ignore[arg-type]


def network_policy(
    layers: Layers,
    weights: Mapping[str, NDArray[Any]],
    observe: Callable[[Any, int, Any], None],
    planes: int,
    scale: float = 1.0,
) -> Choose:
    """Return the policy that plays the action with the highest output of a network.

    Args:
        layers: the network, see `ludoteca.agents.external.kaggle.layers`; its first outputs are
            the scores of the actions.
        weights: arrays of the network by name.
        observe: kernel `observe(s, player, out)` that writes the planes.
        planes: number of planes.
        scale: factor by which planes are multiplied before they enter the network.
    """

    def choose(s, player, legal, n, rng):
        out = np.zeros((planes, *s.occupied.shape), np.float32)
        observe(s, player, out)
        outputs = run_layers(layers, weights, scale * out[None])
        return int(np.argmax(outputs[0, :n]))

    return choose


# One line per agent that can be exported: its name, and a function from the agent to its policy
# `choose(s, player, legal, n, rng) -> action` in plain Python.
EXPORTERS: dict[str, Callable[[Any], Choose]] = {
    "random": policy_kernel,
    "greedy": policy_kernel,
    "random_valid": policy_kernel,
    "random_safe": policy_kernel,
    "deterministic": policy_kernel,
    "cnn": network_kernel,
    "ac": network_kernel,
}
