"""Window that shows pictures, by pygame (the extra `render`)."""

import contextlib
import io
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class BoardWindow:
    """A window for pictures of one size, opened by the first `show`.

    pygame has one window per process: showing pictures in another `BoardWindow` takes it over.
    When the user closes it, it stays closed; `show` then does nothing.

    Args:
        title: what the window's title bar says.
    """

    _owner: ClassVar["BoardWindow | None"] = None

    def __init__(self, title: str = "Ludoteca") -> None:
        self.title = title
        self.closed = False
        self._events: list[tuple[int, int] | str] = []
        self._size: tuple[int, int] | None = None
        self._clock: Any = None

    def show(self, frame: NDArray[np.uint8], fps: float = 0) -> None:
        """Show a picture of shape `[height, width, 3]` and handle what the user did meanwhile.

        Args:
            frame: the pixels.
            fps: wait so that no more pictures a second than this are shown; 0 does not wait.

        Raises:
            ImportError: without pygame.
            RuntimeError: if no window can be opened here.
            ValueError: if `frame` is no picture.
        """
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8:
            raise ValueError(
                f"expected uint8 pixels [height, width, 3], got {frame.dtype} {list(frame.shape)}"
            )
        self.pump()
        if self.closed:
            return
        pygame = _pygame()
        surface = self._surface(pygame, (frame.shape[1], frame.shape[0]))
        pygame.surfarray.blit_array(surface, frame.swapaxes(0, 1))
        pygame.display.flip()
        if fps > 0:
            self._clock = self._clock or pygame.time.Clock()
            self._clock.tick(fps)

    def pump(self) -> None:
        """Handle events: remember clicks and keys, and close the window if the user asks for it."""
        if BoardWindow._owner is not self:
            return
        pygame = _pygame()
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.close()
                return
            if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
                self._events.append((int(event.pos[0]), int(event.pos[1])))
            elif event.type == pygame.KEYDOWN:
                self._events.append(str(pygame.key.name(event.key)))
            elif event.type == pygame.VIDEOEXPOSE:
                pygame.display.flip()  # what lay over the window is gone

    def clicks(self) -> list[tuple[int, int]]:
        """Return the pixels (x, y) clicked since the last call, and forget keys."""
        return [event for event in self.events() if not isinstance(event, str)]

    def events(self) -> list[tuple[int, int] | str]:
        """Return what the user did since the last call: pixels clicked, and names of keys.

        Keys are named as by pygame: `"a"`, `"1"`, `"return"`, `"escape"`.
        """
        self.pump()
        found, self._events = self._events, []
        return found

    def close(self) -> None:
        """Close the window for good; closing it again does nothing."""
        self.closed = True
        if BoardWindow._owner is self:
            BoardWindow._owner = None
            _pygame().display.quit()

    def _surface(self, pygame: Any, size: tuple[int, int]) -> Any:
        """Return what the window shows, opening or resizing it first if needed."""
        if BoardWindow._owner is self and size == self._size:
            return pygame.display.get_surface()
        try:
            pygame.display.init()
            surface = pygame.display.set_mode(size)
        except pygame.error as error:
            raise RuntimeError(
                f"cannot open a window ({error}): without a screen use the mode rgb_array, or set "
                "the environment variable SDL_VIDEODRIVER=dummy"
            ) from error
        pygame.display.set_caption(self.title)
        BoardWindow._owner, self._size = self, size
        return surface


def _pygame() -> Any:
    """Import pygame when it is needed, without its greeting and its deprecation warning."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pygame
    except ImportError as error:
        raise ImportError('a window needs pygame: pip install "ludoteca[render]"') from error
    return pygame
