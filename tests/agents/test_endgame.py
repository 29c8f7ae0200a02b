"""Tests of Othello's endgame solver against published scores and exhaustive search."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from endgames import FFO, GAME

from ludoteca import make_game
from ludoteca.agents.games.endgame import (
    EndgameLimitError,
    EndgameSolution,
    limits,
    make_endgame_solver,
    solve_endgame,
)
from ludoteca.agents.games.endgame import transposition_table as endgame_table
from ludoteca.agents.games.endgame.last_squares import last_square
from ludoteca.agents.games.endgame.othello_bitboards import (
    make_board,
    neighbors,
    placements,
    stable_discs,
)
from ludoteca.agents.games.registry import games_with
from ludoteca.envs.game import Game
from ludoteca.envs.games import othello
from ludoteca.envs.games.othello import flipped
from ludoteca.envs.record_views import view_records


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def squares(picture: str, letter: str) -> np.uint64:
    """Return the bitboard of the squares that show a letter in a board drawn as text."""
    rows = enumerate(picture.split())
    return np.uint64(
        sum(
            1 << 8 * row + column
            for row, line in rows
            for column in range(8)
            if line[column : column + 1] == letter
        )
    )


def position(game: Game, picture: str, black: bool = True) -> Any:
    """Return the position drawn as text: x black, o white, . empty."""
    s = game.new()
    s.discs[:] = squares(picture, "x"), squares(picture, "o")
    s.to_move = 0 if black else 1
    s.legal = othello.placements(s, int(s.to_move))
    assert game.validate(s) == ""
    return s


def random_games(game: Game, games: int, seed: int) -> list[list[Any]]:
    """Return the positions of random games, the last of each being its end."""
    rng = np.random.default_rng(seed)
    positions_by_game = []
    for _ in range(games):
        s, positions = game.new(), []
        while legal := game.legal(s):
            positions.append(s.copy())
            # No random number is drawn for a pass: games are the same with and without auto_pass.
            game.step(s, legal[rng.integers(len(legal))] if len(legal) > 1 else legal[0])
        positions_by_game.append([*positions, s.copy()])
    return positions_by_game


def final_score(s: Any, player: int) -> int:
    """Return a player's final disc difference; empty squares count for the winner."""
    mine, theirs = (int(s.discs[k]).bit_count() for k in (player, 1 - player))
    empty = s.board.shape[1] ** 2 - mine - theirs
    return mine - theirs + empty * ((mine > theirs) - (mine < theirs))


# A second implementation of the rules, square by square, and an exhaustive search.


def cells(s: Any) -> str:
    """Return the board row by row: m the mover's discs, t the opponent's."""
    size = s.board.shape[1]
    mine, theirs = int(s.discs[s.to_move]), int(s.discs[1 - s.to_move])
    bits = [8 * row + column for row in range(size) for column in range(size)]
    return "".join("m" if mine >> k & 1 else "t" if theirs >> k & 1 else "." for k in bits)


@cache
def rays(size: int) -> list[list[list[int]]]:
    """Return the squares seen from every square, in each direction from near to far."""
    rays_by_square: list[list[list[int]]] = []
    for square in range(size * size):
        row, column = divmod(square, size)
        rays_by_square.append([])
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            line = [(row + k * down, column + k * right) for k in range(1, size)]
            inside = [r * size + c for r, c in line if 0 <= r < size and 0 <= c < size]
            rays_by_square[-1].append(inside)
    return rays_by_square


def after(board: str, square: int) -> str | None:
    """Return the board after `m` places a disc on a square, or None if no disc is flipped."""
    if board[square] != ".":
        return None
    changed = [square]
    for ray in rays(round(len(board) ** 0.5))[square]:
        if ray and board[ray[0]] == "t":
            seen = "".join(board[k] for k in ray)
            length = len(seen) - len(seen.lstrip("t"))
            if seen[length : length + 1] == "m":
                changed += ray[:length]
    if len(changed) == 1:
        return None
    return "".join("m" if k in changed else disc for k, disc in enumerate(board))


