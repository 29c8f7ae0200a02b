"""Hungry Geese: snakes on a torus; the longest survival, then the longest body wins.

Step by step the same game as `hungry_geese` of kaggle-environments. Observation planes and rewards
follow the Kaggle competition (17 planes for four geese) and Martín Miralles, "Hungry Geese"
(master's thesis, UIB, 2021).

Encoding, where cell (row, column) is `row * columns + column`:

    actions     ring buffer `body[p]`, with start[p] = 4 and length[p] = 3
       0        index      0  1  2  3  4  5
     3   1      segment    2  .  .  .  0  1      segment 0: head, segment 2: tail
       2

Planes of player p, of P players; each group has a plane for each player, p first, then p + 1, ...,
modulo P:

    0 to P - 1       heads       3 P to 4 P - 1      heads before the last step
    P to 2 P - 1     tails       4 P                 food
    2 P to 3 P - 1   bodies      4 P + 1, 4 P + 2    percentages, with `extra_planes`
"""

from typing import Any

import numpy as np

from ludoteca.envs.game import FORFEIT, Game, unique
from ludoteca.envs.games.goose_positions import FOOD, NONE, cells, geese, validate
from ludoteca.envs.games.torus import neighbor, torus_symmetries
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.rng import below

FORFEITED = -1  # score of a goose that forfeited: below all others (Kaggle gives it no reward)
COLORS = (
    "#2565ae", "#c0392b", "#2e8b57", "#8e44ad", "#d35400", "#16a085", "#7f8c8d", "#b7950b",
)  # fmt: skip


