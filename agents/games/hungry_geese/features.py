"""Hand-crafted features of Hungry Geese for networks, centered on one goose's head.

The usual planes of the Kaggle competition lack the order of segments, the steps to the next hunger
and to the end of the game (Martín Miralles, "Hungry Geese", UIB, 2021, notes the last two). These
features add them, the number of moves to each cell for the goose and its rivals, and the lengths of
corridors beside each head. Values are scaled to 100.
"""

from typing import Any

from ludoteca.agents.games.hungry_geese.corridors import MAX_LENGTH, corridor
from ludoteca.agents.games.knowledge import HandCraftedFeatures
from ludoteca.envs.games.goose_positions import NONE
from ludoteca.envs.games.hungry_geese import turns_back
from ludoteca.envs.games.torus import beside, neighbor
from ludoteca.envs.jit import kernel

(
    # Indices of the planes.
    OWN_BODY, RIVAL_BODY,  # cells of segments
    OWN_STAY, RIVAL_STAY,  # number of moves until the segment leaves
    OWN_TAIL, RIVAL_TAIL, RIVAL_HEAD,
    RIVAL_LEAD,  # at a rival's head: its length minus the goose's
    RIVAL_NEXT,  # cells that a rival's head can enter next
    OWN_LAST, RIVAL_LAST,  # cells of the heads before the last step
    FOOD,
    OWN_REACH, RIVAL_REACH,  # high if the goose, or a rival, can reach the cell in few moves
    # Constant planes: length of the goose and of the longest rival; number of living rivals;
    # elapsed fractions of the game and of the steps between two hungers.
    LENGTH, LONGEST, RIVALS, TIME, HUNGER,
    # Beside the head: length of the corridor if rivals stand still, and if they are in every cell
    # that they can reach.
    OWN_CORRIDOR, OWN_ESCAPE,
    RIVAL_CORRIDOR, RIVAL_ESCAPE,  # the same beside rivals' heads; maximum over rivals
) = range(23)  # fmt: skip
PLANES = 23  # number of planes
HIGH = 100  # largest value
NEAR = 5  # number of moves during which moving rivals are in every cell that they can reach
# Rows of the workspace, with a value per cell: number of moves until the segment leaves, its owner,
# the queue or path of a search, and the observer's number of moves to the cell. From `RIVALS_REACH`
# on, one row per goose: its rivals' number of moves to each cell. Then one row per goose: its
# corridor lengths, two per action.
STAY, OWNER, QUEUE, REACH, RIVALS_REACH = range(5)


def workspace_rows(players: int) -> int:
    """Return the number of rows of the workspace."""
    return RIVALS_REACH + 2 * players


@kernel
def prepare(s: Any, workspace: Any) -> None:
    """Compute the parts of `workspace`, `[workspace_rows(players), cells]`, that players share."""
    players, capacity = s.body.shape
    stay, owner = workspace[STAY], workspace[OWNER]
    stay[:] = 0
    owner[:] = NONE
    for p in range(players):
        length = int(s.length[p])
        for k in range(length):
            cell = int(s.body[p, (s.start[p] + k) % capacity])
            stay[cell], owner[cell] = length - k, p
    for p in range(players):
        if s.length[p] > 0:
            measure_reach(s, p, False, workspace, workspace[RIVALS_REACH + p])
            measure_corridors(s, p, workspace, workspace[RIVALS_REACH + players + p])


