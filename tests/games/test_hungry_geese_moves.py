"""Single steps of Hungry Geese, on boards drawn as text; see `drawn_geese`."""

from typing import Any

import pytest
from drawn_geese import play, position

# Boards before and after a step, the moves, and options of `position`.
MOVE_CASES = {
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
    "a goose that eats grows, because its tail stays": (
        """
        *01.  012.
        ....  ....
        .ab.  ab..
        """,
        "WW",
        {},
    ),
    "a goose that turns back dies": (
        """
        .10.  ....
        ....  ....
        ..a.  .a..
        """,
        "WW",
        {"last": "EN"},
    ),
    "a goose that turns back dies, even if it is only a head": (
        """
        .0..  ....
        ....  ..a.
        ..a.  ....
        """,
        "WN",
        {"last": "EE"},
    ),
    "no goose turns back in the first step": (
        """
        .0..  0...
        ....  ..a.
        ..a.  ....
        """,
        "WN",
        {"steps": 0},
    ),
    "a goose that bites itself dies": (
        """
        01..  ....
        32..  ....
        4..a  ..a.
        """,
        "SW",
        {},
    ),
    "a goose may move to the cell that its tail leaves": (
        """
        01..  12..
        32..  03..
        ...a  ..a.
        """,
        "SW",
        {},
    ),
    "a goose may move to the cell that another's tail leaves": (
        """
        .01ab  01ab.
        .....  .....
        .....  .....
        """,
        "WW",
        {},
    ),
    "the tail of a goose that eats does not leave its cell": (
        """
        *01ab  012..
        .....  .....
        .....  .....
        """,
        "WW",
        {},
    ),
    "a goose that runs into another dies, the other does not": (
        """
        ..a..  .....
        .012.  012..
        .....  .....
        """,
        "WS",
        {},
    ),
    "both geese die if their heads meet": (
        """
        10.ab  .....
        .....  .....
        .....  .....
        """,
        "EW",
        {},
    ),
    "two heads without bodies change places unharmed": (
        """
        .0a.  .a0.
        ....  ....
        ....  ....
        """,
        "EW",
        {},
    ),
    "two geese with bodies that change places die": (
        """
        10ab  ....
        ....  ....
        ....  ....
        """,
        "EW",
        {},
    ),
    # Goose 0 ate, so its tail stayed and killed goose 2; the tail of goose 1 moved.
    "both geese die if they move to the same food": (
        """
        A10*abk  .....k.
        .......  .......
        .......  .......
        """,
        "EWEW",
        {},
    ),
    "collisions are checked at once: dying geese still kill": (
        """
        .b...  .....
        .a...  .....
        210.A  .....
        """,
        "ESW",
        {},
    ),
    "a goose that turns back is removed before collisions are checked": (
        """
        .a...  .....
        012..  .a...
        .....  .....
        """,
        "ES",
        {"last": "W-"},
    ),
    "a goose of a higher number that turns back is removed before, too": (
        """
        .0...  .....
        abc..  .0...
        .....  .....
        """,
        "SE",
        {"last": "-W"},
    ),
    "a goose that bites itself is removed before collisions are checked, too": (
        """
        01...  .....
        32ab.  .ab..
        4....  .....
        """,
        "SW",
        {},
    ),
    "in each 40th step every goose loses its tail": (
        """
        .012.  01...
        .....  .....
        ...ab  ..a..
        """,
        "WW",
        {"steps": 39},
    ),
    "no goose loses its tail in the step before": (
        """
        .012.  012..
        .....  .....
        ...ab  ..ab.
        """,
        "WW",
        {"steps": 38},
    ),
    "a goose without a body starves": (
        """
        ..0..  .....
        .....  .....
        ..ab.  .a...
        """,
        "NW",
        {"steps": 39},
    ),
    "a goose without a body that eats in this step does not starve": (
        """
        .0*..  ..0..
        .....  .....
        ..ab.  .a...
        """,
        "EW",
        {"steps": 39},
    ),
    "a starved goose is removed before collisions are checked": (
        """
        .0.ab  ..a..
        .....  .....
        .....  .....
        """,
        "EW",
        {"steps": 39},
    ),
    "no goose grows beyond the largest length": (
        """
        *012.  012..
        .....  .....
        ....a  ...a.
        """,
        "WW",
        {"max_length": 3},
    ),
    "the largest length may be 1": (
        """
        *0...  0....
        .....  .....
        ....a  ...a.
        """,
        "WW",
        {"max_length": 1},
    ),
    "dead geese do not move, and food that is not eaten stays": (
        """
        0.*..  .0*..
        .....  .....
        ....A  ...A.
        """,
        "E-W",
        {},
    ),
}


@pytest.mark.parametrize(("picture", "moves", "options"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_step(picture: str, moves: str, options: dict[str, Any]) -> None:
    pairs = [line.split() for line in picture.strip().splitlines()]
    game, s = position([before for before, _ in pairs], **options)
    steps, scores = int(s.steps), s.score.copy()
    assert play(game, s, moves) == [after for _, after in pairs]
    living = s.length > 0
    assert (s.score[~living] == scores[~living]).all()
    # Kaggle's reward: (step + 1) * (max_length + 1) + length.
    living_scores = (steps + 2) * (int(s.max_length) + 1) + s.length
    assert (s.score[living] == living_scores[living]).all()
    assert game.is_terminal(s) == (living.sum() <= 1)
    assert s.num_food == len(s.food)
