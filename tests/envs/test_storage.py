"""Serialization of positions: roundtrips, and damaged or invalid data."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from first_games import MakeSmallGame, ids
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludoteca.envs import serialization as storage
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.serialization import (
    state_from_json,
    state_to_json,
    states_from_bytes,
    states_to_bytes,
)

pytestmark = pytest.mark.interpreted
# Hypothesis warns of fixtures that are shared by all examples; ours never change.
few_examples = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
seeds = st.integers(0, 2**32 - 1)
plies_played = st.integers(0, 12)


@np.errstate(over="ignore")
def play(game: Game, s: Any, rng: np.random.Generator, plies: int) -> int:
    """Play at random from `s`, interpreted, so that a bad index raises; return the plies."""
    out = np.zeros(game.num_actions, np.int16)
    for ply in range(plies):
        if game.is_terminal(s):
            return ply
        if game.simultaneous:
            joint = np.zeros(game.num_players, np.int64)
            for p in range(game.num_players):
                n = game.legal_actions(s, p, out)
                joint[p] = out[rng.integers(n)] if n else 0
            game.step(s, joint)
        else:
            game.step(s, int(out[rng.integers(game.legal_actions(s, out))]))
    return plies


def position(game: Game, seed: int, plies: int) -> Any:
    """Return the position after random plies."""
    s = game.new(seed)
    play(game, s, np.random.default_rng(seed), plies)
    return s


def same(one: Any, other: Any) -> bool:
    """Return whether two positions are equal."""
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names)


@ids
@few_examples
@given(seed=seeds, plies=plies_played)
def test_serialized_positions_are_read_again(
    id_: str, seed: int, plies: int, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    s = position(game, seed, plies)
    text = state_to_json(game, s)
    assert same(state_from_json(game, text), s)
    assert json.loads(text)["game"] == game.spec
    states = np.zeros(2, game.state)
    states[1] = s
    states[0] = position(game, seed, 0)
    again = states_from_bytes(game, states_to_bytes(game, states))
    assert len(again) == 2
    assert same(again[0], states[0])
    assert same(again[1], s)
    # A stored position is played on like the original.
    rng = [np.random.default_rng(1), np.random.default_rng(1)]
    restored = state_from_json(game, text)
    play(game, s, rng[0], game.max_plies)
    play(game, restored, rng[1], game.max_plies)
    assert same(restored, s)


@ids
def test_serialized_positions_of_default_boards_are_read_again(id_: str) -> None:
    game = make_game(id_)
    for seed in range(3):
        s = position(game, seed, 30)
        assert same(state_from_json(game, state_to_json(game, s)), s)


@ids
def test_the_same_position_has_the_same_bytes(id_: str, make_small_game: MakeSmallGame) -> None:
    game = make_small_game(id_)
    s = position(game, 3, 4)
    zeros, other = np.zeros(1, game.state), np.frombuffer(b"\xff" * game.state.itemsize, game.state)
    other = other.copy()
    for name in game.state.names or ():  # the padding between the fields stays different
        zeros[name] = other[name] = s[name]
    assert states_to_bytes(game, zeros) == states_to_bytes(game, other)


@ids
def test_positions_of_other_games_or_boards_are_errors(
    id_: str, make_small_game: MakeSmallGame
) -> None:
    game, other = make_small_game(id_), make_game("hex:board_size=7")
    text, data = state_to_json(game, game.new()), states_to_bytes(game, game.empty(1))
    expected = f"expected .* of {other.spec}, got .*{game.name}"
    with pytest.raises(ValueError, match=expected):
        state_from_json(other, text)
    with pytest.raises(ValueError, match=expected):
        states_from_bytes(other, data)


@ids
@few_examples
@given(data=st.data())
def test_damaged_or_truncated_bytes_are_errors(
    id_: str, data: st.DataObject, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    stored = states_to_bytes(game, game.empty(1))
    index = data.draw(st.integers(0, len(stored) - 1))
    bit = data.draw(st.integers(0, 7))
    flipped = bytearray(stored)
    flipped[index] ^= 1 << bit
    for wrong in (bytes(flipped), stored[:index], stored + b"\x00"):
        with pytest.raises(ValueError, match=r"these bytes (are damaged|were not saved by)"):
            states_from_bytes(game, wrong)


@pytest.mark.parametrize(
    "header", [b"[]", b"7", b"{", b"\xff", b"[" * 10**5, b"{}", b'{"count": 1}']
)
def test_bytes_with_a_strange_header_are_errors(header: bytes) -> None:
    game = make_game("tictactoe")
    content = len(header).to_bytes(4, "little") + header
    data = storage.MAGIC + storage.hashlib.sha256(content).digest()[:16] + content
    with pytest.raises(ValueError, match=r"header|expected positions of tictactoe"):
        states_from_bytes(game, data)


@pytest.mark.parametrize("count", [None, -1, 2, 1.0, "1", True])
def test_bytes_with_a_strange_count_are_errors(count: Any) -> None:
    game = make_game("tictactoe")
    data = storage._pack({"game": game.spec, "count": count}, game.empty(1).tobytes())
    message = f"positions of tictactoe.*, but the data has {game.state.itemsize} bytes"
    with pytest.raises(ValueError, match=message):
        states_from_bytes(game, data)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "7", "{}", "[" * 10**5, '{"format": "ludoteca-state"}', "9" * 5000],
    ids=lambda text: text[:12],
)
def test_text_that_is_not_a_position_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a position in JSON"):
        state_from_json(make_game("tictactoe"), text)


@ids
def test_fields_of_a_wrong_type_are_errors(id_: str, make_small_game: MakeSmallGame) -> None:
    game = make_small_game(id_)
    good = json.loads(state_to_json(game, position(game, 1, 3)))
    for name in good["state"]:
        value = good["state"][name]
        if np.size(value) == 0:
            continue  # an empty array, whose shape is the size of the board
        for wrong in (None, "1", 1.5, True, [value], 2**64, -(2**63) - 1, {}, [[1], [2, 3]]):
            bad = good | {"state": good["state"] | {name: wrong}}
            with pytest.raises(ValueError, match=f"field '{name}' must hold"):
                state_from_json(game, json.dumps(bad))
        missing = {key: value for key, value in good["state"].items() if key != name}
        with pytest.raises(ValueError, match="expected the fields"):
            state_from_json(game, json.dumps(good | {"state": missing}))
    with pytest.raises(ValueError, match="expected the fields"):
        state_from_json(game, json.dumps(good | {"state": good["state"] | {"more": 1}}))
    with pytest.raises(ValueError, match="expected the format 'ludoteca-state', got 'x'"):
        state_from_json(game, json.dumps(good | {"format": "x"}))


@ids
@settings(few_examples, max_examples=30)
@given(data=st.data(), seed=seeds, plies=plies_played)
def test_a_tampered_position_is_an_error_or_safe(
    id_: str, data: st.DataObject, seed: int, plies: int, make_small_game: MakeSmallGame
) -> None:
    """Changes of single numbers of a position never lead to an index out of bounds."""
    game = make_small_game(id_)
    s = position(game, seed, plies)
    content = json.loads(state_to_json(game, s))
    name = data.draw(st.sampled_from(sorted(content["state"])))
    field = np.array(s[name])
    if field.size == 0:
        return  # an empty array, whose shape is the size of the board
    limits = np.iinfo(field.dtype)
    small = st.integers(max(limits.min, -3), 12)
    value = data.draw(small | st.integers(limits.min, limits.max))
    flat = field.ravel()
    flat[data.draw(st.integers(0, flat.size - 1))] = value
    content["state"][name] = flat.reshape(field.shape).tolist()
    try:
        tampered = state_from_json(game, json.dumps(content))
    except ValueError as error:
        assert "position 0" in str(error)  # noqa: PT017
        return
    planes = np.zeros(game.observation_shape, np.int8)
    rng = np.random.default_rng(seed)
    for _ in range(4 * game.max_plies):
        for p in range(game.num_players):
            game.observe(tampered, p, planes)
        if play(game, tampered, rng, 1) == 0:
            break
    result = np.zeros(game.num_players, np.float32)
    with np.errstate(over="ignore"):
        game.returns(tampered, result)
    assert (np.abs(result) <= 1).all()


@ids
def test_a_game_is_pickled_and_copied_as_itself(id_: str, make_small_game: MakeSmallGame) -> None:
    for game in (make_game(id_), make_small_game(id_)):
        assert pickle.loads(pickle.dumps(game)) is game
        assert copy.deepcopy(game) is game
        assert make_game(game.spec) is game
