"""The rules of Hungry Geese, told with boards.

On the boards goose 0 is `0123...` from head to tail, goose 1 `abcd...`, goose 2 `ABCD...`, goose 3
`klmn...`, and `*` is food. Moves are letters, one for each goose; `-` for a dead one. Food that a
step brings is not shown.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.games.hungry_geese import FOOD, NONE, geese, hungry_geese
from ludoteca.envs.symmetry import Symmetry

LETTERS = ("0123456789", "abcdefghij", "ABCDEFGHIJ", "klmnopqrst")


def position(
    lines: list[str], *, steps: int = 1, last: str = "----", **params: Any
) -> tuple[Game, Any]:
    """Return the game and the position of a picture; `last` are the last actions."""
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in LETTERS]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    params.setdefault("num_players", max(p + 1 for p in range(4) if bodies[p]))
    params.setdefault("min_food", max(1, len(food)))
    game = hungry_geese(rows=len(lines), columns=len(lines[0]), **params)
    s = game.new()
    s.occupied[:], s.num_food, s.steps, s.start[:] = 0, len(food), steps, 0
    s.food[:] = NONE
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p in range(game.num_players):
        s.body[p, : len(bodies[p])], s.length[p] = bodies[p], len(bodies[p])
        s.occupied.ravel()[bodies[p]] = 1
        s.last_action[p] = "NESW".find(last[p])
        if bodies[p] and steps > 0:
            s.score[p] = (steps + 1) * (s.max_length + 1) + len(bodies[p])
    assert game.check(s) == ""
    return game, s


def play(game: Game, s: Any, moves: str) -> list[str]:
    """Play one step, and return the picture without new food."""
    rows, columns = s.occupied.shape
    old = s.food[: s.num_food].tolist()
    with np.errstate(over="ignore"):  # SplitMix64 wraps around
        game.step(s, ["NESW".find(move) for move in moves])
    assert game.check(s) == ""
    shown = ["*" if i in old and i in s.food else "." for i in range(rows * columns)]
    for letters, goose in zip(LETTERS, geese(s), strict=False):
        for letter, cell in zip(letters, goose, strict=False):
            shown[cell] = letter
    return ["".join(shown[r * columns : (r + 1) * columns]) for r in range(rows)]


def outcome(game: Game, s: Any) -> list[float]:
    out = np.zeros(game.num_players)
    game.returns(s, out)
    return out.tolist()


def view(game: Game, s: Any, player: int) -> Any:
    planes = np.zeros(game.observation_shape, np.int8)
    game.observe(s, player, planes)
    return planes


STORIES = {
    "heads move and tails follow": (
        """
        .....  .0...
        .012.  .12..
        .....  ..a..
        ..abc  ..bc.
        """,
        "NN",
        {},
    ),
    "the north touches the south": (
        """
        0...  1..a
        1..b  ....
        ...a  0..b
        """,
        "NS",
        {},
    ),
    "the west touches the east": (
        """
        01..  1..0
        ....  ....
        ..ba  a..b
        """,
        "WE",
        {},
    ),
    "who eats grows, because its tail stays": (
        """
        *01.  012.
        ....  ....
        .ab.  ab..
        """,
        "WW",
        {},
    ),
    "who turns back dies": (
        """
        .10.  ....
        ....  ....
        ..a.  .a..
        """,
        "WW",
        {"last": "EN"},
    ),
    "who turns back dies, even if it has no neck": (
        """
        .0..  ....
        ....  ..a.
        ..a.  ....
        """,
        "WN",
        {"last": "EE"},
    ),
    "nobody turns back in the first step": (
        """
        .0..  0...
        ....  ..a.
        ..a.  ....
        """,
        "WN",
        {"steps": 0},
    ),
    "who bites itself dies": (
        """
        01..  ....
        32..  ....
        4..a  ..a.
        """,
        "SW",
        {},
    ),
    "its own tail gets out of the way": (
        """
        01..  12..
        32..  03..
        ...a  ..a.
        """,
        "SW",
        {},
    ),
    "the tail of another gets out of the way": (
        """
        .01ab  01ab.
        .....  .....
        .....  .....
        """,
        "WW",
        {},
    ),
    "the tail of who eats does not": (
        """
        *01ab  012..
        .....  .....
        .....  .....
        """,
        "WW",
        {},
    ),
    "who runs into another dies, the other does not": (
        """
        ..a..  .....
        .012.  012..
        .....  .....
        """,
        "WS",
        {},
    ),
    "head on, both die": (
        """
        10.ab  .....
        .....  .....
        .....  .....
        """,
        "EW",
        {},
    ),
    "heads alone change places unharmed": (
        """
        .0a.  .a0.
        ....  ....
        ....  ....
        """,
        "EW",
        {},
    ),
    "with bodies they do not": (
        """
        10ab  ....
        ....  ....
        ....  ....
        """,
        "EW",
        {},
    ),
    "of two on one food both die; the first had it, so its tail was still there, and the other's not": (
        """
        A10*abk  .....k.
        .......  .......
        .......  .......
        """,
        "EWEW",
        {},
    ),
    "all are judged at once: the dying still kill": (
        """
        .b...  .....
        .a...  .....
        210.A  .....
        """,
        "ESW",
        {},
    ),
    "who turns back is gone before the others are judged": (
        """
        .a...  .....
        012..  .a...
        .....  .....
        """,
        "ES",
        {"last": "W-"},
    ),
    "the same, whoever moves first": (
        """
        .0...  .....
        abc..  .0...
        .....  .....
        """,
        "SE",
        {"last": "-W"},
    ),
    "who bites itself is gone before the others are judged, too": (
        """
        01...  .....
        32..a  ..a..
        4..b.  ..b..
        """.replace("..a  ..a..", ".ab  ..ab.").replace("4..b.  ..b..", "4....  ....."),
        "SW",
        {},
    ),
    "each 40th step everybody loses its tail": (
        """
        .012.  01...
        .....  .....
        ...ab  ..a..
        """,
        "WW",
        {"steps": 39},
    ),
    "no step before does": (
        """
        .012.  012..
        .....  .....
        ...ab  ..ab.
        """,
        "WW",
        {"steps": 38},
    ),
    "a head alone starves": (
        """
        ..0..  .....
        .....  .....
        ..ab.  .a...
        """,
        "NW",
        {"steps": 39},
    ),
    "unless it eats just then": (
        """
        .0*..  ..0..
        .....  .....
        ..ab.  .a...
        """,
        "EW",
        {"steps": 39},
    ),
    "the starved harm nobody": (
        """
        .0.ab  ..a..
        .....  .....
        .....  .....
        """,
        "EW",
        {"steps": 39},
    ),
    "nobody grows beyond the largest length": (
        """
        *012.  012..
        .....  .....
        ....a  ...a.
        """,
        "WW",
        {"max_length": 3},
    ),
    "which may be 1": (
        """
        *0...  0....
        .....  .....
        ....a  ...a.
        """,
        "WW",
        {"max_length": 1},
    ),
    "the dead do not move, and food that nobody takes stays": (
        """
        0.*..  .0*..
        .....  .....
        ....A  ...A.
        """,
        "E-W",
        {},
    ),
}


@pytest.mark.parametrize(("picture", "moves", "options"), STORIES.values(), ids=STORIES)
def test_step(picture: str, moves: str, options: dict[str, Any]) -> None:
    pairs = [line.split() for line in picture.strip().splitlines()]
    game, s = position([before for before, _ in pairs], **options)
    steps, scores = int(s.steps), s.score.copy()
    assert play(game, s, moves) == [after for _, after in pairs]
    living = s.length > 0
    assert (s.score[~living] == scores[~living]).all()
    worth = (steps + 2) * (int(s.max_length) + 1) + s.length
    assert (s.score[living] == worth[living]).all()
    assert game.is_terminal(s) == (living.sum() <= 1)
    assert s.num_food == len(s.food)


def test_food_is_refilled_only_where_there_is_room() -> None:
    game, s = position(["0*a", "***", "***"], min_food=9)
    assert play(game, s, "SN") == ["1*.", "0**", "**a"]  # two tails stay: one is hidden below
    assert geese(s) == [[3, 0], [8, 2]]