def swapped(board: str) -> str:
    """Return the board with the colors exchanged."""
    return board.translate(str.maketrans("mt", "tm"))


@cache
def brute_force(board: str) -> int:
    """Return the score for `m`, who is to move, by an exhaustive search."""
    moves = [later for k in range(len(board)) if (later := after(board, k))]
    if moves:
        return max(-brute_force(swapped(later)) for later in moves)
    other = swapped(board)
    if any(after(other, k) for k in range(len(board))):
        return -brute_force(other)
    difference = board.count("m") - board.count("t")
    return difference + board.count(".") * ((difference > 0) - (difference < 0))


def check_solution(game: Game, s: Any, solution: EndgameSolution) -> None:
    """Check that the principal variation is a game, and ends in the score."""
    player, s = int(s.to_move), s.copy()
    assert solution.action == game.action_names.index(solution.name)
    assert solution.principal_variation[0] == solution.name
    for name in solution.principal_variation:
        action = game.action_names.index(name)
        assert action in game.legal(s)
        game.step(s, action)
    assert s.over
    assert final_score(s, player) == solution.score


@pytest.mark.parametrize("auto_pass", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    ("size", "max_empty"),
    [
        pytest.param(4, 9, marks=pytest.mark.slow),
        pytest.param(6, 9, marks=pytest.mark.slow),
        pytest.param(8, 8, marks=pytest.mark.slow),
        (8, 6),
    ],
)
def test_scores_match_exhaustive_search(size: int, max_empty: int, auto_pass: bool) -> None:
    game = make_game(f"othello:board_size={size},auto_pass={auto_pass}")
    passes = wiped_out = early_ends = 0
    for positions in random_games(game, 12, seed=size):
        for s in positions[-1 - max_empty : -1]:
            solution = solve_endgame(game, s, all_moves=True)
            assert solution.score == brute_force(cells(s)), cells(s)
            check_solution(game, s, solution)
            assert solution.scores is not None
            assert list(solution.scores.values()) == sorted(solution.scores.values(), reverse=True)
            assert solution.scores[solution.name] == solution.score == max(solution.scores.values())
            names = [game.action_names[action] for action in game.legal(s)]
            assert set(solution.scores) == set(names)
            for name in names:
                board: str | None = cells(s)
                if name != "pass":
                    board = after(cells(s), game.action_names.index(name))
                assert board is not None
                assert solution.scores[name] == -brute_force(swapped(board)), (cells(s), name)
            line = solution.principal_variation
            passes += "pass" in line
            early_ends += solution.empty > len([name for name in line if name != "pass"])
            wiped_out += abs(solution.score) == size * size
    assert (passes > 0) != auto_pass
    if size < 8:
        assert early_ends > 0, "no game ended with empty squares"
    if size == 4:
        assert wiped_out > 0


@pytest.mark.slow
def test_scores_of_nine_empty_squares_match_exhaustive_search() -> None:
    num_positions = 0
    for positions in random_games(GAME, 12, seed=0):
        for s in positions[:-1]:
            if make_endgame_solver(GAME).empty(s) == 9 and num_positions < 2:
                num_positions += 1
                assert solve_endgame(GAME, s).score == brute_force(cells(s))
    assert num_positions == 2


def test_the_smallest_board_from_the_start() -> None:
    """White wins 11 to 3 with two squares empty, which is 13 to 3."""
    game = make_game("othello:board_size=4")
    solution = solve_endgame(game, game.new(), all_moves=True)
    child = game.new()
    game.step(child, game.action_names.index(solution.name))
    assert solution.score == -10 == -brute_force(cells(child))
    assert set(solution.scores.values()) == {-10}, "the first moves are symmetric"
    check_solution(game, game.new(), solution)


def test_a_wiped_out_opponent_loses_every_square() -> None:
    s = position(GAME, "xo...... " + "........ " * 7)
    solution = solve_endgame(GAME, s)
    assert (solution.name, solution.score) == ("c1", 64)
    assert solution.principal_variation == ("c1",)
    assert (solution.empty, solution.outcome) == (62, "win")
    assert solve_endgame(GAME, position(GAME, "ox...... " + "........ " * 7, False)).score == 64


