"""Perft: the number of sequences of moves of a length, compared with published counts in perft/."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import EVERY_GAME, REPRESENTATIVES, small_game

from ludoteca.envs.engine.playouts import make_perft, perft, perft_divide
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import GAMES, make_game

FILES = sorted((Path(__file__).parent / "perft").glob("*.txt"))
# Up to this count, positions are counted interpreted, which takes less time than compilation.
INTERPRETED_COUNT = 5_000
# Games whose higher counts run by default, compiled; those of other games are slow tests.
COMPILED_SPECS = {make_game(id_).name for id_ in REPRESENTATIVES}


@dataclass(frozen=True)
class Table:
    """Counts of a file with lines `game SPEC`, `count_finished yes|no`, `DEPTH COUNT [slow]`."""

    spec: str
    count_finished: bool
    counts: dict[int, int]
    slow: frozenset[int]


def read_table(file: Path) -> Table:
    """Read a file of counts."""
    spec, count_finished, counts, slow = "", True, {}, set()
    for line in file.read_text().splitlines():
        fields = line.split()
        if not fields or fields[0] == "#":
            continue
        if fields[0] == "game":
            spec = fields[1]
        elif fields[0] == "count_finished":
            count_finished = {"yes": True, "no": False}[fields[1]]
        else:
            counts[int(fields[0])] = int(fields[1])
            if fields[2:] == ["slow"]:
                slow.add(int(fields[0]))
    return Table(spec, count_finished, counts, frozenset(slow))


def cases() -> Iterator[Any]:
    """Yield a test case for each count of each file."""
    for file in FILES:
        table = read_table(file)
        for depth, count in table.counts.items():
            id_ = f"{file.stem}-{depth}"
            yield pytest.param(table, depth, count, marks=mark_of(table, depth), id=id_)


def mark_of(table: Table, depth: int) -> Any:
    """Return the mark of a case: interpreted if it is small, slow if it takes long to compile."""
    if table.counts[depth] <= INTERPRETED_COUNT and depth not in table.slow:
        return pytest.mark.interpreted
    quick = table.spec in COMPILED_SPECS and depth not in table.slow
    return () if quick else pytest.mark.slow


@pytest.mark.parametrize(("table", "depth", "count"), list(cases()))
def test_perft(table: Table, depth: int, count: int) -> None:
    game = make_game(table.spec)
    actual = perft(game, depth, count_finished=table.count_finished)
    if actual != count:
        divide = perft_divide(game, depth, count_finished=table.count_finished)
        lines = "\n".join(f"{name}: {child_count}" for name, child_count in divide.items())
        pytest.fail(f"{table.spec} to depth {depth}: expected {count}, got {actual}:\n{lines}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_table_is_named_after_its_game_and_gives_its_source(file: Path) -> None:
    assert file.stem.split("-")[0] == make_game(read_table(file).spec).name
    assert "# Source: " in file.read_text()


every_game = pytest.mark.parametrize("name", EVERY_GAME)


@every_game
def test_counts_by_first_action_add_up(name: str) -> None:
    game = small_game(name)
    divide = perft_divide(game, 3)
    assert sum(divide.values()) == perft(game, 3)
    assert len(divide) == perft(game, 1)


@every_game
def test_compiled_equals_interpreted(name: str) -> None:
    game = small_game(name)
    # Interpreted counts to this depth take seconds at most.
    depth = max(depth for depth in range(1, 4) if perft(game, depth) < 20_000)
    stack = np.repeat(np.array([game.new()], game.state).reshape(1), depth)
    with np.errstate(over="ignore"):
        interpreted = make_perft(game).py_func(view_records(stack), depth, True)
    assert interpreted == perft(game, depth)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.interpreted
def test_depth_0_counts_one_line(name: str) -> None:
    assert perft(make_game(name), 0) == 1


@pytest.mark.interpreted
def test_counts_from_another_position() -> None:
    game = make_game("tictactoe")
    s = game.new()
    for action in (0, 3, 1, 4):  # X X . / O O . / . . .: four of five moves do not end the game
        game.step(s, action)
    assert perft(game, 1, from_state=s) == 5
    assert perft(game, 2, from_state=s) == 1 + 4 * 4
    assert perft(game, 2, from_state=s, count_finished=False) == 4 * 4
    assert perft_divide(game, 2, from_state=s) == {"c1": 1, "c2": 4, "a3": 4, "b3": 4, "c3": 4}
    assert s.moves_left == 5, "the position itself does not change"


@pytest.mark.interpreted
def test_finished_games_count_once_or_not_at_all() -> None:
    game = make_game("tictactoe")
    s = game.new()
    for action in (0, 3, 1, 4, 2):  # X has won
        game.step(s, action)
    assert perft(game, 4, from_state=s) == 1
    assert perft(game, 4, from_state=s, count_finished=False) == 0


@pytest.mark.interpreted
def test_an_inactive_player_does_not_multiply_the_count() -> None:
    game = make_game("hungry_geese")
    s = game.new(1)
    s.occupied.reshape(-1)[s.body[1, 0]] = 0
    s.length[1] = 0  # goose 1 is dead
    assert perft(game, 1, from_state=s) == 4 * 4 * 4


def invalid_arguments() -> Iterator[tuple[Game, dict[str, Any], str]]:
    """Yield games, invalid arguments of `perft`, and their errors."""
    game = make_game("connect4")
    yield game, {"depth": -1}, "depth must be at least 0, got -1"
    yield game, {"depth": 1, "from_state": make_game("hex").new()}, "one record of connect4"
    yield game, {"depth": 1, "from_state": game.empty(2)}, r"one record of connect4.* shape \(2,\)"


@pytest.mark.parametrize(("game", "arguments", "message"), list(invalid_arguments()))
def test_invalid_arguments_are_errors(game: Game, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        perft(game, **arguments)


def test_depth_0_cannot_be_divided() -> None:
    with pytest.raises(
        ValueError, match="depth must be at least 1 to divide by the first ply, got 0"
    ):
        perft_divide(make_game("connect4"), 0)
