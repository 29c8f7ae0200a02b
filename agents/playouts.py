"""Policies for playouts: random moves that are not plainly bad, which are agents, too.

A playout policy is a policy kernel, `choose(s, player, legal, n, rng) -> action`.
"""

from typing import Any

from ludoteca.agents.agent import Policy, PolicyAgent
from ludoteca.agents.baselines import GREEDY, uniform
from ludoteca.envs.game import Game
from ludoteca.envs.games.hungry_geese import NONE, turns_back
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import kernel
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.params import integer
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import DIRECTIONS


def random_valid(game: Game) -> PolicyAgent:
    """Plays uniformly random moves, but never turns back on itself (Hungry Geese).

    This is the random goose of Martín Miralles (UIB, 2021), section 2.1.
    """
    return PolicyAgent(game, playout_policy("valid", game))


def random_safe(game: Game) -> PolicyAgent:
    """Plays uniformly random moves onto free cells while there are any (Tron, Hungry Geese)."""
    return PolicyAgent(game, playout_policy("safe", game))


def playout_policy(name: str, game: Game) -> Policy:
    """Return the policy kernel of a kind of playout: `"uniform"`, or a name in `PLAYOUTS`.

    Raises:
        ValueError: if there is no such kind, or not for this game.
    """
    if name not in PLAYOUTS:
        near = did_you_mean(str(name), PLAYOUTS)
        known = ", ".join(map(repr, PLAYOUTS))
        raise ValueError(f"playout must be one of {known}, got {name!r}{near}")
    if name == "uniform":
        return uniform
    if game.name not in PLAYOUTS[name]:
        raise ValueError(
            f"there are no {name} playouts for {game.name}, only for {', '.join(PLAYOUTS[name])}"
        )
    return PLAYOUTS[name][game.name]


@kernel
def valid_goose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Draw from the moves that do not turn back; whether a cell is free is not looked at."""
    last = s.last_action[player]
    return below(rng, 4) if last == NONE else (last + 3 + below(rng, 3)) % 4


@kernel
def safe_goose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Draw from the moves that neither turn back nor enter a cell that a goose is on now.

    If there is none, any that does not turn back. The goose's own tail, which moves on, counts as
    free; the tails of others do not, since they stay where a goose eats.
    """
    columns = s.occupied.shape[1]
    room = s.body.shape[1]
    head = s.body[player, s.start[player]]
    tail = s.body[player, (s.start[player] + s.length[player] - 1) % room]
    last = s.last_action[player]
    found, chosen = 0, -1
    for action in range(4):
        if turns_back(last, action):
            continue
        row, column = neighbor(head, action, s.occupied.shape)
        if s.occupied[row, column] <= 0 or row * columns + column == tail:
            found += 1
            if below(rng, found) == 0:  # each of the moves is kept with equal probability
                chosen = action
    return chosen if found > 0 else valid_goose(s, player, legal, n, rng)


@kernel
def safe_rider(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Draw from the moves onto cells without a wall; if there is none, from all."""
    rows, columns = s.walls.shape
    found, chosen = 0, -1
    for action in range(4):
        row = s.head[player, 0] + DIRECTIONS[action][0]
        column = s.head[player, 1] + DIRECTIONS[action][1]
        if 0 <= row < rows and 0 <= column < columns and s.walls[row, column] == 0:
            found += 1
            if below(rng, found) == 0:  # each of the moves is kept with equal probability
                chosen = action
    return chosen if found > 0 else below(rng, 4)


# Which games have playouts of a kind; every game has uniform ones.
PLAYOUTS: dict[str, dict[str, Policy]] = {
    "uniform": {},
    "valid": {"hungry_geese": valid_goose},
    "safe": {"hungry_geese": safe_goose, "tron": safe_rider},
    "greedy": GREEDY,
}
# What playouts are if nothing is said, where that is not uniform to the end: their kind, and plies.
# Uniformly random geese are dead within some plies, whatever the position.
DEFAULTS = {"hungry_geese": ("safe", 6)}


def choose_playout(
    game: Game, playout: str, playout_depth: int | None, least: int
) -> tuple[str, int]:
    """Return the kind of a game's playouts and their plies, those of `DEFAULTS` where not said.

    Args:
        game: the game.
        playout: their kind, or `""`.
        playout_depth: their plies, or None.
        least: how many plies there must be.

    Raises:
        ValueError: if `playout_depth` is out of range.
    """
    usual, plies = DEFAULTS.get(game.name, ("uniform", game.max_plies))
    return playout or usual, plies if playout_depth is None else integer(
        "playout_depth", playout_depth, least, 10**6
    )
