"""The decisions of the deterministic goose in plain Python, without its bitboards."""

from ludoteca.agents.games.hungry_geese.deterministic import MAX_CELLS, MAX_DEPTH
from ludoteca.envs.games.goose_positions import NONE, geese

DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def reference_action(s, seat, corridor, reach, hungry, shortest=2, tail=True):
    """Return the action of the documented rules, by lists, sets and recursion.

    Args:
        s: the position.
        seat: the goose.
        corridor: needed depth of a corridor, as a fraction of the goose's length.
        reach: cells that rivals may reach within this number of steps are not in corridors.
        hungry: up to this length, the goose also goes for food of nearer rivals.
        shortest: smallest needed depth of a corridor.
        tail: whether the goose follows its tail if there is no food for it.
    """
    rows, columns = s.occupied.shape
    bodies, heads = geese(s), [goose[0] if goose else None for goose in geese(s)]
    goose, food = bodies[seat], s.food[: s.num_food].tolist()
    rivals = [head for p, head in enumerate(heads) if p != seat and head is not None]

    def neighbor(cell, action):
        row, column = divmod(cell, columns)
        down, right = DIRECTIONS[action]
        return (row + down) % rows * columns + (column + right) % columns

    def distance(a, b):
        down, right = abs(a // columns - b // columns), abs(a % columns - b % columns)
        return min(down, rows - down) + min(right, columns - right)

    def nearest_rival(cell):
        return min((distance(head, cell) for head in rivals), default=10**6)

    may_eat = [
        bool(body) and len(body) < s.max_length and any(distance(body[0], f) == 1 for f in food)
        for body in bodies
    ]

    def is_occupied(cell, time, eaten, careful=True):
        """Return whether a body is on a cell at a time; if `careful`, rivals near food may grow."""
        for p, body in enumerate(bodies):
            stays = min(eaten, s.max_length - len(body)) if p == seat else careful and may_eat[p]
            if cell in body[: max(0, len(body) - max(0, time - stays))]:
                return True
        return False

    def depth_of(first, limit, reach):
        num_cells, deepest = 0, 1

        def follow(path, eaten):
            nonlocal num_cells, deepest
            for action in range(4):
                if deepest == limit or num_cells == MAX_CELLS:
                    return
                num_cells += 1
                cell, time = neighbor(path[-1], action), len(path)
                if cell in path or is_occupied(cell, time, eaten):
                    continue
                if reach and nearest_rival(cell) <= min(reach, time):
                    continue
                deepest = max(deepest, time)
                follow([*path, cell], eaten + (cell in food))

        start = neighbor(goose[0], first)
        follow([goose[0], start], int(start in food))
        return deepest

    def rate(action):
        cell = neighbor(goose[0], action)
        goal_distance = 0 if goal is None else distance(cell, goal)
        if is_occupied(cell, 1, 0):
            return (0 if is_occupied(cell, 1, 0, careful=False) else 1), 0, -goal_distance
        depth = depth_of(action, limit, reach) + (depth_of(action, limit, 0) if reach else 0)
        contested = any(distance(head, cell) == 1 for head in rivals)
        return (1 if contested else 2), depth, -goal_distance

    own = [f for f in food if distance(goose[0], f) < nearest_rival(f)]
    targets = own or (food if len(goose) <= hungry else [])
    goal = min(targets, key=lambda f: distance(goose[0], f), default=goose[-1] if tail else None)
    limit = min(MAX_DEPTH, max(shortest, int(len(goose) * corridor)))
    back = (s.last_action[seat] + 2) % 4 if s.last_action[seat] != NONE else NONE
    return max((action for action in range(4) if action != back), key=rate)
