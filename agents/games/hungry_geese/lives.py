"""Fates of the geese in replays of Hungry Geese: cause of death, and whether it was forced."""

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

ALIVE = -1  # instead of a cause of death
# "left": the player forfeited.
CAUSES = ("turned back", "own body", "another's body", "head on", "starved", "left")
TURNED_BACK, OWN_BODY, OTHERS_BODY, HEAD_ON, STARVED, LEFT = range(len(CAUSES))
NUM_STATES = 2  # the current position, and a copy in which a step is tried
CURRENT, TRIED = range(NUM_STATES)


@dataclass(frozen=True)
class Lives:
    """Fates of the geese of G games with P players; all shapes are `[G, P]`.

    Attributes:
        causes: cause of death, an index into `CAUSES`, or `ALIVE`. int8.
        forced: whether a goose died and would have died in that step with every other action, given
            the actions of the others. bool.
        steps: number of steps until the end of the game, or up to and including the death. int16.
        lengths: final length, 0 of dead geese. int16.
        scores: final score, by which geese are ranked. int32.
    """

    causes: NDArray[np.int8]
    forced: NDArray[np.bool_]
    steps: NDArray[np.int16]
    lengths: NDArray[np.int16]
    scores: NDArray[np.int32]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Whether a goose is alive at the end. bool."""
        survivors: NDArray[np.bool_] = self.causes == ALIVE
        return survivors

    @property
    def won(self) -> NDArray[np.bool_]:
        """Whether a goose is alive at the end and has the highest score. bool."""
        winners: NDArray[np.bool_] = self.alive & (self.scores == self.scores.max(1, keepdims=True))
        return winners

    def counts(self, selected: NDArray[np.bool_]) -> dict[str, Any]:
        """Return counts and means of the fates of the selected geese, as JSON values.

        The lengths are those of geese that survived.

        Args:
            selected: mask of the geese, by game and seat, `[G, P]`.
        """
        alive = self.alive & selected
        lengths, died = self.lengths[alive].astype(np.float64), selected & ~self.alive
        return {
            "geese": int(selected.sum()),
            "wins": int((self.won & selected).sum()),
            "deaths": int(died.sum()),
            "mean_length": float(lengths.mean()) if len(lengths) else None,
            "length_deviation": float(lengths.std(ddof=1)) if len(lengths) > 1 else None,
            "mean_steps": float(self.steps[selected].mean()),
            "causes": _counts(self.causes[died]),
            "forced": _counts(self.causes[died & self.forced]),
        }


def _counts(causes: NDArray[np.int8]) -> dict[str, int]:
    """Return the number of deaths by name of the cause, from indices in `CAUSES`."""
    return {name: int((causes == k).sum()) for k, name in enumerate(CAUSES)}


def lives_of(replays: Sequence[Replay]) -> Lives:
    """Replay games of Hungry Geese; return the fates of the geese.

    Args:
        replays: replays of finished games with the same parameters.

    Raises:
        ValueError: if there are no replays, or their games differ.
    """
    specs = sorted({replay.game for replay in replays})
    if len(specs) != 1 or not specs[0].startswith("hungry_geese"):
        raise ValueError(
            f"expected replays of hungry_geese with the same parameters, got {specs or 'none'}"
        )
    game, follow = make_game(specs[0]), make_follow()
    shape = (len(replays), game.num_players)
    lives = Lives(
        np.full(shape, ALIVE, np.int8),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int32),
    )
    states = game.empty(NUM_STATES)
    scratch = np.zeros((2, game.num_players), np.int8)
    for k, replay in enumerate(replays):
        states[CURRENT] = game.new(replay.seed)
        actions = np.array(replay.actions, np.int16).reshape(-1, game.num_players)
        follow(states, actions, scratch, lives.causes[k], lives.forced[k], lives.steps[k])
        lives.lengths[k], lives.scores[k] = states["length"][CURRENT], states["score"][CURRENT]
    return lives


@factory()
def make_follow() -> Any:
    """Return `follow(states, actions, scratch, causes, forced, steps)`.

    It plays `actions`, int16 `[T, P]`, from `states[CURRENT]`, and writes `causes`, `forced` and
    `steps`, shape `[P]`, see `Lives`. `scratch`, int8 `[2, P]`, is scratch space.
    """

    @compiled_without_allocation
    def follow(
        states: Any, actions: Any, scratch: Any, causes: Any, forced: Any, steps: Any
    ) -> None:
        players = len(causes)
        for t in range(len(actions)):
            find_causes(states, actions[t], scratch[0])
            for p in range(players):
                steps[p] += int(states[CURRENT].length[p] > 0)
                if scratch[0, p] != ALIVE:
                    causes[p], forced[p] = scratch[0, p], True
                    played = actions[t, p]
                    for action in range(4):
                        actions[t, p] = action
                        find_causes(states, actions[t], scratch[1])
                        forced[p] = forced[p] and scratch[1, p] != ALIVE
                    actions[t, p] = played
            step(states[CURRENT], actions[t])

    return follow


@kernel
def find_causes(states: Any, actions: Any, causes: Any) -> None:
    """Write the cause of death of each goose in a step from `states[CURRENT]`, or `ALIVE`.

    Geese that were dead before get `ALIVE`. In `states[TRIED]` the geese move, without collisions.
    """
    states[TRIED] = states[CURRENT]
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
    """Return the cause of death of a goose in its own move, before collisions with others.

    `length` and `last_action` are those before the move. A goose of length 1 cannot bite itself: if
    it did not turn back, it starved.
    """
    if action == FORFEIT:
        return LEFT
    if turns_back(last_action, action):
        return TURNED_BACK
    return STARVED if length == 1 else OWN_BODY


@kernel
def collision(s: Any, player: int, head: int) -> int:
    """Return the cause of death in a collision in cell `head`: another's body, or only heads."""
    capacity = s.body.shape[1]
    for p in range(s.length.shape[0]):
        if p != player:
            for k in range(1, s.length[p]):
                if s.body[p, (s.start[p] + k) % capacity] == head:
                    return OTHERS_BODY
    return HEAD_ON
