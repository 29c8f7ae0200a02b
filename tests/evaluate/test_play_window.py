"""Tests of interactive games in a window."""

import numpy as np
import pytest
from interactive import KINDS, User, inputs, sit

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.render.window import BoardWindow
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.play import window
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
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
    monkeypatch.setattr(window, "IDLE", 0.001)
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
    assert len(controller.session.actions) < len(replay.actions)  # the undo
    assert controller.session.waits_for_human


@pytest.mark.parametrize(
    ("spec", "human", "action"),
    [("hex:board_size=2,swap=True", 1, 4), ("othello:board_size=4", 0, 16)],
)
def test_whole_games_have_swaps_and_passes(spec, human, action):
    """Games like those above, without a window, in some of which buttons are needed."""
    game = make_game(spec)
    pressed = 0
    for seed in range(4):
        controller = sit(game, make_agent("random", game), human)
        screen = Screen(controller)
        for user_input in whole_game(controller, seed):
            if user_input == "s":
                pressed += action in controller.session.actions[human::2]
                break
            if isinstance(user_input, str):
                controller.key(user_input)
            elif user_input is not None:
                screen.draw()
                screen.click(*user_input)
            controller.tick()
    assert pressed > 0


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
