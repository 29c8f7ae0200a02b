"""Immutable positions with their legal actions, for OpenSpiel: one compiled call per step.

OpenSpiel clones a state by a deep copy of all that Python holds of it. Here that is one object, a
`Position`, which never changes, so that copies share it, and a step makes another one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import cache_by_mode, is_interpreted
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.record_views import dtype_with_attributes
from ludoteca.envs.rng import GAMMA, next_u64

# Players as OpenSpiel numbers them (pyspiel.PlayerId).
CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4
NO_OUTCOME = -1  # instead of a chance outcome
DREW = 1  # returned by a step that needed random numbers


def has_chance(game: Game) -> bool:
    """Return whether a game draws random numbers."""
    return "rng" in (game.state.names or ())


def pays_early(game: Game) -> bool:
    """Return whether returns count before the end: some of many players may be out by then."""
    return game.simultaneous and game.num_players > 2


@factory("OpenSpiel")
def make_position_kernels(game: Game) -> tuple[Any, Any, Any, Any]:
    """Return four compiled functions over the bytes of a record, `data`.

    `begin(data, outcome, found)` writes the starting position, `step(data, actions, outcome,
    found) -> drew` plays `actions` (int64 `[P]`; one integer in sequential games), and
    `look(data, found)` changes nothing; then each writes to `found`, int64 `[1 + P * (1 + A)]`,
    who is to move, and for each player (sequential games: for the mover alone) the number of legal
    actions and these actions. `drew` is whether the step needed random numbers; those follow from
    the position and `outcome`, a chance outcome, unless that is `NO_OUTCOME`. A player who is out
    has the single action 0, which changes nothing.

    `show(data, player, planes, returns)` writes the observation of `player`, float32, and the
    returns, float64 `[P]`, unless the array is empty.
    """
    player: Any = game.player
    is_active: Any = game.is_active
    init, legal_actions, play = game.init, game.legal_actions, game.step
    is_terminal, returns_of, observe = game.is_terminal, game.returns, game.observe
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    by_chance, state = has_chance(game), game.state
    if is_interpreted():
        state = dtype_with_attributes(state)

    @kernel
    def draw(s: Any, outcome: int) -> None:
        """Let the random numbers of a position follow from the last ones and the outcome."""
        s.rng[0] ^= np.uint64(outcome + 1) * GAMMA
        s.rng[0] = next_u64(s.rng)

    @kernel
    def find(s: Any, found: Any) -> None:
        if is_terminal(s):
            found[0] = TERMINAL
        elif simultaneous:
            found[0] = SIMULTANEOUS
            for p in range(players):
                row = found[1 + p * (1 + num_actions) : 1 + (p + 1) * (1 + num_actions)]
                row[0], row[1] = 1, 0
                if is_active(s, p):
                    row[0] = legal_actions(s, p, row[1:])
        else:
            found[0] = player(s)
            found[1] = legal_actions(s, found[2:])

    @compiled_without_allocation
    def begin_position(data: Any, outcome: int, found: Any) -> int:
        s = data.view(state)[0]
        if by_chance:
            s.rng[0] = 0
            draw(s, outcome)
            init(s, s.rng[0])
        else:
            init(s, 0)
        find(s, found)
        return 0

    @compiled_without_allocation
    def step_position(data: Any, actions: Any, outcome: int, found: Any) -> int:
        s = data.view(state)[0]
        drew = 0
        if by_chance:
            if outcome != NO_OUTCOME:
                draw(s, outcome)
            before = s.rng[0]
        play(s, actions)
        if by_chance and s.rng[0] != before:
            drew = DREW
        find(s, found)
        return drew

    @compiled_without_allocation
    def look_at(data: Any, found: Any) -> None:
        find(data.view(state)[0], found)

    @compiled_without_allocation
    def show(data: Any, p: int, planes: Any, returns: Any) -> None:
        s = data.view(state)[0]
        observe(s, p, planes)
        if len(returns) > 0:
            returns_of(s, returns)

    return begin_position, step_position, look_at, show


class Position:
    """A position of a game, who is to move, and what is legal; it never changes.

    Attributes:
        rules: what made it.
        data: the bytes of the record, uint8: arrays of records take NumPy much longer to copy. At
            a chance node, that of the position before.
        actions: at a chance node, what has been played, one integer or one of each player; None
            elsewhere, and at the chance node before the start.
        player: who is to move, or `CHANCE`, `SIMULTANEOUS` or `TERMINAL`.
        legal: the legal actions of the player to move, or, where all move at once, a list of them
            for each.
        returns: the returns, one of each player.
        rewards: what the last step added to them.
    """

    __slots__ = ("actions", "data", "legal", "player", "returns", "rewards", "rules")

    def __init__(self, rules: "Rules", data: NDArray[np.uint8], returns: list[float]):
        self.rules, self.data, self.returns = rules, data, returns
        self.rewards = rules.zeros
        self.actions: Any = None
        self.player = CHANCE
        self.legal: Any = []

    @property
    def record(self) -> Any:
        """The record, in the memory of `data`."""
        return self.data.view(self.rules.game.state).view(np.recarray)[0]

    def __copy__(self) -> "Position":
        return self

    def __deepcopy__(self, memo: Any) -> "Position":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        what = (self.data.tobytes(), self.actions, self.player, self.returns, self.rewards)
        return _restore, (self.rules.game, *what)


class Rules:
    """The rules of a game as steps from position to position.

    Attributes:
        game: the game.
        zeros: the returns before anything is decided.
        start: the starting position, or the chance node before it.
    """

    def __init__(self, game: Game):
        self.game = game
        self._pays_early = pays_early(game)
        self.zeros = [0.0] * game.num_players
        self._begin, self._step, self._look, self._show = make_position_kernels(game)
        actors, width = (game.num_players if game.simultaneous else 1), 1 + game.num_actions
        self._size = 1 + actors * width
        self._rows = [(1 + p * width, 2 + p * width) for p in range(actors)]
        self._no_returns = np.zeros(0)
        data = game.empty(1).view(np.uint8)
        if has_chance(game):
            self.start = Position(self, data, self.zeros)
        else:
            facts = np.zeros(self._size, np.int64)
            self._begin(data, 0, facts)
            self.start = self._found(data, self.zeros, facts)

    def step(self, position: Position, actions: Any) -> Position:
        """Return the position after an action, or, where all move at once, one of each player.

        Args:
            position: one in which a player is to move, or all.
            actions: an integer, or int64 `[P]`.
        """
        data = position.data.copy()
        facts = np.empty(self._size, np.int64)
        if self._step(data, actions, NO_OUTCOME, facts):
            waiting = Position(self, position.data, position.returns)
            waiting.actions = actions
            return waiting
        return self._found(data, position.returns, facts)

    def decide(self, position: Position, outcome: int) -> Position:
        """Return the position after an outcome of a chance node."""
        data = position.data.copy()
        facts = np.empty(self._size, np.int64)
        if position.actions is None:
            self._begin(data, outcome, facts)
        else:
            self._step(data, position.actions, outcome, facts)
        return self._found(data, position.returns, facts)

    def at(self, data: NDArray[np.uint8]) -> Position:
        """Return the position of the bytes of a record, which must be one of this game."""
        facts = np.empty(self._size, np.int64)
        self._look(data, facts)
        return self._found(data, self.zeros, facts)

    def observe(self, position: Position, player: int) -> NDArray[np.float32]:
        """Return what a player sees, float32 `[*observation_shape]`: zeros before the start."""
        planes = np.zeros(self.game.observation_shape, np.float32)
        if position.player != CHANCE or position.actions is not None:
            self._show(position.data, player, planes, self._no_returns)
        return planes

    def _found(
        self, data: NDArray[np.uint8], before: list[float], found: NDArray[np.int64]
    ) -> Position:
        """Return the position that the kernels have found; `before` are the returns before it."""
        made = Position(self, data, before)
        made.player = player = int(found[0])
        if player >= 0:
            made.legal = found[2 : 2 + int(found[1])].tolist()
        elif player == SIMULTANEOUS:
            made.legal = [found[start : start + int(found[k])].tolist() for k, start in self._rows]
        if player == TERMINAL or self._pays_early:
            returns = np.zeros(self.game.num_players)
            planes = np.empty(self.game.observation_shape, np.float32)
            self._show(data, 0, planes, returns)
            made.returns = returns.tolist()
            made.rewards = [now - then for now, then in zip(made.returns, before, strict=True)]
        return made


@cache_by_mode
def rules_of(game: Game) -> Rules:
    """Return the rules of a game, always the same."""
    return Rules(game)


def _restore(
    game: Game, data: bytes, actions: Any, player: int, returns: list[float], rewards: list[float]
) -> Position:
    """Return a position that was pickled."""
    rules, copied = rules_of(game), np.frombuffer(data, np.uint8).copy()
    if player == CHANCE:
        restored = Position(rules, copied, returns)
        restored.actions = actions
        return restored
    restored = rules.at(copied)
    restored.returns, restored.rewards = returns, rewards
    return restored
