"""Tests of the deterministic goose on hand-drawn boards and against a plain Python version.

On the boards goose 0 is `0123...` from head to tail, goose 1 `abcd...`, and `*` is food.
"""

import numpy as np
import pytest
from deterministic_reference import reference_action

from ludoteca.agents.games.hungry_geese.deterministic import (
    MAX_DEPTH,
    corridor_depth,
    deterministic,
)
from ludoteca.agents.registry import make_agent
from ludoteca.envs.games.goose_positions import FOOD, NONE
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

NORTH, EAST, SOUTH, WEST = range(4)
THESIS = {"variant": "thesis"}  # the agent as the thesis describes it
LETTERS = ("0123456789ABCDEFGH", "abcdefghij")


def position(lines, last="--", **params):
    """Return the game and the position drawn in `lines`; `last` are the last actions, `NESW`."""
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in LETTERS]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    size = {"rows": len(lines), "columns": len(lines[0])}
    game = hungry_geese(num_players=2, min_food=max(1, len(food)), **size, **params)
    s = game.new()
    s.occupied[:], s.num_food, s.steps, s.start[:] = 0, len(food), 7, 0
    s.food[:] = NONE
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p, body in enumerate(bodies):
        s.body[p, : len(body)], s.length[p] = body, len(body)
        s.occupied.ravel()[body] = 1
        s.last_action[p] = "NESW".find(last[p])
    assert game.validate(s) == ""
    return game, s


def choose(agent, s, seat=0):
    """Return the agent's action, after checking that it is equal for three random streams."""
    states = agent.game.empty(3)
    states[:] = np.array(s, agent.game.state)
    before, rngs = states.copy(), np.arange(3, dtype=np.uint64).reshape(3, 1)
    actions = agent.act(states, np.full(3, seat), rngs, np.arange(3))
    assert (states == before).all()
    assert len(set(actions)) == 1
    assert rngs.ravel().tolist() == [0, 1, 2]
    return actions[0]


# A dead end of two cells: the bodies around it stay for longer than half the goose's length.
POCKET = """
    .........
    .4321....
    .5.*0....
    .6789....
    ....ABCDE
    .........
    .........
    .a.......
"""
# A corridor of three cells, at whose end the tail leaves just in time.
FOLLOWED = POCKET.replace("ABCDE", ".....").replace("6789", "678.")
# Both geese are equally near to the food.
RACE = """
    ...........
    ...........
    .30....*...
    .21........
    ...........
    ...........
    .........a.
"""
NEARER, FARTHER = (RACE.replace(".a.", where) for where in ("a..", "..a"))
BETWEEN = """
    .......
    ..2....
    ..10*ab
    .......
    .......
"""
SURROUNDED = """
    ..54...
    ..23...
    ..10*a.
    ..edcb.
    .......
"""
# The eastern food is nearer to goose 0; the southern food is beside the head of goose 1.
TAIL = """
    .......
    .......
    ..10d.*
    ....c..
    ..*ab..
"""
ONLY_A_TAIL = """
    ..54...
    ..23...
    ..10d..
    ...bc..
    ..*a...
"""
LOST = """
    ..546..
    ..23...
    ..10def
    ...bcg.
    ...a...
"""


# Goose 0 has the length 3; goose 1 is nearer to the food in the east.
SHORT = """
    ...........
    ...........
    ..0....*...
    .21........
    .......a...
"""
# The food lies in a dead end of a single cell, for as long as the bodies around it stay.
CELL = """
    ..fed....
    ihg*cba..
    ...0.....
    ...1.....
    ...2.....
"""


