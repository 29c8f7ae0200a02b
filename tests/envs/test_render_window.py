"""Windows of boards, and what the renderer imports."""

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import ludoteca.envs.render as rendering
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import BoardWindow, render


def test_the_error_without_pygame_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r'pip install "ludoteca\[render\]"'):
        BoardWindow().show(np.zeros((4, 4, 3), np.uint8))


def test_window_shows_images_and_closes(pygame):
    game = make_game("hex:board_size=3")
    frame = render(game, game.new(), "rgb_array")
    window = BoardWindow("Hex")
    window.show(frame, fps=1000)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, frame)
    assert pygame.display.get_caption()[0] == "Hex"
    window.close()
    window.close()
    assert window.closed
    assert not pygame.display.get_init()
    window.show(frame)  # does nothing
    assert not pygame.display.get_init()


def test_window_closes_when_the_user_asks(pygame):
    frame = np.zeros((30, 40, 3), np.uint8)
    window = BoardWindow()
    window.show(frame)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(frame)
    assert window.closed
    assert not pygame.display.get_init()
    window.pump()
    assert window.clicks() == []


def test_window_remembers_clicks(pygame):
    window = BoardWindow()
    window.show(np.zeros((30, 40, 3), np.uint8))
    for button in (1, 3):
        event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=button, pos=(7, 9))
        pygame.event.post(event)
    assert window.clicks() == [(7, 9)]
    assert window.clicks() == []
    window.close()


def resize(pygame, width, height):
    """Resize the window as a user does."""
    pygame.event.post(
        pygame.event.Event(pygame.VIDEORESIZE, w=width, h=height, size=(width, height))
    )


def test_a_resized_window_scales_images_and_clicks(pygame):
    window = BoardWindow()
    frame = np.full((30, 40, 3), 200, np.uint8)
    frame[9, 7] = 0  # a dark pixel at x = 7, y = 9
    window.show(frame)
    assert window.size == (40, 30)
    resize(pygame, 100, 60)
    window.pump()
    assert window.size == pygame.display.get_surface().get_size() == (100, 60)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    # The image is doubled to 80x60 and centered in 100x60: (7, 9) covers x = 24, 25 and y = 18, 19.
    assert np.argwhere(shown[..., 0] < 100).mean(0) == pytest.approx((18.5, 24.5), abs=0.5)
    for position in ((24, 18), (25, 19), (9, 30), (90, 30)):  # the last two are beside the image
        event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=position)
        pygame.event.post(event)
    assert window.clicks() == [(7, 9), (7, 9)]
    window.show(np.zeros((50, 50, 3), np.uint8))  # the size that the user has chosen remains
    assert window.size == (100, 60)
    window.close()


def test_a_window_follows_the_size_of_images_until_it_is_resized(pygame):
    window = BoardWindow()
    window.show(np.zeros((30, 40, 3), np.uint8))
    window.show(np.zeros((50, 60, 3), np.uint8))
    assert pygame.display.get_surface().get_size() == window.size == (60, 50)
    assert pygame.display.get_surface().get_flags() & pygame.RESIZABLE
    window.close()


def test_a_window_takes_over_the_size_that_a_window_manager_gives_it(pygame):
    from pygame._sdl2.video import Window

    window = BoardWindow()
    window.show(np.zeros((300, 400, 3), np.uint8))
    Window.from_display_module().size = (800, 450)  # without an event of the type VIDEORESIZE
    window.pump()
    assert window.size == pygame.display.get_surface().get_size() == (800, 450)
    window.close()


@pytest.mark.interpreted
def test_windows_of_environments_are_resizable(pygame):
    env = gymnasium.make("ludoteca/TicTacToe-v0", render_mode="human")
    env.reset(seed=1)
    env.render()
    width, height = pygame.display.get_surface().get_size()
    resize(pygame, 2 * width, 2 * height)
    env.render()
    assert pygame.display.get_surface().get_size() == (2 * width, 2 * height)
    env.close()


def test_a_second_window_replaces_the_first(pygame):
    first, second = BoardWindow("first"), BoardWindow("second")
    first.show(np.zeros((30, 40, 3), np.uint8))
    second.show(np.full((20, 50, 3), 9, np.uint8))
    first.close()
    assert pygame.display.get_surface().get_size() == (50, 20)
    assert pygame.display.get_caption()[0] == "second"
    second.close()


def test_a_window_raises_an_error_for_arrays_that_are_not_images():
    with pytest.raises(ValueError, match=r"expected uint8 pixels .* got float64 \[4, 4, 3\]"):
        BoardWindow().show(np.zeros((4, 4, 3)))


def test_a_missing_screen_is_an_error(monkeypatch, pygame):
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    pygame.display.quit()
    with pytest.raises(RuntimeError, match=r"cannot open a window .*rgb_array"):
        BoardWindow().show(np.zeros((4, 4, 3), np.uint8))


def test_importing_render_loads_no_extra_and_sets_no_variable():
    code = (
        "import os, sys; before = dict(os.environ); import ludoteca.envs.render; "
        "assert dict(os.environ) == before; "
        "assert not {'PIL', 'pygame', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=os.sep)


def test_pygame_prints_nothing_when_imported(tmp_path):
    code = (
        "import numpy as np; from ludoteca.envs.render import BoardWindow; "
        "window = BoardWindow(); window.show(np.zeros((4, 4, 3), np.uint8)); window.close()"
    )
    environment = os.environ | {"SDL_VIDEODRIVER": "dummy"}
    environment.pop("PYGAME_HIDE_SUPPORT_PROMPT", None)
    command = [sys.executable, "-W", "error", "-c", code]
    process = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert process.stdout == process.stderr == ""


def test_exported_names_are_sorted_and_exist():
    assert rendering.__all__ == sorted(rendering.__all__)
    assert all(hasattr(rendering, name) for name in rendering.__all__)
