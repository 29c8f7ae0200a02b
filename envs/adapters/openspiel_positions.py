"""Immutable positions with their legal actions, for OpenSpiel: one compiled call per step.

OpenSpiel clones a state by a deep copy of its Python attributes. Here a state has one attribute, an
immutable `Position`, which copies share; a step makes another `Position`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import cache_by_mode, is_interpreted
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.record_views import dtype_with_attributes
from ludoteca.envs.rng import GOLDEN_GAMMA, next_u64

# Players as OpenSpiel numbers them (pyspiel.PlayerId).
CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4
NO_OUTCOME = -1  # as a chance outcome: none was applied
USED_CHANCE = 1  # returned by a step that used random numbers, else 0


def has_early_returns(game: Game) -> bool:
    """Return whether players may have returns before the end, because they can be eliminated."""
    return game.simultaneous and game.num_players > 2


@factory("OpenSpiel")
def make_position_kernels(game: Game) -> tuple[Any, Any, Any, Any]:
    """Return four compiled functions over the bytes of one record, `data` (uint8).

    `reset(data, outcome, summary)` writes the starting position, `step(data, actions, outcome,
    summary) -> used_chance` applies `actions` (int64 `[P]`; one integer in sequential games), and
    `summarize(data, summary)` leaves the position unchanged. Each of the three writes to `summary`
    the player to move, and for each player (sequential games: for the mover alone) the number of
    legal actions and these actions: int64 `[1 + P * (1 + A)]` (sequential games: `[1 + 1 + A]`).
    `used_chance` is whether the step used random numbers. They are derived from the position and
    from the chance outcome `outcome`, or from the position alone if it is `NO_OUTCOME`. An
    eliminated player has the single action 0, which has no effect.

    `observe(data, player, planes, returns)` writes the observation of `player`, float32
    `[*observation_shape]`, and the returns, float64 `[P]`, unless the array `returns` is empty.
    """
    player: Any = game.player
    is_active: Any = game.is_active
    init, legal_actions, play = game.init, game.legal_actions, game.step
    is_terminal, write_returns, write_planes = game.is_terminal, game.returns, game.observe
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    stochastic, state = game.has_chance, game.state
    if is_interpreted():
        state = dtype_with_attributes(state)

    @kernel
    def reseed(s: Any, outcome: int) -> None:
        """Derive the random stream of a position from its last state and the outcome."""
        s.rng[0] ^= np.uint64(outcome + 1) * GOLDEN_GAMMA
        s.rng[0] = next_u64(s.rng)

    @kernel
    def write_summary(s: Any, summary: Any) -> None:
        """Write the player to move and the legal actions to `summary`, as described above."""
        if is_terminal(s):
            summary[0] = TERMINAL
        elif simultaneous:
            summary[0] = SIMULTANEOUS
            for p in range(players):
                row = summary[1 + p * (1 + num_actions) : 1 + (p + 1) * (1 + num_actions)]
                row[0], row[1] = 1, 0
                if is_active(s, p):
                    row[0] = legal_actions(s, p, row[1:])
        else:
            summary[0] = player(s)
            summary[1] = legal_actions(s, summary[2:])

    @compiled_without_allocation
    def reset_position(data: Any, outcome: int, summary: Any) -> int:
        s = data.view(state)[0]
        if stochastic:
            s.rng[0] = 0
            reseed(s, outcome)
            init(s, s.rng[0])
        else:
            init(s, 0)
        write_summary(s, summary)
        return 0

    @compiled_without_allocation
    def step_position(data: Any, actions: Any, outcome: int, summary: Any) -> int:
        s = data.view(state)[0]
        used_chance = 0
        if stochastic:
            if outcome != NO_OUTCOME:
                reseed(s, outcome)
            rng_before = s.rng[0]
        play(s, actions)
        if stochastic and s.rng[0] != rng_before:
            used_chance = USED_CHANCE
        write_summary(s, summary)
        return used_chance

    @compiled_without_allocation
    def summarize(data: Any, summary: Any) -> None:
        write_summary(data.view(state)[0], summary)

    @compiled_without_allocation
    def observe_position(data: Any, p: int, planes: Any, returns: Any) -> None:
        s = data.view(state)[0]
        write_planes(s, p, planes)
        if len(returns) > 0:
            write_returns(s, returns)

    return reset_position, step_position, summarize, observe_position


class Position:
    """Immutable position of a game, with its player to move, legal actions and returns.

    Attributes:
        rules: the rules that made it.
        data: the bytes of the record, uint8, which NumPy copies much faster than records. At a
            chance node, the bytes of the position before it.
        actions: at a chance node, the action that led to it, or one per player, int64 `[P]`; None
            elsewhere, and at the chance node before the start.
        player: the player to move, or `CHANCE`, `SIMULTANEOUS` or `TERMINAL`.
        legal: the legal actions of the player to move; at simultaneous nodes, one list per player;
            empty at chance nodes and at the end.
        returns: the returns, one per player.
        rewards: the rewards of the last step, one per player: the change of the returns.
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
        fields = (self.data.tobytes(), self.actions, self.player, self.returns, self.rewards)
        return _restore, (self.rules.game, *fields)


