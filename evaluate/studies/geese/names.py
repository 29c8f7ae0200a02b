"""Agents and competitions of the study on Hungry Geese, and the agents' titles in its report."""

from collections.abc import Mapping
from pathlib import Path

from ludoteca.agents.networks.weights import shipped_weights

SIMULATIONS = (125, 250, 500, 1000)  # per move, of the thesis' flat Monte Carlo agents
# Simulations and playout depth of each agent in the competitions of flat Monte Carlo. "factors" is
# not in the thesis: it separates the effects of depth and of simulations.
FLAT = {
    "depth-4": tuple((count, 4) for count in SIMULATIONS),
    "depth-6": tuple((count, 6) for count in SIMULATIONS),
    "mixed": ((125, 4), (250, 4), (500, 6), (1000, 6)),
    "factors": ((125, 4), (1000, 4), (125, 6), (1000, 6)),
}
BEST_FLAT = (1000, 6)  # simulations and playout depth of the best one
# The thesis' rule-based agent, in two readings of its text: without food to go to, the agent takes
# the first valid move, or it follows its tail.
LITERAL = "deterministic:variant=thesis"
LITERAL_TAIL = f"{LITERAL},tail=True"
# Rule-based agent and number of games of each final.
FINALS = {
    "final": (LITERAL, 500), "final-tail": (LITERAL_TAIL, 500),
    "final-default": ("deterministic", 2_000),
}  # fmt: skip
SHIPPED = "geese"  # name of the self-play network that comes with the package
# Opponent of the self-play network in each competition against three copies of one agent, of a type
# that the network was not trained against.
OUTSIDERS = {"ours-mcts": "mcts:simulations=500", "ours-random-safe": "random_safe"}
TARGET = 0.6  # fraction of games that the self-play network should win, and that it should survive
# Preset of the training run, games, and games between evaluations, for each network that learns by
# self-play. The thesis does not give the number of games of its self-play loop.
LOOPS = {
    "loop-uib2021": ("uib2021", 20_000, 2_000),
    "loop-default": ("default", 16_384, 2_048),
}
# Networks that imitate games of flat Monte Carlo and of the deterministic agent.
IMITATORS = (*(f"net-{count}" for count in SIMULATIONS), "net-deterministic")
# Competitions against opponents of the types that the self-play network was trained against.
OURS = ("ours", "ours-real", "ours-search", "ours-timed", "tree")
OPPONENT = "deterministic"  # opponent in the evaluations of `LOOPS`
LITERAL_TITLES = {LITERAL: "deterministic (thesis)", LITERAL_TAIL: "deterministic (thesis, tail)"}


def flat_spec(simulations: int, depth: int) -> str:
    """Return the spec string of flat Monte Carlo."""
    return f"flat:simulations={simulations},playout_depth={depth}"


def agent_title(spec: str, networks: Mapping[str, str] | None = None) -> str:
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


def is_shipped() -> bool:
    """Return whether the package comes with a self-play network for Hungry Geese."""
    return SHIPPED in shipped_weights("ac")
