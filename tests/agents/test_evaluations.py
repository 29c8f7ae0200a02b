"""Tests of the games' evaluations: bounds, signs, symmetries, values, and alpha-beta with them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.alphabeta.agent import AlphaBetaAgent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

ALL = [make_game(game_id) for game_id in GAMES if game_id != "GDL-v0"]
SEQUENTIAL = [
    game for game in ALL if game.num_players == 2 and not (game.simultaneous or game.has_chance)
]
SMALL = {"hex": "hex:board_size=3", "othello": "othello:board_size=4"}
POSITIONS = [
    *(SMALL.get(game.name) or game.name for game in SEQUENTIAL),
    "hex:board_size=3,first=white,swap=True",
    "connect4:rows=3,columns=4,connect=3",
    "tictactoe:board_size=6,line=4",
    "atari_go:board_size=3",
    "breakthrough:rows=4,columns=2",
    "sheep_and_wolf:board_size=4",
    "free_for_all:board_size=3,plies=1",
]


def own_evaluations(game: Game) -> list[Callable[..., None]]:
    """Return the evaluations of the game's knowledge."""
    return list(find_knowledge(game).evaluations.values())


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def scores(evaluate: Callable[..., None], s: Any) -> tuple[float, float]:
    """Return the scores of both players, and check that the position stays as it was."""
    out, before = np.full(2, 9.0), s.tobytes()
    evaluate(s, out)
    assert s.tobytes() == before
    return float(out[0]), float(out[1])


@np.errstate(over="ignore")
def random_actions(game: Game, seed: int) -> list[int]:
    """Return the actions of a random game."""
    rng, s, actions = np.random.default_rng(seed), game.new(), []
    while not game.is_terminal(s):
        actions.append(int(rng.choice(game.legal(s))))
        game.step(s, actions[-1])
    return actions


@np.errstate(over="ignore")
def positions(game: Game, actions: list[int]) -> list[Any]:
    """Return the positions of a game, the first and the last one included."""
    s = game.new()
    states = [s.copy()]
    for action in actions:
        game.step(s, action)
        states.append(s.copy())
    return states


@pytest.mark.parametrize("game", SEQUENTIAL, ids=lambda game: game.name)
def test_every_sequential_game_has_its_own_evaluation(game: Game) -> None:
    assert own_evaluations(game)
    assert find_evaluation("", game) is own_evaluations(game)[0]
    assert find_evaluation("", game) is not game.returns


@pytest.mark.parametrize("spec", POSITIONS)
def test_scores_are_bounded_and_zero_sum(spec: str) -> None:
    game, nonzero = make_game(spec), 0
    for seed in range(2):
        *unfinished, last = positions(game, random_actions(game, seed))
        for evaluate in own_evaluations(game):
            for s in unfinished:
                first, second = scores(evaluate, s)
                assert -1 < first < 1
                assert second == -first
                nonzero += first != 0
            first, second = scores(evaluate, last)
            assert -1 <= first <= 1
            assert second == -first
    assert nonzero or game.max_plies == 1


@pytest.mark.parametrize("spec", POSITIONS)
def test_symmetric_positions_have_equal_scores(spec: str) -> None:
    game = make_game(spec)
    actions = random_actions(game, 3)
    originals = positions(game, actions)
    start = np.zeros(game.observation_shape, np.int8)
    game.observe(game.new(), 0, start)
    symmetries = [one for one in game.symmetries() if (one.observation(start) == start).all()]
    assert len(symmetries) > 1 or len(game.symmetries()) == 1
    for symmetry in symmetries:  # those that preserve the starting position
        images = positions(game, symmetry.actions[actions].tolist())
        for evaluate in own_evaluations(game):
            for s, image in list(zip(originals, images, strict=True))[::3]:
                assert scores(evaluate, image) == scores(evaluate, s)


