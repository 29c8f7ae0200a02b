"""Playouts from a leaf of a decoupled search.

`states`, `work` and `params` are those of `ludoteca.agents.search.simultaneous.search.
search_kernel`.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.leaf_parallel import make_leaf_evaluation
from ludoteca.agents.search.playouts import make_move_record, make_playout_action, make_scoring
from ludoteca.agents.search.simultaneous.selection import NO_ACTION
from ludoteca.agents.search.simultaneous.tree import NUM_STATES
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_playout(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return the kernel `play_out(states, s, work, params)`.

    It plays a playout from `s`, at most `params.playout_depth` plies, and writes the players'
    scores in [0, 1] to `work.scores`; with `config.many_playouts`, the means of several playouts.
    """
    is_terminal = game.is_terminal
    play = make_ply(game, config, game.step)
    write_scores = make_scoring(game, config)

    @kernel
    def play_on(states: Any, s: Any, plies: int, work: Any, params: Any) -> None:
        """Play a playout to its end, after some plies of it."""
        while plies < params.playout_depth and not is_terminal(s):
            play(states, s, work, params)
            plies += 1

    @kernel
    def play_out(states: Any, s: Any, work: Any, params: Any) -> None:
        play_on(states, s, 0, work, params)
        write_scores(s, work)

    if not config.many_playouts:
        return play_out
    return make_leaf_evaluation(game, config, NUM_STATES, make_ply, play_on)


@factory()
def make_ply(game: Game, config: SearchConfig, apply: Callable[..., None]) -> Callable[..., None]:
    """Return the kernel `play(states, s, work, params)`, which plays a ply of a playout.

    The playout policy chooses the actions. `apply` is `Game.step` or another kernel with its
    arguments.
    """
    legal_actions, players = game.legal_actions, game.num_players
    playout_action = make_playout_action(game, config)
    record, _, _ = make_move_record(game, config)

    @kernel
    def play(states: Any, s: Any, work: Any, params: Any) -> None:
        for p in range(players):
            n = legal_actions(s, p, work.legal)
            action = playout_action(s, p, n, work, params) if n > 0 else NO_ACTION
            record(work, p, action)
            work.joint[p] = max(action, 0)
        apply(s, work.joint)

    return play
