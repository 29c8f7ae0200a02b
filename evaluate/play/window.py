"""Interactive games in a resizable window."""

import sys
import time
from importlib.util import find_spec
from os import environ

from ludoteca.envs.render.raster import rgb_array
from ludoteca.envs.render.window import BoardWindow
from ludoteca.evaluate.play.controller import GameController
from ludoteca.evaluate.play.screen import Screen

POLL_SECONDS = 0.02  # between checks of the user's input


def open_window(controller: GameController) -> BoardWindow:
    """Open a window that shows a game.

    Raises:
        ImportError: without pygame or Pillow.
        RuntimeError: if no window can be opened here.
    """
    window = BoardWindow(f"{controller.session.game.title} - Ludoteca")
    window.show(rgb_array(Screen(controller).draw()))
    return window


def play_in_window(controller: GameController, window: BoardWindow) -> None:
    """Play until the user closes the window or quits; the window is closed afterwards."""
    screen = Screen(controller)
    shown_size = None  # size of the window at the last picture
    try:
        while not (window.closed or controller.closed):
            events = window.events()
            for event in events:
                if isinstance(event, str):  # name of a key; else the pixel (x, y) of a click
                    controller.key(event)
                else:
                    screen.click(*event)
            if controller.tick() or events or window.size != shown_size:
                window.show(rgb_array(screen.draw(window.size)))
                shown_size = window.size
            else:
                time.sleep(POLL_SECONDS)
    finally:
        window.close()


def why_no_window() -> str:
    """Return the reason why no window can be opened here, or `""` if none is known."""
    for package, module in (("pygame", "pygame"), ("Pillow", "PIL")):
        if find_spec(module) is None:
            return f'a window needs {package}: pip install "ludoteca[render]"'
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    if sys.platform.startswith("linux") and not any(environ.get(name) for name in displays):
        return "there is no display"
    return ""
