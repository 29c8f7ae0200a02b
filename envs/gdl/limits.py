"""Limits on the compilation of a rule sheet: CPU time, rule instances and facts."""

import time
from dataclasses import dataclass, field

from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.params import integer, real

MAX_SECONDS = 60.0
MAX_INSTANCES = 3_000_000
STEPS_PER_CHECK = 100_000  # of joins, between two checks of the time


@dataclass(slots=True)
class Limits:
    """Limits, and what has been used of them.

    Attributes:
        max_seconds: CPU seconds of this process from now on.
        max_instances: ground instances of rules, and facts.
        instances: ground instances and facts made so far.
        steps: steps of joins since the last check of the time.
    """

    max_seconds: float = MAX_SECONDS
    max_instances: int = MAX_INSTANCES
    instances: int = 0
    steps: int = 0
    _start: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises:
            ValueError: if they are out of range.
        """
        self.max_seconds = real("max_seconds", self.max_seconds, 0.01, 1e6)
        integer("max_instances", self.max_instances, 1, 10**9)

    @property
    def seconds(self) -> float:
        """CPU seconds used."""
        return time.process_time() - self._start

    def count_instance(self) -> None:
        """Count a ground instance or fact.

        Raises:
            GDLLimitError: if a limit is exceeded.
        """
        self.instances += 1
        if self.instances > self.max_instances:
            raise GDLLimitError(
                f"the sheet has more than max_instances={self.max_instances:,} ground instances of "
                "rules"
            )
        if self.instances & 4095 == 0:
            self.check_time()

    def count_steps(self, steps: int) -> None:
        """Count steps of joins.

        Raises:
            GDLLimitError: if the time is over.
        """
        self.steps += steps
        if self.steps > STEPS_PER_CHECK:
            self.steps = 0
            self.check_time()

    def check_time(self) -> None:
        """Raise an error if the time is over.

        Raises:
            GDLLimitError: then.
        """
        if self.seconds > self.max_seconds:
            raise GDLLimitError(
                f"compiling the sheet takes more than max_seconds={self.max_seconds:g} s of CPU "
                f"time; so far it has {self.instances:,} ground instances of rules"
            )
