"""Generating games in which all move at once: any agents, on all cores."""

import sys
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.executor import LOCAL, make_executor, parse_executor
from ludoteca.progress import progress_bar
from ludoteca.train.data.dataset import GameDataset, check_game, join
from ludoteca.worker import resolving

# Games that are played side by side. Part of what is generated: networks that see other positions
# together may round differently.
TOGETHER = 32


@dataclass(frozen=True)
class GenerationConfig:
    """Settings; with the same ones, the same games come out, whatever the number of processes."""

    out: Path = Path("runs/episodes/generated.npz")
    """The file to write, `.npz`."""
    game: str = "hungry_geese"
    """The game, one in which all move at once, as a spec string."""
    agents: tuple[str, ...] = ("flat:simulations=125,playout_depth=6",)
    """Who plays, as spec strings: one agent in all seats, or up to one per seat, who take turns in
    every seat."""
    games: int = 1_000
    """How many games are played."""
    seed: int = 0
    """Determines the games."""
    processes: int = 0
    """Processes that play; 0: one for each core. Without effect on the games."""
    executor: str = LOCAL
    """Where they run: `local`, or a Ray cluster: `ray` (of this machine), `ray:auto`,
    `ray:HOST:PORT`. Without effect on the games."""

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("agents must name at least one agent, got none")
        if self.out.suffix != ".npz":
            raise ValueError(f"out must end with .npz, got {str(self.out)!r}")
        integer("games", self.games, 1, 10**9)
        integer("seed", self.seed, 0, 2**62)
        integer("processes", self.processes, 0, 10**5)
        parse_executor(self.executor)


def generate(config: GenerationConfig, progress: bool = False) -> GameDataset:
    """Play games and write them to `config.out`.

    Args:
        config: the settings.
        progress: show a progress bar on standard error.

    Raises:
        ValueError: if a spec string names nothing, or the game is played in turns.
    """
    games = play_games(config, progress)
    games.save(config.out)
    return games


def play_games(config: GenerationConfig, progress: bool = False) -> GameDataset:
    """Play games; every seat is one to learn from."""
    game = make_game(config.game)
    check_game(game)
    make_agents.cache_clear()  # their files may be others than the last time
    make_agents(game, config.agents)  # refuses unknown ones before anything is played
    firsts = range(0, config.games, TOGETHER)
    tasks = (
        partial(_play, config, game, first, min(TOGETHER, config.games - first)) for first in firsts
    )
    found = []
    with (
        progress_bar(config.games, progress) as show,
        make_executor(config.executor, config.processes or None, len(firsts)) as workers,
    ):
        for part in workers.run(tasks):
            found.append(part)
            show(len(part))
    return join(found)


@lru_cache(1)
def make_agents(game: Game, specs: tuple[str, ...]) -> tuple[Agent, ...]:
    """Return the agents of a match, in which each takes each seat in turns."""
    with resolving(*specs):
        agents = tuple(make_agent(spec, game) for spec in specs)
    if "torch" in sys.modules:  # PyTorch's own threads would stand in the way of the processes
        sys.modules["torch"].set_num_threads(1)
    return agents if len(agents) > 1 else agents * game.num_players


def _play(config: GenerationConfig, game: Game, first: int, count: int) -> GameDataset:
    """Play `count` games that begin with number `first`."""
    seats = game.num_players
    agents = make_agents(game, config.agents)
    match = play_match(
        game, agents, count, first_game=first, seed=config.seed, batch_size=count, num_replays=count
    )
    steps: list[Any] = [replay.actions for replay in match.replays]
    assert match.returns is not None
    numbers = np.arange(first, first + count)
    names = tuple(dict.fromkeys(config.agents))
    places = np.array([names.index(spec) for spec in config.agents], np.int32)
    return GameDataset(
        game,
        np.concatenate([np.array(one, np.int8) for one in steps]),
        np.array([len(one) for one in steps], np.int32),
        np.array([replay.seed for replay in match.replays], np.uint64),
        np.zeros(0, np.int16),
        np.zeros(count, np.int32),
        match.returns.astype(np.float32),
        names,
        places[(numbers[:, None] + np.arange(seats)) % len(places)],
        np.full((count, seats), np.nan, np.float32),
        np.ones((count, seats), np.bool_),
        numbers.astype(np.str_),
        {"agents": list(config.agents), "games": config.games, "seed": config.seed},
    )
