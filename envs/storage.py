"""Positions and running environments to and from bytes and JSON."""

import copy
import hashlib
import json
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.lanes import Lanes

MAGIC = b"LUDOTECA\x01"


def state_to_json(game: Game, s: Any) -> str:
    """Return a position as JSON text: the game, its parameters, and the fields of the record."""
    fields = {name: _plain(s[name]) for name in game.state.names or ()}
    return json.dumps({"format": "ludoteca-state", "game": game.spec, "state": fields})


def state_from_json(game: Game, text: str) -> Any:
    """Return the position that `text` holds, as a record.

    Raises:
        ValueError: if it is not a possible position of this game with these parameters.
    """
    try:
        data = json.loads(text)
        format_, spec, fields = data["format"], data["game"], data["state"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"not a position in JSON: {error!r}") from None
    if format_ != "ludoteca-state":
        raise ValueError(f"expected the format 'ludoteca-state', got {format_!r}")
    if spec != game.spec:
        raise ValueError(f"expected a position of {game.spec}, got one of {spec}")
    names = game.state.names or ()
    if not isinstance(fields, dict) or set(fields) != set(names):
        raise ValueError(f"expected the fields {list(names)}, got {list(fields)}")
    states = game.empty(1)
    for name in names:
        _fill(states[name][0:1], fields[name], name)
    return checked(game, states)[0]


def states_to_bytes(game: Game, states: NDArray[np.void]) -> bytes:
    """Return positions, shape `[N]`, as bytes: a header that names the game, then the records."""
    return _pack({"game": game.spec, "count": len(states)}, states.tobytes())


def states_from_bytes(game: Game, data: bytes) -> Any:
    """Return the positions that `data` holds as records, shape `[N]`.

    Raises:
        ValueError: if they are damaged, or not possible positions of this game.
    """
    header, body = _unpack(data)
    if header.get("game") != game.spec:
        raise ValueError(f"expected positions of {game.spec}, got {header.get('game')}")
    if len(body) != header["count"] * game.state.itemsize:
        raise ValueError(f"{header['count']} positions do not take {len(body)} bytes")
    return checked(game, np.frombuffer(body, game.state).copy())


def checked(game: Game, states: NDArray[np.void]) -> Any:
    """Return `states` as records, if all are possible positions of `game`.

    Raises:
        ValueError: otherwise.
    """
    records = states.view(np.recarray)
    for i, s in enumerate(records):
        for name, value in game.settings.items():
            if s[name] != value:
                raise ValueError(f"position {i}: {name} is {s[name]}, but {game.spec} needs {value}")
        problem = game.check(s)
        if problem:
            raise ValueError(f"position {i} is no position of {game.spec}: {problem}")
    return records


class _HasLanes(Protocol):
    game: Game
    lanes: Lanes


class Storable:
    """Saving, restoring and cloning for environments that have a `game` and `lanes`."""

    def save(self: _HasLanes) -> bytes:
        """Return all that determines how the environment goes on, its random streams included.

        Opponents that remember past moves are not part of it.
        """
        lanes = self.lanes
        header = {
            "game": self.game.spec,
            "count": lanes.count,
            "width": lanes.width,
            "history": lanes.history.shape[1],
        }
        parts = (lanes.states, lanes.lanes, lanes.masks, lanes.history)
        return _pack(header, b"".join(part.tobytes() for part in parts))

    def restore(self: _HasLanes, data: bytes) -> None:
        """Go back to what `save` returned, in this or an equally made environment.

        Raises:
            ValueError: if `data` is damaged or of another kind of environment; nothing has then
                changed.
        """
        header, body = _unpack(data)
        lanes = self.lanes
        expected = {
            "game": self.game.spec,
            "count": lanes.count,
            "width": lanes.width,
            "history": lanes.history.shape[1],
        }
        if header != expected:
            raise ValueError(f"expected an environment of {expected}, got {header}")
        parts = (lanes.states, lanes.lanes, lanes.masks, lanes.history)
        if len(body) != sum(part.nbytes for part in parts):
            raise ValueError(f"the environment does not take {len(body)} bytes")
        checked(self.game, np.frombuffer(body[: lanes.states.nbytes], self.game.state).copy())
        start = 0
        for part in parts:
            part[:] = np.frombuffer(body[start : start + part.nbytes], part.dtype).reshape(
                part.shape
            )
            start += part.nbytes
        lanes.refresh()

    def clone(self) -> Self:
        """Return an independent copy in the same position, with the same future."""
        return copy.deepcopy(self)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _fill(field: NDArray[Any], value: Any, name: str) -> None:
    """Write `value` into a field, if it has its shape and range."""
    try:
        # Python integers, so that nothing wraps around silently.
        given = np.array(value, dtype=object)
        exact = all(type(x) is int for x in given.ravel())
        low, high = np.iinfo(field.dtype).min, np.iinfo(field.dtype).max
        if exact and given.shape == field.shape[1:] and all(low <= x <= high for x in given.flat):
            field[0] = given.astype(field.dtype)
            return
    except ValueError:
        pass
    raise ValueError(
        f"field {name!r} must hold {field.dtype} of shape {field.shape[1:]}, got {value!r}"
    )


def _pack(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    content = len(text).to_bytes(4, "little") + text + body
    return MAGIC + hashlib.sha256(content).digest()[:16] + content


def _unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    start = len(MAGIC) + 16
    if data[: len(MAGIC)] != MAGIC or len(data) < start + 4:
        raise ValueError("these bytes were not saved by this version of ludoteca")
    content = data[start:]
    if hashlib.sha256(content).digest()[:16] != data[len(MAGIC) : start]:
        raise ValueError("these bytes are damaged: the checksum does not match")
    size = int.from_bytes(content[:4], "little")
    return json.loads(content[4 : 4 + size]), content[4 + size :]
