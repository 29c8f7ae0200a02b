"""Titles of agents in the report on Hungry Geese."""

from collections.abc import Mapping
from pathlib import Path

# Titles of the thesis' rule-based agent, in two readings.
LITERAL_TITLES = {
    "deterministic:variant=thesis": "deterministic (thesis)",
    "deterministic:variant=thesis,tail=True": "deterministic (thesis, tail)",
}
Labels = Mapping[str, str]  # titles of networks, by the names of their tasks


def agent_title(spec: str, networks: Labels | None = None) -> str:
    """Return the title of an agent in the report.

    Args:
        spec: spec string of the agent.
        networks: titles of networks, by the names of their tasks.
    """
    name, _, argument = spec.partition(":")
    options = dict(pair.split("=", 1) for pair in argument.split(",") if "=" in pair)
    if spec in LITERAL_TITLES:
        return LITERAL_TITLES[spec]
    if name == "mcts":
        return f"decoupled UCT {options['simulations']}"
    if name == "flat":
        return f"flat {options['simulations']}, depth {options['playout_depth']}"
    if name == "cnn":
        folder = Path(argument.partition(",")[0]).name
        return (networks or {}).get(folder, folder)
    if name == "ac":
        if "seconds" in options:
            return f"self-play, {options['seconds']} s a move"
        count = options.get("simulations")
        return f"self-play, {count} simulations" if count else "self-play"
    return spec