def exchange_pieces(s: Any) -> None:
    """Exchange the players' pieces in place; in games whose armies advance, turn the board."""
    names = s.dtype.names
    if "white_first" in names:  # Hex: exchange the colors' players
        s.white_first = 1 - s.white_first
    for name in ("discs", "knights", "captures"):
        if name in names:
            s[name][:] = s[name][::-1].copy()
    for name in ("board", "stones"):
        pieces = np.asarray(s[name]) if name in names else np.zeros(0)
        if pieces.ndim and pieces.size:
            pieces[...] = np.where((pieces == 0) | (pieces == 1), 1 - pieces, pieces)
    if "winner" in names and "pieces" in names:  # upside down: the rows are the bytes
        rows = s.board.shape[1]
        turned = [int(bits).to_bytes(8, "little")[:rows][::-1] for bits in s.pieces]
        s.pieces[:] = [int.from_bytes(side, "little") for side in turned[::-1]]


@pytest.mark.parametrize("spec", [spec for spec in POSITIONS if "sheep" not in spec])
def test_exchanged_pieces_exchange_the_scores(spec: str) -> None:
    game = make_game(spec)  # Sheep and Wolf has no such symmetry
    for s in positions(game, random_actions(game, 5))[:-1:2]:
        exchanged = s.copy()
        exchange_pieces(exchanged)
        for evaluate in own_evaluations(game):
            assert scores(evaluate, exchanged) == scores(evaluate, s)[::-1]


def test_hex_scores_do_not_depend_on_the_color() -> None:
    black_first, white_first = (
        make_game("hex:board_size=4"),
        make_game("hex:board_size=4,first=white"),
    )
    assert black_first.mirror is not None
    actions = random_actions(black_first, 7)
    images = positions(white_first, black_first.mirror().actions[actions].tolist())
    evaluate = find_evaluation("shortest_path", black_first)
    for s, image in list(zip(positions(black_first, actions), images, strict=True))[::3]:
        assert scores(evaluate, image) == scores(evaluate, s)


def set_corner(s: Any) -> None:
    """Add a disc of Black in the corner a1 of Othello's board."""
    s.discs[0] |= np.uint64(1)


def open_path(s: Any) -> None:
    """Place the sheep of a 4x4 board on (1, 0) and (3, 2): the wolf, on (0, 1), has 3 steps."""
    s.sheep = np.uint64(1 << 8 | 1 << 26)


def capture(s: Any) -> None:
    """Count two captures of Red and one of Blue."""
    s.captures[:] = 2, 1


# Position after some moves, by name, and a change: the score of player 0, computed by hand.
VALUES: list[tuple[str, str, list[str], Callable[[Any], None] | None, float]] = [
    # X in the center, O in a corner: 3 open lines against 2, of 8 lines.
    ("tictactoe", "lines", ["b2", "a1"], None, 1 / (1 + 8)),
    # Two X in the top row: one line with 2 marks, 4, and three with one mark; O: 3 lines.
    ("tictactoe_large:board_size=3", "lines", ["a1", "c3", "b1"], None, (4 + 2 - 2) / (4 + 8)),
    # 4 horizontal, 1 vertical and 2 diagonal lines through the middle of the lowest row, of 69.
    ("connect4", "lines", ["4"], None, 7 / (7 + 69)),
    # The pawn counts one row, and so does the most advanced pawn.
    ("breakthrough", "material", ["b2-b3"], None, 2 / (2 * 6 * (3 + 6) + 6)),
    ("breakthrough_holes", "material", ["a2-a3"], None, 2 / (2 * 6 * (3 + 6) + 6)),
    # A capture on the row d: White's pawn made 3 steps, Black's captured one had made 2.
    (
        "breakthrough",
        "material",
        ["b2-b3", "a5-a4", "b3-a4"],
        None,
        (4 + (1 + 2 + 5) - 5 - 0 + 2) / (2 * 6 * (3 + 6) + 6),
    ),
    ("breakthrough_suicide", "steps", ["b2-b3"], None, -1 / (2 * 6 * 6)),
    # A jump of two rows.
    ("knight_through", "material", ["b2-c4"], None, (2 + 2) / (2 * 8 * (3 + 8) + 8)),
    # Black's stone in the center has bridges to both edges; White needs two stones.
    ("hex:board_size=3", "shortest_path", ["b2"], None, (2 - 0) / (2 + 0 + 1)),
    # 4 liberties against 2, and 4 cells beside Black's stone against 2.
    ("atari_go:board_size=5", "liberties", ["c3", "a1"], None, (8 * 2 + 2) / (8 * 8 + 5 * 5)),
    # White has 2 safe jumps and 2 after each; Black has one and 2 after it.
    ("knight_fight:board_size=4", "jumps", ["c2"], None, (6 - 3) / (6 + 3 + 1)),
    # The sheep fill the lowest row; the wolf can reach 5 other cells.
    ("sheep_and_wolf:board_size=4", "escape", [], None, -1 / (5 + 1)),
    ("sheep_and_wolf:board_size=4", "escape", [], open_path, 1 / (3 + 1)),
    ("free_for_all", "captures", [], capture, (2 - 1) / 30),
    ("othello", "discs", [], set_corner, (3 - 2) / 5),
    ("othello", "corners", [], set_corner, 10 / (4 * 10 + 64)),
    # Black has 4 discs and White 1; both have 3 placements.
    ("othello", "discs", ["d3"], None, (4 - 1) / 5),
    ("othello", "corners", ["d3"], None, 0.0),
]


