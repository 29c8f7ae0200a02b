"""Leaf parallelization: the evaluation of a leaf by the mean of several playouts.

Cazenave and Jouandeau, "On the parallelization of UCT", 2007; Chaslot, Winands and van den Herik,
"Parallel Monte-Carlo tree search", 2008. Here the playouts are not divided among threads: in games
that have `Game.many` they are played together, in others one after the other. A simulation remains
one visit, whose score is the mean.

Each playout has a random stream of its own, so that both ways give the same results.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig, plays_together
from ludoteca.agents.search.playouts import make_move_record, make_scoring
from ludoteca.envs.game import MAX_TOGETHER, MIN_TOGETHER, Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import next_u64


def num_playout_states(game: Game, config: SearchConfig) -> int:
    """Return the number of states that the playouts of a leaf need, after those of the search."""
    if not config.many_playouts:
        return 0
    return MAX_TOGETHER if plays_together(game, config) else 1


@factory()
def make_leaf_evaluation(
    game: Game,
    config: SearchConfig,
    first: int,
    make_ply: Callable[..., Callable[..., None]],
    play_on: Callable[..., None],
) -> Callable[..., None]:
    """Return the kernel `play_out(states, s, work, params)` of a search with many playouts.

    It plays `params.playout_count` playouts from `s` and writes the players' mean scores in [0, 1]
    to `work.scores`. In a terminal state, where all playouts are the same, it plays none. Each
    playout updates the statistics of MAST.

    Args:
        game: the game.
        config: options that are compiled into the search, with `many_playouts`.
        first: index in `states` of the first of `num_playout_states` states.
        make_ply: `make_ply(game, config, apply)` returns `play(states, s, work, params)`, which
            chooses the actions of a ply by the playout policy and passes them to `apply`.
        play_on: `play_on(states, s, plies, work, params)` plays a playout in `s` to its end after
            so many plies.
    """
    is_terminal, players, has_chance = game.is_terminal, game.num_players, game.has_chance
    together = plays_together(game, config)
    many: Any = game.many
    # If they are None, they are not compiled: `together` is false.
    begin_ply: Any = make_ply(game, config, many.begin) if together else None
    play: Any = many.play if together else None
    end: Any = many.end if together else None
    write_scores = make_scoring(game, config)
    _, _, update_mast = make_move_record(game, config)

    @kernel
    def play_out(states: Any, s: Any, work: Any, params: Any) -> None:
        if is_terminal(s):
            write_scores(s, work)
            return
        work.leaf_rng[0] = work.rng[0]
        for p in range(players):
            work.score_sums[p] = 0.0
        finished, moves = 0, work.num_moves
        while finished < params.playout_count:
            count = min(params.playout_count - finished, MAX_TOGETHER)
            if together and count >= MIN_TOGETHER:
                play_together(states, s, count, work, params)
            else:
                for _ in range(count):
                    work.num_moves = moves
                    play_one(states, s, work, params)
            finished += count
        for p in range(players):
            work.scores[p] = work.score_sums[p] / params.playout_count
        work.rng[0] = work.leaf_rng[0]
        work.num_moves = 0  # MAST is up to date

    @kernel
    def play_one(states: Any, s: Any, work: Any, params: Any) -> None:
        """Play one playout and add its scores."""
        states[first] = s
        playout = states[first]
        work.rng[0] = next_u64(work.leaf_rng)
        if has_chance:
            playout.rng[0] = next_u64(work.rng)
        play_on(states, playout, 0, work, params)
        add_scores(playout, work)
        update_mast(work)

    @kernel
    def play_together(states: Any, s: Any, count: int, work: Any, params: Any) -> None:
        """Play some playouts together while enough of them continue, and then the others.

        Scores are added in the order of the playouts, as by `play_one`.
        """
        playouts = states[first : first + count]
        for k in range(count):
            playouts[k] = s
            work.streams[k] = next_u64(work.leaf_rng)
            work.running[k] = 1
        num_running, plies = count, 0
        while num_running >= MIN_TOGETHER and plies < params.playout_depth:
            for k in range(count):
                if work.running[k]:
                    work.rng[0] = work.streams[k]
                    begin_ply(states, playouts[k], work, params)
                    work.streams[k] = work.rng[0]
            play(playouts, work.running, 0, count)
            plies += 1
            for k in range(count):
                if work.running[k]:
                    end(playouts[k])
                    if is_terminal(playouts[k]):
                        work.running[k] = 0
                        num_running -= 1
        for k in range(count):
            if work.running[k]:
                work.rng[0] = work.streams[k]
                play_on(states, playouts[k], plies, work, params)
            add_scores(playouts[k], work)

    @kernel
    def add_scores(s: Any, work: Any) -> None:
        """Add the players' scores of a playout that ended in `s`."""
        write_scores(s, work)
        for p in range(players):
            work.score_sums[p] += work.scores[p]

    return play_out
