"""Kernels of games whose field `winner` is UNDECIDED or the player that has won."""

from typing import Any

from ludoteca.envs.jit import kernel

UNDECIDED = -1


@kernel
def is_decided(s: Any) -> bool:
    """Return whether there is a winner."""
    return bool(s.winner != UNDECIDED)


@kernel
def winner_returns(s: Any, out: Any) -> None:
    """Write 1 for the winner and -1 for the opponent, or 0 for both without a winner."""
    out[:] = 0
    if s.winner != UNDECIDED:
        out[s.winner], out[1 - s.winner] = 1, -1
