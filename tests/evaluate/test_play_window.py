"""Tests of interactive games in a window.

Helpers of `interactive`: `sit` returns the controller of a game with a person in one seat, `inputs`
yields the clicks and keys of an action, and `User` is a window with a scripted user.
"""

from collections import Counter

import numpy as np
import pytest
from interactive import KINDS, User, inputs, sit

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.render.raster import rgb_array
from ludoteca.envs.render.shapes import Circle, Polygon, Rectangle, Scene, Text, scaled
from ludoteca.envs.render.window import BoardWindow
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.play import window
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN

pytestmark = pytest.mark.interpreted

# Widths and heights in pixels; 560 x 560 is the smallest window.
SIZES = (560, 560), (640, 1100), (1280, 800), (1900, 700), (2560, 1440)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Run the test in an empty folder, where games are saved, with short error messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def blank(picture):
    """Return black pixels in place of those of a picture."""
    return np.zeros((picture.height, picture.width, 3), np.uint8)


def whole_game(controller, seed=0):
    """Yield clicks and keys that play a game to its end, save it and take back the last move."""
    rng = np.random.default_rng(seed)
    screen = Screen(controller)
    while not controller.session.is_over:
        if controller.session.waits_for_human:
            choices = controller.picker.buttons() if rng.random() < 0.5 else ()
            yield from inputs(screen, int(rng.choice(choices or controller.session.legal())))
        else:
            yield None
    yield "s"
    yield "u"


@pytest.mark.parametrize("spec", KINDS)
@pytest.mark.parametrize("human", [0, 1])
def test_whole_game_is_played_by_clicks(spec, human, pygame, monkeypatch, tmp_path):
    monkeypatch.setattr(window, "rgb_array", blank)
    monkeypatch.setattr(window, "POLL_SECONDS", 0.001)
    game = make_game(spec)
    controller = sit(game, make_agent("random", game), human, file=tmp_path / "game.json")
    controller.session.seed = 5
    user = User(pygame, whole_game(controller))
    user.show(blank(Screen(controller).draw()))
    window.play_in_window(controller, user)
    assert user.closed
    assert controller.closed
    replay = Replay.load(tmp_path / "game.json")
    assert replay.returns is not None
    assert replay.players[human] == HUMAN
    assert len(controller.session.actions) < len(replay.actions)  # because of the undo
    assert controller.session.waits_for_human


@pytest.mark.parametrize(
    ("spec", "human", "action"),
    [("hex:board_size=2,swap=True", 1, 4), ("othello:board_size=4", 0, 16)],
)
def test_whole_games_have_swaps_and_passes(spec, human, action):
    """Play games like those above without a window: in some, the button of `action` is needed."""
    game = make_game(spec)
    games_with_button = 0
    for seed in range(4):
        controller = sit(game, make_agent("random", game), human)
        screen = Screen(controller)
        for user_input in whole_game(controller, seed):
            if user_input == "s":
                games_with_button += action in controller.session.actions[human::2]
                break
            if isinstance(user_input, str):
                controller.key(user_input)
            elif user_input is not None:
                screen.draw()
                screen.click(*user_input)
            controller.tick()
    assert games_with_button > 0


def test_window_shows_the_scene_and_closes(pygame, monkeypatch):
    controller = sit("tictactoe")
    opened = window.open_window(controller)
    picture = Screen(controller).draw()
    assert pygame.display.get_surface().get_size() == (picture.width, picture.height)
    assert pygame.display.get_caption()[0] == "Tic-Tac-Toe - Ludoteca"
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.play_in_window(controller, opened)
    assert opened.closed
    assert not pygame.display.get_init()


def test_windows_return_keys_and_clicks_in_order(pygame):
    opened = BoardWindow()
    opened.show(np.zeros((30, 40, 3), np.uint8))
    for key in (pygame.K_u, pygame.K_ESCAPE, pygame.K_SPACE):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=(7, key % 20)))
    pygame.event.post(pygame.event.Event(pygame.VIDEOEXPOSE))
    events = opened.events()
    assert [event for event in events if isinstance(event, str)] == ["u", "escape", "space"]
    assert [isinstance(event, str) for event in events] == [True, False] * 3
    assert opened.events() == []
    opened.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spec", ["tictactoe", "hex:board_size=3"])