@pytest.mark.parametrize(("spec", "name", "moves", "change", "expected"), VALUES)
def test_scores_equal_those_computed_by_hand(
    spec: str, name: str, moves: list[str], change: Callable[[Any], None] | None, expected: float
) -> None:
    game = make_game(spec)
    s = positions(game, [game.action_names.index(move) for move in moves])[-1]
    if change is not None:
        change(s)
    assert scores(find_evaluation(name, game), s)[0] == pytest.approx(expected)


def test_values_cover_all_evaluations() -> None:
    covered = {(make_game(spec).name, name) for spec, name, *_ in VALUES}
    assert covered == {
        (game.name, name) for game in SEQUENTIAL for name in find_knowledge(game).evaluations
    }


def by_mobility(game: Game, s: Any, depth: int, parent: tuple[int, int]) -> float:
    """Return the value for the player to move by plain minimax with mobility at the leaves.

    `parent` is the player that moved last, and the number of its legal actions.
    """
    assert game.player is not None
    player, out = game.player(s), np.zeros(2)
    if game.is_terminal(s):
        game.returns(s, out)
        return float(out[player])
    legal = game.legal(s)
    if depth == 0:
        return (len(legal) - parent[1]) / (len(legal) + parent[1] + 1)
    values = []
    for action in legal:
        child = s.copy()
        game.step(child, action)
        values.append(-by_mobility(game, child, depth - 1, (player, len(legal))))
    return max(values)


@pytest.mark.parametrize("name", ["", "mobility"])
def test_games_without_their_own_evaluation_use_mobility(name: str) -> None:
    game = replace(make_game("breakthrough:rows=5,columns=3"), name="unknown")
    agent = AlphaBetaAgent(game, depth=2, evaluation=name)
    for s in positions(game, random_actions(game, 1))[:-1:4]:
        report = agent.search(s)
        expected = by_mobility(game, s, 2, (0, 0))
        assert 2 * report.candidates[0].mean - 1 == pytest.approx(expected, abs=1e-5)


def test_unknown_evaluations_are_refused_with_the_names() -> None:
    with pytest.raises(ValueError, match=r"mean 'lines'\?\); .* lines, returns, mobility"):
        make_agent("alphabeta:evaluation=line", make_game("connect4"))
    with pytest.raises(ValueError, match=r"expected one of corners, discs, returns$"):
        find_evaluation("mobility", make_game("othello"))


@pytest.mark.slow
@pytest.mark.compiled
def test_alpha_beta_with_evaluations_beats_alpha_beta_without() -> None:
    strong = 0
    for game in SEQUENTIAL:
        game = make_game("hex:board_size=5") if game.name == "hex" else game
        agents = [
            AlphaBetaAgent(game, depth=3),
            AlphaBetaAgent(game, depth=3, evaluation="returns"),
        ]
        score = play_match(game, agents, 20, seed=1).totals[0].score
        assert score >= 0.4, f"{game.name}: score {score} with its evaluation"
        strong += score >= 0.75
    assert strong >= 9  # of 13; Tic-Tac-Toe, for instance, is a draw
