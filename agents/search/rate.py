"""Rate of simulations of earlier searches, which plans the simulations of timed ones."""

from collections import deque

NUM_MEASURED = 3  # searches over which the rate is averaged, as it varies between positions
PLANNED_FRACTION = 0.8  # part of the time that is planned by the rate
DEFAULT_SIMULATIONS = 64  # planned simulations before the first measurement


class SimulationRate:
    """Rate of simulations of an agent's last searches.

    Searches that divide their simulations in advance, such as by sequential halving, need their
    number before they begin, also where their limit is a time.
    """

    def __init__(self) -> None:
        # Simulations and seconds of the last searches.
        self._measured: deque[tuple[int, float]] = deque(maxlen=NUM_MEASURED)

    def plan(self, seconds: float, maximum: int) -> int:
        """Return the simulations that fit in a time limit, from 1 to `maximum`.

        They are those of `PLANNED_FRACTION` of the time at the measured rate, or
        `DEFAULT_SIMULATIONS` without a measurement.

        Args:
            seconds: time limit.
            maximum: maximum number of simulations.
        """
        planned = float(DEFAULT_SIMULATIONS)
        if self._measured:
            simulations, measured_seconds = map(sum, zip(*self._measured, strict=True))
            planned = PLANNED_FRACTION * seconds * simulations / measured_seconds
        return int(max(1, min(planned, maximum)))

    def measure(self, simulations: int, seconds: float) -> None:
        """Add the simulations of a search that took `seconds`."""
        if simulations > 0 and seconds > 0:
            self._measured.append((simulations, seconds))
