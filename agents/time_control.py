"""Time control of a game: start clock, play clock and bank of every player."""

import re
from dataclasses import asdict, dataclass
from typing import Any, Self

from ludoteca.envs.params import check_choice, check_real

OUT_OF_TIME_PENALTIES = ("forfeit", "random")
MAX_SECONDS = 1e6  # seconds
CLOCK_PATTERN = re.compile(r"(?:(?P<start>[0-9.]+)\+)?(?P<move>[0-9.]+)")
# Part of the play clock that a search leaves unused, since searches overrun by about 5 % of their
# time: a fraction of the play clock, and its limits in seconds.
RESERVE_FRACTION, MIN_RESERVE, MAX_RESERVE = 0.1, 0.05, 1.0


@dataclass(frozen=True)
class TimeControl:
    """Time control of a game; every player has its own clock.

    Attributes:
        move_seconds: play clock: seconds for each move.
        start_seconds: start clock: seconds for preparation before the first move of a game. The
            rest of them is added to the play clock of the first move.
        bank_seconds: time bank: seconds per game for exceeding the play clock, over all moves, like
            Kaggle's overage time.
        out_of_time: penalty of a player who is out of time: `"forfeit"`: the player forfeits;
            `"random"`: a random move is played for the player.

    Raises:
        ValueError: if a value is out of range or unknown.
    """

    move_seconds: float
    start_seconds: float = 0.0
    bank_seconds: float = 0.0
    out_of_time: str = "forfeit"

    def __post_init__(self) -> None:
        for name, low in (("move_seconds", 1e-3), ("start_seconds", 0), ("bank_seconds", 0)):
            object.__setattr__(self, name, check_real(name, getattr(self, name), low, MAX_SECONDS))
        check_choice("out_of_time", self.out_of_time, OUT_OF_TIME_PENALTIES)

    @classmethod
    def parse(cls, text: str, bank_seconds: float = 0.0, out_of_time: str = "forfeit") -> Self:
        """Parse a time control in the notation of General Game Playing (GGP), `START+MOVE`.

        Args:
            text: start clock and play clock in seconds, such as `"10+1"`, or the play clock alone,
                such as `"1"`.
            bank_seconds: see `TimeControl`.
            out_of_time: see `TimeControl`.

        Raises:
            ValueError: if it is not a clock, or a value is out of range.
        """
        match = CLOCK_PATTERN.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            start, move = float(match["start"] or 0), float(match["move"])
        except ValueError:
            raise ValueError(
                "clock must be START+MOVE in seconds, such as 10+1, or the seconds of a move, "
                f"such as 1, got {text!r:.80}"
            ) from None
        return cls(move, start, bank_seconds, out_of_time)

    def __str__(self) -> str:
        bank = f" with a bank of {self.bank_seconds:g} s" if self.bank_seconds else ""
        penalty = "a forfeit" if self.out_of_time == "forfeit" else "a random move"
        return f"{self.start_seconds:g}+{self.move_seconds:g} s{bank}, out of time is {penalty}"

    @property
    def thinking_seconds(self) -> float:
        """Time limit of a search for one move, in seconds: the play clock minus a reserve."""
        reserve = min(max(RESERVE_FRACTION * self.move_seconds, MIN_RESERVE), MAX_RESERVE)
        return self.move_seconds - min(reserve, self.move_seconds / 2)

    def to_json(self) -> dict[str, Any]:
        """Return the time control as JSON values, the arguments of the class."""
        return asdict(self)
