"""Panel of the players, boards in color, and animations of whole games."""

import io
import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pytest

from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render import (
    board_text,
    gif,
    player_lines,
    rgb_array,
    scene,
    standings,
    svg,
    with_players,
)
from ludoteca.envs.render.__main__ import choose_action
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.shapes import Circle, Path, Rectangle, Scene, Text, colors, shifted
from ludoteca.envs.render.status import best_players, board_codes
from ludoteca.envs.render.terminal import terminal_board

SVG = "{http://www.w3.org/2000/svg}"


@cache
@np.errstate(over="ignore")
def play(game, seed=0):
    """Return all positions of a random game, in order."""
    rng, s = np.random.default_rng(seed), game.new(seed)
    positions = [s.copy()]
    while not game.is_terminal(s):
        game.step(s, choose_action(game, s, rng))
        positions.append(s.copy())
    return positions


def paneled(game, positions, names=(), **options):
    """Return the scenes of positions, with the panel of the players."""
    return [
        with_players(scene(game, s, captions=()), game, standing, names, **options)
        for s, standing in zip(positions, standings(game, positions), strict=True)
    ]


def texts(shapes):
    """Return the texts among shapes."""
    return [shape.text for shape in shapes if isinstance(shape, Text)]


@pytest.mark.parametrize("name", GAMES)
def test_every_image_shows_the_players_and_their_standing(name):
    game = make_game(name)
    positions = play(game)
    names = [f"agent:number={p},name=somebody" for p in range(game.num_players)]
    pictures = paneled(game, positions, names, heading="ply 7", news="it is over")
    assert len({(image.width, image.height, image.base) for image in pictures}) == 1
    shown = list(standings(game, positions))
    for picture, standing in zip(pictures, shown, strict=True):
        assert {"ply 7", "it is over"} <= set(texts(picture.shapes))
        assert " ".join(texts(picture.base)).count("somebody") == game.num_players
        for line in standing:
            assert line.text in texts(picture.shapes)
    board = board_geometry(game.layout).width
    for shape in (*pictures[-1].base, *pictures[-1].shapes):
        if isinstance(shape, Text) and shape.anchor == "left":
            # The panel is 260 pixels wide; a character takes at least half of the text size.
            assert board <= shape.x < shape.x + 0.5 * shape.size * len(shape.text) < board + 260
            assert shape.y < pictures[-1].height - shape.size / 2
    final_texts = [line.text for line in shown[-1]]
    best = [p for p, text in enumerate(final_texts) if text.split(", ")[-1] in ("wins", "1st")]
    draw = all(text.split(", ")[-1] == "draws" for text in final_texts)
    assert draw or best == best_players(game, positions[-1])
    assert not any(mark in line.text for line in shown[0] for mark in ("wins", "1st", "out"))


@pytest.mark.parametrize("name", [name for name in GAMES if not make_game(name).simultaneous])
def test_the_player_to_move_is_shown(name):
    game = make_game(name)
    *positions, end = play(game)
    for s, standing in zip(positions, standings(game, positions), strict=True):
        to_move = [p for p, line in enumerate(standing) if "to move" in line.text]
        assert to_move == [game.player(s)]
    *_, last = standings(game, [*positions, end])
    assert not any("to move" in line.text for line in last)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed > 1 else ()) for seed in range(4)]
)
def test_lengths_of_geese_and_when_they_died(seed):
    game = hungry_geese(num_players=5)
    positions = play(game, seed)
    lived = [max(t for t, s in enumerate(positions) if s.length[p]) for p in range(5)]
    for t, standing in enumerate(standings(game, positions)):
        for p, line in enumerate(standing):
            length = len(geese(positions[t])[p])
            assert line.is_out == (t > lived[p]) == (length == 0)
            expected = f"out at ply {lived[p] + 1}" if line.is_out else f"length {length}"
            assert line.text.split(", ")[0] == expected
    scores = positions[-1].score
    places = [line.text.split(", ")[1] for line in standing]
    endings = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th"}
    assert places == [endings[1 + int((scores > score).sum())] for score in scores]


def test_players_are_shown_as_text():
    game = make_game("othello")
    s = game.new()
    (standing,) = standings(game, [s])
    assert player_lines(game, standing, ["mcts", "greedy"]) == [
        "X mcts    discs 2, to move",
        "O greedy  discs 2",
    ]
    assert player_lines(game, standing)[0] == "X black  discs 2, to move"


