"""Generation of recorded games: matches between any agents, on all cores or a cluster."""

import sys
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.executor import LOCAL, make_executor, parse_executor
from ludoteca.progress import progress_bar
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.game_text import game_texts
from ludoteca.train.data.storage import find_format, save_dataset
from ludoteca.worker import add_worker_location_to_errors

# Games per task, played in one batch. They are constants, so that the games do not depend on the
# number of workers: networks round differently in batches of another size, which may change the
# games of their agents.
SEQUENTIAL_GAMES = 256
SIMULTANEOUS_GAMES = 32
SEATS = ("rotating", "fixed")  # values of `GenerationConfig.seats`


@dataclass(frozen=True)
class GenerationConfig:
    """Settings of the generation of games. The games do not depend on the number of workers."""

    out: Path = Path("runs/games.npz")
    """The file to write: `.npz`, or, for Othello, `.csv` for a table in the format of
    `train/data/othello_table.py`."""
    game: str = "othello"
    """Spec string of the game."""
    agents: tuple[str, ...] = ("mcts:policy=uct,simulations=50,action_selection=mean", "random")
    """Spec strings of the agents: one for self-play, or at least two and at most one per player."""
    seats: Literal["rotating", "fixed"] = "rotating"
    """`rotating`: each agent takes each seat in turn. `fixed`: the first agent is always player 0,
    the second player 1, and so on."""
    learn_from: tuple[int, ...] = ()
    """Indices of the agents whose actions are training samples, counted from 0; by default all. The
    label of a game, its result for these agents, is the return of the lowest player index that one
    of them plays."""
    games: int = 10_000
    """Number of games."""
    print_games: bool = False
    """Print the agents, the final position, the result and the label of each game."""
    seed: int = 0
    """Seed of the games."""
    num_workers: int = 0
    """Number of processes; 0: one per core. Without effect on the games."""
    executor: str = LOCAL
    """Where the workers run: `local`, or a Ray cluster: `ray` (a new one on this machine),
    `ray:auto` (the one already running on it), `ray:HOST:PORT`. Without effect on the games."""

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("agents must name at least one agent, got none")
        find_format(self.out)
        check_choice("seats", self.seats, SEATS)
        for agent in self.learn_from:
            check_integer("learn_from", agent, 0, len(self.agents) - 1)
        check_integer("games", self.games, 1, 10**9)
        check_integer("seed", self.seed, 0, 2**62)
        check_integer("num_workers", self.num_workers, 0, 10**5)
        parse_executor(self.executor)


def generate(config: GenerationConfig, progress: bool = False) -> GameDataset:
    """Play games, and write them to `config.out`.

    With `config.print_games`, a text for each game is printed as soon as its task is finished.

    Args:
        config: the settings.
        progress: show a progress bar on standard error.

    Returns:
        The games that were written.

    Raises:
        ValueError: if a spec string is invalid, or the agents do not fit the game.
    """
    dataset = play_games(config, progress)
    save_dataset(config.out, dataset)
    return dataset


def play_games(config: GenerationConfig, progress: bool = False) -> GameDataset:
    """Play games without writing them; see `generate`."""
    _make_agents.cache_clear()  # the agents' files may have changed
    game, _ = _make_agents(config.game, config.agents, config.seats)  # raises before any game
    size = SIMULTANEOUS_GAMES if game.simultaneous else SEQUENTIAL_GAMES
    starts = range(0, config.games, size)
    tasks = (partial(_play, config, k, min(size, config.games - k)) for k in starts)
    datasets = []
    with (
        progress_bar(config.games, progress) as advance,
        make_executor(config.executor, config.num_workers or None, len(starts)) as executor,
    ):
        for first, dataset in zip(starts, executor.run(tasks), strict=True):
            datasets.append(dataset)
            if config.print_games:
                for text in game_texts(dataset, first):
                    print(text, flush=True)
            advance(len(dataset))
    return concatenate(datasets)


def _play(config: GenerationConfig, first: int, count: int) -> GameDataset:
    """Play the games `first <= k < first + count` in a worker, which caches the agents."""
    game, agents = _make_agents(config.game, config.agents, config.seats)
    match = play_match(
        game, agents, count, first_game=first, seed=config.seed, batch_size=count,
        num_replays=count, rotate_seats=config.seats == "rotating",
    )  # fmt: skip
    assert match.returns is not None
    action_lists: list[Any] = [replay.actions for replay in match.replays]
    columns = game.num_players if game.simultaneous else 1
    seeds = [replay.seed for replay in match.replays] if game.has_chance else [0] * count
    rotations = np.arange(first, first + count) * (config.seats == "rotating")
    # In game k, seat p belongs to agent (k + p) % n, or p % n in fixed seats, as in `play_match`.
    agents_by_seat = (rotations[:, None] + np.arange(game.num_players)) % len(config.agents)
    names = tuple(dict.fromkeys(config.agents))
    return GameDataset.create(
        game,
        np.concatenate(
            [np.array(actions, game.action_dtype).reshape(-1, columns) for actions in action_lists]
        ),
        np.array([len(actions) for actions in action_lists]),
        match.returns,
        seeds=np.array(seeds, np.uint64),
        agents=np.array([names.index(spec) for spec in config.agents])[agents_by_seat],
        selected=np.isin(agents_by_seat, config.learn_from or range(len(config.agents))),
        agent_names=names,
        metadata={
            "agents": list(config.agents),
            "seats": config.seats,
            "games": config.games,
            "seed": config.seed,
        },
    )


@lru_cache(1)
def _make_agents(
    game_spec: str, specs: tuple[str, ...], seats: str
) -> tuple[Game, tuple[Agent, ...]]:
    """Return the game and the agents of a match; a single agent is repeated for every seat.

    Raises:
        ValueError: if a spec string is invalid, or the number of agents does not fit fixed seats.
    """
    with add_worker_location_to_errors(game_spec, *specs):
        game = make_game(game_spec)
        agents = tuple(make_agent(spec, game) for spec in specs)
    if "torch" in sys.modules:  # PyTorch's threads would compete with other workers
        sys.modules["torch"].set_num_threads(1)
    if len(agents) == 1:
        return game, agents * game.num_players
    if seats == "fixed" and len(agents) != game.num_players:
        raise ValueError(
            f"fixed seats need {game.num_players} agents, one per player, got {len(agents)}"
        )
    return game, agents
