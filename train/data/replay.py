"""Playing games again in which all move at once."""

from typing import Any

import numpy as np

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.train.data.chance import CHANCE, NOT_SO

NO_LABEL = -1  # instead of an action: the seat is out, or has forfeited

# Why a game cannot have gone so, by what `play_again` says about it.
COMPLAINTS = {
    1: "the game is over before",
    2: "an action is illegal",
    3: "chance cannot have chosen so",
    4: "the game does not end there",
    5: "the game does not end with these results",
    6: "chance chose less than is told",
}


@factory()
def play_again(game: Game) -> Any:
    """Return a function that plays games again, position by position.

    It is `play(states, words, actions, lengths, seeds, cells, counts, results, labels, present,
    present_words, legal, scores, wrong)`, see `GameDataset`. It fills `states`, records `[M]`, with
    the positions in which somebody moved, and `labels`, int8 `[M, P]`, with what each seat played,
    or `NO_LABEL`. `present` is room for a record; `words` and `present_words` are the memory of
    both. Where a game cannot have gone so, it stops and writes to `wrong`: what is wrong, see
    `COMPLAINTS`, in which game, and at which step.
    """
    init, step, is_terminal, returns = game.init, game.step, game.is_terminal, game.returns
    is_active: Any = game.is_active
    legal_actions, players = game.legal_actions, game.num_players
    recordable = game.name in CHANCE
    chance: Any = CHANCE.get(game.name)
    begin: Any = chance.begin if recordable else None
    redraw: Any = chance.redraw if recordable else None

    @compiled_without_allocation
    def play(
        states: Any,
        words: Any,
        actions: Any,
        lengths: Any,
        seeds: Any,
        cells: Any,
        counts: Any,
        results: Any,
        labels: Any,
        present: Any,
        present_words: Any,
        legal: Any,
        scores: Any,
        wrong: Any,
    ) -> None:
        row, at, end = 0, 0, 0
        for k in range(len(lengths)):
            s = present[0]
            end += counts[k]
            wrong[1], wrong[2] = k, 0
            init(s, seeds[k])
            if recordable:  # known when this is compiled, unlike what follows  # noqa: SIM102
                if counts[k] > 0:
                    at = begin(s, cells, at, end)
                    if at == NOT_SO:
                        wrong[0] = 3
                        return
            for t in range(lengths[k]):
                wrong[2] = t
                if is_terminal(s):
                    wrong[0] = 1
                    return
                for w in range(words.shape[1]):
                    words[row, w] = present_words[0, w]
                for p in range(players):
                    labels[row, p] = NO_LABEL
                    if is_active(s, p):
                        action = np.int64(actions[row, p])
                        found = action == FORFEIT
                        for i in range(legal_actions(s, p, legal)):
                            found = found or legal[i] == action
                        if not found:
                            wrong[0] = 2
                            return
                        labels[row, p] = NO_LABEL if action == FORFEIT else action
                if recordable:
                    before = s.rng[0]
                    step(s, actions[row])
                    if counts[k] > 0:
                        at = redraw(s, before, cells, at, end)
                        if at == NOT_SO:
                            wrong[0] = 3
                            return
                else:
                    step(s, actions[row])
                row += 1
            wrong[2] = lengths[k]
            if not is_terminal(s):
                wrong[0] = 4
                return
            returns(s, scores)
            for p in range(players):
                if abs(scores[p] - results[k, p]) > 1e-6:
                    wrong[0] = 5
                    return
            if at != end:
                wrong[0] = 6
                return

    return play