def test_long_names_are_broken_and_then_cut():
    game = make_game("connect4")
    positions = [game.new()]
    name = "mcts:simulations=1000,policy=ucb_alpha1"
    (picture,) = paneled(game, positions, [name, "deterministic:corridor=0.25,reach=0"])
    assert texts(picture.base)[-2:] == ["deterministic:", "corridor=0.25, reach=0"]
    (picture,) = paneled(game, positions, [name, "x" * 500])
    shown = texts(picture.base)
    assert shown[-5:-3] == ["mcts:simulations=1000,", "policy=ucb_alpha1"]
    assert shown[-1].endswith("..")
    with pytest.raises(ValueError, match=r"connect4:.* has 2 players, got the names \['a'\]"):
        paneled(game, positions, ["a"])


def test_gifs_contain_colors_that_appear_late():
    """The palette has colors that are missing in the first, the middle and the last image."""
    from PIL import Image

    def picture(k, color):
        return Scene(90, 90, "#ffffff", (), (Rectangle(20 + k, 30, 30, 30, color),))

    frame_colors = [
        "#2565ae",
        "#2565ae",
        "#5c8cc2",
        "#2565ae",
        "#2565ae",
        "#2e8b57",
        "#2565ae",
        "#2565ae",
    ]
    with Image.open(
        io.BytesIO(gif([picture(*numbered) for numbered in enumerate(frame_colors)]))
    ) as image:
        for k, color in enumerate(frame_colors):
            image.seek(k)
            pixel = np.array(image.convert("RGB")).astype(int)[45, 45]
            expected = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
            assert np.abs(pixel - expected).max() <= 3


def test_paths_have_flat_ends_and_round_bends():
    path = Path(((10, 10), (40, 10), (40, 40)), "#000000", 10)
    picture = Scene(60, 60, "#ffffff", (), (path,))
    dark = rgb_array(picture).max(-1) < 128
    assert dark[10, 11:40].all()
    assert dark[10:39, 40].all()
    assert not dark[10, :9].any()
    assert not dark[42:, 40].any()
    assert dark[7, 42]  # around the bend
    assert not dark[5, 44]
    line = ET.fromstring(svg(picture)).find(f"{SVG}polyline")
    assert line.get("points") == "10,10 40,10 40,40"
    assert (line.get("fill"), line.get("stroke-linejoin")) == ("none", "round")
    assert shifted(path, 1, 2).points == ((11, 12), (41, 12), (41, 42))
    assert colors(path) == {"#000000"}
    assert colors(Circle(0, 0, 1, None, "#123456")) == {"#123456"}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plain", [False, True])
def test_terminals_show_every_cell_in_its_color(name, plain):
    game = make_game(name)
    positions = play(game)
    layout = game.layout
    for s in (positions[0], positions[len(positions) // 2], positions[-1]):
        board = terminal_board(game, s, plain=plain)
        labels = layout.coordinates != "none" and not layout.column_actions
        lines = board.split()[1 if labels else 0 :]
        margin = 2 + len(str(layout.rows)) if labels else 1
        for r, (line, row) in enumerate(zip(lines, board_codes(game, s), strict=False)):
            start = margin + (r if layout.grid == "hexagons" else 0)
            shown = line.plain[start : start + 2 * layout.columns : 2]
            for c, code in enumerate(row):
                assert (shown[c] in ".·") == (code == 0)
                style = line.get_style_at_offset(_console(), start + 2 * c)
                if code:
                    piece = layout.pieces[code - 1]
                    part = style.bgcolor if piece.shape == "head" else style.color
                    assert part.name == piece.color
        assert board.plain.isascii() or not plain
        assert len(lines) == layout.rows + layout.column_actions


def _console():
    """Return a console of Rich, which resolves styles."""
    from rich.console import Console

    return Console()


def test_bodies_are_joined_in_terminals():
    game = hungry_geese(num_players=2, rows=4, columns=6, min_food=1)
    s = game.new()
    s.occupied[:], s.start[:] = 0, 0
    # Goose A goes west, around the border; goose B north.
    for p, cells in enumerate(([2, 1, 0, 5, 11, 10], [15, 21, 3])):
        s.body[p, : len(cells)], s.length[p] = cells, len(cells)
        s.occupied.ravel()[cells] = 1
    s.food[0], s.num_food = 13, 1
    s.occupied.ravel()[13] = -1
    assert game.validate(s) == ""
    assert terminal_board(game, s).plain.splitlines() == [
        "━━━━━A ╹ · ┏━",
        " · · · · ╺━┛ ",
        " · ● · B · · ",
        " · · · ┃ · · ",
    ]
    plain = terminal_board(game, s, plain=True).plain.splitlines()
    assert [line.strip() for line in plain] == board_text(game, s).splitlines()[:4]
