"""The command `ludoteca ggp-player`."""

from typing import Annotated

from tyro.conf import arg

LOOPBACK = "127.0.0.1"


def ggp_player(
    agent: str = "mcts",
    port: int = 9147,
    host: Annotated[str, arg(metavar="ADDRESS")] = LOOPBACK,
    name: str = "Ludoteca",
    seed: int = 0,
) -> None:
    """Play matches of General Game Playing over HTTP, in the protocol of GGP-Base.

    The manager sends the rules, the role and the clocks with the start of a match: see
    docs/engines.md.

    Args:
        agent: the agent that plays; searches take the time of the play clock.
        port: port of the player; 0: a free one.
        host: address of the player. Everybody who can reach it can start matches.
        name: name of the player, one word.
        seed: seed of the first match; the next match has the next seed.
    """
    from ludoteca.envs.params import check_integer
    from ludoteca.evaluate.protocols.ggp import GGPPlayer
    from ludoteca.evaluate.protocols.ggp_http import GGPServer

    check_integer("port", port, 0, 65535)
    player = GGPPlayer(agent, name, seed)
    try:
        with GGPServer((host, port), player) as server:
            print(f"the player is at {server.url}  (Ctrl-C ends it)", flush=True)
            server.serve_forever()
    finally:
        player.close()
