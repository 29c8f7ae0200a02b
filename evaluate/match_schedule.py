"""What is known of the games of a match: who sits where, what is drawn, and how they end."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay
from ludoteca.envs.rng import GAMMA, next_u64
from ludoteca.evaluate.forfeits import Forfeit

FNV = np.uint64(0x100000001B3)  # the prime of FNV-1 with 64 bits


class MatchSchedule:
    """What is known of all games of a match.

    Attributes:
        names: what the agents are called.
        num_replays: how many replays are kept.
        first_game: number of the first game; the others are counted from it.
        seating: which agent sits where. Shape `[games, P]`.
        streams: where the random streams of game and seats start. Shape `[games, 1 + P]`.
        random_plies: plies at the beginning of each game that are random.
        openings: where the random streams of the seats start that draw these. Shape `[games, P]`.
        returns: the results of the games that are over. Shape `[games, P]`.
        plies: how many plies were played. Shape `[games]`.
        game_digests: a digest of who sits where and of all moves, equal for equal games. Shape
            `[games]`.
        replays: by number of the game.
        forfeits: in any order.
    """

    def __init__(
        self,
        game: Game,
        names: tuple[str, ...],
        first_game: int,
        games: int,
        seed: int,
        num_replays: int,
        random_plies: int,
    ):
        self.game, self.names = game, names
        self.first_game, self.num_replays = first_game, num_replays
        seats = game.num_players
        self.seating = assign_seats(first_game + np.arange(games), seats, len(names))
        self.streams = game_streams(seed, first_game, games, 1 + seats)
        self.random_plies = random_plies
        group = (first_game + np.arange(games)) // len(names)  # games with the same opening
        drawn = game_streams(seed, int(group[0]), int(group[-1] - group[0]) + 1, 1 + 2 * seats)
        self.openings = drawn[group - group[0], 1 + seats :]
        self.returns = np.zeros((games, seats))
        self.plies = np.zeros(games, np.int64)
        self.game_digests = np.zeros(games, np.uint64)
        for p in range(seats):
            self.game_digests = update_digests(self.game_digests, self.seating[:, p])
        self.replays: dict[int, Replay] = {}
        self.forfeits: list[Forfeit] = []


def update_digests(digests: NDArray[np.uint64], numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return digests that depend on those before and on a number each, as FNV-1 does."""
    mixed: NDArray[np.uint64] = digests * FNV ^ (numbers + 1).astype(np.uint64)
    return mixed ^ mixed >> np.uint64(29)


def assign_seats(games: NDArray[np.int64], seats: int, agents: int) -> NDArray[np.int64]:
    """Return which agent sits where, in the games of these numbers. Shape `[games, seats]`."""
    who: NDArray[np.int64] = (games[:, None] + np.arange(seats)) % agents
    return who


def game_streams(seed: int, first: int, games: int, count: int) -> NDArray[np.uint64]:
    """Return where the random streams of each game start. Shape `[games, count]`."""
    # Stream 0 of game k starts from output k of a generator seeded with `seed`, and its further
    # outputs start the other streams: neighboring seeds and games have nothing in common.
    numbers = np.arange(first, first + games, dtype=np.uint64)
    rng = (np.full(games, seed, np.uint64) + GAMMA * numbers)[None]
    rng = next_u64(rng)[None]
    first = rng[0].copy()
    next_u64(rng)  # the output that seeds the game itself
    return np.stack([first, *(next_u64(rng) for _ in range(count - 1))], axis=1)
