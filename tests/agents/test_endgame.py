"""Exact endgames of Othello: against published scores, and against a search of everything."""

import json
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ludoteca import make_agent, make_game
from ludoteca.agents.games.endgame import (
    EndgameLimitError,
    EndgameSolution,
    limits,
    make_endgame_solver,
    solve_endgame,
)
from ludoteca.agents.games.endgame import transposition_table as endgame_table
from ludoteca.agents.games.endgame.boards import make_board, neighbors, placements, stable
from ludoteca.agents.games.endgame.last import last_one
from ludoteca.agents.games.registry import games_with
from ludoteca.agents.mcts import MCTSAgent
from ludoteca.envs.game import Game
from ludoteca.envs.games import othello
from ludoteca.envs.games.othello import turned
from ludoteca.envs.record_views import view_records
from ludoteca.evaluate.bench.ffo import ffo_positions
from ludoteca.evaluate.match import play_match

GAME = make_game("othello")
FFO = ffo_positions()


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def squares(picture: str, letter: str) -> np.uint64:
    """Return the squares of a picture that show a letter."""
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
    """Return the position of a picture: x black, o white, . empty."""
    s = game.new()
    s.discs[:] = squares(picture, "x"), squares(picture, "o")
    s.to_move = 0 if black else 1
    s.legal = othello.placements(s, int(s.to_move))
    assert game.validate(s) == ""
    return s


def random_games(game: Game, games: int, seed: int) -> list[list[Any]]:
    """Return the positions of random games, the last of each being its end."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(games):
        s, positions = game.new(), []
        while legal := game.legal(s):
            positions.append(s.copy())
            # Nothing is drawn for a pass: the games are the same with and without auto_pass.
            game.step(s, legal[rng.integers(len(legal))] if len(legal) > 1 else legal[0])
        found.append([*positions, s.copy()])
    return found


def final_score(s: Any, player: int) -> int:
    """Return how many more discs a player has in the end; empty squares go to the winner."""
    mine, theirs = (int(s.discs[k]).bit_count() for k in (player, 1 - player))
    left = s.board.shape[1] ** 2 - mine - theirs
    return mine - theirs + left * ((mine > theirs) - (mine < theirs))


# A second set of rules, square by square, and a search of all that can happen.


def cells(s: Any) -> str:
    """Return the board row by row: m the mover's discs, t the opponent's."""
    size = s.board.shape[1]
    mine, theirs = int(s.discs[s.to_move]), int(s.discs[1 - s.to_move])
    bits = [8 * row + column for row in range(size) for column in range(size)]
    return "".join("m" if mine >> k & 1 else "t" if theirs >> k & 1 else "." for k in bits)


@cache
def rays(size: int) -> list[list[list[int]]]:
    """Return the squares seen from every square, in each direction from near to far."""
    found: list[list[list[int]]] = []
    for square in range(size * size):
        row, column = divmod(square, size)
        found.append([])
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            line = [(row + k * down, column + k * right) for k in range(1, size)]
            inside = [r * size + c for r, c in line if 0 <= r < size and 0 <= c < size]
            found[-1].append(inside)
    return found


def after(board: str, square: int) -> str | None:
    """Return the board after a disc of m on a square, or None if it turns nothing over."""
    if board[square] != ".":
        return None
    turned = [square]
    for ray in rays(round(len(board) ** 0.5))[square]:
        if ray and board[ray[0]] == "t":
            seen = "".join(board[k] for k in ray)
            length = len(seen) - len(seen.lstrip("t"))
            if seen[length : length + 1] == "m":
                turned += ray[:length]
    if len(turned) == 1:
        return None
    return "".join("m" if k in turned else one for k, one in enumerate(board))


def swapped(board: str) -> str:
    return board.translate(str.maketrans("mt", "tm"))


@cache
def brute_force(board: str) -> int:
    """Return the score of perfect play for m, who is to move: every line is played to its end."""
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


@pytest.mark.parametrize("auto_pass", [False, True])
@pytest.mark.parametrize(("size", "most"), [(4, 9), (6, 9), (8, 8)])
def test_all_scores_are_those_of_a_search_of_everything(
    size: int, most: int, auto_pass: bool
) -> None:
    game = make_game(f"othello:board_size={size},auto_pass={auto_pass}")
    passes = wiped_out = early = 0
    for positions in random_games(game, 12, seed=size):
        for s in positions[-1 - most : -1]:
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
            early += solution.empty > len([name for name in line if name != "pass"])
            wiped_out += abs(solution.score) == size * size
    assert (passes > 0) != auto_pass
    if size < 8:
        assert early > 0, "no game ended with empty squares"
    if size == 4:
        assert wiped_out > 0


def test_nine_empty_squares() -> None:
    tried = 0
    for positions in random_games(GAME, 12, seed=0):
        for s in positions[:-1]:
            if make_endgame_solver(GAME).empty(s) == 9 and tried < 2:
                tried += 1
                assert solve_endgame(GAME, s).score == brute_force(cells(s))
    assert tried == 2


def test_the_smallest_board_from_the_start() -> None:
    """White wins 11 to 3 with two squares empty, which is 13 to 3."""
    game = make_game("othello:board_size=4")
    solution = solve_endgame(game, game.new(), all_moves=True)
    assert solution.score == -10 == brute_force(cells(game.new()))
    assert set(solution.scores.values()) == {-10}, "the first moves are symmetric"
    check_solution(game, game.new(), solution)


def test_a_wiped_out_opponent_loses_every_square() -> None:
    s = position(GAME, "xo...... " + "........ " * 7)
    solution = solve_endgame(GAME, s)
    assert (solution.name, solution.score) == ("c1", 64)
    assert solution.principal_variation == ("c1",)
    assert (solution.empty, solution.outcome) == (62, "win")
    assert solve_endgame(GAME, position(GAME, "ox...... " + "........ " * 7, False)).score == 64


def test_who_must_pass_passes() -> None:
    """White has no move; black then turns white's last disc over, and gets the last square too."""
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
    known = FFO[number]
    s = known.state()
    assert GAME.validate(s) == ""
    solution = solve_endgame(GAME, s, all_moves=True)
    assert solution.scores == known.scores
    assert solution.empty == known.empty in (14, 15, 16)
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
    known = FFO[number]
    solution = solve_endgame(GAME, known.state())
    score, moves = known.best
    assert solution.score == score
    assert solution.name in moves
    check_solution(GAME, known.state(), solution)


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
    whole = solve_endgame(GAME, FFO[1].state())
    monkeypatch.setattr(limits, "SLICE", 97)
    pieces = solve_endgame(GAME, FFO[1].state())
    assert pieces.nodes == whole.nodes > 97
    assert pieces.score == whole.score


