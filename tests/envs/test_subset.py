"""Steps of some games of a batch: equal to steps of the whole batch."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ludoteca import make_game
from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.subset import step_subset

pytestmark = pytest.mark.interpreted

GAMES = ("tictactoe", "tron:rows=5,columns=5")
BATCH_SIZE = 6


class RecordingAgent(Agent):
    """Random agent that records the indices of its games."""

    def __init__(self, game: Any):
        super().__init__(game)
        self._random, self.seen_indices = RandomAgent(game), set[int]()

    def act(
        self, states: Any, seats: Any, rngs: Any, env_indices: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        self.seen_indices |= set(env_indices.tolist())
        return self._random.act(states, seats, rngs, env_indices)


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("opponent", [None, "random", "python"])
def test_games_of_a_subset_equal_those_of_the_batch(spec: str, opponent: str | None) -> None:
    game = make_game(spec)
    recording = [RecordingAgent(game), RecordingAgent(game)]
    whole, parts = (
        GameBatch(
            game,
            BATCH_SIZE,
            opponent=recording[k] if opponent == "python" else opponent,
            record=True,
        )
        for k in range(2)
    )
    for game_batch in (whole, parts):
        game_batch.reset(list(range(BATCH_SIZE)))
    even, odd = np.arange(0, BATCH_SIZE, 2), np.arange(1, BATCH_SIZE, 2)
    for _ in range(20):
        actions = whole.masks.argmax(2).astype(np.int64)
        whole.step(actions)
        untouched = parts.states[odd].copy()
        step_subset(parts, even, actions[even])
        assert (parts.states[odd] == untouched).all()
        recording[1].seen_indices.clear()
        step_subset(parts, odd, actions[odd])
        assert recording[1].seen_indices <= set(odd.tolist())
        assert (parts.states == whole.states).all()
        assert (parts.episode_states == whole.episode_states).all()
        assert (parts.observations == whole.observations).all()
        assert (parts.masks == whole.masks).all()
        assert (parts.history == whole.history).all()
        over = whole.episode_states["over"]
        if over.any():
            break
    # Finished games do not change when the others are stepped.
    assert over.any()
    unfinished = np.flatnonzero(~over)
    if len(unfinished):
        finished = parts.states[over].copy()
        step_subset(parts, unfinished, parts.masks[unfinished].argmax(2).astype(np.int64))
        assert (parts.states[over] == finished).all()
    with pytest.raises(ValueError, match="cannot step games that are over"):
        step_subset(parts, np.flatnonzero(over)[:1], np.zeros((1, parts.num_acting), np.int64))
