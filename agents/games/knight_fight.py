"""Knowledge of Knight Fight: evaluation by the mobility of the knights."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.games.knight_fight import JUMPS
from ludoteca.envs.jit import kernel


@kernel
def is_safe(s: Any, row: int, column: int) -> bool:
    """Return whether a cell of the board holds neither an arrow nor a knight."""
    size = s.arrows.shape[0]
    if not (0 <= row < size and 0 <= column < size) or s.arrows[row, column]:
        return False
    cell = row * size + column
    return bool(cell != s.knights[0] and cell != s.knights[1])


@kernel
def safe_paths(s: Any, player: int) -> int:
    """Return the number of paths of one or two jumps of a knight over safe cells."""
    size, num_paths = s.arrows.shape[0], 0
    row, column = s.knights[player] // size, s.knights[player] % size
    for down, right in JUMPS:
        if is_safe(s, row + down, column + right):
            num_paths += 1
            for next_down, next_right in JUMPS:
                num_paths += int(is_safe(s, row + down + next_down, column + right + next_right))
    return num_paths


@kernel
def jumps(s: Any, out: Any) -> None:
    """Write the relative difference of the players' safe paths to `out`.

    Mobility is the usual evaluation of games in which a player without a safe move loses, such as
    Amazons (Lieberum, "An evaluation function for the game of Amazons", 2005). With n and m paths,
    the score is `(n - m) / (n + m + 1)`.
    """
    own, other = safe_paths(s, 0), safe_paths(s, 1)
    out[0] = (own - other) / (own + other + 1)
    out[1] = -out[0]


KNIGHT_FIGHT = Knowledge(evaluations={"jumps": jumps})
