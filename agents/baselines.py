"""Agents without search or learning: uniform random, and greedy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent, CompiledAgent, Policy, PolicyAgent
from ludoteca.envs.game import Game
from ludoteca.envs.games import othello
from ludoteca.envs.games.bitboards import U1, count
from ludoteca.envs.games.hungry_geese import turns_back
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.record_views import view_records
from ludoteca.envs.rng import below, next_u64
from ludoteca.envs.symmetry import DIRECTIONS


class RandomAgent(PolicyAgent):
    """Chooses uniformly among the legal actions."""

    def __init__(self, game: Game):
        super().__init__(game, uniform)

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the same probability for each legal action. Shape `[K, num_actions]`."""
        found = np.zeros((len(states), self.game.num_actions))
        for k, s in enumerate(view_records(states)):
            legal = (
                self.game.legal(s, int(seats[k])) if self.game.simultaneous else self.game.legal(s)
            )
            found[k, legal] = 1 / len(legal)
        return found


def greedy(game: Game) -> Agent:
    """Takes what looks best one ply ahead, by the game's own rule if it has one.

    Othello: the most discs after the move, ties broken at random. Hungry Geese: the step that comes
    nearest to food, as the `greedy` agent of kaggle-environments. Other games: the best result at
    once, so that it wins where one move does; otherwise it plays at random, see `OnePlyAgent`.
    """
    if game.name in GREEDY:
        return PolicyAgent(game, GREEDY[game.name])
    return OnePlyAgent(game)


class OnePlyAgent(CompiledAgent):
    """Chooses the action with the highest own return right after it; ties are broken at random.

    The return of a game that goes on is 0, so it wins if one move wins, and avoids moves that lose
    at once. Where all move at once, it assumes that the others play uniformly random actions: it
    draws one for each, and answers that.
    """

    def __init__(self, game: Game):
        super().__init__(game, make_one_ply(game))


@factory("agent")
def make_one_ply(game: Game) -> Any:
    """Return `act(states, seats, rngs, actions)`, which fills `actions`, int64 `[K]`."""
    legal_actions, step, returns = game.legal_actions, game.step, game.returns
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    has_chance = "rng" in (game.state.names or ())

    @compiled
    def act(states: Any, seats: Any, rngs: Any, actions: Any) -> None:
        after = states[:1].copy()
        legal = np.zeros(num_actions, np.int16)
        joint = np.zeros(players, np.int64)
        scores = np.zeros(players)
        for i in range(len(states)):
            s, seat, rng = states[i], seats[i], rngs[i]
            chance = next_u64(rng) if has_chance else rng[0]
            if simultaneous:
                for p in range(players):
                    n = legal_actions(s, p, legal)
                    joint[p] = legal[below(rng, n)] if n > 0 else 0
                n = legal_actions(s, seat, legal)
            else:
                n = legal_actions(s, legal)
            best, ties = -np.inf, 0
            for k in range(n):
                after[0] = s
                t = after[0]
                if has_chance:
                    t.rng[0] = chance  # what the game will draw is not for agents to know
                if simultaneous:
                    joint[seat] = legal[k]
                    step(t, joint)
                else:
                    step(t, int(legal[k]))
                returns(t, scores)
                if scores[seat] > best:
                    best, ties = scores[seat], 0
                ties += int(scores[seat] == best)
                # Each of the tied actions is kept with equal probability.
                if scores[seat] == best and below(rng, ties) == 0:
                    actions[i] = legal[k]

    return act


@kernel
def uniform(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Choose uniformly."""
    return int(legal[below(rng, n)])


@kernel
def most_discs(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Choose among the moves that turn the most discs over."""
    size = s.board.shape[1]
    best, ties, chosen = -1, 0, int(legal[0])
    for k in range(n):
        action = int(legal[k])
        flipped = 0
        if action < size * size:
            square = U1 << np.uint64(8 * (action // size) + action % size)
            flipped = count(othello.turned(square, s.discs[player], s.discs[1 - player]))
        if flipped > best:
            best, ties, chosen = flipped, 1, action
        elif flipped == best:
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
