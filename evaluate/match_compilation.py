"""Compilation of the code that matches of a game need."""

import numpy as np

from ludoteca.envs.engine.episode_state import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.playouts import make_returns
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import Game


def compile_match(game: Game) -> None:
    """Compile the code that matches of a game need, so that it is not timed with a match."""
    # The types of the arguments select the code; with no games there is nothing to execute.
    game_batch, stepper = GameBatch(game, 1), make_stepper(game)
    no_indices = np.zeros(0, np.int64)
    stepper.reset(
        game_batch.states,
        game_batch.episode_states,
        np.zeros(1, np.bool_),
        game_batch.history,
        EVERY_SEAT,
    )
    joint = np.zeros((0, game.num_players), np.int64)
    scratch = np.zeros(1, scratch_dtype(game))
    stepper.apply_joint_actions(
        game_batch.states, game_batch.episode_states, no_indices, joint, game_batch.history, scratch
    )
    if game.simultaneous:
        stepper.is_active(game_batch.states, no_indices, 0, np.zeros(0, np.bool_))
    make_returns(game)(game_batch.states, no_indices, np.zeros((0, game.num_players)))
