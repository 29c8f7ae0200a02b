"""History of one game: positions and actions, sequential or simultaneous."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.replay import Replay
from ludoteca.envs.validation import check_seed

Action = int | tuple[int, ...]  # in simultaneous games, a tuple with an entry per player


class GameHistory:
    """All positions and actions of one game.

    Attributes:
        game: the game.
        seed: seed of the game's and the agents' random numbers.
        positions: all positions, records; the last is the current one.
        actions: the actions so far; `actions[k]` led from `positions[k]` to `positions[k + 1]`. In
            simultaneous games, each is a tuple with an entry per player.
        is_set_up: whether the first position is not that of the rules.
    """

    def __init__(self, game: Game, seed: int = 0, start: Any = None):
        """Begin a game.

        Args:
            game: the game.
            seed: seed of the game's and the agents' random numbers.
            start: first position, a record; by default that of the rules.

        Raises:
            ValueError: if the seed is out of range.
        """
        self.game = game
        self.seed = check_seed(seed)
        self.is_set_up = start is not None
        self.positions: list[Any] = [game.new(self.seed) if start is None else start]
        self.actions: list[Any] = []

    @property
    def current(self) -> Any:
        """The current position, a record."""
        return self.positions[-1]

    @property
    def last_action(self) -> Any:
        """The last action, or None at the start."""
        return self.actions[-1] if self.actions else None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        with _allow_overflow():
            return bool(self.game.is_terminal(self.current))

    @property
    def mover(self) -> int | None:
        """The player to move in a sequential game; None when it is over."""
        return None if self.is_over else self.mover_at(len(self.actions))

    @property
    def players_to_act(self) -> tuple[int, ...]:
        """The players that choose the next action: none when the game is over."""
        if self.is_over:
            return ()
        return self.players_to_act_at(len(self.actions))

    def players_to_act_at(self, ply: int) -> tuple[int, ...]:
        """Return the players that choose an action after `ply` plies of an unfinished game."""
        game = self.game
        if game.is_active is None:
            return (self.mover_at(ply),)
        with _allow_overflow():
            return tuple(
                p for p in range(game.num_players) if game.is_active(self.positions[ply], p)
            )

    def mover_at(self, ply: int) -> int:
        """Return the player to move after `ply` plies of a sequential game."""
        assert self.game.player is not None
        with _allow_overflow():
            return int(self.game.player(self.positions[ply]))

    def legal(self, player: int | None = None) -> list[int]:
        """Return the legal actions, in simultaneous games those of `player`; none if it is over."""
        return [] if self.is_over else self.game.legal(self.current, player)

    def play(self, action: Action) -> None:
        """Play an action of the player to move, or one action per player.

        In simultaneous games, the entries of players that do not act must be 0.

        Raises:
            ValueError: if it is illegal.
        """
        if self.game.simultaneous:
            self._check_joint(action)
        else:
            legal = self.legal()
            if action not in legal:
                raise ValueError(
                    f"action {action} is illegal after {self.actions}: "
                    f"the legal actions are {legal}"
                )
        s = copy_position(self.game, self.current)
        with _allow_overflow():
            self.game.step(s, np.array(action) if self.game.simultaneous else action)
        self.positions.append(s)
        self.actions.append(action)

    def truncate(self, ply: int) -> None:
        """Remove all actions after the first `ply`."""
        del self.positions[ply + 1 :], self.actions[ply:]

    def snapshot(self) -> Self:
        """Return a copy for another thread; later moves do not change it."""
        snapshot = copy(self)
        snapshot.positions, snapshot.actions = list(self.positions), list(self.actions)
        return snapshot

    def returns(self) -> tuple[float, ...] | None:
        """Return the result per player, or None while the game is not over."""
        if not self.is_over:
            return None
        scores = np.zeros(self.game.num_players, np.float32)
        with _allow_overflow():
            self.game.returns(self.current, scores)
        return tuple(round(float(x), 6) for x in scores)  # float32 has 6 exact decimals

    def to_replay(self, players: Sequence[str] = ()) -> Replay:
        """Return the game so far, with the names of the players by seat."""
        actions = [list(a) if isinstance(a, tuple) else a for a in self.actions]
        return Replay(self.game.spec, self.seed, actions, self.returns(), tuple(players))

    def rng(self, ply: int | None = None, player: int | None = None) -> NDArray[np.uint64]:
        """Return the random stream of the action after `ply` plies, by default the next.

        The stream depends only on the seed, the number of plies and, in simultaneous games, the
        player, so that agents repeat their moves after an undo. Shape `[1]`.
        """
        ply = len(self.actions) if ply is None else ply
        entropy = [self.seed, ply] if player is None else [self.seed, ply, player]
        state = np.random.SeedSequence(entropy).generate_state(1, np.uint64)
        return state.astype(np.uint64)

    def _check_joint(self, action: Action) -> None:
        """Raise a `ValueError` unless `action` is a legal joint action."""
        players, active = self.game.num_players, self.players_to_act
        if not active:
            raise ValueError("the game is over")
        if not isinstance(action, tuple) or len(action) != players:
            raise ValueError(f"expected one action for each of {players} players, got {action!r}")
        for p, entry in enumerate(action):
            legal = [FORFEIT, *self.legal(p)] if p in active else [0]
            if entry not in legal:
                raise ValueError(
                    f"action {entry} of player {p} is illegal: the legal actions are {legal}"
                )


def _allow_overflow() -> np.errstate:
    """Return a context for calls of the rules, which may rely on integers that wrap around."""
    return np.errstate(over="ignore")


def copy_position(game: Game, s: Any) -> Any:
    """Return a copy of a position as a record."""
    return np.array([s], game.state).view(np.recarray)[0]