@kernel
def observe(s: Any, player: int, workspace: Any, out: Any) -> None:
    """Write the observation of the living goose `player`, with its head in the center.

    Args:
        s: the position.
        player: the observing goose.
        workspace: the output of `prepare`.
        out: the planes, int8 `[PLANES, rows, columns]`.
    """
    rows, columns = s.occupied.shape
    players, capacity = s.body.shape
    head = int(s.body[player, s.start[player]])
    # Shift that moves the head to the center; `rows` and `columns` are added to keep it positive.
    down = rows + rows // 2 - head // columns
    right = columns + columns // 2 - head % columns
    out[:] = 0
    longest, rivals = 0, 0
    for p in range(players):
        length = int(s.length[p])
        if length == 0:
            continue
        is_own = p == player
        if not is_own:
            longest = max(longest, length)
            rivals += 1
        for k in range(length):
            cell = int(s.body[p, (s.start[p] + k) % capacity])
            row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
            out[OWN_BODY if is_own else RIVAL_BODY, row, column] = HIGH
            out[OWN_STAY if is_own else RIVAL_STAY, row, column] = min(4 * (length - k), HIGH)
            if k == length - 1:
                out[OWN_TAIL if is_own else RIVAL_TAIL, row, column] = HIGH
            if k == 0 and not is_own:
                # Lengths and moves are multiplied by 4 to 10, here and in other planes, so that
                # they use the range up to `HIGH`.
                lead = 10 * (length - int(s.length[player]))
                out[RIVAL_HEAD, row, column] = HIGH
                out[RIVAL_LEAD, row, column] = max(-HIGH, min(lead, HIGH))
                for action in range(4):
                    if not turns_back(s.last_action[p], action):
                        i, j = beside(row, column, action, s.occupied.shape)
                        out[RIVAL_NEXT, i, j] = HIGH
        cell = int(s.last_head[p])
        if cell != NONE:
            row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
            out[OWN_LAST if is_own else RIVAL_LAST, row, column] = HIGH
    for i in range(s.num_food):
        cell = int(s.food[i])
        row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
        out[FOOD, row, column] = HIGH
    measure_reach(s, player, True, workspace, workspace[REACH])
    for plane, reach in (
        (OWN_REACH, workspace[REACH]),
        (RIVAL_REACH, workspace[RIVALS_REACH + player]),
    ):
        for cell in range(rows * columns):
            if reach[cell] >= 0:
                row, column = (cell // columns + down) % rows, (cell % columns + right) % columns
                # At least 4, unlike the 0 of cells that cannot be reached.
                out[plane, row, column] = max(HIGH - 6 * int(reach[cell]), 4)
    out[LENGTH] = min(4 * int(s.length[player]), HIGH)
    out[LONGEST] = min(4 * longest, HIGH)
    out[RIVALS] = HIGH * rivals // max(players - 1, 1)
    out[TIME] = HIGH * int(s.steps) // int(s.max_steps)
    out[HUNGER] = HIGH * int(s.steps % s.hunger_rate) // int(s.hunger_rate)
    for p in range(players):
        if s.length[p] > 0:
            plane = OWN_CORRIDOR if p == player else RIVAL_CORRIDOR
            lengths = workspace[RIVALS_REACH + players + p]
            for action in range(4):
                i, j = neighbor(int(s.body[p, s.start[p]]), action, s.occupied.shape)
                row, column = (i + down) % rows, (j + right) % columns
                for k in range(2):
                    feature = max(int(out[plane + k, row, column]), int(lengths[2 * action + k]))
                    out[plane + k, row, column] = feature


@kernel
def measure_reach(s: Any, player: int, own: bool, workspace: Any, reach: Any) -> None:
    """Write the number of moves in which a head can reach each cell to `reach`, -1 for never.

    `reach` has one number per cell. The head is that of `player` if `own`, else the closest of its
    rivals. Segments leave after `stay` moves, as if no goose ate. The search is breadth-first.
    """
    stay, queue, shape = workspace[STAY], workspace[QUEUE], s.occupied.shape
    columns = shape[1]
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
        row, column = cell // columns, cell % columns
        for action in range(4):
            i, j = beside(row, column, action, shape)
            next_cell = i * columns + j
            if reach[next_cell] < 0 and stay[next_cell] <= reach[cell] + 1:
                reach[next_cell] = reach[cell] + 1
                queue[end] = next_cell
                end += 1


@kernel
def measure_corridors(s: Any, player: int, workspace: Any, out: Any) -> None:
    """Write the corridor lengths after each action, scaled to 100, to `out`, `[8]`.

    There are two per action: with rivals that stand still, and with rivals that are in every cell
    that they can reach, by `workspace`, for `NEAR` moves.
    """
    stay, owner, queue, reach = (
        workspace[STAY], workspace[OWNER], workspace[QUEUE], workspace[RIVALS_REACH + player],
    )  # fmt: skip
    for action in range(4):
        for k in range(2):
            length = 0
            if not turns_back(s.last_action[player], action):
                length = corridor(s, player, action, k * NEAR, stay, owner, reach, queue)
            out[2 * action + k] = HIGH * length // MAX_LENGTH


@kernel
def safe_actions(s: Any, player: int, workspace: Any, out: Any) -> int:
    """Write the mask of actions that are not certainly fatal to `out`, int8 `[4]`; count them.

    Turning back and entering the cell of a segment that stays are fatal. `workspace` is the output
    of `prepare`.
    """
    stay, owner = workspace[STAY], workspace[OWNER]
    columns = s.occupied.shape[1]
    head = int(s.body[player, s.start[player]])
    last = int(s.last_action[player])
    # Hunger removes another segment of each goose: after its collision with itself, but before
    # collisions between geese.
    starving = (s.steps + 1) % s.hunger_rate == 0
    tail = int(s.body[player, (s.start[player] + s.length[player] - 1) % s.body.shape[1]])
    num_safe = 0
    for action in range(4):
        row, column = neighbor(head, action, s.occupied.shape)
        cell = row * columns + column
        is_fatal = stay[cell] > 1 + int(starving) or (stay[cell] > 1 and owner[cell] == player)
        out[action] = int(not turns_back(last, action) and (not is_fatal or cell == tail))
        num_safe += out[action]
    return num_safe


FEATURES = HandCraftedFeatures(PLANES, HIGH, workspace_rows, prepare, observe, safe_actions)
