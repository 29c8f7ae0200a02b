"""Policies, evaluation and reward of Hungry Geese, as kernels.

Policies have the arguments of `ludoteca.agents.agent.Policy`: position `s`, player, legal actions
`legal[:n]`, and random stream. The others have those of `Evaluation` and `Reward` in
`ludoteca.agents.games.knowledge`. `s.occupied` has the number of segments of geese on each cell, 0
if it is free, or `ludoteca.envs.games.goose_positions.FOOD`, -1; `s.length` of a dead goose is 0.
"""

from typing import Any

from ludoteca.envs.games.goose_positions import NONE
from ludoteca.envs.games.hungry_geese import turns_back
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import DIRECTIONS


@kernel
def nearest_food(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return the action that leads closest to food, and into no body or cell beside a rival's head.

    Like `GreedyAgent` of kaggle-environments' hungry_geese: it does not turn back, distances do not
    wrap around the torus, ties go to the first action, and if there is no such action, one of all
    four is sampled.
    """
    rows, columns = s.occupied.shape
    head = s.body[player, s.start[player]]
    best, best_action = rows + columns, -1
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
                best, best_action = distance, action
    return best_action if best_action >= 0 else below(rng, 4)


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
    """Return a uniformly random action that does not turn back."""
    last = s.last_action[player]
    # Actions are numbered clockwise, so the opposite of `last` is `last + 2`, modulo 4.
    return below(rng, 4) if last == NONE else (last + 3 + below(rng, 3)) % 4


@kernel
def safe_goose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return a uniformly random action that neither turns back nor enters an occupied cell.

    If there is none, return a random action that does not turn back. The goose's own tail counts as
    free, since it moves; tails of rivals do not, since they stay if the rival eats.
    """
    columns = s.occupied.shape[1]
    capacity = s.body.shape[1]
    head = s.body[player, s.start[player]]
    tail = s.body[player, (s.start[player] + s.length[player] - 1) % capacity]
    last = s.last_action[player]
    num_safe, sampled = 0, -1
    for action in range(4):
        if turns_back(last, action):
            continue
        row, column = neighbor(head, action, s.occupied.shape)
        if s.occupied[row, column] <= 0 or row * columns + column == tail:
            num_safe += 1
            if below(rng, num_safe) == 0:  # reservoir sampling
                sampled = action
    return sampled if num_safe > 0 else valid_goose(s, player, legal, n, rng)


@kernel
def standing(s: Any, out: Any) -> None:
    """Write the returns that the geese would have if the game ended now to `out`, `[players]`.

    It is the mean over rivals of sign(own score - rival's score). By score, a longer living goose
    is ahead of a shorter one, and a dead goose is behind all that outlived it.
    """
    players = s.length.shape[0]
    for p in range(players):
        lead = 0
        for q in range(players):
            lead += int(s.score[p] > s.score[q]) - int(s.score[p] < s.score[q])
        out[p] = lead / max(1, players - 1)


@kernel
def length_to_the_fifth(s: Any, player: int, plies: int) -> float:
    """Return the playout reward of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.3.

    It is 0 for a dead goose, else (plies + 1) + length^5. `plies` are those of the simulation, from
    the position to move in: the first action is included, earlier plies of the game are not.
    """
    length = float(s.length[player])
    return 0.0 if length == 0 else plies + 1 + length**5
