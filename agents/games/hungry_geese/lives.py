"""Fates of the geese in games of Hungry Geese: causes of death, and whether it was forced."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.hungry_geese import move, step, turns_back
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

ALIVE = -1
CAUSES = ("turned back", "own body", "another's body", "head on", "starved", "left")
TURNED_BACK, OWN_BODY, OTHERS_BODY, HEAD_ON, STARVED, LEFT = range(len(CAUSES))
STATES = 2  # the present position, and one in which a step is tried
PRESENT, TRIED = range(STATES)


@dataclass(frozen=True)
class Lives:
    """The geese of G games of P seats; all shapes are `[G, P]`.

    Attributes:
        causes: why each died, a number of `CAUSES`, or `ALIVE`. int8.
        forced: whether it died, and would have in that step with any other action, too, the others
            moving as they did. bool.
        steps: how many it lived to see, the one in which it died included. int16.
        lengths: of the living in the end, 0 of the dead. int16.
        scores: what the geese are ranked by. int32.
    """

    causes: NDArray[np.int8]
    forced: NDArray[np.bool_]
    steps: NDArray[np.int16]
    lengths: NDArray[np.int16]
    scores: NDArray[np.int32]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Geese that live in the end."""
        survivors: NDArray[np.bool_] = self.causes == ALIVE
        return survivors

    @property
    def won(self) -> NDArray[np.bool_]:
        """Geese that live in the end, and no other has a higher score."""
        winners: NDArray[np.bool_] = self.alive & (self.scores == self.scores.max(1, keepdims=True))
        return winners


def lives_of(replays: Sequence[Replay]) -> Lives:
    """Play games of Hungry Geese again, and return the fates of the geese.

    Args:
        replays: of games with the same parameters, all over.

    Raises:
        ValueError: if there are none, or one is of another game.
    """
    specs = sorted({one.game for one in replays})
    if len(specs) != 1 or not specs[0].startswith("hungry_geese"):
        raise ValueError(f"expected replays of one kind of hungry_geese, got {specs or 'none'}")
    game, follow = make_game(specs[0]), make_follow()
    shape = (len(replays), game.num_players)
    lives = Lives(
        np.full(shape, ALIVE, np.int8),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int32),
    )
    states = game.empty(STATES)
    causes = np.zeros((2, game.num_players), np.int8)
    for k, replay in enumerate(replays):
        states[PRESENT] = game.new(replay.seed)
        actions = np.array(replay.actions, np.int16).reshape(-1, game.num_players)
        follow(states, actions, causes, lives.causes[k], lives.forced[k], lives.steps[k])
        lives.lengths[k], lives.scores[k] = states["length"][PRESENT], states["score"][PRESENT]
    return lives


@factory()
def make_follow() -> Any:
    """Return `follow(states, actions, causes, why, forced, steps)`.

    Plays `actions`, int16 `[steps, P]`, from `states[PRESENT]`, and fills the last three, shape
    `[P]`, as in `Lives`. `causes`, int8 `[2, P]`, is working memory.
    """

    @compiled_without_allocation
    def follow(states: Any, actions: Any, causes: Any, why: Any, forced: Any, steps: Any) -> None:
        players = len(why)
        for t in range(len(actions)):
            find_causes(states, actions[t], causes[0])
            for p in range(players):
                steps[p] += int(states[PRESENT].length[p] > 0)
                if causes[0, p] != ALIVE:
                    why[p], forced[p] = causes[0, p], True
                    played = actions[t, p]
                    for action in range(4):
                        actions[t, p] = action
                        find_causes(states, actions[t], causes[1])
                        forced[p] = forced[p] and causes[1, p] != ALIVE
                    actions[t, p] = played
            step(states[PRESENT], actions[t])

    return follow


@kernel
def find_causes(states: Any, actions: Any, causes: Any) -> None:
    """Write why each goose dies in a step from `states[PRESENT]`, or `ALIVE`; also for the dead.

    The step is tried in `states[TRIED]`, up to where geese have moved, but nobody has collided.
    """
    states[TRIED] = states[PRESENT]
    s = states[TRIED]
    columns, players = s.occupied.shape[1], s.length.shape[0]
    s.steps += 1
    for p in range(players):
        causes[p] = ALIVE
        length, last = s.length[p], s.last_action[p]
        if length > 0:
            move(s, p, int(actions[p]))
            if s.length[p] == 0:
                causes[p] = death_in_move(length, last, actions[p])
    for p in range(players):
        if s.length[p] > 0:
            head = s.body[p, s.start[p]]
            if s.occupied[head // columns, head % columns] > 1:
                causes[p] = collision(s, p, head)


@kernel
def death_in_move(length: int, last_action: int, action: int) -> int:
    """Return why a goose of some length died before its collisions with others.

    A single segment has no body to bite: it starves, if it has not turned back.
    """
    if action == FORFEIT:
        return LEFT
    if turns_back(last_action, action):
        return TURNED_BACK
    return STARVED if length == 1 else OWN_BODY


@kernel
def collision(s: Any, player: int, head: int) -> int:
    """Return the cause of a head's collision: a body, or only other heads."""
    room = s.body.shape[1]
    for p in range(s.length.shape[0]):
        if p != player:
            for k in range(1, s.length[p]):
                if s.body[p, (s.start[p] + k) % room] == head:
                    return OTHERS_BODY
    return HEAD_ON
