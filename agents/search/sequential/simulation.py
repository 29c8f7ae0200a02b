"""Playouts from a leaf of the tree, with decisive moves.

`states` and `work` are those of `ludoteca.agents.search.sequential.search.search_kernel`, `params`
is one record of its `params`.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.playouts import make_move_record, make_playout_action, make_scoring
from ludoteca.agents.search.sequential.expansion import make_expansion
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_simulation(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return the kernel `play_out(states, s, work, params)`.

    It plays a playout from `s`, at most `params.playout_depth` plies, and writes the players'
    scores in [0, 1] to `work.scores`.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    players, max_plies = game.num_players, game.max_plies
    player: Any = game.player
    playout: Any = game.playout
    decisive, amaf = config.decisive != "", config.amaf != ""
    recorded = amaf or config.mast != ""
    # Whether playouts are those of the game's own kernel, which lists its moves in `work.legal`.
    has_playout = (
        playout is not None
        and config.playout == "uniform"
        and not config.mast
        and not config.decisive
    )
    playout_action = make_playout_action(game, config)
    write_scores = make_scoring(game, config)
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
    def play_out(states: Any, s: Any, work: Any, params: Any) -> None:
        if has_playout and params.playout_depth >= max_plies:
            if not is_terminal(s):
                mover = player(s)
                n = playout(s, work.legal, work.rng)
                if amaf:
                    for k in range(n):
                        record(work, (mover + k) % players, work.legal[k])
        else:
            plies = 0
            while plies < params.playout_depth and not is_terminal(s):
                n = legal_actions(s, work.legal)
                action = choose(states, s, n, work, params)
                if recorded:
                    record(work, player(s), action)
                step(s, action)
                plies += 1
        write_scores(s, work)

    return play_out
