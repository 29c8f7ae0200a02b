"""Resizable window that shows pictures, by pygame (the extra `render`)."""

import contextlib
import io
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class BoardWindow:
    """A resizable window for pictures, opened by the first `show` in the size of its picture.

    A picture of another size than the window is scaled to fit, with its proportions; pixels that
    are clicked are those of the picture. Until the user resizes the window, it follows the size of
    the pictures.

    pygame has one window per process: showing pictures in another `BoardWindow` takes it over.
    When the user closes it, it stays closed; `show` then does nothing.

    Args:
        title: what the window's title bar says.

    Attributes:
        title: what the window's title bar says.
        closed: whether it has been closed.
        size: width and height inside the window in pixels; None before it is opened.
    """

    _owner: ClassVar["BoardWindow | None"] = None

    def __init__(self, title: str = "Ludoteca") -> None:
        self.title = title
        self.closed = False
        self.size: tuple[int, int] | None = None
        self._was_resized = False  # by the user
        self._events: list[tuple[int, int] | str] = []
        self._frame: NDArray[np.uint8] | None = None
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
        self._frame = frame
        self._open((frame.shape[1], frame.shape[0]))
        self._paint()
        if fps > 0:
            self._clock = self._clock or _pygame().time.Clock()
            self._clock.tick(fps)

    def pump(self) -> None:
        """Handle events: remember clicks and keys, and resize or close the window."""
        if BoardWindow._owner is not self:
            return
        pygame = _pygame()
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.close()
                return
            if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
                self._click(*event.pos)
            elif event.type == pygame.KEYDOWN:
                self._events.append(str(pygame.key.name(event.key)))
            elif event.type == pygame.VIDEORESIZE:
                self._follow((max(1, event.w), max(1, event.h)))
            elif event.type == pygame.VIDEOEXPOSE:
                pygame.display.flip()  # what lay over the window is gone
        if surface := pygame.display.get_surface():
            self._follow(surface.get_size())

    def clicks(self) -> list[tuple[int, int]]:
        """Return the pixels (x, y) of the picture clicked since the last call, and forget keys."""
        return [event for event in self.events() if not isinstance(event, str)]

    def events(self) -> list[tuple[int, int] | str]:
        """Return pixels of the picture clicked since the last call, and names of keys.

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

    def _open(self, size: tuple[int, int]) -> None:
        """Open the window if needed, and let it follow the size of the pictures."""
        if BoardWindow._owner is self and (size == self.size or self._was_resized):
            return
        if BoardWindow._owner is not self and self._was_resized and self.size is not None:
            size = self.size
        self._set_size(size)
        _pygame().display.set_caption(self.title)
        BoardWindow._owner = self

    def _follow(self, size: tuple[int, int]) -> None:
        """Take over the size that the user or the window manager has given the window."""
        if size != self.size:
            self._was_resized = True
            self._set_size(size)
            self._paint()

    def _set_size(self, size: tuple[int, int]) -> None:
        """Set the size of the window, or open it."""
        pygame = _pygame()
        try:
            pygame.display.init()
            surface = pygame.display.get_surface()
            if surface is None or surface.get_size() != size:
                pygame.display.set_mode(size, pygame.RESIZABLE)
        except pygame.error as error:
            raise RuntimeError(
                f"cannot open a window ({error}): without a screen use the mode rgb_array, or set "
                "the environment variable SDL_VIDEODRIVER=dummy"
            ) from error
        self.size = size

    def _paint(self) -> None:
        """Draw the picture in the middle of the window, as large as it fits."""
        pygame, frame = _pygame(), self._frame
        if frame is None:
            return
        surface = pygame.display.get_surface()
        if frame.shape[1::-1] == self.size:
            pygame.surfarray.blit_array(surface, frame.swapaxes(0, 1))
        else:
            left, top, width, height = self._place(frame)
            surface.fill(frame[0, 0].tolist())
            picture = pygame.surfarray.make_surface(frame.swapaxes(0, 1))
            surface.blit(pygame.transform.smoothscale(picture, (width, height)), (left, top))
        pygame.display.flip()

    def _place(self, frame: NDArray[np.uint8]) -> tuple[int, int, int, int]:
        """Return left, top, width and height of a picture in the window."""
        assert self.size is not None
        height, width = frame.shape[:2]
        fit = min(self.size[0] / width, self.size[1] / height)
        shown = max(1, round(width * fit)), max(1, round(height * fit))
        return (self.size[0] - shown[0]) // 2, (self.size[1] - shown[1]) // 2, *shown

    def _click(self, x: int, y: int) -> None:
        """Remember a click as a pixel of the picture, unless it is beside the picture."""
        if self._frame is None:
            return
        left, top, width, height = self._place(self._frame)
        if left <= x < left + width and top <= y < top + height:
            rows, columns = self._frame.shape[:2]
            self._events.append(((x - left) * columns // width, (y - top) * rows // height))


def _pygame() -> Any:
    """Import pygame when it is needed, without its greeting and its deprecation warning."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pygame
    except ImportError as error:
        raise ImportError('a window needs pygame: pip install "ludoteca[render]"') from error
    return pygame
