"""Agents without search or learning: uniform random, and greedy where a game has a natural one."""

from typing import Any

from ludoteca.agents.agent import Policy, PolicyAgent
from ludoteca.envs.game import Game
from ludoteca.envs.games import othello
from ludoteca.envs.games.hungry_geese import NONE
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import DIRECTIONS


class RandomAgent(PolicyAgent):
    """Chooses uniformly among the legal actions."""

    def __init__(self, game: Game):
        super().__init__(game, uniform)


class GreedyAgent(PolicyAgent):
    """Takes what looks best one ply ahead, by a rule of the game; ties are broken at random.

    Othello: the most discs after the move. Hungry Geese: the step that comes nearest to food, as
    the `greedy` agent of kaggle-environments.
    """

    def __init__(self, game: Game):
        if game.name not in GREEDY:
            raise ValueError(f"there is no greedy agent for {game.name}; {', '.join(GREEDY)} have one")
        super().__init__(game, GREEDY[game.name])


@kernel
def uniform(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Choose uniformly."""
    return int(legal[below(rng, n)])


@kernel
def most_discs(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Choose among the moves that turn the most discs over."""
    size = int(s.board_size)
    best, ties, chosen = -1, 0, int(legal[0])
    for k in range(n):
        action = int(legal[k])
        gain = 0
        if action < size * size:
            square = othello.U1 << othello.np.uint64(8 * (action // size) + action % size)
            gain = othello.count(othello.turned(square, s.discs[player], s.discs[1 - player]))
        if gain > best:
            best, ties, chosen = gain, 1, action
        elif gain == best:
            ties += 1
            if below(rng, ties) == 0:  # each of the tied moves is kept with equal probability
                chosen = action
    return chosen


@kernel
def nearest_food(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Step nearest to food, avoiding bodies, cells beside rival heads, and turning back.

    As `GreedyAgent` of kaggle-environments' hungry_geese: distances do not wrap around the torus,
    the first of equally good actions is taken, and with nothing left any of the four is drawn.
    """
    rows, columns = s.occupied.shape
    head = s.body[player, s.start[player]]
    best, chosen = rows + columns, -1
    for action in range(4):
        last = s.last_action[player]
        if last != NONE and (last + 2) % 4 == action:
            continue
        row = (head // columns + DIRECTIONS[action][0]) % rows
        column = (head % columns + DIRECTIONS[action][1]) % columns
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
    """Tell whether a rival's head can step onto (row, column)."""
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


GREEDY: dict[str, Policy] = {"othello": most_discs, "hungry_geese": nearest_food}
