"""Playouts from a leaf of the tree, with decisive moves.

`states` and `work` are those of `ludoteca.agents.search.sequential.search.search_kernel`, `params`
is one record of its `params`.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.leaf_parallel import make_leaf_evaluation
from ludoteca.agents.search.playouts import make_move_record, make_playout_action, make_scoring
from ludoteca.agents.search.sequential.expansion import make_expansion
from ludoteca.agents.search.sequential.tree import NUM_STATES
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_simulation(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return the kernel `play_out(states, s, work, params)`.

    It plays a playout from `s`, at most `params.playout_depth` plies, and writes the players'
    scores in [0, 1] to `work.scores`; with `config.many_playouts`, the means of several playouts.
    """
    is_terminal, players, max_plies = game.is_terminal, game.num_players, game.max_plies
    player: Any = game.player
    playout: Any = game.playout
    amaf = config.amaf != ""
    # Whether playouts are those of the game's own kernel, which lists its moves in `work.legal`.
    has_playout = (
        playout is not None
        and config.playout == "uniform"
        and not config.mast
        and not config.decisive
    )
    play = make_ply(game, config, game.step)
    write_scores = make_scoring(game, config)
    record, _, _ = make_move_record(game, config)

    @kernel
    def play_on(states: Any, s: Any, plies: int, work: Any, params: Any) -> None:
        """Play a playout to its end, after some plies of it."""
        if has_playout and params.playout_depth >= max_plies:
            if not is_terminal(s):
                mover = player(s)
                n = playout(s, work.legal, work.rng)
                if amaf:
                    for k in range(n):
                        record(work, (mover + k) % players, work.legal[k])
        else:
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

    The action is a winning one, with decisive moves, or the choice of the playout policy. `apply`
    is `Game.step` or another kernel with its arguments.
    """
    legal_actions = game.legal_actions
    player: Any = game.player
    decisive, recorded = config.decisive != "", config.amaf != "" or config.mast != ""
    playout_action = make_playout_action(game, config)
    record, _, _ = make_move_record(game, config)
    _, _, wins_immediately = make_expansion(game, config)

    @kernel
    def choose(states: Any, s: Any, n: int, work: Any, params: Any) -> int:
        """Return a winning action, or the playout policy's choice among `work.legal[:n]`."""
        if decisive:
            for k in range(n):
                if wins_immediately(states, s, work.legal[k], work):
                    return int(work.legal[k])
        return playout_action(s, player(s), n, work, params)

    @kernel
    def play(states: Any, s: Any, work: Any, params: Any) -> None:
        n = legal_actions(s, work.legal)
        action = choose(states, s, n, work, params)
        if recorded:
            record(work, player(s), action)
        apply(s, action)

    return play
