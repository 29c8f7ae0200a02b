"""Registry of the agents' knowledge of games beyond the rules: one `Knowledge` per game."""

from ludoteca.agents.games import atari_go, breakthrough, connect4, tictactoe
from ludoteca.agents.games.free_for_all import FREE_FOR_ALL
from ludoteca.agents.games.hex.knowledge import HEX
from ludoteca.agents.games.hungry_geese.knowledge import HUNGRY_GEESE
from ludoteca.agents.games.knight_fight import KNIGHT_FIGHT
from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.agents.games.othello import OTHELLO
from ludoteca.agents.games.sheep_and_wolf import SHEEP_AND_WOLF
from ludoteca.agents.games.tron import TRON
from ludoteca.envs.game import Game

KNOWLEDGE: dict[str, Knowledge] = {
    "othello": OTHELLO,
    "hungry_geese": HUNGRY_GEESE,
    "connect4": connect4.CONNECT4,
    "hex": HEX,
    "tictactoe": tictactoe.TICTACTOE,
    "tictactoe_large": tictactoe.TICTACTOE,
    "breakthrough": breakthrough.BREAKTHROUGH,
    "breakthrough_holes": breakthrough.BREAKTHROUGH_HOLES,
    "breakthrough_suicide": breakthrough.BREAKTHROUGH_SUICIDE,
    "knight_through": breakthrough.KNIGHT_THROUGH,
    "knight_fight": KNIGHT_FIGHT,
    "sheep_and_wolf": SHEEP_AND_WOLF,
    "free_for_all": FREE_FOR_ALL,
    "atari_go": atari_go.ATARI_GO,
    "tron": TRON,
}
NO_KNOWLEDGE = Knowledge()


def find_knowledge(game: Game) -> Knowledge:
    """Return the knowledge of a game; games without an entry have an empty one."""
    return KNOWLEDGE.get(game.name, NO_KNOWLEDGE)


def games_with(part: str) -> tuple[str, ...]:
    """Return the names of the games whose knowledge has a field, such as `"endgame_solver"`."""
    return tuple(name for name, knowledge in KNOWLEDGE.items() if getattr(knowledge, part))
