"""Interactive board for a notebook."""

from collections.abc import Sequence
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.evaluate.notebook.game import NotebookGame
from ludoteca.evaluate.play.session import HUMAN


def play_board(
    game: str | Game = "connect4",
    players: Sequence[str] = (HUMAN, "mcts:simulations=1000"),
    seed: int = 0,
) -> Any:
    """Return an interactive board, which a notebook displays.

    A person moves by clicks on cells. Without the optional dependencies `notebook` the board is a
    picture, and `board.play("4")` makes the move of that name.

    Args:
        game: spec string of a sequential game, or the game.
        players: `"human"` or the spec string of an agent, by seat; one of them is human.
        seed: seed of the first game; the next game has the next seed.

    Returns:
        A `BoardWidget`, whose `game` is a `NotebookGame`; only the `NotebookGame` without the
        optional dependencies.

    Raises:
        ValueError: if the game is simultaneous, the number of players is wrong, none of them is
            human, or a game or agent is unknown.
    """
    notebook_game = NotebookGame(game, players, seed)
    try:
        from ludoteca.evaluate.notebook.widget import BoardWidget
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        notebook_game.let_agents_move()
        return notebook_game
    return BoardWidget(notebook_game)
