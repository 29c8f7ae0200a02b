"""Clocks of an engine in GTP: main time, then byo-yomi periods, for each color.

Specification: `time_settings` and `time_left`, GTP 2, sections 4.2 and 6.3.4. A controller that
sends `time_left` corrects the clocks; without it the engine measures its own moves.
"""

from dataclasses import dataclass

MIN_MOVE_SECONDS = 1e-3  # time of a move when the clock has run out
# Minimum divisor of the rest of the main time (unless fewer moves are possible): no move may take
# more than a third of it.
MIN_MOVES_LEFT = 3.0
# Expected number of own moves as a fraction of the largest possible number. A fraction of 1 would
# leave half of the time unused in games that end on a partly empty board, as Hex does.
EXPECTED_FRACTION = 0.6


@dataclass
class ColorClock:
    """Clock of one color.

    Attributes:
        main_seconds: rest of the main time.
        period_seconds: rest of the byo-yomi period.
        period_moves: moves that must be made in the rest of the period.
    """

    main_seconds: float
    period_seconds: float
    period_moves: int


class GTPClock:
    """Time control of GTP, with a clock for each color.

    Attributes:
        is_limited: whether there is a time limit.
    """

    def __init__(self, main_seconds: float, period_seconds: float, period_moves: int):
        """Start the clocks.

        There is no time limit if both times are 0, or if the byo-yomi time is above 0 but
        `period_moves` is 0 (GTP 2, section 4.2).

        Args:
            main_seconds: main time of each color.
            period_seconds: byo-yomi time. With 0, all moves are made in the main time.
            period_moves: number of moves in each byo-yomi period.
        """
        has_periods = period_moves > 0 and period_seconds > 0
        self.is_limited = has_periods or (main_seconds > 0 and period_seconds == 0)
        self._settings = main_seconds, period_seconds, period_moves
        self._clocks: dict[str, ColorClock] = {}

    def reset(self) -> None:
        """Give each color its whole time, for a new game."""
        self._clocks = {}

    def set_left(self, color: str, seconds: float, moves: int) -> None:
        """Set the time that is left to a color.

        Args:
            color: `"black"` or `"white"`.
            seconds: time left: main time if `moves` is 0, else time of the byo-yomi period.
            moves: number of moves left in the period, or 0.
        """
        clock = self._clock(color)
        if moves == 0:
            clock.main_seconds = seconds
        else:
            clock.main_seconds, clock.period_seconds, clock.period_moves = 0.0, seconds, moves

    def spend(self, color: str, seconds: float) -> None:
        """Subtract the time of a move; after the last move of a period the next one begins."""
        clock = self._clock(color)
        if clock.main_seconds > 0:
            in_period = max(0.0, seconds - clock.main_seconds)
            clock.main_seconds = max(0.0, clock.main_seconds - seconds)
            if in_period == 0:
                return
            seconds = in_period
        clock.period_seconds = max(0.0, clock.period_seconds - seconds)
        clock.period_moves -= 1
        if clock.period_moves <= 0:
            _, clock.period_seconds, clock.period_moves = self._settings

    def move_seconds(self, color: str, max_moves_left: int) -> float:
        """Return the seconds for a color's next move.

        These are the main time divided by the expected number of moves left, plus the byo-yomi time
        divided by the moves left in the period.

        Args:
            color: the color to move.
            max_moves_left: largest number of moves that the color can still make.
        """
        clock = self._clock(color)
        expected = max(EXPECTED_FRACTION * max_moves_left, min(MIN_MOVES_LEFT, max_moves_left), 1)
        period = clock.period_seconds / max(clock.period_moves, 1)
        return max(clock.main_seconds / expected + period, MIN_MOVE_SECONDS)

    def _clock(self, color: str) -> ColorClock:
        return self._clocks.setdefault(color, ColorClock(*self._settings))
