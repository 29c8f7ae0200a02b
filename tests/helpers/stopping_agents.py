"""Agents that stop when they are asked to, or do not, for tests of search workers."""

import os
import threading
import time

import numpy as np
from interactive import First

from ludoteca.envs.compilation import announce, compiling

LONG_SECONDS = 600  # more than any test takes


class Stoppable(First):
    """Search that ends only when it is stopped."""

    is_stopped = None

    def act(self, states, seats, rngs, env_indices):
        while self.is_stopped is not None and not self.is_stopped():
            time.sleep(0.001)
        return super().act(states, seats, rngs, env_indices)


class Ignoring(First):
    """Search that could be stopped, but ignores that."""

    is_stopped = None

    def act(self, states, seats, rngs, env_indices):
        time.sleep(LONG_SECONDS)
        return super().act(states, seats, rngs, env_indices)


class Holding(First):
    """Search in C that holds the interpreter's lock, as that of OpenSpiel does."""

    def act(self, states, seats, rngs, env_indices):
        sum(range(10**13))  # takes longer than any test
        return super().act(states, seats, rngs, env_indices)


class Dying(First):
    """Agent whose process ends, as by an error in compiled code."""

    def act(self, states, seats, rngs, env_indices):
        os._exit(3)


class Compiling(First):
    """Agent that compiles for a known time, and then searches until it is stopped."""

    is_stopped = None
    seconds = 3.0

    def prepare(self):
        with compiling():
            announce("tictactoe 3x3", "search", 30.0)
            threading.Event().wait(self.seconds)

    def act(self, states, seats, rngs, env_indices):
        return np.zeros(len(states), np.int64)
