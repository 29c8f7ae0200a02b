"""What a network is shown of Hungry Geese beside the competition's planes, from one goose's head.

The competition's planes do not tell in which order the segments of a body lie, how long it is until
the next hunger, or when the game ends (Martín Miralles, UIB 2021, says so of the last two). These
do, and how near every cell is to oneself and to rivals. All values are percentages.
"""

from typing import Any

from ludoteca.envs.games.hungry_geese import NONE, beside, neighbor, turns_back
from ludoteca.envs.jit import kernel

(
    OWN_BODY, RIVAL_BODY,  # 1 where there is a segment
    OWN_STAY, RIVAL_STAY,  # for how many moves it will stay
    OWN_TAIL, RIVAL_TAIL, RIVAL_HEAD,
    RIVAL_LEAD,  # at a rival's head: how much longer it is than oneself
    RIVAL_NEXT,  # cells that a rival's head can enter now
    OWN_LAST, RIVAL_LAST,  # heads before the last step
    FOOD,
    OWN_REACH, RIVAL_REACH,  # how soon the cell can be entered
    LENGTH, LONGEST,  # everywhere the same: of oneself, and of the longest rival
    RIVALS, TIME, HUNGER,  # how many live, and how much of the game and the time to hunger is over
) = range(19)  # fmt: skip
PLANES = 19
FULL = 100


@kernel
def observe(s: Any, player: int, stay: Any, queue: Any, reach: Any, out: Any) -> None:
    """Write what goose `player`, who lives, is shown, with its head in the middle of the board.

    Args:
        s: the position.
        player: whose view it is.
        stay: room for a number per cell, int16 `[rows * columns]`.
        queue: likewise.
        reach: likewise.
        out: the planes, int8 `[PLANES, rows, columns]`.
    """
    rows, columns = s.occupied.shape
    players, room = s.body.shape
    head = int(s.body[player, s.start[player]])
    down = rows + rows // 2 - head // columns
    right = columns + columns // 2 - head % columns
    out[:] = 0
    stay[:] = 0
    longest, rivals = 0, 0
    for p in range(players):
        length = int(s.length[p])
        if length == 0:
            continue
        own = p == player
        if not own:
            longest = max(longest, length)
            rivals += 1
        for k in range(length):
            cell = int(s.body[p, (s.start[p] + k) % room])
            row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
            stay[cell] = length - k
            out[OWN_BODY if own else RIVAL_BODY, row, column] = FULL
            out[OWN_STAY if own else RIVAL_STAY, row, column] = min(4 * (length - k), FULL)
            if k == length - 1:
                out[OWN_TAIL if own else RIVAL_TAIL, row, column] = FULL
            if k == 0 and not own:
                lead = 10 * (length - int(s.length[player]))
                out[RIVAL_HEAD, row, column] = FULL
                out[RIVAL_LEAD, row, column] = max(-FULL, min(lead, FULL))
                for action in range(4):
                    if not turns_back(s.last_action[p], action):
                        i, j = beside(row, column, action, s.occupied.shape)
                        out[RIVAL_NEXT, i, j] = FULL
        last = int(s.last_head[p])
        if last != NONE:
            row, column = (last // columns + down) % rows, (last % columns + right) % columns
            out[OWN_LAST if own else RIVAL_LAST, row, column] = FULL
    for i in range(s.num_food):
        cell = int(s.food[i])
        row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
        out[FOOD, row, column] = FULL
    for plane in (OWN_REACH, RIVAL_REACH):
        spread(s, player, plane == OWN_REACH, stay, queue, reach)
        for cell in range(rows * columns):
            if reach[cell] >= 0:
                row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
                out[plane, row, column] = max(FULL - 6 * int(reach[cell]), 4)
    out[LENGTH] = min(4 * int(s.length[player]), FULL)
    out[LONGEST] = min(4 * longest, FULL)
    out[RIVALS] = FULL * rivals // max(players - 1, 1)
    out[TIME] = FULL * int(s.steps) // int(s.max_steps)
    out[HUNGER] = FULL * int(s.steps % s.hunger_rate) // int(s.hunger_rate)


@kernel
def spread(s: Any, player: int, own: bool, stay: Any, queue: Any, reach: Any) -> None:
    """Write to `reach` after how many moves a head can be in each cell, -1 if never.

    The head is that of `player` if `own`, else the nearest of all others. Segments are gone when
    they have stayed, as long as nobody eats.
    """
    columns = s.occupied.shape[1]
    reach[:] = -1
    first, end = 0, 0
    for p in range(s.length.shape[0]):
        if s.length[p] > 0 and (p == player) == own:
            cell = int(s.body[p, s.start[p]])
            reach[cell] = 0
            queue[end] = cell
            end += 1
    while first < end:
        cell = int(queue[first])
        first += 1
        for action in range(4):
            row, column = neighbor(cell, action, s.occupied.shape)
            there = row * columns + column
            if reach[there] < 0 and stay[there] <= reach[cell] + 1:
                reach[there] = reach[cell] + 1
                queue[end] = there
                end += 1


@kernel
def safe_actions(s: Any, player: int, stay: Any, out: Any) -> int:
    """Write which actions do not kill for certain, int8 `[4]`, and return how many there are.

    Turning back and entering a segment that stays do. `stay` is what `observe` wrote.
    """
    columns = s.occupied.shape[1]
    head = int(s.body[player, s.start[player]])
    last = int(s.last_action[player])
    # Hunger takes another segment of each rival before heads are looked at, but not of oneself:
    # a goose has bitten itself before.
    starving = (s.steps + 1) % s.hunger_rate == 0
    tail = int(s.body[player, (s.start[player] + s.length[player] - 1) % s.body.shape[1]])
    found = 0
    for action in range(4):
        row, column = neighbor(head, action, s.occupied.shape)
        cell = row * columns + column
        kills = stay[cell] > 1 + int(starving) or (stay[cell] > 1 and own_segment(s, player, cell))
        out[action] = int(not turns_back(last, action) and (not kills or cell == tail))
        found += out[action]
    return found


@kernel
def own_segment(s: Any, player: int, cell: int) -> bool:
    """Tell whether a segment of `player` lies on a cell."""
    room = s.body.shape[1]
    for k in range(s.length[player]):
        if s.body[player, (s.start[player] + k) % room] == cell:
            return True
    return False
