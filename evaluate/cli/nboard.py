"""The command `ludoteca nboard`."""


def nboard_command(
    agent: str = "alphabeta:depth={depth}",
    depth: int = 6,
    seed: int = 0,
) -> None:
    """Play Othello as an engine, in the NBoard protocol (version 2).

    Commands are read from standard input, and answers written to standard output: see
    docs/engines.md.

    Args:
        agent: the agent that plays; {depth} in it stands for the depth that the other program sets.
        depth: depth until the other program sets one.
        seed: the same seed and commands give the same moves.
    """
    from ludoteca.envs.params import check_integer
    from ludoteca.evaluate.protocols.line_server import serve
    from ludoteca.evaluate.protocols.nboard import MAX_DEPTH, NBoardServer

    serve(NBoardServer(agent, check_integer("depth", depth, 1, MAX_DEPTH), seed))
