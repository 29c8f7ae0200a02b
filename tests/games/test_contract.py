"""What `Game` promises, for every registered game: a new one is tested by registering it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludoteca.envs.batch import make_turn, seat_count
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.symmetry import Symmetry
from ludoteca.envs.trace import RANDOM, Trace, record

# Besides the defaults: boards as small and as large as allowed, odd shapes, and every option.
VARIANTS = {
    "HungryGeese-v0": (
        "num_players=2,rows=3,columns=4,hunger_rate=3,min_food=4,max_length=3,episode_steps=30",
        "num_players=1",
        "num_players=3,rows=3,columns=3,min_food=20,hunger_rate=1",
        "num_players=8,extra_planes=True,episode_steps=2",
        "num_players=8,rows=20,columns=20,max_length=1",
    ),
    "Othello-v0": (
        "board_size=6,auto_pass=True",
        "board_size=4",
        "board_size=4,auto_pass=True,planes=absolute",
        "planes=absolute",
    ),
    "Hex-v0": (
        "board_size=4,first=white,swap=True",
        "board_size=2",
        "board_size=2,swap=True",
        "board_size=19",
    ),
    "Connect4-v0": (
        "rows=3,columns=9,connect=3",
        "rows=2,columns=2,connect=2",
        "rows=20,columns=20,connect=20",
        "rows=20,columns=2,connect=5",
    ),
    "TicTacToe-v0": ("board_size=5,line=4", "board_size=15,line=5", "board_size=4,line=3"),
    "Tron-v0": ("rows=3,columns=8", "rows=2,columns=2", "rows=20,columns=20"),
    "AtariGo-v0": ("board_size=5", "board_size=2", "board_size=19"),
    "Breakthrough-v0": ("rows=8,columns=8", "rows=4,columns=2", "rows=5,columns=7"),
    "BreakthroughHoles-v0": (
        "rows=7,columns=3,holes=a3+b4+c4+b5",
        "rows=8,columns=8",
        "rows=5,columns=2,holes=a3",
    ),
    "BreakthroughSuicide-v0": ("rows=4,columns=8", "rows=8,columns=2"),
    "KnightThrough-v0": ("rows=5,columns=6", "rows=4,columns=4", "rows=8,columns=5"),
    "SheepAndWolf-v0": ("board_size=6", "board_size=4"),
    "TicTacToeLarge-v0": ("board_size=6,line=5", "board_size=15"),
    "FreeForAll-v0": (
        "board_size=3,plies=100,move=king,capture=knight",
        "board_size=4,plies=100,move=king",
        "board_size=6,capture=knight",
        "plies=1",
    ),
}
SPECS = [f"{name}:{params}" for name in GAMES for params in ("", *VARIANTS.get(name, ()))]
# Compiling takes seconds for each shape of state, so compiled code is tried with the first two.
COMPILED = [f"{name}:{params}" for name in GAMES for params in ("", *VARIANTS.get(name, ())[:1])]

all_specs = pytest.mark.parametrize("spec", SPECS)
compiled_specs = pytest.mark.parametrize("spec", COMPILED)
seeds = st.integers(0, 2**32 - 1)


def test_variants_are_of_registered_games() -> None:
    assert set(VARIANTS) <= set(GAMES)


def play_game(game: Game, prefix: list[int], seed: int) -> Iterator[tuple[Any, int]]:
    """Yield the position (the same record, changed in place) and the ply, from start to end.

    Joint action number `prefix[t]` (modulo how many there are) is played at ply t, and random ones
    after the prefix.
    """
    list_actions, choose, play = make_turn(game)
    seats = seat_count(game)
    out, counts = np.zeros((seats, game.num_actions), np.int16), np.zeros(seats, np.int16)
    chosen = np.zeros(seats, np.int16)
    rng = np.random.default_rng(seed)
    s = game.new(seed)
    ply = 0
    with np.errstate(over="ignore"):
        while True:
            yield s, ply
            n = list_actions(s, out, counts)
            if n == 0:
                return
            k = prefix[ply] if ply < len(prefix) else int(rng.integers(2**32))
            choose(out, counts, k % n, chosen)
            play(s, chosen)
            ply += 1


@all_specs
@settings(max_examples=6, deadline=None)
@given(prefix=st.lists(st.integers(0, 2**16), max_size=40), seed=seeds)
def test_every_position_keeps_the_contract(spec: str, prefix: list[int], seed: int) -> None:
    game = make_game(spec)
    plies, every = 0, 1 + game.max_plies // 60  # not every position of long games, for speed
    for s, plies in play_game(game, prefix, seed):
        if plies % every and not game.is_terminal(s):
            continue
        before = s.copy()
        check_actions(game, s)
        check_returns(game, s)
        check_observations(game, s)
        assert game.check(s) == ""
        assert_same_fields(s, before)  # looking at a position does not change it
    assert plies <= game.max_plies
    assert game.is_terminal(s)


def check_actions(game: Game, s: Any) -> None:
    out = np.full(game.num_actions, -1, np.int16)
    over = game.is_terminal(s)
    assert type(over) is bool
    if game.simultaneous:
        assert game.is_active is not None
        active = [game.is_active(s, p) for p in range(game.num_players)]
        assert any(active) != over
        numbers = [(game.legal_actions(s, p, out), p) for p in range(game.num_players)]
        assert [n > 0 for n, _ in numbers] == active
        listed = [out[: game.legal_actions(s, p, out)].copy() for _, p in numbers]
    else:
        assert game.player is not None
        assert 0 <= game.player(s) < game.num_players
        n = game.legal_actions(s, out)
        assert (n == 0) == over
        listed = [out[:n]]
    for legal in listed:
        assert (np.diff(legal) > 0).all(), "legal actions ascend"
        assert ((legal >= 0) & (legal < game.num_actions)).all()


def check_returns(game: Game, s: Any) -> None:
    scores = np.full(game.num_players, 7.0)
    game.returns(s, scores)
    assert (np.abs(scores) <= 1).all()
    if game.is_terminal(s):
        assert abs(scores.sum()) < 1e-9
    elif not game.simultaneous:
        assert (scores == 0).all()


def check_observations(game: Game, s: Any) -> None:
    planes, rows, columns = game.observation_shape
    for p in range(game.num_players):
        seen = np.zeros(game.observation_shape, np.int8)
        game.observe(s, p, seen)
        assert seen.min() >= 0
        assert seen.max() <= game.observation_high
        # The same planes, whatever the number type and the order in memory.
        other = np.zeros((rows, columns, planes), np.float32)
        game.observe(s, p, other.transpose(2, 0, 1))
        assert np.array_equal(other.transpose(2, 0, 1), seen)


@all_specs
@settings(max_examples=3, deadline=None)
@given(prefix=st.lists(st.integers(0, 2**16), max_size=40), seed=seeds)
def test_init_overwrites_all_but_the_settings(spec: str, prefix: list[int], seed: int) -> None:
    game = make_game(spec)
    *_, (used, _) = play_game(game, prefix, seed)
    fresh = game.new(seed)
    garbage = np.frombuffer(b"\x55" * game.state.itemsize, game.state).view(np.recarray)[0].copy()
    for name in game.settings:
        garbage[name] = fresh[name]
    for s in (used, garbage):
        with np.errstate(over="ignore"):
            game.init(s, seed)
        for name in game.state.names or ():
            assert np.array_equal(s[name], fresh[name]), name


@all_specs
@settings(max_examples=3, deadline=None)
@given(seed=seeds, moment=st.floats(0, 1))
def test_a_copy_has_the_same_future(spec: str, seed: int, moment: float) -> None:
    game = make_game(spec)
    trace = record(game, 1, seed=seed, interpreted=True)
    plies = int(trace.plies[0])
    copied_at = int(moment * plies)
    s = trace.positions[0, copied_at : copied_at + 1].copy().view(np.recarray)[0]
    play = make_turn(game)[2]
    for t in range(copied_at, plies):
        with np.errstate(over="ignore"):
            play(s, trace.actions[0, t])
        assert_same_fields(s, trace.positions[0, t + 1])


def assert_same_fields(a: Any, b: Any) -> None:
    """Compare states bit for bit, except for the padding between fields, which copies may lose."""
    for name in a.dtype.names:
        assert a[name].tobytes() == b[name].tobytes(), name


@compiled_specs
def test_compiled_equals_interpreted(spec: str) -> None:
    game = make_game(spec)
    games = 3 if game.max_plies > 100 else 10
    assert_same(record(game, games, seed=3), record(game, games, seed=3, interpreted=True))


def assert_same(a: Trace, b: Trace) -> None:
    """Compare all arrays bit for bit, positions and their random state included."""
    assert_same_fields(a.positions, b.positions)
    for name in set(Trace.__dataclass_fields__) - {"positions"}:
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


@compiled_specs
def test_the_same_actions_make_the_same_game(spec: str) -> None:
    game = make_game(spec)
    trace = record(game, 5, seed=8)
    assert_same(trace, record(game, 5, seed=8, actions=given_actions(trace)))


def given_actions(trace: Trace) -> Any:
    """Return the recorded actions, with RANDOM after the end of each game."""
    after = np.arange(trace.actions.shape[1]) >= trace.plies[:, None]
    return np.where(after[:, :, None], RANDOM, trace.actions)


@compiled_specs
def test_many_compiled_games_end_in_time(spec: str) -> None:
    game = make_game(spec)
    games = 200
    trace = record(game, games, seed=11)
    last = np.arange(games), trace.plies
    assert trace.over[last].all()
    assert (trace.over.sum(1) == 1).all(), "only the last position is final"
    assert not trace.legal[last].any()
    assert np.allclose(trace.returns[last].sum(1), 0)


@all_specs
def test_action_names_are_unique(spec: str) -> None:
    game = make_game(spec)
    assert len(set(game.action_names)) == game.num_actions
    assert all(name.strip() == name and name for name in game.action_names)


@all_specs
def test_the_spec_string_makes_the_same_game(spec: str) -> None:
    game = make_game(spec)
    assert make_game(game.spec).params == game.params


def test_numbers_of_numpy_are_numbers() -> None:
    game = make_game("connect4", rows=np.int64(5), columns=np.int32(6))
    assert game is make_game("connect4:rows=5,columns=6")
    assert game.spec == "connect4:rows=5,columns=6,connect=4"
    with pytest.raises(ValueError, match=r"rows must be an integer from 2 to 20, got 5\.5"):
        make_game("connect4", rows=np.float64(5.5))


@all_specs
def test_symmetries_are_a_group(spec: str) -> None:
    game = make_game(spec)
    planes, rows, columns = game.observation_shape
    symmetries = game.symmetries()
    for symmetry in symmetries:
        assert sorted(symmetry.cells) == list(range(rows * columns)), symmetry.name
        assert sorted(symmetry.actions) == list(range(game.num_actions)), symmetry.name
        if symmetry.planes is not None:
            assert sorted(symmetry.planes) == list(range(planes)), symmetry.name
    assert key(symmetries[0], planes) == key(identity(game), planes), "the identity comes first"
    assert len({symmetry.name for symmetry in symmetries}) == len(symmetries)
    members = {key(symmetry, planes) for symmetry in symmetries}
    assert len(members) == len(symmetries), "no symmetry comes twice"

    rng = np.random.default_rng(0)
    x = rng.integers(100, size=game.observation_shape)
    policy = rng.random(game.num_actions)
    for i, j in rng.integers(len(symmetries), size=(60, 2)):
        a, b = symmetries[i], symmetries[j]
        both = compose(a, b, planes)
        assert key(both, planes) in members, f"{a.name}, then {b.name}"
        assert np.array_equal(b.observation(a.observation(x)), both.observation(x))
        assert np.array_equal(b.policy(a.policy(policy)), both.policy(policy))


def identity(game: Game) -> Symmetry:
    _, rows, columns = game.observation_shape
    return Symmetry("identity", np.arange(rows * columns), np.arange(game.num_actions))


def compose(a: Symmetry, b: Symmetry, planes: int) -> Symmetry:
    """Return `a`, then `b`."""
    return Symmetry(
        f"{a.name}, {b.name}",
        b.cells[a.cells],
        b.actions[a.actions],
        plane_map(b, planes)[plane_map(a, planes)],
    )


def key(symmetry: Symmetry, planes: int) -> tuple[bytes, ...]:
    arrays = (symmetry.cells, symmetry.actions, plane_map(symmetry, planes))
    return tuple(np.asarray(array, np.int64).tobytes() for array in arrays)


def plane_map(symmetry: Symmetry, planes: int) -> Any:
    return np.arange(planes) if symmetry.planes is None else symmetry.planes


@compiled_specs
def test_symmetries_commute_with_play(spec: str) -> None:
    """A game and its image are alike, for the symmetries that keep the start (renaming players)."""
    game = make_game(spec)
    if "rng" in (game.state.names or ()):
        pytest.skip("the image of a game has its chance elsewhere")
    trace = record(game, 4, seed=21)
    starts = observations(game, trace.positions[0, 0])
    kept = 0
    for symmetry in game.symmetries():
        renamed = renaming(game, starts, symmetry.observation(starts))
        if renamed is None:
            continue
        kept += 1
        # In sequential games there is one seat, and nobody is renamed.
        seat = renamed if game.simultaneous else [0]
        actions = given_actions(trace)
        image = np.where(actions == RANDOM, RANDOM, symmetry.actions[actions])[:, :, seat]
        mapped = record(game, 4, seed=21, actions=image)
        assert np.array_equal(mapped.plies, trace.plies), symmetry.name
        assert np.array_equal(mapped.mover, trace.mover), symmetry.name
        assert np.array_equal(mapped.legal, symmetry.policy(trace.legal)[:, :, seat])
        assert np.array_equal(mapped.returns, trace.returns[:, :, renamed]), symmetry.name
        for i, plies in enumerate(trace.plies):
            for t in range(0, plies + 1, 1 + int(plies) // 8):
                seen = observations(game, trace.positions[i, t])
                seen_in_image = observations(game, mapped.positions[i, t])
                assert np.array_equal(seen_in_image, symmetry.observation(seen)[renamed])
    assert kept >= min(2, len(game.symmetries()))


def observations(game: Game, position: Any) -> Any:
    """Return what each player sees. Shape `[num_players, planes, rows, columns]`."""
    s = np.array([position]).view(np.recarray)[0]
    seen = np.zeros((game.num_players, *game.observation_shape), np.int8)
    for p in range(game.num_players):
        game.observe(s, p, seen[p])
    return seen


def renaming(game: Game, starts: Any, images: Any) -> list[int] | None:
    """Return which player of the game each player of the image is, or None if the start moves."""
    players = list(range(game.num_players))
    orders = [players, players[::-1]] if game.simultaneous else [players]
    for order in orders:
        if np.array_equal(starts, images[order]):
            return order
    return None
