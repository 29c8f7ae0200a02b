"""Replays: records of games (spec string, seed, actions), validated by playing them again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import untrusted_names
from ludoteca.files import parse_json, read_text, write_atomically

FORMAT = "ludoteca-replay"
T = TypeVar("T")
Actions = Sequence[int] | Sequence[Sequence[int]]


@dataclass(frozen=True)
class Replay:
    """Record of one game, finished or not.

    Attributes:
        game: the game's spec string.
        seed: the seed that was passed to `Game.init`.
        actions: one action per ply; in simultaneous games one list per ply, with an action or
            `FORFEIT` (-1) for each player, and 0 for players that have no legal action.
        returns: the return of each player, or None if the game is not over.
        players: the name of each player; may be empty.
    """

    game: str
    seed: int
    actions: Actions
    returns: tuple[float, ...] | None
    players: tuple[str, ...] = field(default=())

    @classmethod
    def from_batch(cls, game_batch: GameBatch, env_index: int, players: Sequence[str] = ()) -> Self:
        """Return the replay of game `env_index` of a batch made with `record=True`."""
        game, s = game_batch.game, game_batch.states.view(np.recarray)[env_index]
        seed = int(game_batch.episode_states["game_seed"][env_index])
        return cls(
            game.spec, seed, game_batch.actions_of(env_index), returns_of(game, s), tuple(players)
        )

    def positions(self) -> Iterator[Any]:
        """Play the game again and yield every position, the first and the last included.

        Raises:
            ValueError: at the first illegal move, or if the returns differ from the recorded ones.
        """
        with untrusted_names("the replay"):  # a file must not choose a module to import
            game = make_game(self.game)
        s = game.new(self.seed)
        yield s.copy()
        legal = np.zeros(game.num_actions, game.action_dtype)
        for k, action in enumerate(self.actions):
            _check_action(game, s, legal, k, action)
            with np.errstate(over="ignore"):  # kernels may rely on integer overflow
                game.step(s, np.array(action) if game.simultaneous else action)
            yield s.copy()
        returns = returns_of(game, s)
        if returns != self.returns:
            raise ValueError(
                f"after its {len(self.actions)} moves the game has the returns {returns}, "
                f"but the replay has {self.returns}"
            )

    def _repr_svg_(self) -> str:
        """Return the game as an animated SVG document, for notebooks."""
        from ludoteca.envs.render.replay_scenes import replay_scenes, seconds_per_position
        from ludoteca.envs.render.svg import svg_animation

        return svg_animation(replay_scenes(self), seconds_per_position(self))

    def to_json(self) -> str:
        """Return the replay as JSON text."""
        return json.dumps(
            {
                "format": FORMAT,
                "game": self.game,
                "seed": self.seed,
                "players": list(self.players),
                "actions": self.actions,
                "returns": self.returns,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the replay that `text` holds, after playing it again.

        Raises:
            ValueError: if it is not a replay, contains an illegal move, or has other returns than
                the game; the message names the illegal move.
        """
        try:
            data = parse_json(text)
            if data["format"] != FORMAT:
                raise ValueError(f"expected the format {FORMAT!r}, got {data['format']!r:.80}")
            returns = data["returns"]
            replay = cls(
                _typed(data, "game", str),
                _typed(data, "seed", int),
                _typed(data, "actions", list),
                None if returns is None else tuple(float(r) for r in returns),
                tuple(str(player) for player in _typed(data, "players", list)),
            )
        except KeyError as error:
            raise ValueError(f"not a replay: {error} is missing") from None
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"not a replay: {error!s:.400}") from None
        if not 0 <= replay.seed < 2**64:
            raise ValueError(f"not a replay: seed {replay.seed} is not an unsigned 64-bit integer")
        for _ in replay.positions():
            pass
        return replay

    def save(self, path: str | Path) -> None:
        """Write the replay to a file, atomically."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a replay from a file.

        Raises:
            ValueError: as `from_json`, with the file's name, or if it is not a regular file or too
                large.
            OSError: if the file cannot be read.
        """
        text = read_text(path)
        try:
            return cls.from_json(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _typed(data: Any, name: str, kind: type[T]) -> T:
    """Return `data[name]`, which must be exactly of type `kind`."""
    value = data[name]
    if type(value) is not kind:
        raise TypeError(f"{name} must be of type {kind.__name__}, got {value!r:.200}")
    return value


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def returns_of(game: Game, s: Any) -> tuple[float, ...] | None:
    """Return the return of each player in a position, or None if the game is not over."""
    if not game.is_terminal(s):
        return None
    out = np.zeros(game.num_players, np.float32)
    game.returns(s, out)
    return tuple(round(float(x), 6) for x in out)  # float32 is precise to about 7 digits


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def _check_action(game: Game, s: Any, legal: Any, k: int, action: Any) -> None:
    """Raise a `ValueError` unless `action`, move `k`, is legal in position `s`.

    `legal` is scratch memory, `[num_actions]` of `game.action_dtype`.
    """
    if game.is_terminal(s):
        raise ValueError(
            f"move {k}: the game is over, but the replay continues with {action!r:.80}"
        )
    if not game.simultaneous:
        _check_legal(k, action, legal[: game.legal_actions(s, legal)])
        return
    if not isinstance(action, list) or len(action) != game.num_players:
        raise ValueError(f"move {k}: expected {game.num_players} actions, got {action!r:.80}")
    for p, entry in enumerate(action):
        n = game.legal_actions(s, p, legal)
        if n > 0:
            if entry != FORFEIT:
                _check_legal(k, entry, legal[:n], player=p)
        elif entry != 0:
            raise ValueError(
                f"move {k}: player {p} has no legal action, expected 0, got {entry!r:.80}"
            )


def _check_legal(k: int, action: Any, legal: Any, player: int | None = None) -> None:
    """Raise a `ValueError` unless `action`, move `k`, is one of `legal`."""
    if type(action) is not int or action not in legal:
        described = f"action {action!r:.80}" + ("" if player is None else f" of player {player}")
        raise ValueError(
            f"move {k}: {described} is illegal: the legal actions are {legal.tolist()}"
        )