def test_a_crowded_table_makes_no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endgame_table, "LEAST_BITS", 1)
    monkeypatch.setattr(endgame_table, "MOST_BITS", 1)
    for number in (1, 5, 7):
        assert solve_endgame(GAME, FFO[number].state(), all_moves=True).scores == FFO[number].scores


def test_what_the_search_knows_of_a_board_is_what_the_game_says() -> None:
    for size in (4, 6, 8):
        game, board = make_game(f"othello:board_size={size}"), view_records(make_board(size))[0]
        for positions in random_games(game, 4, seed=1):
            last = positions[-1]
            for s in positions:
                own, other = s.discs[s.to_move], s.discs[1 - s.to_move]
                assert placements(own, other, board) == s.legal
                empty = board.region & ~(own | other)
                for p in range(2):
                    safe = stable(s.discs[p], empty, board)
                    assert safe & ~s.discs[p] == 0
                    assert safe & ~last.discs[p] == 0, "a stable disc was turned over"
            assert stable(last.discs[0], np.uint64(0), board) == last.discs[0]


def test_corners_and_what_leans_on_them_are_stable() -> None:
    picture, board = "xxxo.... xx...... xo...... ........", view_records(make_board(8))[0]
    black, white = squares(picture, "x"), squares(picture, "o")
    assert stable(black, ~(black | white), board) == black
    assert stable(white, ~(black | white), board) == 0
    loose = squares("........ .x...... xxo..... ........", "x")
    assert stable(loose, ~loose, board) == 0


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mine", range(6, 13))
def test_the_last_square_that_nobody_can_take_counts_for_the_winner(mine, swapped) -> None:
    """From a1 on 4x4, one color alone is on the row and the column, the other on the diagonal.

    So nobody can take a1; with 8 discs to 7, for example, the empty square makes it 9 to 7.
    """
    straight = sum(1 << square for square in (1, 2, 3, 8, 16, 24))
    rest = [9, 18, 27, 10, 11, 17, 19, 25, 26]  # the diagonal first
    free = rest[3:]
    own = np.uint64(straight + sum(1 << square for square in free[: mine - 6]))
    other = np.uint64(sum(1 << square for square in rest) - sum(1 << q for q in free[: mine - 6]))
    theirs = 15 - mine
    score = 16 - 2 * theirs if mine > theirs else 2 * mine - 16
    if swapped:
        own, other, score = other, own, -score
    board = view_records(make_board(4))[0]
    work = SimpleNamespace(nodes=0)
    assert turned(np.uint64(1), own, other) == turned(np.uint64(1), other, own) == 0
    assert last_one(own, other, np.uint64(1), -16, 16, board, work) == score
    assert work.nodes == 1


