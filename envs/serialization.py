"""Serialization of positions and environments, as bytes and JSON."""

import copy
import hashlib
import json
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.episode_state import EVERY_SEAT, NO_SEAT, RANDOM_SEAT
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import Game
from ludoteca.files import parse_json

MAGIC = b"LUDOTECA\x01"  # name and version of the format
CHECKSUM_BYTES = 16  # of SHA-256, truncated


def state_to_json(game: Game, s: Any) -> str:
    """Return a position as JSON text: the game, its parameters, and the fields of the record."""
    fields = {name: _plain(s[name]) for name in game.state.names or ()}
    return json.dumps({"format": "ludoteca-state", "game": game.spec, "state": fields})


def state_from_json(game: Game, text: str) -> Any:
    """Return a position, as a record, from its JSON text.

    Raises:
        ValueError: if it is not the JSON text of a valid position of this game with these
            parameters.
    """
    try:
        data = parse_json(text)
        format_, spec, fields = data["format"], data["game"], data["state"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a position in JSON: {error!r}") from None
    if format_ != "ludoteca-state":
        raise ValueError(f"expected the format 'ludoteca-state', got {format_!r:.80}")
    if spec != game.spec:
        raise ValueError(f"expected a position of {game.spec}, got one of {spec!s:.200}")
    names = game.state.names or ()
    if not isinstance(fields, dict) or set(fields) != set(names):
        found = list(fields) if isinstance(fields, dict) else fields
        raise ValueError(f"expected the fields {list(names)}, got {found!r:.400}")
    states = game.empty(1)
    for name in names:
        _write_field(states[name][0:1], fields[name], name)
    return validate_states(game, states)[0]


def states_to_bytes(game: Game, states: NDArray[np.void]) -> bytes:
    """Return positions, shape `[N]`, as bytes: a header that names the game, then the records."""
    return _pack({"game": game.spec, "count": len(states)}, _bytes(states))


def states_from_bytes(game: Game, data: bytes) -> Any:
    """Return positions, as records of shape `[N]`, from their bytes.

    Raises:
        ValueError: if the bytes are damaged, or do not hold valid positions of this game.
    """
    header, body = _unpack(data)
    if header.get("game") != game.spec:
        raise ValueError(f"expected positions of {game.spec}, got {header.get('game')!s:.200}")
    count = header.get("count")
    if type(count) is not int or len(body) != count * game.state.itemsize:
        raise ValueError(
            f"expected {count!r:.40} positions of {game.spec}, but the data has {len(body)} bytes"
        )
    return validate_states(game, np.frombuffer(body, game.state).copy())


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def validate_states(game: Game, states: NDArray[np.void]) -> Any:
    """Return `states`, shape `[N]`, as a `recarray`, if all are valid positions of `game`.

    Raises:
        ValueError: otherwise.
    """
    records = states.view(np.recarray)
    for i, s in enumerate(records):
        for name, value in game.settings.items():
            if s[name] != value:
                raise ValueError(
                    f"position {i}: {name} is {s[name]}, but {game.spec} has {name}={value}"
                )
        problem = game.validate(s)
        if not problem and not game.simultaneous and not game.is_terminal(s):
            num_legal = game.legal_actions(s, np.zeros(game.num_actions, game.action_dtype))
            problem = "" if num_legal > 0 else "the game is not over, but there is no legal action"
        if problem:
            raise ValueError(f"position {i} is not a position of {game.spec}: {problem}")
    return records


class Storable:
    """Base class of environments that can be saved, restored and cloned.

    Attributes:
        game: the game.
        game_batch: the batch of games that the environment wraps.
    """

    game: Game
    game_batch: GameBatch
    _ready: bool  # whether `reset` was called

    def save(self) -> bytes:
        """Return the state of the environment as bytes, random streams included.

        The internal state of opponents is not part of it.

        Raises:
            ValueError: before the first `reset`.
        """
        if not self._ready:
            raise ValueError("call reset before save")
        game_batch = self.game_batch
        header = _signature(game_batch) | {"more": self._extra()}
        arrays = (game_batch.states, game_batch.episode_states, game_batch.history)
        return _pack(header, b"".join(_bytes(array) for array in arrays))

    def restore(self, data: bytes) -> None:
        """Restore a state that `save` returned, in an environment made with the same arguments.

        Opponents are reset.

        Raises:
            ValueError: if `data` is damaged or of an environment with other arguments. Nothing
                has then changed.
        """
        header, body = _unpack(data)
        extra, game_batch = header.pop("more", None), self.game_batch
        if header != (expected := _signature(game_batch)):
            raise ValueError(f"expected an environment of {expected}, got {header!s:.400}")
        arrays: tuple[NDArray[Any], ...] = (
            game_batch.states,
            game_batch.episode_states,
            game_batch.history,
        )
        if len(body) != (num_bytes := sum(array.nbytes for array in arrays)):
            raise ValueError(f"expected {num_bytes} bytes of games, got {len(body)}")
        restored: list[Any] = []
        start = 0
        for array in arrays:
            end = start + array.nbytes
            restored.append(np.frombuffer(body[start:end], array.dtype).reshape(array.shape))
            start = end
        states, episode_states, history = restored
        states = validate_states(self.game, states.copy())
        _validate_episode_states(game_batch, states, episode_states, history)
        self._validate_extra(extra, states, episode_states, history)
        for array, new in zip(arrays, restored, strict=True):
            array[:] = new
        game_batch.reset_opponents()
        game_batch.refresh()
        self._ready = True
        self._restore_extra(extra)

    def clone(self) -> Self:
        """Return an independent copy of the environment, random streams included.

        Original and copy share their opponents: an opponent that keeps state per game would mix up
        the games of the two.
        """
        return copy.deepcopy(self)

    def _extra(self) -> Any:
        """Return the state of the environment beyond its batch, as JSON values; None: none."""
        return None

    def _validate_extra(self, extra: Any, states: Any, episode_states: Any, history: Any) -> None:
        """Raise a `ValueError` unless `_extra` can have returned `extra` for these games."""
        if extra is not None:
            raise ValueError(f"expected nothing besides the games, got {extra!r:.200}")

    def _restore_extra(self, extra: Any) -> None:
        """Restore the state that `_extra` returned; the batch is restored already."""


def _signature(game_batch: GameBatch) -> dict[str, Any]:
    """Return the properties in which a saved state and the environment to restore must agree."""
    return {
        "game": game_batch.game.spec,
        "count": game_batch.count,
        "seat": game_batch.seat_rule,
        "history": game_batch.history.shape[1],
    }


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def _validate_episode_states(
    game_batch: GameBatch, states: Any, episode_states: NDArray[np.void], history: Any
) -> None:
    """Raise a `ValueError` unless episode states and history fit the (valid) positions `states`.

    Like `Game.validate`, this guards compiled code against indices out of bounds.
    """
    game = game_batch.game
    # As bytes: a boolean from a file can have any value of a byte.
    for name in ("over", "terminated", "illegal"):
        if not np.isin(np.ascontiguousarray(episode_states[name]).view(np.uint8), (0, 1)).all():
            raise ValueError(f"the episode states' field {name} is neither true nor false")
    if not all(np.isfinite(episode_states[name]).all() for name in ("rewards", "reward")):
        raise ValueError("the episode states have a reward that is not finite")
    for i, s in enumerate(states):
        seat, over = int(episode_states["seat"][i]), bool(episode_states["over"][i])
        if not _is_agent_seat(game_batch, seat):
            raise ValueError(f"game {i}: the agent cannot have seat {seat} in this environment")
        if game.player is None:
            assert game.is_active is not None
            cannot_act = game.is_terminal(s) or not (seat == NO_SEAT or game.is_active(s, seat))
        elif game.is_terminal(s):
            # Opponents can end a game before the agent's first move; its first step terminates it.
            cannot_act = seat == NO_SEAT
        else:
            cannot_act = seat not in (NO_SEAT, game.player(s))
        if cannot_act and not over:
            raise ValueError(
                f"game {i}: its episode state says that it is not over, but the caller cannot act "
                "in its position"
            )
    if history.shape[1] > 0:
        if not 0 <= history[:, 0].min() <= history[:, 0].max() <= game.max_plies:
            raise ValueError(
                f"the history has {history[:, 0].max()} plies, "
                f"but games of {game.spec} have 0 to {game.max_plies}"
            )
        if (history[:, 1:] < 0).any() or (history[:, 1:] >= game.num_actions).any():
            raise ValueError(f"the history holds actions other than 0 to {game.num_actions - 1}")


def _is_agent_seat(game_batch: GameBatch, seat: int) -> bool:
    """Return whether the agent of a game of this batch may have this seat."""
    if game_batch.seat_rule == RANDOM_SEAT:
        return 0 <= seat < game_batch.game.num_players
    return seat == (NO_SEAT if game_batch.seat_rule == EVERY_SEAT else game_batch.seat_rule)


def _plain(value: Any) -> Any:
    """Return a NumPy value as Python lists and numbers, for JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _write_field(field: NDArray[Any], value: Any, name: str) -> None:
    """Write `value`, nested lists of integers, into a field.

    Args:
        field: the field, in an array of one record. Shape `[1, ...]`.
        value: its value from a JSON file.
        name: name of the field, for the message.

    Raises:
        ValueError: if its shape, type or range is not that of the field.
    """
    try:
        # As Python integers, which do not wrap around.
        array = np.array(value, dtype=object)
        if array.size == field.size == 0:
            return
        integral = all(type(x) is int for x in array.ravel())
        low, high = np.iinfo(field.dtype).min, np.iinfo(field.dtype).max
        in_range = integral and all(low <= x <= high for x in array.flat)
        if in_range and array.shape == field.shape[1:]:
            field[0] = array.astype(field.dtype)
            return
    except ValueError:  # `value` is a ragged list; the error below names the field
        pass
    raise ValueError(
        f"field {name!r} must hold {field.dtype} of shape {field.shape[1:]}, got {value!r:.400}"
    )


def _bytes(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array, with zeros as the padding between fields of records."""
    zero_padded = np.zeros(array.shape, array.dtype)
    for name in array.dtype.names or ():
        zero_padded[name] = array[name]
    return (zero_padded if array.dtype.names else array).tobytes()


def _pack(header: dict[str, Any], body: bytes) -> bytes:
    """Return `MAGIC`, a checksum of the rest, the header's size (4 bytes), header and body."""
    text = json.dumps(header).encode()
    content = len(text).to_bytes(4, "little") + text + body
    return MAGIC + _checksum(content) + content


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:CHECKSUM_BYTES]


def _unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the body of packed bytes.

    Raises:
        ValueError: if `_pack` did not make them, or if they are damaged.
    """
    start = len(MAGIC) + CHECKSUM_BYTES
    if data[: len(MAGIC)] != MAGIC or len(data) < start + 4:
        raise ValueError("these bytes were not saved by this version of ludoteca")
    content = data[start:]
    if _checksum(content) != data[len(MAGIC) : start]:
        raise ValueError("these bytes are damaged: the checksum does not match")
    size = int.from_bytes(content[:4], "little")
    try:
        header = parse_json(content[4 : 4 + size])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"these bytes have no readable header: {error}") from None
    if not isinstance(header, dict):
        raise ValueError(f"these bytes have no readable header: {header!r:.200}")
    return header, content[4 + size :]
