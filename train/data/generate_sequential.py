"""Generating games: a search against an opponent, or against itself, on all cores."""

import math
import sys
from dataclasses import dataclass
from functools import lru_cache, partial
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
from ludoteca.executor import LOCAL, make_executor, parse_executor
from ludoteca.progress import progress_bar
from ludoteca.train.data.formats import find_form, save_games
from ludoteca.train.data.sequential import SequentialGames, join
from ludoteca.worker import resolving

# Games in one batch. Part of what is generated: networks that see other positions
# together may round differently.
TOGETHER = 256
SIDES = ("first", "second", "both")


@dataclass(frozen=True)
class SequentialGenerationConfig:
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
    """Processes that play; 0: one for each core. Without effect on the games."""
    executor: str = LOCAL
    """Where they run: `local`, or a Ray cluster: `ray` (of this machine), `ray:auto`,
    `ray:HOST:PORT`. Without effect on the games."""

    def __post_init__(self) -> None:
        integer("games", self.games, 1, 10**9)
        integer("iterations", self.iterations, 1, 10**9)
        real("c", self.c, 0, 1e6)
        choice("side", self.side, SIDES)
        integer("seed", self.seed, 0, 2**62)
        integer("workers", self.workers, 0, 10**5)
        parse_executor(self.executor)

    @property
    def player(self) -> str:
        """The spec string of who plays.

        UCT as the document has it (Browne et al., "A survey of Monte Carlo tree search methods",
        2012, algorithm 2): `Q/N + C sqrt(2 ln N(parent) / N(child))` below, the best mean in the
        end. Its scores in [0, 1] are an affine map of the document's rewards -1, 0 and 1.
        """
        if self.agent is not None:
            return self.agent
        return f"mcts:policy=uct,c={self.c!r},simulations={self.iterations},action_selection=mean"


def generate(config: SequentialGenerationConfig, progress: bool = False) -> Path:
    """Play games and write them to `config.out`.

    Args:
        config: the settings.
        progress: show a progress bar on standard error.

    Raises:
        ValueError: if a spec string names nothing, or the file's ending no form.
    """
    find_form(config.out)  # refuses an unknown one before anything is played
    return save_games(config.out, play_games(config, progress))


def play_games(config: SequentialGenerationConfig, progress: bool = False) -> SequentialGames:
    """Play games.

    Labels are told from the side of UCT; in self-play from that of player 0.
    """
    _agents.cache_clear()  # their files may be others than the last time
    _agents(config)  # refuses unknown ones before anything is played
    firsts = range(0, config.games, TOGETHER)
    tasks = (partial(_play, config, first, min(TOGETHER, config.games - first)) for first in firsts)
    parts = []
    with (
        progress_bar(config.games, progress) as show,
        make_executor(config.executor, config.workers or None, len(firsts)) as workers,
    ):
        for part in workers.run(tasks):
            parts.append(part)
            show(len(part))
    return join(parts)


def _play(config: SequentialGenerationConfig, first: int, count: int) -> SequentialGames:
    """Play the games from number `first`, in a process that keeps the agents."""
    game, agents = make_game(config.game), _agents(config)
    match = play_match(
        game, agents, count, first_game=first, seed=config.seed, batch_size=count, num_replays=count
    )
    moves: list[Any] = [replay.actions for replay in match.replays]
    assert match.returns is not None
    sides = np.full(count, 1 if config.side == "second" else 0, np.int8)
    if config.opponent == "self":
        sides[:] = 0
    elif config.side == "both":
        sides[:] = np.arange(first, first + count) % 2
    return SequentialGames(
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


@lru_cache(1)
def _agents(config: SequentialGenerationConfig) -> tuple[Agent, Agent]:
    """Return the agents of a match, in which each takes each seat in turns."""
    with resolving(config.game, config.player, config.opponent):
        game = make_game(config.game)
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

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        for agent in self._agents:
            agent.reset(env_indices)

    def prepare(self) -> None:
        for agent in self._agents:
            agent.prepare()

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        actions = np.zeros(len(states), np.int64)
        for seat, agent in enumerate(self._agents):
            mine = np.flatnonzero(seats == seat)
            if len(mine) > 0:
                streams = rngs[mine]
                actions[mine] = agent.act(states[mine], seats[mine], streams, env_indices[mine])
                rngs[mine] = streams
        return actions
