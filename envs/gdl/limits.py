"""Limits on the compilation of a rule sheet: CPU time, rule instances and facts."""

import time
from dataclasses import dataclass, field

from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.params import check_integer, check_real

MAX_SECONDS = 60.0  # default limit of CPU seconds
MAX_INSTANCES = 3_000_000  # default limit of ground instances and facts
MAX_MOVES = 1_000_000  # of a game: masks and policies have a number for each
STEPS_PER_CHECK = 100_000  # rows visited by joins between two checks of the time


@dataclass(slots=True)
class Limits:
    """Limits of one compilation, and the resources used so far.

    Attributes:
        max_seconds: limit of CPU seconds of this process since the limits were made.
        max_instances: limit of ground instances of rules and of facts.
        instances: ground instances and facts made so far, in this attempt.
        most_instances: the largest number of an earlier attempt, see `restart`.
        steps: rows visited by joins since the last check of the time.
    """

    max_seconds: float = MAX_SECONDS
    max_instances: int = MAX_INSTANCES
    instances: int = 0
    most_instances: int = 0
    steps: int = 0
    _start: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises:
            ValueError: if they are out of range.
        """
        self.max_seconds = check_real("max_seconds", self.max_seconds, 0.01, 1e6)
        check_integer("max_instances", self.max_instances, 1, 10**9)

    @property
    def seconds(self) -> float:
        """CPU seconds used."""
        return time.process_time() - self._start

    @property
    def counted_instances(self) -> int:
        """Largest number of ground instances and facts of all attempts."""
        return max(self.instances, self.most_instances)

    def restart(self) -> None:
        """Count instances from 0, for another attempt."""
        self.instances, self.most_instances = 0, self.counted_instances

    def count_instance(self) -> None:
        """Count a ground instance or fact.

        Raises:
            GDLLimitError: if a limit is exceeded.
        """
        self.instances += 1
        if self.instances > self.max_instances:
            self.check_instances(self.instances)
        if self.instances & 4095 == 0:  # not at each instance, for speed
            self.check_time()

    def check_instances(self, instances: int) -> None:
        """Check the limit of instances.

        Raises:
            GDLLimitError: if there are more than `max_instances`.
        """
        if instances > self.max_instances:
            raise GDLLimitError(
                f"the sheet has more than max_instances={self.max_instances:,} ground instances of "
                "rules"
            )

    def count_steps(self, steps: int) -> None:
        """Count rows that a join visits.

        Raises:
            GDLLimitError: if the time limit is exceeded.
        """
        self.steps += steps
        if self.steps > STEPS_PER_CHECK:
            self.steps = 0
            self.check_time()

    def check_time(self) -> None:
        """Check the time limit.

        Raises:
            GDLLimitError: if more than `max_seconds` of CPU time were used.
        """
        if self.seconds > self.max_seconds:
            raise GDLLimitError(
                f"compiling the sheet takes more than max_seconds={self.max_seconds:g} s of CPU "
                f"time; so far it has {self.instances:,} ground instances of rules"
            )
