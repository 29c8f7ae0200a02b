"""Match with the agents' time per move: `python -m ludoteca.evaluate.timed_match`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import BATCH_SIZE, MatchResult, play_match
from ludoteca.evaluate.match_table import match_json
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info

PROBE_INTERVAL = 4  # of positions of the first two games that are searched again


def timed_match(
    agents: tuple[str, ...],
    out: Path,
    game: str = "othello",
    games: int = 400,
    seed: int = 0,
    batch: int = BATCH_SIZE,
    probe: bool = False,
) -> dict[str, Any]:
    """Play a match of two agents and write its results.

    Args:
        agents: their spec strings.
        out: the JSON file to write.
        game: the game's spec string.
        games: how many are played; the agents take turns in moving first.
        seed: determines the match.
        batch: games played at a time; with 1, agents take as long as in a single game.
        probe: also count how many simulations a second the agents make, in single positions of the
            first games.
    """
    # The first replays are of games in which either agent moves first.
    result, players, content = play_timed(
        make_game(game), agents, games, seed=seed, batch_size=batch, num_replays=min(games, 2)
    )
    if probe:
        positions = [
            s for replay in result.replays for s in list(replay.positions())[:-1:PROBE_INTERVAL]
        ]
        for agent, player in zip(content["agents"], players, strict=True):
            agent |= simulation_speed(player.agent, positions)
    write_whole(out, json.dumps(content, indent=1) + "\n")
    return content


def play_timed(
    game: Game, agents: Sequence[str], games: int, **options: Any
) -> tuple[MatchResult, "list[Timed]", dict[str, Any]]:
    """Play a match, and return it, its players, and its results and times as JSON holds them.

    Args:
        game: what is played.
        agents: spec strings of the players.
        games: how many are played.
        options: further ones of `play_match`.
    """
    players = [Timed(spec, game) for spec in agents]
    result = play_match(game, players, games, **options)
    content = match_json(result) | {"about": run_info(), "versions": package_versions()}
    for agent, player in zip(content["agents"], players, strict=True):
        agent |= {"agent": player.name, "moves": player.moves}
        agent["seconds_per_move"] = player.seconds / max(player.moves, 1)
    return result, players, content


class Timed(Agent):
    """Agent whose time per move is measured.

    Attributes:
        agent: who chooses.
        name: its spec string.
        moves: how many it has chosen.
        seconds: how long that took.
    """

    def __init__(self, spec: str, game: Game):
        super().__init__(game)
        self.agent, self.name = make_agent(spec, game), spec
        self.max_games = self.agent.max_games
        self.moves, self.seconds = 0, 0.0

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """See `Agent`."""
        self.agent.reset(env_indices)

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
    """Return the simulations of a search of one position, and how many there are a second.

    Medians: near the end of a game there are many, as playouts are short and need no network.

    Args:
        agent: one with a method `search(s)` or `search_positions(states)`; of others nothing is
            returned.
        positions: records that are not terminal.
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
