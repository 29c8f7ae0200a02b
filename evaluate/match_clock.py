"""Clocks of a match: the time that players have and take for their moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer, real

# Of a player in a game: number of moves, their seconds, those of the slowest one, and the number of
# moves that were out of time.
MOVE_TIMES = np.dtype(
    [("moves", "i8"), ("seconds", "f8"), ("slowest", "f8"), ("out_of_time", "i8")]
)


@dataclass(frozen=True)
class MoveTimes:
    """Times of the moves of one agent, over all its games and seats.

    Attributes:
        moves: number of moves.
        seconds: time of all moves.
        slowest: time of the slowest move in seconds.
        out_of_time: number of moves that were out of time.
    """

    moves: int
    seconds: float
    slowest: float
    out_of_time: int

    @property
    def mean(self) -> float:
        """Return the mean time of a move in seconds, 0 without moves."""
        return self.seconds / max(self.moves, 1)

    def __add__(self, other: "MoveTimes") -> "MoveTimes":
        return MoveTimes(
            self.moves + other.moves,
            self.seconds + other.seconds,
            max(self.slowest, other.slowest),
            self.out_of_time + other.out_of_time,
        )


NO_MOVES = MoveTimes(0, 0.0, 0.0, 0)


class GameClock:
    """Clocks of the players of one game.

    Attributes:
        times: times of the players' moves, `MOVE_TIMES`. Shape `[P]`.
    """

    def __init__(self, time_control: TimeControl, times: NDArray[np.void]):
        """Start the clocks of a game.

        Args:
            time_control: the time control.
            times: see the attribute; written by this object.
        """
        self.times, self._control = times, time_control
        self._start_left = [time_control.start_seconds] * len(times)
        self._bank_left = [time_control.bank_seconds] * len(times)

    @property
    def replaces_moves(self) -> bool:
        """Whether a random move is played for a player who is out of time."""
        return self._control.out_of_time == "random"

    def spend_start(self, seat: int, seconds: float) -> None:
        """Subtract the time of preparing a game from the start clock."""
        self._start_left[seat] -= seconds

    def spend(self, seat: int, seconds: float, has_answered: bool) -> str:
        """Subtract the time of a move; return a message if it is out of time, else `""`.

        Args:
            seat: the player.
            seconds: time of the move.
            has_answered: whether the player has moved, and did not give up for lack of time.
        """
        times = self.times[seat]
        allowed = self._control.move_seconds
        if times["moves"] == 0:  # what is left of the start clock; below 0 if that was exceeded
            allowed += self._start_left[seat]
        times["moves"] += 1
        times["seconds"] += seconds
        times["slowest"] = max(times["slowest"], seconds)
        total = max(allowed, 0.0) + self._bank_left[seat]
        self._bank_left[seat] -= max(0.0, seconds - allowed)
        if has_answered and self._bank_left[seat] >= 0:
            return ""
        self._bank_left[seat] = max(self._bank_left[seat], 0.0)
        times["out_of_time"] += 1
        return f"took {seconds:.3g} s for a move, {total:.3g} s allowed"


def check_time_control(game: Game, time_control: TimeControl) -> None:
    """Check that players of a game who are out of time can forfeit, if they have to.

    Raises:
        ValueError: if they cannot.
    """
    if time_control.out_of_time == "forfeit" and not game.simultaneous and game.num_players > 2:
        raise ValueError(
            f"{game.name} has {game.num_players} players in turn, who cannot forfeit: expected "
            "out_of_time='random'"
        )


def agent_times(
    move_times: NDArray[np.void], seating: NDArray[np.int64], agents: int
) -> tuple[MoveTimes, ...]:
    """Return the times of each agent.

    Args:
        move_times: times of the players, `MOVE_TIMES`. Shape `[games, P]`.
        seating: index of the agent in each seat. Shape `[games, P]`.
        agents: number of agents.
    """
    own = [move_times[seating == a] for a in range(agents)]
    return tuple(
        MoveTimes(
            int(times["moves"].sum()),
            float(times["seconds"].sum()),
            float(times["slowest"].max(initial=0)),
            int(times["out_of_time"].sum()),
        )
        for times in own
    )


def times_text(times: MoveTimes, name: str) -> str:
    """Return a line about the times of an agent's moves."""
    late = f", {times.out_of_time:,} out of time" if times.out_of_time else ""
    return (
        f"{name}: {times.mean:.3f} s a move on average, "
        f"{times.slowest:.3f} s the slowest of {times.moves:,}{late}"
    )


def times_json(times: Sequence[MoveTimes]) -> list[dict[str, Any]]:
    """Return times of agents as JSON values."""
    return [
        {
            "moves": entry.moves,
            "seconds": round(entry.seconds, 6),
            "slowest": round(entry.slowest, 6),
            "out_of_time": entry.out_of_time,
        }
        for entry in times
    ]


def times_from_json(fields: dict[str, Any]) -> MoveTimes:
    """Return the times in an entry of `times_json`.

    Raises:
        ValueError: if one is not a number of 0 or more.
        TypeError: if one is missing or unknown.
    """
    times = MoveTimes(**fields)
    integer("moves", times.moves, 0, 10**15)
    integer("out_of_time", times.out_of_time, 0, 10**15)
    return replace(
        times,
        seconds=real("seconds", times.seconds, 0, 1e15),
        slowest=real("slowest", times.slowest, 0, 1e15),
    )
