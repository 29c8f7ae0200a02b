"""The command `ludoteca htp`."""

from typing import Literal


def htp_command(
    agent: str = "mcts:simulations=10000",
    board_size: int = 11,
    first: Literal["black", "white"] = "black",
    swap: bool = False,
    seed: int = 0,
) -> None:
    """Play Hex as an engine for HexGui, in the Hex Text Protocol.

    Commands are read from standard input, and answers written to standard output: see
    docs/engines.md.

    Args:
        agent: the agent that plays.
        board_size: size of the board until the other program sets one.
        first: color that moves first; on an empty board, the other program may choose the other
            color.
        swap: allow the second player to swap (pie rule).
        seed: the same seed and commands give the same moves.
    """
    from ludoteca.envs.registry import make_game
    from ludoteca.evaluate.protocols.htp import HTPServer
    from ludoteca.evaluate.protocols.line_server import serve

    game = make_game("hex", board_size=board_size, first=first, swap=swap)
    serve(HTPServer(game, agent, seed))
