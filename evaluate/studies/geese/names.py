"""Agents and competitions of the study on Hungry Geese, and their names in its report."""

from collections.abc import Mapping
from pathlib import Path

from ludoteca.agents.networks.weights import shipped_weights

SIMULATIONS = (125, 250, 500, 1000)
# Competition of flat Monte Carlo -> simulations and depth of each agent. The last one is not the
# thesis': it separates the effects of more depth and of more simulations.
FLAT = {
    "depth-4": tuple((count, 4) for count in SIMULATIONS),
    "depth-6": tuple((count, 6) for count in SIMULATIONS),
    "mixed": ((125, 4), (250, 4), (500, 6), (1000, 6)),
    "factors": ((125, 4), (1000, 4), (125, 6), (1000, 6)),
}
BEST_FLAT = (1000, 6)
# The thesis' goose of fixed rules, to the letter, and as its text can be read, too: a goose without
# food takes the first valid move, or follows its tail.
LITERAL = "deterministic:variant=thesis"
LITERAL_TAIL = f"{LITERAL},tail=True"
# Finals -> goose of fixed rules, and number of games.
FINALS = {
    "final": (LITERAL, 500), "final-tail": (LITERAL_TAIL, 500),
    "final-default": ("deterministic", 2_000),
}  # fmt: skip
SHIPPED = "geese"  # name of the network of self-play that comes with the package
# Competitions with three agents that the network of self-play was never trained against.
OUTSIDERS = {"ours-mcts": "mcts:simulations=500", "ours-random-safe": "random_safe"}
TARGET = 0.6  # share of games that the network of self-play is to win, and to survive
# Networks that learn by self-play -> preset of the training, games, and games between
# evaluations. The thesis does not give the number of games of its loop.
LOOPS = {
    "loop-uib2021": ("uib2021", 20_000, 2_000),
    "loop-default": ("default", 16_384, 2_048),
}
IMITATORS = (*(f"net-{count}" for count in SIMULATIONS), "net-deterministic")
OURS = ("ours", "ours-real", "ours-search", "ours-timed", "tree")  # tasks with training opponents
OPPONENT = "deterministic"  # opponent in evaluations of the loops
GEESE = {LITERAL: "deterministic (thesis)", LITERAL_TAIL: "deterministic (thesis, tail)"}


def flat(simulations: int, depth: int) -> str:
    """Return the spec string of flat Monte Carlo."""
    return f"flat:simulations={simulations},playout_depth={depth}"


def called(spec: str, networks: Mapping[str, str] | None = None) -> str:
    """Return the name of an agent in the report.

    Args:
        spec: its spec string.
        networks: names of networks, by their tasks' names.
    """
    name, _, argument = spec.partition(":")
    options = dict(pair.split("=", 1) for pair in argument.split(",") if "=" in pair)
    if spec in GEESE:
        return GEESE[spec]
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
    """Return whether the package comes with a network of self-play for Hungry Geese."""
    return SHIPPED in shipped_weights("ac")
