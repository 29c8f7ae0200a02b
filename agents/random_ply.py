"""Random plies of flat Monte Carlo."""

from collections.abc import Callable
from typing import Any, cast

from ludoteca.agents.agent import Policy
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_random_ply(game: Game, choose: Policy, apply: Callable[..., None]) -> Any:
    """Return the kernel `play(s, seat, first, rng, work)`, which plays one ply at random.

    `seat` plays `first`, unless that is negative. `work` has `joint`, one action per player, and
    `legal`, a list of actions, as scratch memory.

    Args:
        game: the game.
        choose: policy of the random actions.
        apply: `Game.step`, or another kernel with its arguments.
    """
    legal_actions, player = game.legal_actions, cast(Any, game.player)
    simultaneous, players = game.simultaneous, game.num_players

    @kernel
    def play(s: Any, seat: int, first: int, rng: Any, work: Any) -> None:
        if simultaneous:
            for p in range(players):
                if p == seat and first >= 0:
                    work.joint[p] = first
                else:
                    n = legal_actions(s, p, work.legal)
                    work.joint[p] = choose(s, p, work.legal, n, rng) if n > 0 else 0
            apply(s, work.joint)
        elif first >= 0:
            apply(s, first)
        else:
            n = legal_actions(s, work.legal)
            apply(s, choose(s, player(s), work.legal, n, rng))

    return play
