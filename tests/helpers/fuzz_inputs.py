"""Inputs of the targets of `tests/fuzz`, and the last one, for the report of a finding.

A target is a function of a folder for files that returns `attempt(rng)`. An attempt makes an input
with a random generator and passes it to the package. It may return, or raise one of the errors that
the target allows; any other error is a finding. `INPUT` holds the last input, for the report.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mutations import NUMBERS, OTHERS

Attempt = Callable[[random.Random], None]
INPUT: list[Any] = [None]
GOLDEN = Path(__file__).parents[1] / "golden"
SPECS = (
    "tictactoe", "hex:board_size=3", "connect4:rows=4,columns=4,connect=3", "othello:board_size=4",
    "atari_go:board_size=4", "breakthrough", "sheep_and_wolf", "tron:rows=4,columns=5",
    "hungry_geese:num_players=2,rows=4,columns=4,episode_steps=20", "free_for_all",
    "knight_through",
)  # fmt: skip
# Values of all types, which are invalid as most arguments.
WEIRD = (*NUMBERS, *OTHERS, object(), b"NORTH", 1j, np.int8(3), np.zeros(3), (), {1, 2}, slice(2))


class RefusedError(Exception):
    """The command line has refused its arguments, with a message."""


def keep(value: Any) -> Any:
    """Store an input in `INPUT`, for the report of a finding, and return it."""
    INPUT[0] = value
    return value