@pytest.mark.parametrize(
    ("board", "last", "params", "expected"),
    [
        pytest.param(POCKET, "S", {}, EAST, id="food in a dead end is left"),
        pytest.param(POCKET, "S", {"corridor": 0}, WEST, id="a shallow corridor search takes it"),
        pytest.param(FOLLOWED, "S", {}, WEST, id="moving bodies open corridors"),
        pytest.param(FARTHER, "N", {}, EAST, id="the nearest goose gets food"),
        pytest.param(NEARER, "N", {}, WEST, id="food of a nearer goose is left, the tail followed"),
        pytest.param(RACE, "N", {}, WEST, id="food of an equally near goose is left"),
        pytest.param(NEARER, "N", {"hungry": 4}, EAST, id="a short goose tries to get it anyway"),
        pytest.param(BETWEEN, "E", {}, NORTH, id="a cell beside a rival's head is avoided"),
        pytest.param(
            SURROUNDED,
            "E",
            {},
            EAST,
            id="a cell beside a rival's head is taken if it is the only one",
        ),
        pytest.param(TAIL, "E", {}, NORTH, id="tails of geese that may eat are avoided"),
        pytest.param(
            TAIL.replace("..*", "..."),
            "E",
            {},
            EAST,
            id="tails of geese that cannot eat are followed",
        ),
        pytest.param(
            ONLY_A_TAIL,
            "E",
            {},
            EAST,
            id="the tail of a goose that may eat is taken if it is the only cell",
        ),
        pytest.param(LOST, "E", {}, NORTH, id="without a free cell it does not turn back"),
        pytest.param(SHORT, "N", {}, EAST, id="a short goose goes for food of a nearer goose"),
        pytest.param(SHORT, "N", THESIS, NORTH, id="thesis variant: a short goose ignores it"),
        pytest.param(
            SHORT,
            "N",
            THESIS | {"hungry": 3},
            EAST,
            id="thesis variant with hungry=3: a short goose goes for it",
        ),
        pytest.param(
            SHORT,
            "N",
            THESIS | {"tail": True},
            WEST,
            id="thesis variant with tail=True: it follows its tail",
        ),
        pytest.param(
            NEARER, "N", THESIS, NORTH, id="thesis variant: a longer goose leaves it and its tail"
        ),
        pytest.param(FARTHER, "N", THESIS, EAST, id="thesis variant: the nearest goose gets food"),
        pytest.param(
            RACE, "N", THESIS, NORTH, id="thesis variant: food of an equally near goose is left"
        ),
        pytest.param(POCKET, "S", THESIS, EAST, id="thesis variant: food in a dead end is left"),
        pytest.param(CELL, "N", {}, EAST, id="a corridor of two cells is enough"),
        pytest.param(CELL, "N", THESIS, NORTH, id="thesis variant: half its length is needed"),
        pytest.param(
            BETWEEN, "E", THESIS, NORTH, id="thesis variant: cells beside heads are not special"
        ),
    ],
)
def test_choices_on_hand_drawn_boards(board, last, params, expected):
    game, s = position(board.split(), last + "-")
    assert choose(deterministic(game, **params), s) == expected


def test_geese_of_the_greatest_length_do_not_grow():
    game, s = position(TAIL.split(), "E-", max_length=4)
    assert choose(deterministic(game), s) == EAST


def test_cells_that_rivals_may_reach_are_avoided():
    """The corridor behind the food has three cells, but goose 1 can enter it."""
    board = """
        .........
        ..g......
        ..fedcb..
        ..0*..a..
        ..1234...
        .....5678
        ........9
    """
    game, s = position(board.split(), "NS")
    assert choose(deterministic(game, corridor=0.3, reach=0), s) == EAST
    assert choose(deterministic(game, corridor=0.3), s) == WEST
    assert choose(deterministic(game, corridor=0.3, variant="thesis"), s) == EAST


