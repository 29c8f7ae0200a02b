"""Match that also measures the agents' time per move: `python -m ludoteca.evaluate.timed_match`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import BATCH_SIZE, MatchResult, play_match
from ludoteca.evaluate.match_table import match_json
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info

PROBE_INTERVAL = 4  # plies between the positions in which `probe` measures the search speed


def timed_match(
    agents: tuple[str, ...],
    out: Path,
    game: str = "othello",
    games: int = 400,
    seed: int = 0,
    batch: int = BATCH_SIZE,
    probe: bool = False,
    random_plies: int = 0,
) -> dict[str, Any]:
    """Play a match of two agents, print a summary and write the results.

    Args:
        agents: spec strings of the agents.
        out: the JSON file to write.
        game: the game's spec string.
        games: number of games; the agents alternate in moving first.
        seed: seed of the match.
        batch: number of concurrent games, whose moves agents choose together; with 1, the time per
            move is that of a single game.
        probe: whether to measure also the simulations per second of searches, in single positions
            of the first two games.
        random_plies: number of random plies at the beginning of each game, the same in two
            consecutive games.
    """
    # The first two games are recorded: each agent moves first in one of them.
    result, timed_agents, content = play_timed(
        make_game(game),
        agents,
        games,
        seed=seed,
        batch_size=batch,
        num_replays=min(games, 2),
        random_plies=random_plies,
    )
    for agent, record in zip(content["agents"], result.totals, strict=True):
        agent["score_interval"] = score_interval(record.wins, record.draws, record.games)
        agent["elo"] = elo_difference(record.score)
        agent["elo_interval"] = [elo_difference(score) for score in agent["score_interval"]]
    if probe:
        positions = [
            s for replay in result.replays for s in list(replay.positions())[:-1:PROBE_INTERVAL]
        ]
        for agent, timed_agent in zip(content["agents"], timed_agents, strict=True):
            agent |= simulation_speed(timed_agent.agent, positions)
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    print("\n".join(_summary(agent) for agent in content["agents"]))
    return content


def _summary(agent: dict[str, Any]) -> str:
    """Return lines about an agent: results, Elo difference from the other agent, and speed."""
    total, (low, high) = agent["total"], agent["score_interval"]
    elo, elo_low, elo_high = (
        "unbounded" if number is None else f"{number:+.0f}"
        for number in (agent["elo"], *agent["elo_interval"])
    )
    speed = agent.get("simulations_per_second")
    return "\n  ".join(
        [
            agent["agent"],
            f"{total['wins']} wins, {total['draws']} draws, {total['losses']} losses",
            f"score {total['score']:.3f} ({low:.3f} to {high:.3f}), "
            f"Elo {elo} ({elo_low} to {elo_high})",
            f"{agent['seconds_per_move']:.3f} s a move"
            + ("" if speed is None else f", {speed:,.0f} simulations/s"),
        ]
    )


def play_timed(
    game: Game, agents: Sequence[str], games: int, **options: Any
) -> tuple[MatchResult, "list[TimedAgent]", dict[str, Any]]:
    """Play a match; return its result, the timed agents, and all numbers as JSON values.

    Args:
        game: the game.
        agents: spec strings of the agents.
        games: number of games.
        **options: other arguments of `play_match`.
    """
    timed_agents = [TimedAgent(spec, game) for spec in agents]
    result = play_match(game, timed_agents, games, **options)
    content = match_json(result) | {"about": run_info(), "versions": package_versions()}
    for agent, timed_agent in zip(content["agents"], timed_agents, strict=True):
        agent |= {"agent": timed_agent.name, "moves": timed_agent.moves}
        agent["seconds_per_move"] = timed_agent.seconds / max(timed_agent.moves, 1)
    return result, timed_agents, content


class TimedAgent(Agent):
    """Agent whose time per move is measured.

    Attributes:
        agent: the wrapped agent, which chooses the actions.
        name: spec string of the agent.
        moves: number of actions that it has chosen.
        seconds: total time of these choices, in seconds of the wall clock.
    """

    def __init__(self, spec: str, game: Game):
        super().__init__(game)
        self.agent, self.name = make_agent(spec, game), spec
        self.max_games = self.agent.max_games
        self.moves, self.seconds = 0, 0.0

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """See `Agent`."""
        self.agent.reset(env_indices)

    def set_time_control(self, time_control: TimeControl) -> None:
        """See `Agent`."""
        self.agent.set_time_control(time_control)

    def prepare(self) -> None:
        """See `Agent`."""
        self.agent.prepare()

    def forfeit_reason(self, env_index: int, seat: int) -> tuple[str, str]:
        """See `Agent`."""
        return self.agent.forfeit_reason(env_index, seat)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See `Agent`."""
        start = clock()
        actions = self.agent.act(states, seats, rngs, env_indices)
        self.seconds += clock() - start
        self.moves += len(states)
        return actions


def simulation_speed(agent: Any, positions: list[Any]) -> dict[str, float]:
    """Return the number of simulations of a search and the simulations per second.

    Both are medians over the positions, as short playouts near the end of a game allow many more
    simulations.

    Args:
        agent: the agent.
        positions: positions that are not terminal, one record each.

    Returns:
        `"simulations"` and `"simulations_per_second"`; an empty dictionary for agents that have
        neither a method `search(s)` nor `search_positions(states)`.
    """
    if not hasattr(agent, "search") and not hasattr(agent, "search_positions"):
        return {}
    simulations, speeds = [], []
    for s in positions:
        start = clock()
        if hasattr(agent, "search"):
            count = agent.search(s).simulations
        else:
            count = int(agent.search_positions(batch_of_one(agent.game, s)).visit_counts.sum())
        simulations.append(count)
        speeds.append(count / (clock() - start))
    return {
        "simulations": float(np.median(simulations)),
        "simulations_per_second": float(np.median(speeds)),
    }


if __name__ == "__main__":
    tyro.cli(timed_match, config=(tyro.conf.FlagCreatePairsOff,))
