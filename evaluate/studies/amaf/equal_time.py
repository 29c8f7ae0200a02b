"""Simulations of a search that take as much processor time as those of another search."""

from collections.abc import Sequence
from time import process_time
from typing import Any

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.evaluate.match import play_match

GAMES = 2  # games of the opponent against itself that give the measured positions
POSITION_INTERVAL = 4  # plies between measured positions
ROUNDS = 5  # searches of each position, of which the fastest counts


def relative_cost(game: Game, spec: str, reference: str, seed: int) -> float:
    """Return the processor time of a search relative to that of a reference search.

    Both search the same positions in turn, from games of the reference against itself. The fastest
    of several searches of a position counts, as other programs can only delay a search.

    Args:
        game: the game.
        spec: spec string of the search agent.
        reference: spec string of the search agent with relative cost 1.
        seed: seed of the games.
    """
    replays = play_match(game, (reference, reference), GAMES, seed=seed, num_replays=GAMES).replays
    positions = [s for r in replays for s in list(r.positions())[:-1:POSITION_INTERVAL]]
    seconds = fastest_searches([make_agent(each, game) for each in (spec, reference)], positions)
    return seconds[0] / seconds[1]


def fastest_searches(agents: Sequence[Any], positions: Sequence[Any]) -> list[float]:
    """Return each agent's processor seconds for all positions, the fastest search of each.

    Args:
        agents: search agents, with a method `search(s)`.
        positions: positions that are not terminal, one record each.
    """
    totals = [0.0] * len(agents)
    for position in positions:
        seconds = [[_seconds(agent, position) for agent in agents] for _ in range(ROUNDS)]
        totals = [
            total + min(own) for total, own in zip(totals, zip(*seconds, strict=True), strict=True)
        ]
    return totals


def _seconds(agent: Any, position: Any) -> float:
    """Return the processor seconds of a search."""
    start = process_time()
    agent.search(position)
    return process_time() - start
