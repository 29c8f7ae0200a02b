"""Playout policies, which choose the moves of playouts; some are also agents.

A playout policy is a policy kernel, `choose(s, player, legal, n, rng) -> action`: uniformly random,
random without the obvious blunders of a game, or the game's greedy policy. Policies of single games
are part of their `Knowledge`, see `ludoteca.agents.games.knowledge`.
"""

from ludoteca.agents.agent import Policy, PolicyAgent
from ludoteca.agents.baselines import uniform
from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.agents.games.registry import KNOWLEDGE, find_knowledge
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.params import check_integer


def random_valid(game: Game) -> PolicyAgent:
    """Return an agent of uniformly random moves that do not turn back (Hungry Geese).

    This is the random goose of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.1.
    """
    return PolicyAgent(game, playout_policy("valid", game))


def random_safe(game: Game) -> PolicyAgent:
    """Return an agent of uniformly random moves onto free cells, if any (Tron, Hungry Geese)."""
    return PolicyAgent(game, playout_policy("safe", game))


def playout_names() -> tuple[str, ...]:
    """Return the names of all playout policies without weights.

    They are `"uniform"`, those of single games, and `"greedy"`; with weights there is
    `"softmax"`, see `ludoteca.agents.softmax_playouts`.
    """
    names = [
        "uniform",
        *(name for knowledge in KNOWLEDGE.values() for name in knowledge.playouts),
        "greedy",
    ]
    return tuple(dict.fromkeys(names))


def playout_policy(name: str, game: Game) -> Policy:
    """Return a playout policy of a game by its name, see `playout_names`.

    Raises:
        ValueError: if there is no such policy, or the game does not have it.
    """
    names = playout_names()
    if name not in names:
        hint = did_you_mean(str(name), names)
        choices = ", ".join(map(repr, names))
        raise ValueError(f"playout must be one of {choices}, got {name!r}{hint}")
    if name == "uniform":
        return uniform
    policies = {game_name: _policies(knowledge) for game_name, knowledge in KNOWLEDGE.items()}
    if name not in policies.get(game.name, {}):
        games = ", ".join(game_name for game_name in policies if name in policies[game_name])
        raise ValueError(f"{game.name} has no playout {name!r}; games with it are {games}")
    return policies[game.name][name]


def _policies(knowledge: Knowledge) -> dict[str, Policy]:
    """Return the playout policies of one game by name, without `"uniform"`."""
    greedy = {} if knowledge.greedy is None else {"greedy": knowledge.greedy}
    return {**knowledge.playouts, **greedy}


def choose_playout(
    game: Game, playout: str, playout_depth: int | None, min_depth: int
) -> tuple[str, int]:
    """Return the name of a playout policy and the playout depth, or the game's defaults.

    Args:
        game: the game.
        playout: name of the policy, or `""` for the game's default.
        playout_depth: maximum number of plies, or None for the game's default.
        min_depth: minimum of `playout_depth`.

    Raises:
        ValueError: if `playout_depth` is out of range.
    """
    default, default_depth = find_knowledge(game).default_playout or ("uniform", game.max_plies)
    return playout or default, default_depth if playout_depth is None else check_integer(
        "playout_depth", playout_depth, min_depth, 10**6
    )