class Rules:
    """Rules of a game as functions from a position to the next one.

    Attributes:
        game: the game.
        zeros: returns of 0, one per player.
        start: the starting position, or the chance node before it.
    """

    def __init__(self, game: Game):
        self.game = game
        self._has_early_returns = has_early_returns(game)
        self.zeros = [0.0] * game.num_players
        self._reset, self._step, self._summarize, self._observe = make_position_kernels(game)
        listed_players = game.num_players if game.simultaneous else 1
        width = 1 + game.num_actions  # of a player's part of the summary
        self._size = 1 + listed_players * width
        self._offsets = [1 + p * width for p in range(listed_players)]
        self._no_returns = np.zeros(0)  # argument of `observe` that asks for no returns
        data = game.empty(1).view(np.uint8)
        if game.has_chance:
            self.start = Position(self, data, self.zeros)
        else:
            summary = np.zeros(self._size, np.int64)
            self._reset(data, 0, summary)
            self.start = self._make_position(data, self.zeros, summary)

    def step(self, position: Position, actions: Any) -> Position:
        """Return the position after an action, or at simultaneous nodes after a joint action.

        Args:
            position: a position that is neither terminal nor a chance node.
            actions: an action, or at simultaneous nodes one per player, int64 `[P]`.
        """
        data = position.data.copy()
        summary = np.empty(self._size, np.int64)
        if self._step(data, actions, NO_OUTCOME, summary):
            chance_node = Position(self, position.data, position.returns)
            chance_node.actions = actions
            return chance_node
        return self._make_position(data, position.returns, summary)

    def apply_outcome(self, position: Position, outcome: int) -> Position:
        """Return the position after an outcome of a chance node."""
        data = position.data.copy()
        summary = np.empty(self._size, np.int64)
        if position.actions is None:
            self._reset(data, outcome, summary)
        else:
            self._step(data, position.actions, outcome, summary)
        return self._make_position(data, position.returns, summary)

    def from_bytes(self, data: NDArray[np.uint8]) -> Position:
        """Return the position given by the bytes of a record of this game."""
        summary = np.empty(self._size, np.int64)
        self._summarize(data, summary)
        return self._make_position(data, self.zeros, summary)

    def observe(self, position: Position, player: int) -> NDArray[np.float32]:
        """Return a player's observation, float32 `[*observation_shape]`; zeros before the start."""
        planes = np.zeros(self.game.observation_shape, np.float32)
        if position.player != CHANCE or position.actions is not None:
            self._observe(position.data, player, planes, self._no_returns)
        return planes

    def _make_position(
        self, data: NDArray[np.uint8], returns_before: list[float], summary: NDArray[np.int64]
    ) -> Position:
        """Return the position with the bytes `data` and the `summary` that a kernel has written.

        `returns_before` are the returns before the last step.
        """
        position = Position(self, data, returns_before)
        position.player = player = int(summary[0])
        if player >= 0:
            position.legal = summary[2 : 2 + int(summary[1])].tolist()
        elif player == SIMULTANEOUS:
            position.legal = [
                summary[k + 1 : k + 1 + int(summary[k])].tolist() for k in self._offsets
            ]
        if player == TERMINAL or self._has_early_returns:
            returns = np.zeros(self.game.num_players)
            planes = np.empty(self.game.observation_shape, np.float32)
            self._observe(data, 0, planes, returns)
            position.returns = returns.tolist()
            pairs = zip(position.returns, returns_before, strict=True)
            position.rewards = [after - before for after, before in pairs]
        return position


@cache_by_mode
def rules_of(game: Game) -> Rules:
    """Return the rules of a game, always the same object."""
    return Rules(game)


def _restore(
    game: Game, data: bytes, actions: Any, player: int, returns: list[float], rewards: list[float]
) -> Position:
    """Return a position from its pickled fields."""
    rules, writable = rules_of(game), np.frombuffer(data, np.uint8).copy()
    if player == CHANCE:
        restored = Position(rules, writable, returns)
        restored.actions = actions
        return restored
    restored = rules.from_bytes(writable)
    restored.returns, restored.rewards = returns, rewards
    return restored
