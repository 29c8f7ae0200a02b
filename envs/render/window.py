"""Resizable window that shows pictures, by pygame (the extra `render`)."""

import contextlib
import io
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class BoardWindow:
    """Resizable window for pictures; the first `show` opens it in the size of its picture.

    A picture of another size than the window is scaled to fit, with its proportions; clicks are
    reported as pixels of the picture, not of the window. Until the user resizes the window, it
    takes the size of each picture.

    pygame has one window per process: showing pictures in another `BoardWindow` takes it over.
    When the user closes the window, it stays closed; `show` then does nothing.

    Args:
        title: text of the title bar.

    Attributes:
        title: text of the title bar.
        closed: whether the window has been closed.
        size: width and height inside the window in pixels; None before it is opened.
    """

    _owner: ClassVar["BoardWindow | None"] = None

    def __init__(self, title: str = "Ludoteca") -> None:
        self.title = title
        self.closed = False
        self.size: tuple[int, int] | None = None
        self._was_resized = False  # by the user
        self._events: list[tuple[int, int] | str] = []  # clicked pixels and names of keys
        self._frame: NDArray[np.uint8] | None = None  # the picture shown
        self._clock: Any = None  # pygame's clock, which limits the frames per second

    def show(self, frame: NDArray[np.uint8], fps: float = 0) -> None:
        """Show a picture, and handle the events since the last call.

        Args:
            frame: the pixels, uint8. Shape `[height, width, 3]`.
            fps: maximum number of pictures per second, for which `show` waits; 0 does not wait.

        Raises:
            ImportError: if pygame is not installed.
            RuntimeError: if no window can be opened, for example without a screen.
            ValueError: if `frame` has another dtype or shape.
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
        """Handle events: store clicks and keys, and resize or close the window."""
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
                pygame.display.flip()  # draws the parts that were covered by other windows
        if surface := pygame.display.get_surface():
            self._follow(surface.get_size())

    def clicks(self) -> list[tuple[int, int]]:
        """Return the pixels (x, y) of the picture clicked since the last call; discard keys."""
        return [event for event in self.events() if not isinstance(event, str)]

    def events(self) -> list[tuple[int, int] | str]:
        """Return the clicks and keys since the last call, in their order.

        A click is the pixel (x, y) of the picture, a key its name in pygame: `"a"`, `"1"`,
        `"return"`, `"escape"`.
        """
        self.pump()
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Close the window for good; closing it again does nothing."""
        self.closed = True
        if BoardWindow._owner is self:
            BoardWindow._owner = None
            _pygame().display.quit()

    def _open(self, size: tuple[int, int]) -> None:
        """Open the window if needed, in `size` unless the user has resized it."""
        if BoardWindow._owner is self and (size == self.size or self._was_resized):
            return
        if BoardWindow._owner is not self and self._was_resized and self.size is not None:
            size = self.size
        self._set_size(size)
        _pygame().display.set_caption(self.title)
        BoardWindow._owner = self

    def _follow(self, size: tuple[int, int]) -> None:
        """Adopt the size that the user or the window manager has given the window."""
        if size != self.size:
            self._was_resized = True
            self._set_size(size)
            self._paint()

    def _set_size(self, size: tuple[int, int]) -> None:
        """Set the size of the window; open it if needed.

        Raises:
            RuntimeError: if no window can be opened.
        """
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
        """Store a click at pixel (x, y) of the window as a pixel of the picture, if it is on it."""
        if self._frame is None:
            return
        left, top, width, height = self._place(self._frame)
        if left <= x < left + width and top <= y < top + height:
            rows, columns = self._frame.shape[:2]
            self._events.append(((x - left) * columns // width, (y - top) * rows // height))


def _pygame() -> Any:
    """Return pygame, imported when it is needed, without its greeting and deprecation warning."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pygame
    except ImportError as error:
        raise ImportError('a window needs pygame: pip install "ludoteca[render]"') from error
    return pygame
