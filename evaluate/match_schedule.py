"""Schedule of a match (seating and random streams of its games), and the results of the games."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay
from ludoteca.envs.rng import GOLDEN_GAMMA, next_u64
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import MOVE_TIMES

FNV_PRIME = np.uint64(0x100000001B3)  # of the FNV-1 hash with 64 bits


@dataclass(frozen=True)
class MatchSchedule:
    """Schedule of a match: seats, random streams and game numbers, fixed before it starts.

    Attributes:
        game: the game.
        names: names of the agents.
        first_game: number of the first game.
        num_replays: number of games, counted from the first, whose replays are kept.
        random_plies: number of random plies at the beginning of each game.
        seating: index of the agent in each seat. Shape `[games, P]`.
        streams: initial states of the random streams of the game and of its seats. Shape
            `[games, 1 + P]`.
        opening_streams: initial states of the seats' random streams for the random plies. Shape
            `[games, P]`.
    """

    game: Game
    names: tuple[str, ...]
    first_game: int
    num_replays: int
    random_plies: int
    seating: NDArray[np.int64]
    streams: NDArray[np.uint64]
    opening_streams: NDArray[np.uint64]


@dataclass
class GameResults:
    """Results of the games of a match, of P seats.

    `returns` and `replays` are written when a game ends, the others during the games.

    Attributes:
        returns: returns of the finished games. Shape `[games, P]`.
        plies: number of plies played so far. Shape `[games]`.
        game_digests: hashes of the seating and of all actions so far, to count distinct games.
            Shape `[games]`.
        replays: replays by the index of the game, counted from the first game of the match.
        forfeits: forfeits of the agents, not sorted.
        move_times: times of the moves in a match with a clock, dtype `MOVE_TIMES`. Shape
            `[games, P]`.
    """

    returns: NDArray[np.float64]
    plies: NDArray[np.int64]
    game_digests: NDArray[np.uint64]
    move_times: NDArray[np.void]
    replays: dict[int, Replay] = field(default_factory=dict)
    forfeits: list[Forfeit] = field(default_factory=list)


def schedule_match(
    game: Game,
    names: tuple[str, ...],
    first_game: int,
    games: int,
    seed: int,
    num_replays: int,
    random_plies: int,
    rotate_seats: bool,
) -> MatchSchedule:
    """Return the schedule of a match: each game depends only on its number and the seed.

    See `play_match` for the arguments.
    """
    seats = game.num_players
    numbers = first_game + np.arange(games)
    group = numbers // len(names)  # consecutive games that share their random plies
    # The first 1 + seats streams are those of a game with the group's number: they are not used.
    group_streams = game_streams(seed, int(group[0]), int(group[-1] - group[0]) + 1, 1 + 2 * seats)
    return MatchSchedule(
        game=game,
        names=names,
        first_game=first_game,
        num_replays=num_replays,
        random_plies=random_plies,
        # Without rotation, all games have the seating of game 0.
        seating=assign_seats(numbers * rotate_seats, seats, len(names)),
        streams=game_streams(seed, first_game, games, 1 + seats),
        opening_streams=group_streams[group - group[0], 1 + seats :],
    )


def empty_results(schedule: MatchSchedule) -> GameResults:
    """Return the results of a match before its first ply; digests begin with the seating."""
    games, seats = schedule.seating.shape
    digests = np.zeros(games, np.uint64)
    for p in range(seats):
        digests = update_digests(digests, schedule.seating[:, p])
    move_times = np.zeros((games, seats), MOVE_TIMES)
    return GameResults(np.zeros((games, seats)), np.zeros(games, np.int64), digests, move_times)


def update_digests(digests: NDArray[np.uint64], values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the digests after one more value of each game: a step of FNV-1, and a mixing shift."""
    # + 1, because `FORFEIT` is -1.
    mixed: NDArray[np.uint64] = digests * FNV_PRIME ^ (values + 1).astype(np.uint64)
    return mixed ^ mixed >> np.uint64(29)


def assign_seats(games: NDArray[np.int64], seats: int, agents: int) -> NDArray[np.int64]:
    """Return the index of the agent in each seat of the games with these numbers, `[games, seats]`.

    Seats rotate: in game k, seat p belongs to agent `(k + p) % agents`.
    """
    seating: NDArray[np.int64] = (games[:, None] + np.arange(seats)) % agents
    return seating


def game_streams(seed: int, first_game: int, games: int, count: int) -> NDArray[np.uint64]:
    """Return the initial states of `count` random streams per game, `[games, count]`."""
    # Stream 0 of game k starts from output k of a generator seeded with `seed`, and the next
    # outputs of this stream start the others: streams of neighboring seeds and games differ.
    numbers = np.arange(first_game, first_game + games, dtype=np.uint64)
    rng = (np.full(games, seed, np.uint64) + GOLDEN_GAMMA * numbers)[None]
    rng = next_u64(rng)[None]
    first_stream = rng[0].copy()
    next_u64(rng)  # skipped: the game of stream 0 takes this output as its seed
    return np.stack([first_stream, *(next_u64(rng) for _ in range(count - 1))], axis=1)
