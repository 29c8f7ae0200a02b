"""Rendered boards: text, and the places of the shapes of images."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from rendered_games import SVG, play, position, sample

from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render import board_text, cell_at, render, rgb_array, scene, svg
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.shapes import Circle, Polygon, Text
from ludoteca.envs.render.status import board_codes, describe_result, status_text


@pytest.mark.parametrize("name", GAMES)
def test_every_mode_draws_start_middle_and_end(name):
    game = make_game(name)
    shapes = set()
    for s, action in sample(game):
        pixels = render(game, s, "rgb_array", last_action=action)
        assert pixels.dtype == np.uint8
        assert len(np.unique(pixels.astype(int) @ [65536, 256, 1])) > 4  # colors, 0xRRGGBB
        shapes.add(pixels.shape)
        root = ET.fromstring(render(game, s, "svg", last_action=action))
        assert root.tag == f"{SVG}svg"
        assert (int(root.get("height")), int(root.get("width")), 3) == pixels.shape
        assert not any("href" in key for element in root.iter() for key in element.attrib)
        text = render(game, s, "ansi", last_action=action)
        assert text.isascii()
        assert text == render(game, s, "ansi", last_action=action)
    assert len(shapes) == 1
    height, width, _ = shapes.pop()
    assert 400 <= max(height, width) <= 800


@pytest.mark.parametrize("name", GAMES)
def test_text_shows_every_cell(name):
    game = make_game(name)
    letters = np.array([".", *(piece.letter for piece in game.layout.pieces)])
    for s, _ in sample(game):
        lines = iter(board_text(game, s).splitlines())
        for row in letters[board_codes(game, s)]:
            # Rows appear in order: the search continues behind the line of the row above.
            assert any(" ".join(row) in line for line in lines), row


@pytest.mark.parametrize("name", GAMES)
def test_pieces_have_distinct_letters_and_every_player_has_one(name):
    pieces = make_game(name).layout.pieces
    assert len({piece.letter for piece in pieces}) == len(pieces)
    assert {piece.player for piece in pieces} - {-1} == set(range(make_game(name).num_players))


@pytest.mark.parametrize("name", GAMES)
def test_status_names_mover_and_result(name):
    game = make_game(name)
    start, _, end = (s for s, _ in sample(game))
    assert game.layout.counts or "to move" in status_text(game, start)
    assert "to move" not in status_text(game, end)
    assert status_text(game, end).startswith(describe_result(game, end))


def test_status_of_finished_games():
    game, s = position("tictactoe", ["a1", "a2", "b1", "b2", "c1"])
    assert status_text(game, s) == "X wins"
    game, s = position("tictactoe", ["a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3"])
    assert status_text(game, s) == "draw"
    game, s = position("connect4", ["1", "2", "1", "2", "1", "2", "1"])
    assert status_text(game, s) == "red wins"
    # Blue rides into the south border first.
    game, s = position("tron", [(0, 2)] * 2 + [(1, 2)])
    assert status_text(game, s) == "red wins"
    game, s = position("othello", ["d3"])
    assert status_text(game, s, 19) == "white to move, black 4, white 1, last move d3"


def test_status_of_geese_has_their_lengths():
    game = make_game("hungry_geese")
    for s, _ in play(game):
        if not game.is_terminal(s):
            parts = [
                f"goose {'ABCD'[p]} {n if n else 'out'}" for p, n in enumerate(s.length.tolist())
            ]
            assert status_text(game, s) == ", ".join(parts)


def test_geese_with_equal_scores_tie():
    game = make_game("hungry_geese:num_players=3,episode_steps=2")
    s = game.new(1)
    s.steps = s.max_steps
    s.score[:] = 5, 9, 9
    assert describe_result(game, s) == "goose B and goose C tie for first"
    s.score[:] = 9
    assert describe_result(game, s) == "draw"


def test_hex_board_is_a_rhombus():
    game, s = position("hex:board_size=3", ["b1", "c2", "a3"])
    assert board_text(game, s, 6).splitlines() == [
        "        black",
        "        a b c",
        "      1 . X . 1",
        "white  2 . . O 2 white",
        "        3 X . . 3",
        "           a b c",
        "           black",
        "white to move, last move a3",
    ]


def test_columns_of_connect_four_are_numbered():
    game, s = position("connect4:rows=2,columns=10", ["10", "9"])
    assert board_text(game, s).splitlines() == [
        " .  .  .  .  .  .  .  .  .  .",
        " .  .  .  .  .  .  .  .  O  X",
        " 1  2  3  4  5  6  7  8  9 10",
        "red to move",
    ]


@pytest.mark.parametrize(
    "spec", [*GAMES, "hex:board_size=2", "hex:board_size=19", "connect4:rows=3,columns=20"]
)
def test_cell_at_inverts_centers(spec):
    game = make_game(spec)
    board = board_geometry(game.layout)
    for row in range(game.layout.rows):
        for column in range(game.layout.columns):
            x, y = board.center(row, column)
            assert 0 < x < board.width
            assert 0 < y < board.height
            for corner_x, corner_y in board.outline(row, column):
                # Just inside of each corner is this cell, just outside another cell or none.
                inside = x + 0.98 * (corner_x - x), y + 0.98 * (corner_y - y)
                outside = x + 1.02 * (corner_x - x), y + 1.02 * (corner_y - y)
                assert cell_at(game, *inside) == (row, column)
                assert cell_at(game, *outside) != (row, column)
    assert cell_at(game, 0, 0) is None
    assert cell_at(game, board.width, board.height) is None


def test_hex_rows_shift_right_and_neighbors_touch():
    board = board_geometry(make_game("hex:board_size=5").layout)
    (x, y), (below_x, below_y) = board.center(0, 0), board.center(1, 0)
    assert below_x - x == pytest.approx(board.cell / 2)
    assert below_y > y
    for dr, dc in ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1)):
        dx, dy = np.subtract(board.center(2 + dr, 2 + dc), board.center(2, 2))
        assert np.hypot(dx, dy) == pytest.approx(board.cell)


def test_hex_edges_have_their_owners_colors():
    game = make_game("hex")
    pixels = rgb_array(scene(game, game.new()))
    board = board_geometry(game.layout)
    band = 0.2 * board.cell  # from the border of a cell to the middle of the colored edge
    middle = (game.layout.rows - 1) // 2
    x, y = board.center(0, middle)
    assert pixels[int(y - board.side - band), int(x)].max() < 60
    x, y = board.center(game.layout.rows - 1, middle)
    assert pixels[int(y + board.side + band), int(x)].max() < 60
    for column, sign in ((0, -1), (game.layout.columns - 1, 1)):
        x, y = board.center(middle, column)
        assert pixels[int(y), int(x + sign * (board.cell / 2 + band))].min() > 240


@pytest.mark.parametrize("name", GAMES)
def test_pixels_at_a_piece_have_its_color(name):
    game = make_game(name)
    s, _ = sample(game)[1]
    pixels = rgb_array(scene(game, s))
    board = board_geometry(game.layout)
    codes = board_codes(game, s)
    for row, column in np.argwhere(codes).tolist():
        piece = game.layout.pieces[codes[row, column] - 1]
        x, y = board.center(row, column)
        offset = {"disc": 0.2, "ring": 0.3, "head": 0.28}.get(piece.shape, 0) * board.cell
        if piece.shape != "body":  # drawn in a lighter color
            color = [int(piece.color[i : i + 2], 16) for i in (1, 3, 5)]
            # Letters, marks and beaks do not cover the point above and left of the center.
            pixel = pixels[int(y - offset * 0.7), int(x - offset * 0.7)]
            assert np.abs(pixel - np.array(color)).max() <= 12, (piece.name, row, column)


def test_last_move_is_marked():
    game, s = position("connect4", ["4", "4"])
    marked, plain = scene(game, s, 3), scene(game, s)
    extra = [shape for shape in marked.shapes if shape not in plain.shapes]
    x, y = board_geometry(game.layout).center(4, 3)  # on top of the first disc
    assert [(mark.x, mark.y) for mark in extra] == [(x, y)]
    game, s = position("tictactoe", ["b2"])
    assert len(scene(game, s, 4).shapes) == len(scene(game, s).shapes) + 1


def test_actions_without_a_cell_mark_nothing():
    game, s = position("hex:board_size=3,swap=True", ["b1", "swap"])
    assert scene(game, s, 9) == scene(game, s)
    assert "last move swap" in board_text(game, s, 9)
    game = make_game("tron")
    assert scene(game, game.new(), np.array([1, 3])) == scene(game, game.new())
    assert board_text(game, game.new(), np.array([1, 3])) == board_text(game, game.new())


def test_an_invalid_last_action_is_an_error():
    game = make_game("tictactoe")
    with pytest.raises(ValueError, match="tictactoe has the actions 0 to 8, got 9"):
        board_text(game, game.new(), 9)


def test_a_goose_is_drawn_across_the_border():
    game = make_game("hungry_geese:num_players=1,rows=5,columns=6")
    s = game.new()
    s.start[0], s.length[0] = 0, 3
    s.body[0, :3] = 12, 17, 16  # row 2: column 0, around the border to columns 5 and 4
    s.occupied[:] = 0
    s.occupied[2, [0, 5, 4]] = 1
    s.food[:], s.num_food = -1, 0
    pixels = rgb_array(scene(game, s))
    board = board_geometry(game.layout)
    y = int(board.center(2, 0)[1])
    empty = pixels[int(board.center(0, 0)[1]), int(board.center(0, 0)[0])]
    left = board.center(2, 0)[0] - 0.45 * board.cell
    right = board.center(2, 5)[0] + 0.45 * board.cell
    between = board.center(2, 4.5)[0]
    for x in (left, right, between):
        assert np.abs(pixels[y + 4, int(x)].astype(int) - empty).max() > 40
    free = board.center(2, 2.5)[0]
    assert np.abs(pixels[y + 4, int(free) + 4].astype(int) - empty).max() <= 2
    # The head faces east, away from the neck: the tip of the beak, a triangle, is there.
    beak = next(shape for shape in scene(game, s).shapes if isinstance(shape, Polygon))
    assert max(x for x, _ in beak.points) > board.center(2, 0)[0] + 0.5 * board.cell


def test_values_are_written_in_empty_cells():
    game, s = position("tictactoe", ["b2"])
    values = np.linspace(-1, 1, 9)
    texts = [t.text for t in scene(game, s, values=values).shapes if isinstance(t, Text)]
    assert texts[:8] == [f"{v:.2f}" for i, v in enumerate(values) if i != 4]
    # If actions are columns, the value is in the cell that the disc falls to.
    game, s = position("connect4", ["4"])
    values = np.array([np.nan, np.nan, np.nan, 0.25, np.nan, -0.5, np.nan])
    texts = [t for t in scene(game, s, values=values).shapes if isinstance(t, Text)][:2]
    board = board_geometry(game.layout)
    assert {(t.text, t.x, t.y) for t in texts} == {
        ("0.25", *board.center(4, 3)),
        ("-0.50", *board.center(5, 5)),
    }
    # A pass has a value, but no cell.
    game = make_game("othello")
    assert scene(game, game.new(), values=np.zeros(65)) != scene(game, game.new())


def test_values_of_the_wrong_shape_are_an_error():
    game = make_game("tron")
    with pytest.raises(ValueError, match=r"values must have shape \(10, 10\), got \(4,\)"):
        scene(game, game.new(), values=np.zeros(4))


def test_captions_replace_the_status():
    game = make_game("hex:board_size=3")
    captions = ["random <1> & greedy", "second line"]
    captioned = scene(game, game.new(), captions=captions)
    assert [t.text for t in captioned.shapes if isinstance(t, Text)] == captions
    assert captioned.height > scene(game, game.new()).height
    root = ET.fromstring(svg(captioned))
    assert "random <1> & greedy" in [element.text for element in root.iter(f"{SVG}text")]
    assert board_text(game, game.new(), captions=captions).endswith("greedy\nsecond line")
    assert "to move" not in board_text(game, game.new(), captions=())


def test_rendering_does_not_change_the_position():
    for name in GAMES:
        game = make_game(name)
        for s, action in sample(game):
            before = s.tobytes()
            render(game, s, "ansi", last_action=action)
            render(game, s, "svg", last_action=action)
            assert s.tobytes() == before


def test_invalid_codes_of_a_layout_are_an_error():
    game = make_game("tictactoe")
    broken = replace(game, layout=replace(game.layout, cells=lambda s: s.board + 2))
    s = broken.new()
    s.board[0, 0] = 1
    with pytest.raises(ValueError, match="cells of tictactoe must return codes 0 to 2"):
        board_text(broken, s)


def test_unknown_modes_are_an_error():
    game = make_game("tictactoe")
    with pytest.raises(ValueError, match=r"mode must be one of .* got 'human'"):
        render(game, game.new(), "human")


def test_each_disc_is_a_circle():
    game, s = position("othello", ["d3"])
    board = board_geometry(game.layout)
    circles = [shape for shape in scene(game, s, captions=()).shapes if isinstance(shape, Circle)]
    centers = {board.center(row, column) for row, column in np.argwhere(board_codes(game, s))}
    assert {(circle.x, circle.y) for circle in circles} == centers


def test_rows_may_be_numbered_from_the_bottom():
    game, s = position("breakthrough:rows=4,columns=3", ["c2-b3"])
    assert board_text(game, s, game.action_names.index("c2-b3")).splitlines() == [
        "  a b c",
        "4 X X X",
        "3 X O X",
        "2 O O .",
        "1 O O O",
        "black to move, last move c2-b3",
    ]
    labels = {(label.text, label.y) for label in scene(game, s).base if isinstance(label, Text)}
    board = board_geometry(game.layout)
    for row in range(4):
        assert (str(4 - row), board.center(row, 0)[1]) in labels


def test_both_cells_of_the_last_move_are_tinted():
    game, s = position("breakthrough", ["a2-b3"])
    marked = scene(game, s, game.action_names.index("a2-b3"))
    extra = [shape for shape in marked.shapes if shape not in scene(game, s).shapes]
    board = board_geometry(game.layout)
    corners = [board.outline(4, 0)[0], board.outline(3, 1)[0]]  # of a2 and b3
    assert [(tint.x - 1, tint.y - 1) for tint in extra] == corners
    game, s = position("free_for_all", ["a3-b5"])
    passed = game.action_names.index("pass")
    assert scene(game, s, passed) == scene(game, s), "a pass has no cells"


def test_every_second_cell_may_be_dark():
    game = make_game("sheep_and_wolf")
    pixels = rgb_array(scene(game, game.new()))
    board = board_geometry(game.layout)
    dark = [int(game.layout.dark[i : i + 2], 16) for i in (1, 3, 5)]
    for row in range(1, 7):
        for column in range(8):
            x, y = board.center(row, column)
            is_dark = pixels[int(y), int(x)].tolist() == dark
            assert is_dark == ((row + column) % 2 == 1)  # a1, at row 7 and column 0, is dark
