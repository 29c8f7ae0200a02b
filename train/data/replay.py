"""Replay kernel: recorded games, replayed position by position and checked against the rules."""

from typing import Any

import numpy as np

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.train.data.chance import CHANCE_KERNELS, INVALID

NO_ACTION = -1  # in place of an action: the player is not to move, is eliminated, or forfeits

TOLERANCE = 1e-6  # for recorded returns, which are float32

# Reasons why a game is invalid, by error code.
OVER, ILLEGAL, CHANCE_INVALID, NOT_OVER, OTHER_RETURNS, CHANCE_LEFT = range(1, 7)
REASONS = {
    OVER: "the game has already ended",
    ILLEGAL: "an action is illegal",
    CHANCE_INVALID: "a chance outcome is impossible",
    NOT_OVER: "the game does not end after the last action",
    OTHER_RETURNS: "the returns differ from the recorded ones",
    CHANCE_LEFT: "more chance outcomes are recorded than occur",
}


@factory()
def make_replay(game: Game) -> Any:
    """Return the kernel that replays games.

    The kernel is `replay(states, words, recorded, lengths, seeds, outcomes, outcome_counts,
    results, actions, players, current, current_words, legal, scores, error)`. The games are arrays
    of `GameDataset`: `recorded` is its `actions`, `outcomes` and `outcome_counts` its chance
    outcomes and `chance_lengths`, `results` its `returns`. It fills the arrays `states`, `actions`
    and `players` of `Positions`.
    `current` is workspace for one state; `words` and `current_words` are the memory of `states` and
    `current` as integers; `legal` `[A]` and `scores` `[P]` are workspace, too. At an invalid game
    it stops, and writes the error code, the game and the step to `error` `[3]`.
    """
    init, is_terminal, returns = game.init, game.is_terminal, game.returns
    num_players = game.num_players
    read_actions, apply, mover = (
        _simultaneous_kernels(game) if game.simultaneous else _sequential_kernels(game)
    )
    has_chance = game.name in CHANCE_KERNELS
    chance: Any = CHANCE_KERNELS.get(game.name)
    set_initial: Any = chance.set_initial if has_chance else None
    redraw: Any = chance.redraw if has_chance else None

    @compiled_without_allocation
    def replay(
        states: Any,
        words: Any,
        recorded: Any,
        lengths: Any,
        seeds: Any,
        outcomes: Any,
        outcome_counts: Any,
        results: Any,
        actions: Any,
        players: Any,
        current: Any,
        current_words: Any,
        legal: Any,
        scores: Any,
        error: Any,
    ) -> None:
        # Next position and joint action; next chance outcome, and the end of those of the game.
        row, step, at, end = 0, 0, 0, 0
        for k in range(len(lengths)):
            s = current[0]
            end += outcome_counts[k]
            error[1], error[2] = k, 0
            init(s, seeds[k])
            # Two conditions: `has_chance` is a compile-time constant, and removes the code below.
            if has_chance:  # noqa: SIM102
                if outcome_counts[k] > 0:
                    at = set_initial(s, outcomes, at, end)
                    if at == INVALID:
                        error[0] = CHANCE_INVALID
                        return
            for t in range(lengths[k] + 1):
                error[2] = t
                for w in range(words.shape[1]):
                    words[row, w] = current_words[0, w]
                players[row] = mover(s)
                if t == lengths[k]:
                    break
                if is_terminal(s):
                    error[0] = OVER
                    return
                if not read_actions(s, recorded[step], legal, actions[row]):
                    error[0] = ILLEGAL
                    return
                if has_chance:
                    rng_state = s.rng[0]
                    apply(s, recorded[step])
                    if outcome_counts[k] > 0:
                        at = redraw(s, rng_state, outcomes, at, end)
                        if at == INVALID:
                            error[0] = CHANCE_INVALID
                            return
                else:
                    apply(s, recorded[step])
                row += 1
                step += 1
            row += 1
            if not is_terminal(s):
                error[0] = NOT_OVER
                return
            returns(s, scores)
            for p in range(num_players):
                if abs(scores[p] - results[k, p]) > TOLERANCE:
                    error[0] = OTHER_RETURNS
                    return
            if at != end:
                error[0] = CHANCE_LEFT
                return

    return replay


def _sequential_kernels(game: Game) -> tuple[Any, Any, Any]:
    """Return three kernels of a sequential game.

    `read_action(s, recorded, legal, actions)` writes the recorded action to `actions` `[P]`, and
    returns whether it is legal; `apply(s, recorded)` applies it; `player(s)` is the player to move.
    """
    player: Any = game.player
    legal_actions, step = game.legal_actions, game.step

    @kernel
    def read_action(s: Any, recorded: Any, legal: Any, actions: Any) -> bool:
        for i in range(legal_actions(s, legal)):
            if legal[i] == recorded[0]:
                actions[player(s)] = recorded[0]
                return True
        return False

    @kernel
    def apply(s: Any, recorded: Any) -> None:
        step(s, np.int64(recorded[0]))

    return read_action, apply, player


def _simultaneous_kernels(game: Game) -> tuple[Any, Any, Any]:
    """Return three kernels of a simultaneous game, as `_sequential_kernels` does.

    The actions are those of all active players, except `FORFEIT`; the player to move is always -1.
    """
    is_active: Any = game.is_active
    legal_actions, step, num_players = game.legal_actions, game.step, game.num_players

    @kernel
    def read_actions(s: Any, recorded: Any, legal: Any, actions: Any) -> bool:
        for p in range(num_players):
            if is_active(s, p) and recorded[p] != FORFEIT:
                is_legal = False
                for i in range(legal_actions(s, p, legal)):
                    is_legal = is_legal or legal[i] == recorded[p]
                if not is_legal:
                    return False
                actions[p] = recorded[p]
        return True

    @kernel
    def mover(s: Any) -> int:
        return -1

    return read_actions, step, mover
