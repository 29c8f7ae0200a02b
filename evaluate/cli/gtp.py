"""The command `ludoteca gtp`."""

from typing import Literal


def gtp_command(
    agent: str = "mcts:simulations=10000",
    game: Literal["hex", "othello"] = "hex",
    board_size: int | None = None,
    first: Literal["black", "white"] = "black",
    swap: bool = False,
    seed: int = 0,
) -> None:
    """Play Hex or Othello as an engine, in the Go Text Protocol (GTP 2).

    Commands are read from standard input, and answers written to standard output: see
    docs/engines.md.

    Args:
        agent: the agent that plays.
        game: the game.
        board_size: size of the board until the other program sets one; by default 11 for Hex and 8
            for Othello.
        first: color that moves first in Hex; on an empty board, the other program may choose the
            other color.
        swap: allow the second player of Hex to swap (pie rule).
        seed: the same seed and commands give the same moves.
    """
    from ludoteca.envs.registry import make_game
    from ludoteca.evaluate.protocols.gtp_hex import HexServer
    from ludoteca.evaluate.protocols.gtp_othello import OthelloServer
    from ludoteca.evaluate.protocols.line_server import serve

    if game == "othello" and (swap or first != "black"):
        raise ValueError("first and swap are options of hex: in othello black moves first")
    if game == "othello":
        othello = make_game("othello", board_size=8 if board_size is None else board_size)
        serve(OthelloServer(othello, agent, seed))
    else:
        size = 11 if board_size is None else board_size
        serve(HexServer(make_game("hex", board_size=size, first=first, swap=swap), agent, seed))