def test_corridor_search_is_bounded():
    """Goose 0, of length 100, encloses 25 cells with a very large number of paths."""
    game = hungry_geese(num_players=2, rows=20, columns=20, min_food=1, max_length=150)
    s = game.new()
    wall = [(5, c) for c in range(8, 12)] + [(r, 11) for r in range(6, 12)]
    wall += [(11, c) for c in range(10, 4, -1)] + [(r, 5) for r in range(10, 4, -1)]
    wall += [(5, 6), (5, 7)] + [(4, c) for c in range(7, -1, -1)]
    wall += [(r, c) for r in (3, 2, 1) for c in (range(20) if r != 2 else range(19, -1, -1))]
    body = [row * 20 + column for row, column in wall + [(0, c) for c in range(19, 11, -1)]]
    s.occupied[:] = 0
    for p, cells in enumerate((body, [15 * 20 + 15])):
        s.body[p, : len(cells)], s.length[p], s.start[p] = cells, len(cells), 0
        s.occupied.ravel()[cells] = 1
    s.food[0], s.num_food, s.last_action[0], s.steps = 6 * 20 + 8, 1, WEST, 150
    s.occupied[6, 8] = FOOD
    assert game.validate(s) == ""
    assert len(body) == 100
    for corridor, expected in ((0.2, SOUTH), (0.5, NORTH)):
        assert choose(deterministic(game, corridor), s) == expected
        assert reference_action(s, 0, corridor, 3, 3) == expected
    assert 20 <= corridor_depth(s, 0, SOUTH, MAX_DEPTH, 0, 0) <= 25
    assert corridor_depth(s, 0, NORTH, MAX_DEPTH, 0, 0) == MAX_DEPTH


@pytest.mark.parametrize(
    ("spec", "params"),
    [
        pytest.param("hungry_geese", {}, marks=pytest.mark.slow),
        pytest.param(
            "hungry_geese:num_players=8,rows=9,columns=12,min_food=5,max_length=6",
            {"reach": 0},
            marks=pytest.mark.slow,
        ),
        ("hungry_geese:num_players=3,rows=5,columns=6,min_food=5,max_length=6", {"reach": 0}),
        ("hungry_geese:num_players=2,rows=3,columns=3", {"corridor": 1, "hungry": 0}),
        pytest.param(
            "hungry_geese:num_players=3,rows=5,columns=50,hunger_rate=15",
            {"corridor": 0.25},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "hungry_geese:num_players=2,rows=8,columns=8,min_food=9",
            {"corridor": 1, "reach": 9},
            marks=pytest.mark.slow,
        ),
        ("hungry_geese", THESIS),
    ],
)
def test_agent_matches_plain_python_reference(spec, params):
    game = make_game(spec)
    agent, seen = deterministic(game, **params), set()
    settings = {"corridor": 0.5, "reach": 3, "hungry": 3} | params
    if settings.pop("variant", "default") == "thesis":
        settings |= {"reach": 0, "hungry": 0, "shortest": 1, "tail": False}
    others = (["random_valid"], ["greedy"], [agent])
    for other in others:
        match = play_match(game, [agent, *other], 1, seed=5, num_replays=1)
        for replay in match.replays:
            positions = list(replay.positions())[:-1]
            for s in positions[:: 1 + len(positions) // 10]:
                for p in np.flatnonzero(s.length):
                    action = choose(agent, s, p)
                    assert action == reference_action(s, p, **settings)
                    seen.add(int(action))
    assert seen == {NORTH, EAST, SOUTH, WEST}


@pytest.mark.compiled
@pytest.mark.slow
def test_agent_beats_one_step_lookahead():
    result = play_match("hungry_geese", ["deterministic", "greedy", "random_safe"], 60, seed=1)
    assert result.totals[0].win_rate > 0.6
    same = play_match("hungry_geese", ["deterministic", "greedy", "random_safe"], 60, seed=1)
    assert (same.returns == result.returns).all()


@pytest.mark.parametrize(
    ("game", "spec", "message"),
    [
        ("tron", "deterministic", "the deterministic agent needs the game hungry_geese, got tron"),
        ("hungry_geese", "deterministic:2", "corridor must be a number from 0 to 1, got 2"),
        ("hungry_geese", "deterministic:reach=-1", "reach must be an integer from 0 to 100"),
        ("hungry_geese", "deterministic:hungry=x", "hungry must be an integer from 0 to 10000"),
        ("hungry_geese", "deterministic:variant=x", "variant must be one of 'default', 'thesis'"),
        ("hungry_geese", "deterministic:tail=2", "tail must be one of False, True, got 2"),
    ],
)
def test_invalid_parameters_raise(game, spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(game))