def test_player_without_moves_passes() -> None:
    """White has no move; black flips white's last disc, and the empty last square counts for it."""
    full = "xxxxxxxx " * 7
    s = position(GAME, full + "xxxxxo..", black=False)
    solution = solve_endgame(GAME, s, all_moves=True)
    assert (solution.name, solution.score) == ("pass", -64)
    assert solution.principal_variation == ("pass", "g8")
    assert solution.scores == {"pass": -64}
    skipping = make_game("othello:auto_pass=True")
    solution = solve_endgame(skipping, position(skipping, full + "xxxxxo.."))
    assert (solution.principal_variation, solution.score) == (("g8",), 64)


@pytest.mark.parametrize("number", range(1, 20))
def test_published_scores_of_all_moves(number: int) -> None:
    published = FFO[number]
    s = published.state()
    assert GAME.validate(s) == ""
    solution = solve_endgame(GAME, s, all_moves=True)
    assert solution.scores == published.scores
    assert solution.empty == published.empty in (14, 15, 16)
    check_solution(GAME, s, solution)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(k, marks=pytest.mark.slow if FFO[k].empty == 20 else ())
        for k in range(20, 40)
        if FFO[k].empty <= 20
    ]
    + [40],
)
def test_published_best_moves(number: int) -> None:
    published = FFO[number]
    solution = solve_endgame(GAME, published.state())
    score, moves = published.best
    assert solution.score == score
    assert solution.name in moves
    check_solution(GAME, published.state(), solution)


@pytest.mark.slow
@pytest.mark.parametrize("number", [k for k in range(20, 45) if 20 < FFO[k].empty <= 24])
def test_published_best_moves_of_longer_endgames(number: int) -> None:
    score, moves = FFO[number].best
    solution = solve_endgame(GAME, FFO[number].state())
    assert solution.score == score
    assert solution.name in moves


def test_the_same_position_gives_the_same_solution() -> None:
    first, again = (solve_endgame(GAME, FFO[8].state()) for _ in range(2))
    assert first.nodes == again.nodes
    assert first.principal_variation == again.principal_variation


def test_search_resumes_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = solve_endgame(GAME, FFO[1].state())
    monkeypatch.setattr(limits, "SLICE", 97)  # nodes searched between checks of the limits
    sliced = solve_endgame(GAME, FFO[1].state())
    assert sliced.nodes == complete.nodes > 97
    assert sliced.score == complete.score


def test_small_transposition_table_keeps_scores_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endgame_table, "MIN_BITS", 1)
    monkeypatch.setattr(endgame_table, "MAX_BITS", 1)
    for number in (1, 5, 7):
        assert solve_endgame(GAME, FFO[number].state(), all_moves=True).scores == FFO[number].scores


def test_bitboard_operations_match_the_rules() -> None:
    for size in (4, 6, 8):
        game, board = make_game(f"othello:board_size={size}"), view_records(make_board(size))[0]
        for positions in random_games(game, 4, seed=1):
            last = positions[-1]
            for s in positions:
                own, other = s.discs[s.to_move], s.discs[1 - s.to_move]
                assert placements(own, other, board) == s.legal
                empty = board.region & ~(own | other)
                for p in range(2):
                    stable = stable_discs(s.discs[p], empty, board)
                    assert stable & ~s.discs[p] == 0
                    assert stable & ~last.discs[p] == 0, "a stable disc was flipped"
            assert stable_discs(last.discs[0], np.uint64(0), board) == last.discs[0]


