"""Small games of this package as OpenSpiel games."""

from typing import Any

import pytest

pytest.importorskip("pyspiel")

from dots_and_boxes import dots_and_boxes

from ludoteca.envs.adapters.openspiel import LudotecaGame, load_game

# Sequential and simultaneous games, with passes and with chance; small, as each is compiled.
SMALL = (
    "tictactoe",
    "hex:board_size=2,swap=True",
    "othello:board_size=4",
    "tron:rows=3,columns=3",
    "hungry_geese:rows=3,columns=4,episode_steps=12",
)


def game_of(spec: Any) -> LudotecaGame:
    """Return an OpenSpiel game from a spec string, or Dots and Boxes of one box."""
    return load_game(dots_and_boxes(1) if spec == "dots_and_boxes" else spec)
