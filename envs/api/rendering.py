"""Rendering of positions, shared by the environments that hold one game (not by vector ones)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.validation import check_render_mode


class BoardRenderer:
    """Renderer of positions in one render mode; imports `ludoteca.envs.render` when needed."""

    def __init__(self, game: Game, mode: str | None, metadata: Mapping[str, Any]):
        """Make the renderer; `mode` must be None or in `metadata["render_modes"]`."""
        self._game = game
        self._mode: Any = check_render_mode(mode, metadata["render_modes"])
        self._window: Any = None

    def show(self, s: Any, last_action: Sequence[Any] = ()) -> Any:
        """Return the image or text of `s`, or show it in a window and return None.

        Args:
            s: the position.
            last_action: the action that led to it, in a list of length 1; an empty list if none
                did. Drawn in sequential games only.
        """
        from ludoteca.envs.render import render

        if self._mode is None:
            return None
        action = last_action[0] if last_action and not self._game.simultaneous else None
        if self._mode != "human":
            return render(self._game, s, self._mode, last_action=action)
        if self._window is None:
            from ludoteca.envs.render.window import BoardWindow

            self._window = BoardWindow(self._game.title)
        self._window.show(render(self._game, s, "rgb_array", last_action=action))
        return None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_window": None}  # every copy opens its own window

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
