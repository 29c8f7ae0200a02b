"""Generating games: a search against an opponent, or against itself, on all cores."""

import math
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.train.positions.games import Games, join
from ludoteca.train.positions.storage import find_form, save_games
from ludoteca.train.progress import games_bar

# Games that are played side by side. Part of what is generated: networks that see other positions
# together may round differently.
TOGETHER = 256
SIDES = ("first", "second", "both")


@dataclass(frozen=True)
class Config:
    """Settings; with the same ones, the same games come out, whatever the number of workers."""

    out: Path = Path("runs/positions/othello.npz")
    """The file to write: `.npz`, the compact form, or `.csv`, the document's table (Othello)."""
    game: str = "othello"
    """The game, for two players who move in turn, as a spec string."""
    games: int = 10_000
    """How many games are played."""
    iterations: int = 50
    """Of UCT, for each of its moves."""
    c: float = math.sqrt(2)
    """UCT's constant, for results from -1 to 1."""
    side: Literal["first", "second", "both"] = "both"
    """Where UCT sits; `both`: in turns."""
    opponent: str = "random"
    """Who it plays against: an agent's spec string, or `self`."""
    agent: str | None = None
    """Who plays instead of UCT: an agent's spec string; `iterations` and `c` are then without
    effect."""
    seed: int = 0
    """Determines the games."""
    workers: int = 0
    """Threads that play; 0: one for each core. Without effect on the games."""

    def __post_init__(self) -> None:
        integer("games", self.games, 1, 10**9)
        integer("iterations", self.iterations, 1, 10**9)
        real("c", self.c, 0, 1e6)
        choice("side", self.side, SIDES)
        integer("seed", self.seed, 0, 2**62)
        integer("workers", self.workers, 0, 1024)

    @property
    def player(self) -> str:
        """The spec string of who plays.

        UCT as the document has it (Browne et al., "A survey of Monte Carlo tree search methods",
        2012, algorithm 2): `Q/N + C sqrt(2 ln N(parent) / N(child))` below, the best mean in the
        end. Its scores in [0, 1] are an affine map of the document's rewards -1, 0 and 1.
        """
        if self.agent is not None:
            return self.agent
        return f"mcts:policy=uct,c={self.c!r},simulations={self.iterations},final=mean"


def generate(config: Config, progress: bool = False) -> Path:
    """Play games and write them to `config.out`.

    Args:
        config: the settings.
        progress: show a progress bar on standard error.

    Raises:
        ValueError: if a spec string names nothing, or the file's ending no form.
    """
    find_form(config.out)  # refuses an unknown one before anything is played
    return save_games(config.out, play_games(config, progress))


def play_games(config: Config, progress: bool = False) -> Games:
    """Play games.

    Labels are told from the side of UCT; in self-play from that of player 0.
    """
    game = make_game(config.game)
    firsts = range(0, config.games, TOGETHER)
    memory = threading.local()

    def play(first: int) -> Games:
        if not hasattr(memory, "agents"):
            memory.agents = _agents(config, game)
        return _play(config, game, memory.agents, first)

    workers = min(config.workers or os.cpu_count() or 1, len(firsts))
    parts = []
    with games_bar(config.games, progress) as show, ThreadPoolExecutor(workers) as pool:
        try:
            for part in pool.map(play, firsts):
                parts.append(part)
                show(len(part))
        finally:
            pool.shutdown(cancel_futures=True)
    return join(parts)


def _play(config: Config, game: Game, agents: tuple[Agent, Agent], first: int) -> Games:
    """Play the games of one thread that begin with number `first`."""
    count = min(TOGETHER, config.games - first)
    match = play_match(
        game, agents, count, first=first, seed=config.seed, batch=count, record=count
    )
    moves: list[Any] = [replay.actions for replay in match.replays]
    assert match.returns is not None
    sides = np.full(count, 1 if config.side == "second" else 0, np.int8)
    if config.opponent == "self":
        sides[:] = 0
    elif config.side == "both":
        sides[:] = np.arange(first, first + count) % 2
    return Games(
        game,
        np.concatenate([np.array(one, np.int16) for one in moves]),
        np.array([len(one) for one in moves], np.int32),
        match.returns[:, 0].astype(np.float32),
        sides,
        {
            "player": config.player,
            "opponent": config.opponent,
            "side": config.side,
            "games": config.games,
            "seed": config.seed,
        },
    )


def _agents(config: Config, game: Game) -> tuple[Agent, Agent]:
    """Return the agents of a match, in which each takes each seat in turns."""
    player = make_agent(config.player, game)
    opponent = player if config.opponent == "self" else make_agent(config.opponent, game)
    if "torch" in sys.modules:  # PyTorch's own threads would stand in each other's way
        sys.modules["torch"].set_num_threads(1)
    if config.side == "both" or config.opponent == "self":
        return player, opponent
    both = _BySeat(game, (player, opponent) if config.side == "first" else (opponent, player))
    return both, both


class _BySeat(Agent):
    """Two agents, each of whom always sits in the same seat."""

    def __init__(self, game: Game, agents: tuple[Agent, Agent]):
        super().__init__(game)
        self._agents = agents

    def start(self, lanes: NDArray[np.int64]) -> None:
        for agent in self._agents:
            agent.start(lanes)

    def prepare(self) -> None:
        for agent in self._agents:
            agent.prepare()

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        lanes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        actions = np.zeros(len(states), np.int64)
        for seat, agent in enumerate(self._agents):
            mine = np.flatnonzero(seats == seat)
            if len(mine) > 0:
                streams = rngs[mine]
                actions[mine] = agent.act(states[mine], seats[mine], streams, lanes[mine])
                rngs[mine] = streams
        return actions
