"""Renderers of every game from its layout: text, SVG, pixels and a window.

`render` is the function that environments use. `scene` returns a drawing of a position as shapes (a
`Scene`), which `svg`, `png` and `rgb_array` convert; `svg_animation` and `gif` convert the scenes
of a game. Pixels need Pillow and windows pygame: `pip install "ludoteca[render]"`.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.render.marks import Marks, marked
from ludoteca.envs.render.players import Standing, player_lines, standings, with_players
from ludoteca.envs.render.raster import gif, png, rgb_array
from ludoteca.envs.render.scene import cell_at, scene
from ludoteca.envs.render.svg import svg, svg_animation
from ludoteca.envs.render.text import board_text
from ludoteca.envs.render.window import BoardWindow

__all__ = [
    "BoardWindow",
    "Marks",
    "Standing",
    "board_text",
    "cell_at",
    "gif",
    "marked",
    "player_lines",
    "png",
    "render",
    "rgb_array",
    "scene",
    "standings",
    "svg",
    "svg_animation",
    "with_players",
]


@overload
def render(
    game: Game,
    s: Any,
    mode: Literal["ansi", "svg"],
    *,
    last_action: Any = ...,
    values: ArrayLike | None = ...,
    captions: Sequence[str] | None = ...,
) -> str: ...
@overload
def render(
    game: Game,
    s: Any,
    mode: Literal["rgb_array"],
    *,
    last_action: Any = ...,
    values: ArrayLike | None = ...,
    captions: Sequence[str] | None = ...,
) -> NDArray[np.uint8]: ...
def render(
    game: Game,
    s: Any,
    mode: str,
    *,
    last_action: Any = None,
    values: ArrayLike | None = None,
    captions: Sequence[str] | None = None,
) -> str | NDArray[np.uint8]:
    """Render a position.

    Args:
        game: the game.
        s: the position, one record of the game.
        mode: `"ansi"` returns text, `"svg"` an SVG document, `"rgb_array"` pixels of shape
            `[height, width, 3]`.
        last_action: the action of the last ply of a sequential game, which is marked in images and
            named in text.
        values: numbers to show in the empty cells of images; see `scene`.
        captions: lines under the board; by default, one with the status of the game.

    Raises:
        ImportError: if pixels are requested and Pillow is not installed.
        ValueError: if there is no such mode, or `s` is not a position of this game.
    """
    if mode == "ansi":
        return board_text(game, s, last_action, captions=captions)
    if mode not in ("rgb_array", "svg"):
        raise ValueError(f"mode must be one of 'ansi', 'rgb_array', 'svg', got {mode!r}")
    drawing = scene(game, s, last_action, values=values, captions=captions)
    return svg(drawing) if mode == "svg" else rgb_array(drawing)
