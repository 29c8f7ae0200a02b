"""Clocks of a match: time limits of the players, and the times of their moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real

# Times of a player in one game: number of moves, seconds of all moves, seconds of the slowest move,
# number of moves that were out of time, and seconds of the bank that were used.
MOVE_TIMES = np.dtype(
    [
        ("moves", "i8"),
        ("seconds", "f8"),
        ("slowest", "f8"),
        ("out_of_time", "i8"),
        ("bank_used", "f8"),
    ]
)


@dataclass(frozen=True)
class MoveTimes:
    """Times of the moves of one agent, over all its games and seats.

    Attributes:
        moves: number of moves.
        seconds: time of all moves in seconds.
        slowest: time of the slowest move in seconds.
        out_of_time: number of moves that were out of time.
        bank_used: largest part of a time bank that was used in one game, in seconds.
    """

    moves: int
    seconds: float
    slowest: float
    out_of_time: int
    bank_used: float = 0.0

    @property
    def mean(self) -> float:
        """Mean time of a move in seconds; 0 without moves."""
        return self.seconds / max(self.moves, 1)

    def __add__(self, other: "MoveTimes") -> "MoveTimes":
        return MoveTimes(
            self.moves + other.moves,
            self.seconds + other.seconds,
            max(self.slowest, other.slowest),
            self.out_of_time + other.out_of_time,
            max(self.bank_used, other.bank_used),
        )


NO_MOVES = MoveTimes(0, 0.0, 0.0, 0)


class GameClock:
    """Clocks of the players of one game.

    Attributes:
        times: times of the players' moves, dtype `MOVE_TIMES`. Shape `[P]`.
    """

    def __init__(self, time_control: TimeControl, times: NDArray[np.void]):
        """Start the clocks of a game.

        Args:
            time_control: the time control.
            times: see the attribute; the clock updates it.
        """
        self.times, self._control = times, time_control
        self._start_seconds_left = [time_control.start_seconds] * len(times)
        self._bank_seconds_left = [time_control.bank_seconds] * len(times)

    @property
    def replaces_moves(self) -> bool:
        """Whether a random move is played for a player that is out of time."""
        return self._control.out_of_time == "random"

    def spend_reset(self, seat: int, seconds: float) -> None:
        """Subtract the time of an agent's reset from the start clock of its seat."""
        self._start_seconds_left[seat] -= seconds

    def spend(self, seat: int, seconds: float, has_moved: bool) -> str:
        """Subtract the time of a move; return a message if it is out of time, else `""`.

        Args:
            seat: the player.
            seconds: time of the move.
            has_moved: whether the player has moved; False if its agent forfeited for a timeout.
        """
        times = self.times[seat]
        allowed = self._control.move_seconds
        if times["moves"] == 0:  # what the reset left of the start clock, perhaps negative
            allowed += self._start_seconds_left[seat]
        times["moves"] += 1
        times["seconds"] += seconds
        times["slowest"] = max(times["slowest"], seconds)
        total = max(allowed, 0.0) + self._bank_seconds_left[seat]
        self._bank_seconds_left[seat] -= max(0.0, seconds - allowed)
        is_late = self._bank_seconds_left[seat] < 0
        self._bank_seconds_left[seat] = max(self._bank_seconds_left[seat], 0.0)
        times["bank_used"] = self._control.bank_seconds - self._bank_seconds_left[seat]
        if has_moved and not is_late:
            return ""
        times["out_of_time"] += 1
        return f"took {seconds:.3g} s for a move, {total:.3g} s allowed"


def validate_time_control(game: Game, time_control: TimeControl) -> None:
    """Validate that the players of a game can forfeit, if a time control requires it.

    Raises:
        ValueError: if they cannot: in a sequential game of more than two players.
    """
    if time_control.out_of_time == "forfeit" and not game.simultaneous and game.num_players > 2:
        raise ValueError(
            f"players of a sequential game of {game.num_players} players cannot forfeit: expected "
            f"out_of_time='random' for {game.name}, got 'forfeit'"
        )


def agent_times(
    move_times: NDArray[np.void], seating: NDArray[np.int64], agents: int
) -> tuple[MoveTimes, ...]:
    """Return the times of each agent.

    Args:
        move_times: times of the moves, dtype `MOVE_TIMES`. Shape `[games, P]`.
        seating: index of the agent in each seat. Shape `[games, P]`.
        agents: number of agents.
    """
    times_by_agent = [move_times[seating == a] for a in range(agents)]
    return tuple(
        MoveTimes(
            int(times["moves"].sum()),
            float(times["seconds"].sum()),
            float(times["slowest"].max(initial=0)),
            int(times["out_of_time"].sum()),
            float(times["bank_used"].max(initial=0)),
        )
        for times in times_by_agent
    )


def times_text(times: MoveTimes, name: str) -> str:
    """Return a line about the times of an agent's moves."""
    bank = f", up to {times.bank_used:.3f} s of the bank in a game" if times.bank_used else ""
    late = f", {times.out_of_time:,} out of time" if times.out_of_time else ""
    return (
        f"{name}: {times.mean:.3f} s a move on average, "
        f"slowest of {times.moves:,} moves {times.slowest:.3f} s{bank}{late}"
    )


def times_json(times: Sequence[MoveTimes]) -> list[dict[str, Any]]:
    """Return times of agents as JSON values."""
    return [
        {
            "moves": entry.moves,
            "seconds": round(entry.seconds, 6),
            "slowest": round(entry.slowest, 6),
            "out_of_time": entry.out_of_time,
            "bank_used": round(entry.bank_used, 6),
        }
        for entry in times
    ]


def times_from_json(fields: dict[str, Any]) -> MoveTimes:
    """Return the times in an entry of `times_json`; older entries lack `"bank_used"`.

    Raises:
        ValueError: if a field is not a number of at least 0.
        TypeError: if a field is missing or unknown.
    """
    times = MoveTimes(**fields)
    check_integer("moves", times.moves, 0, 10**15)
    check_integer("out_of_time", times.out_of_time, 0, 10**15)
    return replace(
        times,
        seconds=check_real("seconds", times.seconds, 0, 1e15),
        slowest=check_real("slowest", times.slowest, 0, 1e15),
        bank_used=check_real("bank_used", times.bank_used, 0, 1e15),
    )
