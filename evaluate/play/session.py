"""Session of interactive games: positions, players, undo and saving."""

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.render.status import player_name
from ludoteca.envs.replay import Replay
from ludoteca.envs.validation import check_seed

HUMAN = "human"


class Session:
    """Consecutive games with the same rules, with every position of the current game.

    Attributes:
        game: the game, which must be sequential.
        players: `HUMAN` or the name of an agent, by seat.
        seed: seed of the current game; the next game has the next seed.
        positions: all positions of the current game; the last is the current one.
        actions: the actions so far; `actions[k]` led from `positions[k]` to `positions[k + 1]`.
    """

    def __init__(self, game: Game, players: Sequence[str], seed: int = 0):
        """Start the first game.

        Raises:
            ValueError: if the game is simultaneous, the number of players is wrong, or the seed is
                out of range.
        """
        if game.simultaneous:
            raise ValueError(f"{game.name} is simultaneous: only sequential games can be played")
        if len(players) != game.num_players:
            raise ValueError(f"{game.spec} has {game.num_players} players, got {len(players)}")
        self.game, self.players = game, tuple(players)
        self.seed = check_seed(seed)
        self.positions: list[Any] = [game.new(self.seed)]
        self.actions: list[int] = []

    @property
    def current(self) -> Any:
        """The current position, a record."""
        return self.positions[-1]

    @property
    def last_action(self) -> int | None:
        """The last action, or None at the start."""
        return self.actions[-1] if self.actions else None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        with np.errstate(over="ignore"):
            return bool(self.game.is_terminal(self.current))

    @property
    def mover(self) -> int | None:
        """The player to move; None when the game is over."""
        return None if self.is_over else self.mover_at(len(self.actions))

    @property
    def waits_for_human(self) -> bool:
        """Whether a human is to move."""
        mover = self.mover
        return mover is not None and self.players[mover] == HUMAN

    def legal(self) -> list[int]:
        """Return the legal actions, none when the game is over."""
        return [] if self.is_over else self.game.legal(self.current)

    def play(self, action: int) -> None:
        """Play an action of the player to move.

        Raises:
            ValueError: if it is illegal.
        """
        legal = self.legal()
        if action not in legal:
            raise ValueError(f"action {action} is illegal after {self.actions}: legal are {legal}")
        s = _copy(self.game, self.current)
        with np.errstate(over="ignore"):
            self.game.step(s, action)
        self.positions.append(s)
        self.actions.append(action)

    def play_named(self, names: Sequence[str]) -> None:
        """Play actions by their names.

        Raises:
            ValueError: at the first unknown or illegal name; the earlier actions have been played.
        """
        for name in names:
            self.play(find_action(self.game, name, self.legal()))

    def undo(self) -> bool:
        """Undo up to the last decision of a human, or one ply if there are only agents.

        Returns:
            Whether there was such a position.
        """
        decisions = [
            k
            for k in range(len(self.actions))
            if HUMAN not in self.players or self.players[self.mover_at(k)] == HUMAN
        ]
        if not decisions:
            return False
        del self.positions[decisions[-1] + 1 :], self.actions[decisions[-1] :]
        return True

    def restart(self) -> None:
        """Start the next game."""
        self.seed = check_seed(self.seed + 1)
        self.positions, self.actions = [self.game.new(self.seed)], []

    def snapshot(self) -> "Session":
        """Return a copy for another thread; later moves do not change it."""
        snapshot = copy(self)
        snapshot.positions, snapshot.actions = list(self.positions), list(self.actions)
        return snapshot

    def replay(self) -> Replay:
        """Return the game so far."""
        returns = None
        if self.is_over:
            scores = np.zeros(self.game.num_players, np.float32)
            with np.errstate(over="ignore"):
                self.game.returns(self.current, scores)
            returns = tuple(round(float(x), 6) for x in scores)
        return Replay(self.game.spec, self.seed, list(self.actions), returns, self.players)

    def save(self, path: Path | None = None) -> Path:
        """Write the game so far to a file, by default named after the game and the time.

        Returns:
            The file.

        Raises:
            OSError: if it cannot be written.
        """
        path = path or Path(f"{self.game.name}_{datetime.now():%Y%m%d_%H%M%S}.json")
        self.replay().save(path)
        return path

    def rng(self, ply: int | None = None) -> NDArray[np.uint64]:
        """Return the random stream of the action after `ply` plies, by default the next. `[1]`.

        It depends only on the seed and the number of plies, so that games repeat after an undo.
        """
        ply = len(self.actions) if ply is None else ply
        state = np.random.SeedSequence([self.seed, ply]).generate_state(1, np.uint64)
        return state.astype(np.uint64)

    def mover_at(self, ply: int) -> int:
        """Return the player to move after `ply` plies."""
        assert self.game.player is not None
        with np.errstate(over="ignore"):
            return int(self.game.player(self.positions[ply]))


def find_action(game: Game, text: str, legal: Sequence[int]) -> int:
    """Return the legal action with the name `text`, in upper or lower case.

    Raises:
        ValueError: if there is none.
    """
    lower_name = text.lower()
    for action in legal:
        if game.action_names[action].lower() == lower_name:
            return action
    if lower_name in (name.lower() for name in game.action_names):
        raise ValueError(f"{text} is illegal here")
    hint = did_you_mean(text, [game.action_names[action] for action in legal])
    raise ValueError(
        f"there is no move {text!r}{hint} in {game.name}; moves look like {_example_names(game)}"
    )


def seat_name(session: Session, seat: int) -> str:
    """Return the name of a seat with its player, such as `"black (human)"`."""
    return f"{player_name(session.game, seat)} ({session.players[seat]})"


def _example_names(game: Game) -> str:
    names = game.action_names
    return ", ".join(dict.fromkeys((names[0], names[len(names) // 2], names[-1])))


def _copy(game: Game, s: Any) -> Any:
    return np.array([s], game.state).view(np.recarray)[0]