def test_neighbors_do_not_reach_around_the_board() -> None:
    assert neighbors(np.uint64(1)) == 0x303
    assert neighbors(np.uint64(1 << 63)) == 0xC0C0 << 48
    assert neighbors(np.uint64(1 << 15)) == 0xC0C0C0


def test_limits() -> None:
    s = FFO[40].state()
    with pytest.raises(EndgameLimitError, match="not solved within 1000 nodes: 20 squares are"):
        solve_endgame(GAME, s, nodes=1000)
    with pytest.raises(EndgameLimitError, match=r"not solved within 0\.001 seconds"):
        solve_endgame(GAME, s, seconds=0.001)
    solution = solve_endgame(GAME, FFO[5].state(), nodes=10**9, seconds=1000)
    assert solution.score == 32
    assert solve_endgame(GAME, FFO[5].state(), nodes=solution.nodes + 1).score == 32


def test_what_cannot_be_solved_is_refused() -> None:
    hex_game, small = make_game("hex"), make_game("othello:board_size=6")
    s = FFO[1].state()
    with pytest.raises(
        ValueError, match="endgames of hex cannot be solved, only of othello, connect4"
    ):
        solve_endgame(hex_game, hex_game.new())
    with pytest.raises(ValueError, match="must be one record of othello:board_size=6"):
        solve_endgame(small, s)
    over = random_games(GAME, 1, 0)[0][-1]
    with pytest.raises(ValueError, match="the game is over: nothing is left to solve"):
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
def test_every_solver_is_found_by_its_game(name: str) -> None:
    game = make_game(name)
    endgame = make_endgame_solver(game)
    endgame.prepare()
    assert endgame.empty(game.new()) in (42, 60)
    assert make_endgame_solver(game) is endgame


def test_a_solution_can_be_read() -> None:
    text = str(solve_endgame(GAME, FFO[3].state()))
    assert text.startswith("d1, solved exactly: +2 with 14 empty squares\n")
    assert "principal variation: d1 " in text


def choices(agent: Any, s: Any, seeds: int) -> set[str]:
    """Return what an agent plays in a position, with several random streams."""
    states = np.repeat(np.asarray(s[()]).reshape(1), seeds)
    rngs = np.arange(seeds, dtype=np.uint64).reshape(-1, 1)
    actions = agent.act(states, np.full(seeds, int(s.to_move)), rngs, np.arange(seeds))
    return {GAME.action_names[action] for action in actions}


def test_tree_search_plays_endgames_perfectly() -> None:
    """Only d1 wins, by a disc each way."""
    known = FFO[3]
    assert known.best == (2, ("d1",))
    s = known.state()
    plain, exact = (
        make_agent(f"mcts:simulations=30,solver_empties={empty}", GAME) for empty in (13, 14)
    )
    assert choices(plain, s, 8) != {"d1"}
    assert choices(exact, s, 8) == {"d1"}


def test_report_contains_what_was_solved() -> None:
    agent = MCTSAgent(GAME, simulations=20, solver_empties=14)
    agent.prepare()
    report = agent.search(FFO[3].state())
    assert (report.name, report.score, report.proven) == ("d1", 2, "win")
    assert (report.simulations, len(report.candidates)) == (0, 1)
    assert report.candidates[0].mean == 1
    assert report.principal_variation == solve_endgame(GAME, FFO[3].state()).principal_variation
    assert "proven win, exact score +2" in str(report)
    assert json.loads(report.to_json())["score"] == 2
    report = agent.search(FFO[22].state())
    assert (report.score, report.simulations) == (None, 20)
    assert "exact" not in str(report)


def test_before_the_endgame_the_search_is_the_same() -> None:
    plain, exact = (MCTSAgent(GAME, simulations=50, solver_empties=empty) for empty in (0, 12))
    assert choices(plain, GAME.new(), 6) == choices(exact, GAME.new(), 6)
    assert plain.search(GAME.new()).score is None


@pytest.mark.parametrize("more", ["", ",reuse=True", ",threads=2", ",seconds=0.001"])
@pytest.mark.interpreted
def test_games_are_played_to_the_end(more: str) -> None:
    result = play_match(
        GAME, [f"mcts:simulations=5,solver_empties=8{more}", "random"], games=2, seed=3
    )
    assert result.games == 2


def test_endgames_of_other_games_are_refused() -> None:
    with pytest.raises(
        ValueError, match="endgames of hex cannot be solved, only of othello, connect4"
    ):
        make_agent("mcts:solver_empties=10", make_game("hex"))
    with pytest.raises(ValueError, match="no parameter 'solver_empties' where all move at once"):
        make_agent("mcts:solver_empties=10", make_game("tron"))
    with pytest.raises(ValueError, match="solver_empties must be an integer from 0 to 60, got 61"):
        make_agent("mcts:solver_empties=61", GAME)