@unique
def hungry_geese(
    num_players: int = 4,
    rows: int = 7,
    columns: int = 11,
    hunger_rate: int = 40,
    min_food: int = 2,
    max_length: int = 99,
    episode_steps: int = 200,
    extra_planes: bool = False,
) -> Game:
    """Hungry Geese; actions are 0 north, 1 east, 2 south, 3 west, and always legal.

    The reverse of the own last action is legal, and kills. The planes of P players: P heads, P
    tails, P whole bodies, P heads before the last step, and food; in each group the observing
    player comes first, and the others follow in order, modulo P. Planes of dead geese are empty.

    Args:
        num_players: 1 to 8. The game of a single goose is over after one step, as in
            kaggle-environments, with return 0.
        rows: 3 to 50.
        columns: 3 to 50.
        hunger_rate: number of steps after which each goose loses a segment, 1 to 10,000.
        min_food: number of cells with food after each step, 1 to 1,000.
        max_length: maximum length of a goose in cells, 1 to 10,000.
        episode_steps: number of states of a full game, 2 to 10,000: one more than its steps.
        extra_planes: whether to add two constant planes with percentages: how much of the game, and
            of the present period of `hunger_rate` steps, is over.
    """
    check_integer("num_players", num_players, 1, 8)
    check_integer("rows", rows, 3, 50)
    check_integer("columns", columns, 3, 50)
    check_integer("hunger_rate", hunger_rate, 1, 10_000)
    check_integer("min_food", min_food, 1, 1_000)
    check_integer("max_length", max_length, 1, 10_000)
    check_integer("episode_steps", episode_steps, 2, 10_000)
    check_choice("extra_planes", extra_planes, (False, True))
    num_cells = rows * columns
    return Game(
        name="hungry_geese",
        title="Hungry Geese",
        params={
            "num_players": num_players,
            "rows": rows,
            "columns": columns,
            "hunger_rate": hunger_rate,
            "min_food": min_food,
            "max_length": max_length,
            "episode_steps": episode_steps,
            "extra_planes": extra_planes,
        },
        num_players=num_players,
        num_actions=4,
        max_plies=episode_steps - 1,
        observation_shape=(4 * num_players + 1 + 2 * extra_planes, rows, columns),
        observation_high=100 if extra_planes else 1,
        dynamics="simultaneous",
        state=np.dtype(
            [
                ("rng", np.uint64, (1,)),
                # (steps survived + 1) * (max_length + 1) + length after the last of them.
                ("score", np.int32, (num_players,)),
                ("occupied", np.int8, (rows, columns)),  # number of segments on a cell, or FOOD
                # Segment k of goose p, the head being 0, is body[p, (start[p] + k) % capacity].
                ("body", np.int16, (num_players, min(max_length, num_cells))),
                ("start", np.int16, (num_players,)),
                ("length", np.int16, (num_players,)),  # 0: dead
                ("last_action", np.int8, (num_players,)),  # NONE before the first step
                ("last_head", np.int16, (num_players,)),  # NONE before the first step
                ("food", np.int16, (min(min_food, num_cells),)),  # cells, then NONE
                ("num_food", np.int16),
                ("steps", np.int16),
                ("hunger_rate", np.int16),
                ("max_length", np.int16),
                ("max_steps", np.int16),
                ("extra_planes", np.int8),
            ],
            align=True,
        ),
        settings={
            "hunger_rate": hunger_rate,
            "max_length": max_length,
            "max_steps": episode_steps - 1,
            "extra_planes": extra_planes,
        },
        init=init,
        is_active=is_active,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            rows,
            columns,
            (
                Piece("*", "food", "food", "#e67e22"),
                *(
                    piece
                    for letter, color, p in zip(
                        "ABCDEFGH", COLORS, range(num_players), strict=False
                    )
                    for piece in (
                        Piece(letter, f"goose {letter}", "head", color, p),
                        Piece(letter.lower(), f"body of goose {letter}", "body", color, p),
                    )
                ),
            ),
            cells,
            background="#dfe9e2",
            line="#c3d2c8",
            counts="length",
            paths=geese,
            coordinates="none",
        ),
        action_names=("north", "east", "south", "west"),
        symmetries=lambda: torus_symmetries(rows, columns),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    players = s.body.shape[0]
    rows, columns = s.occupied.shape
    s.rng[0] = seed
    s.score[:] = 0
    s.occupied[:] = 0
    s.body[:] = 0
    s.start[:] = 0
    s.length[:] = 1
    s.last_action[:] = NONE
    s.last_head[:] = NONE
    s.food[:] = NONE
    s.num_food = 0
    s.steps = 0
    for p in range(players):
        cell = free_cell(s, rows * columns - p)
        s.body[p, 0] = cell
        s.occupied[cell // columns, cell % columns] = 1
    refill(s)


@kernel
def is_active(s: Any, player: int) -> bool:
    return bool(s.length[player] > 0) and not is_terminal(s)


@kernel
def legal_actions(s: Any, player: int, out: Any) -> int:
    if not is_active(s, player):
        return 0
    for action in range(4):
        out[action] = action
    return 4


@kernel
def step(s: Any, actions: Any) -> None:
    s.steps += 1
    for p in range(s.body.shape[0]):
        if s.length[p] > 0:
            move(s, p, int(actions[p]))
    collide(s)
    refill(s)
    for p in range(s.body.shape[0]):
        if s.length[p] > 0:
            s.score[p] = (int(s.steps) + 1) * (int(s.max_length) + 1) + int(s.length[p])


@kernel
def move(s: Any, p: int, action: int) -> None:
    """Move goose `p`, which may starve or hit itself; `collide` handles other geese."""
    columns = s.occupied.shape[1]
    capacity = s.body.shape[1]
    last_action, s.last_action[p] = s.last_action[p], action
    s.last_head[p] = s.body[p, s.start[p]]
    if action == FORFEIT:
        s.score[p] = FORFEITED
        die(s, p)
        return
    if turns_back(last_action, action):
        die(s, p)
        return
    row, column = neighbor(s.last_head[p], action, s.occupied.shape)
    head = row * columns + column
    if s.occupied[row, column] == FOOD:
        eat(s, head)
    else:
        drop_tail(s, p)
    if s.occupied[row, column] > 0:  # perhaps its own body
        for k in range(s.length[p]):
            if s.body[p, (s.start[p] + k) % capacity] == head:
                die(s, p)
                return
    if s.length[p] >= s.max_length:
        drop_tail(s, p)
    s.start[p] = (s.start[p] - 1) % capacity
    s.body[p, s.start[p]] = head
    s.length[p] += 1
    s.occupied[row, column] += 1
    if s.steps % s.hunger_rate == 0:
        drop_tail(s, p)


@kernel
def turns_back(last_action: int, action: int) -> bool:
    """Return whether an action is the reverse of the last action, which kills."""
    return bool(last_action != NONE and (last_action + 2) % 4 == action)


@kernel
def eat(s: Any, cell: int) -> None:
    """Remove the food on `cell`; the other foods keep their order."""
    s.occupied[cell // s.occupied.shape[1], cell % s.occupied.shape[1]] = 0
    s.num_food -= 1
    eaten = False
    for i in range(s.num_food):
        eaten = eaten or s.food[i] == cell
        if eaten:
            s.food[i] = s.food[i + 1]
    s.food[s.num_food] = NONE


@kernel
def drop_tail(s: Any, p: int) -> None:
    """Remove the last segment of goose `p`."""
    s.length[p] -= 1
    cell = s.body[p, (s.start[p] + s.length[p]) % s.body.shape[1]]
    s.occupied[cell // s.occupied.shape[1], cell % s.occupied.shape[1]] -= 1


@kernel
def die(s: Any, p: int) -> None:
    """Remove goose `p` from the board."""
    while s.length[p] > 0:
        drop_tail(s, p)


@kernel
def collide(s: Any) -> None:
    """Remove all geese whose heads are on a cell with another segment, simultaneously."""
    columns = s.occupied.shape[1]
    dead = 0  # one bit per goose; no goose is removed before all are checked
    for p in range(s.body.shape[0]):
        head = s.body[p, s.start[p]]
        if s.length[p] > 0 and s.occupied[head // columns, head % columns] > 1:
            dead |= 1 << p
    for p in range(s.body.shape[0]):
        if dead >> p & 1:
            die(s, p)


@kernel
def refill(s: Any) -> None:
    """Place food on random free cells until there are `min_food` or no cell is free."""
    rows, columns = s.occupied.shape
    missing = s.food.shape[0] - s.num_food
    if missing > 0:
        free = 0
        for row in range(rows):
            for column in range(columns):
                free += int(s.occupied[row, column] == 0)
        for i in range(min(missing, free)):
            cell = free_cell(s, free - i)
            s.occupied[cell // columns, cell % columns] = FOOD
            s.food[s.num_food] = cell
            s.num_food += 1


@kernel
def free_cell(s: Any, free: int) -> int:
    """Sample a cell with neither goose nor food, uniformly; `free` is the number of such cells."""
    rows, columns = s.occupied.shape
    skip = below(s.rng, free)
    for row in range(rows):
        for column in range(columns):
            if s.occupied[row, column] == 0:
                if skip == 0:
                    return int(row * columns + column)
                skip -= 1
    return NONE


@kernel
def is_terminal(s: Any) -> bool:
    alive = 0
    for p in range(s.length.shape[0]):
        alive += int(s.length[p] > 0)
    return bool(s.steps >= s.max_steps or alive == 0 or (alive == 1 and s.steps > 0))


@kernel
def returns(s: Any, out: Any) -> None:
    """Write the mean over opponents of sign(own score - their score), at death and at the end.

    The score of a dead goose is final, and lower than that of each goose that survives it by at
    least a step. So its return changes only if one of these geese forfeits later.
    """
    players = s.length.shape[0]
    over = is_terminal(s)
    for p in range(players):
        better = 0
        if over or s.length[p] == 0:
            for q in range(players):
                better += int(s.score[p] > s.score[q]) - int(s.score[p] < s.score[q])
        out[p] = better / max(1, players - 1)


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    out[:] = 0
    players, capacity = s.body.shape
    columns = s.occupied.shape[1]
    for k in range(players):
        p = (player + k) % players
        if s.length[p] > 0:
            index = int(s.start[p])
            cell = s.body[p, index]
            mark(out, k, cell, columns)
            for _ in range(s.length[p]):
                cell = s.body[p, index]
                mark(out, 2 * players + k, cell, columns)
                index = index + 1 if index + 1 < capacity else 0
            mark(out, players + k, cell, columns)
            if s.last_head[p] != NONE:
                mark(out, 3 * players + k, s.last_head[p], columns)
    for i in range(s.num_food):
        mark(out, 4 * players, s.food[i], columns)
    if s.extra_planes:
        out[4 * players + 1] = 100 * int(s.steps) // int(s.max_steps)
        out[4 * players + 2] = 100 * int(s.steps % s.hunger_rate) // int(s.hunger_rate)


@kernel
def mark(out: Any, plane: int, cell: int, columns: int) -> None:
    """Set a cell of a plane to 1; unsigned numbers save the checks for negative indices."""
    index = np.uint16(cell)
    out[plane, index // np.uint16(columns), index % np.uint16(columns)] = 1