def test_discs_connected_to_corners_are_stable() -> None:
    picture, board = "xxxo.... xx...... xo...... ........", view_records(make_board(8))[0]
    black, white = squares(picture, "x"), squares(picture, "o")
    assert stable_discs(black, ~(black | white), board) == black
    assert stable_discs(white, ~(black | white), board) == 0
    loose = squares("........ .x...... xxo..... ........", "x")
    assert stable_discs(loose, ~loose, board) == 0


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mine", range(6, 13))
def test_unplayable_last_square_counts_for_the_winner(mine, swapped) -> None:
    """On 4x4, only a1 is empty; its row and column have one color, its diagonal the other.

    So neither player can move to a1. With 8 discs to 7, for example, the score is 9 to 7.
    """
    row_and_column = sum(1 << square for square in (1, 2, 3, 8, 16, 24))
    rest = [9, 18, 27, 10, 11, 17, 19, 25, 26]  # the diagonal first
    added = sum(1 << square for square in rest[3:][: mine - 6])
    own = np.uint64(row_and_column + added)
    other = np.uint64(sum(1 << square for square in rest) - added)
    theirs = 15 - mine
    score = 16 - 2 * theirs if mine > theirs else 2 * mine - 16
    if swapped:
        own, other, score = other, own, -score
    board = view_records(make_board(4))[0]
    work = SimpleNamespace(nodes=0)
    assert flipped(np.uint64(1), own, other) == flipped(np.uint64(1), other, own) == 0
    assert last_square(own, other, np.uint64(1), -16, 16, board, work) == score
    assert work.nodes == 1


def test_neighbors_do_not_wrap_around_the_board() -> None:
    """Neighbors include the square itself: of the corners a1 and h8, and of h2 at the side."""
    assert neighbors(np.uint64(1)) == 0x303
    assert neighbors(np.uint64(1 << 63)) == 0xC0C0 << 48
    assert neighbors(np.uint64(1 << 15)) == 0xC0C0C0


def test_limits_raise() -> None:
    s = FFO[40].state()
    with pytest.raises(EndgameLimitError, match="not solved within 1000 nodes: 20 empty squares"):
        solve_endgame(GAME, s, nodes=1000)
    with pytest.raises(EndgameLimitError, match=r"not solved within 0\.001 seconds"):
        solve_endgame(GAME, s, seconds=0.001)
    solution = solve_endgame(GAME, FFO[5].state(), nodes=10**9, seconds=1000)
    assert solution.score == 32
    assert solve_endgame(GAME, FFO[5].state(), nodes=solution.nodes + 1).score == 32


def test_unsolvable_positions_raise() -> None:
    hex_game, small = make_game("hex"), make_game("othello:board_size=6")
    s = FFO[1].state()
    with pytest.raises(
        ValueError, match="hex has no endgame solver; games with one are othello, connect4"
    ):
        solve_endgame(hex_game, hex_game.new())
    with pytest.raises(ValueError, match="must be one record of othello:board_size=6"):
        solve_endgame(small, s)
    over = random_games(GAME, 1, 0)[0][-1]
    with pytest.raises(ValueError, match="expected an unfinished position, but the game is over"):
        solve_endgame(GAME, over)
    wrong = s.copy()
    wrong.discs[0] |= wrong.discs[1]
    with pytest.raises(ValueError, match="a square holds both a black and a white disc"):
        solve_endgame(GAME, wrong)
    with pytest.raises(ValueError, match="nodes must be an integer from 1 to"):
        solve_endgame(GAME, s, nodes=0)
    with pytest.raises(ValueError, match=r"seconds must be a number from 0\.0001 to"):
        solve_endgame(GAME, s, seconds=0)
    with pytest.raises(ValueError, match="all_moves must be one of False, True"):
        solve_endgame(GAME, s, all_moves=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", games_with("endgame_solver"))
def test_every_game_with_a_solver_finds_it(name: str) -> None:
    game = make_game(name)
    endgame = make_endgame_solver(game)
    endgame.prepare()
    assert endgame.empty(game.new()) in (42, 60)  # of Connect Four and Othello
    assert make_endgame_solver(game) is endgame


def test_solution_prints_score_and_moves() -> None:
    text = str(solve_endgame(GAME, FFO[3].state()))
    assert text.startswith("d1, solved exactly: +2 with 14 empty squares\n")
    assert "principal variation: d1 " in text