def test_clicks_follow_the_board_in_a_window_of_any_size(spec, size):
    for k in range(9):
        screen = Screen(sit(spec))
        picture = screen.draw(size)
        circles = [shape for shape in picture.shapes if isinstance(shape, Circle)]
        (radius, count), *_ = Counter(circle.radius for circle in circles).most_common()
        assert count == 9  # the marks of the possible moves
        dots = [circle for circle in circles if circle.radius == radius]
        dot = sorted(dots, key=lambda dot: (round(dot.y), dot.x))[k]
        screen.click(dot.x, dot.y)
        assert screen.controller.session.actions == [k]


@pytest.mark.parametrize("size", SIZES)
def test_buttons_follow_the_panel_in_a_window_of_any_size(size):
    screen = Screen(sit("tictactoe"))
    picture = screen.draw(size)
    label = next(s for s in picture.shapes if isinstance(s, Text) and s.text == "values")
    screen.click(label.x, label.y)
    assert screen.controller.show_values
    quit_label = next(s for s in picture.shapes if isinstance(s, Text) and s.text == "quit")
    screen.click(quit_label.x, quit_label.y)
    assert screen.controller.closed


@pytest.mark.parametrize("size", [*SIZES, (100, 100), (9000, 5000)])
def test_everything_is_drawn_inside_the_window_and_can_be_read(size):
    screen = Screen(sit("othello:board_size=4"))
    picture = screen.draw(size)
    assert picture.width >= 560
    assert picture.height >= 560
    assert picture.width * picture.height <= max(4_000_000, size[0] * size[1])
    panel = [s for s in picture.shapes if isinstance(s, Text) and s.x > screen.layout.panel.left]
    assert all(text.size >= 10 for text in panel)
    for shape in (*picture.base, *picture.shapes):
        if isinstance(shape, Rectangle):
            assert shape.x + shape.width <= picture.width + 0.01
            assert shape.y + shape.height <= picture.height + 0.01


def test_cells_of_a_large_board_grow_with_the_window():
    screen = Screen(sit("hex:board_size=19"))

    def width(picture):
        hexagon = next(s for s in picture.base if isinstance(s, Polygon) and len(s.points) == 6)
        return max(x for x, _ in hexagon.points) - min(x for x, _ in hexagon.points)

    assert width(screen.draw()) == pytest.approx(20)
    assert width(screen.draw((1600, 900))) > 35
    assert width(screen.draw((2560, 1440))) > 55


def test_enlarged_shapes_are_the_same_picture():
    picture = Screen(sit("hex:board_size=3")).draw()
    enlarged = Scene(
        2 * picture.width,
        2 * picture.height,
        picture.paper,
        tuple(scaled(shape, 2) for shape in picture.base),
        tuple(scaled(shape, 2) for shape in picture.shapes),
    )
    large = rgb_array(enlarged).astype(float)
    halved = large.reshape(picture.height, 2, picture.width, 2, 3).mean((1, 3))
    assert np.abs(halved - rgb_array(picture)).mean() < 1


def test_a_game_is_drawn_again_when_the_window_is_resized(pygame):
    controller = sit("tictactoe")

    def script():
        yield None
        event = pygame.event.Event(pygame.VIDEORESIZE, w=800, h=600, size=(800, 600))
        pygame.event.post(event)
        yield None
        yield None
        assert pygame.display.get_surface().get_size() == user.size == (800, 600)
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
        assert np.array_equal(shown, rgb_array(Screen(controller).draw((800, 600))))
        yield "q"

    user = User(pygame, script())
    user.show(rgb_array(Screen(controller).draw()))
    window.play_in_window(controller, user)
    assert controller.closed
