"""Policies, evaluation and reward of Hungry Geese, as kernels."""

from typing import Any

from ludoteca.envs.games.goose_positions import NONE
from ludoteca.envs.games.hungry_geese import turns_back
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import DIRECTIONS


@kernel
def nearest_food(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Step nearest to food, avoiding bodies, cells beside rival heads, and turning back.

    As `GreedyAgent` of kaggle-environments' hungry_geese: distances do not wrap around the torus,
    the first of equally good actions is taken, and if none is left, any of the four is sampled.
    """
    rows, columns = s.occupied.shape
    head = s.body[player, s.start[player]]
    best, chosen = rows + columns, -1
    for action in range(4):
        last = s.last_action[player]
        if turns_back(last, action):
            continue
        row, column = neighbor(head, action, s.occupied.shape)
        if s.occupied[row, column] > 0 or beside_rival(s, player, row, column):
            continue
        for i in range(s.num_food):
            food = s.food[i]
            distance = abs(food // columns - row) + abs(food % columns - column)
            if distance < best:
                best, chosen = distance, action
    return chosen if chosen >= 0 else below(rng, 4)


@kernel
def beside_rival(s: Any, player: int, row: int, column: int) -> bool:
    """Return whether a rival's head can step onto (row, column)."""
    rows, columns = s.occupied.shape
    for p in range(s.length.shape[0]):
        if p != player and s.length[p] > 0:
            head = s.body[p, s.start[p]]
            for down, right in DIRECTIONS:
                if (head // columns + down) % rows == row and (
                    head % columns + right
                ) % columns == column:
                    return True
    return False


@kernel
def valid_goose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Sample from the moves that do not turn back, free cells or not."""
    last = s.last_action[player]
    return below(rng, 4) if last == NONE else (last + 3 + below(rng, 3)) % 4


@kernel
def safe_goose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Sample from the moves that neither turn back nor enter a cell that a goose is on now.

    If there is none, any that does not turn back. The goose's own tail, which moves on, counts as
    free; the tails of others do not, since they stay where a goose eats.
    """
    columns = s.occupied.shape[1]
    room = s.body.shape[1]
    head = s.body[player, s.start[player]]
    tail = s.body[player, (s.start[player] + s.length[player] - 1) % room]
    last = s.last_action[player]
    num_safe, chosen = 0, -1
    for action in range(4):
        if turns_back(last, action):
            continue
        row, column = neighbor(head, action, s.occupied.shape)
        if s.occupied[row, column] <= 0 or row * columns + column == tail:
            num_safe += 1
            if below(rng, num_safe) == 0:  # each of the moves is kept with equal probability
                chosen = action
    return chosen if num_safe > 0 else valid_goose(s, player, legal, n, rng)


@kernel
def standing(s: Any, out: Any) -> None:
    """Score every goose as if the game ended now.

    The mean over opponents of sign(own score - theirs): of two living geese the longer is ahead,
    and a dead goose has lost to all that outlived it.
    """
    players = s.length.shape[0]
    for p in range(players):
        better = 0
        for q in range(players):
            better += int(s.score[p] > s.score[q]) - int(s.score[p] < s.score[q])
        out[p] = better / max(1, players - 1)


@kernel
def length_to_the_fifth(s: Any, player: int, plies: int) -> float:
    """Reward of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.3.

    0 for a dead goose, else (step + 1) + length^5, where `step` counts the simulated steps from the
    first action on.
    """
    length = float(s.length[player])
    return 0.0 if length == 0 else plies + 1 + length**5
