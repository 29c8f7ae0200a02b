"""Conductance heuristic of NeuroHex, compared with another solver, and with figure 3.2."""

import numpy as np
import pytest

from ludoteca.agents import make_agent
from ludoteca.agents.games.hex.neurohex import ConductanceAgent
from ludoteca.agents.games.hex.stone_values import estimated, stone_values
from ludoteca.envs.games.hex import BLACK, WHITE, hex
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.studies.data import read_data
from tests.agents.test_resistance import after, choose, random_position

pytestmark = pytest.mark.interpreted

FORMULA = "1 - b'/w', or w'/b' - 1"


def expected_values(s, player):
    """Return the values of all cells for a player, by circuits that NumPy solves."""
    cells = s.cells[1:-1, 1:-1]
    white, black = (cells & WHITE) != 0, (cells & BLACK) != 0
    if player != 1 - s.white_first:  # black: the mirrored position with exchanged colors
        white, black = black.T, white.T
    conductances = estimated(white, black, "pairwise", counted=True)
    after = np.maximum(conductances.white_after, conductances.black_after)
    values = np.full(cells.shape, -1.0)
    values[~(white | black)] = np.where(after < 1e-9, 0, stone_values(FORMULA, conductances))
    return values if player == 1 - s.white_first else values.T


@pytest.mark.parametrize(
    ("size", "first"), [(2, "black"), (3, "white"), (5, "black"), (7, "white")]
)
def test_values_equal_those_of_another_solver(size, first):
    game, rng = hex(size, first), np.random.default_rng(size)
    agent = ConductanceAgent(game)
    for plies in rng.integers(0, size * size, 25):
        s = random_position(game, rng, plies)
        np.testing.assert_allclose(agent.values(s), expected_values(s, s.to_move), atol=1e-7)


def test_values_of_the_worked_example():
    figure = np.array(read_data("hex/tanaka2018.toml")["figure_3_2"])
    white = {"a1", "a2", "d3", "a4", "b4", "c4"}  # see docs/results/hex/figure_3_2.md
    stones = [(row, column) for row, column in np.argwhere(figure == -1)]
    by_color = [
        [cell for cell in stones if (f"{'abcde'[cell[1]]}{cell[0] + 1}" in white) == is_white]
        for is_white in (True, False)
    ]
    game = hex(5, "white")
    moves = [row * 5 + column for pair in zip(*by_color, strict=True) for row, column in pair]
    values = ConductanceAgent(game).values(after(game, moves))
    np.testing.assert_allclose(np.trunc(values * 100 + np.sign(values) * 1e-7) / 100, figure)


def test_first_cell_of_the_highest_value_is_played():
    game, rng = hex(5), np.random.default_rng(1)
    agent = ConductanceAgent(game)
    for plies in (0, 1, 7, 12):
        s = random_position(game, rng, plies)
        values = agent.values(s).ravel()
        assert choose(agent, s) == np.flatnonzero(values > values.max() - 1e-9)[0]


def test_a_winning_move_has_the_value_1():
    game, rng, wins = hex(4), np.random.default_rng(2), 0
    agent = ConductanceAgent(game)
    for plies in np.tile(np.arange(6, 13), 10):
        s = random_position(game, rng, plies)
        values = agent.values(s).ravel()
        for action in game.legal(s):
            following = s.copy()
            game.step(following, int(action))
            if game.is_terminal(following):
                wins += 1
                assert values[action] == pytest.approx(1)
    assert wins > 20


def test_swaps_when_the_circuits_are_better_exchanged_than_after_any_answer():
    game = hex(5, swap=True)
    agent, swapped = ConductanceAgent(game), []
    for stone in range(25):
        s = after(game, [stone])
        black = (s.cells[1:-1, 1:-1] & BLACK) != 0
        now = estimated(np.zeros_like(black), black, "pairwise", counted=True)
        exchanged = now._replace(white_after=now.black, black_after=now.white)
        if stone_values(FORMULA, exchanged) > agent.values(s).max():
            swapped.append(stone)
        assert (choose(agent, s) == 25) == (stone in swapped)
    assert swapped == [4, 20]  # the corners with three neighbors


def test_plays_all_sizes_and_some_random_moves():
    game = make_game("hex:board_size=3")
    match = play_match(game, ("conductance:epsilon=0.5", "random"), 40, seed=1)
    assert sum(record.games for record in match.seats[0]) == 40
    actions = [
        choose(make_agent("conductance:epsilon=1", game), game.new(), seed) for seed in range(40)
    ]
    assert len(set(actions)) > 5
    assert (
        len({choose(make_agent("conductance", game), game.new(), seed) for seed in range(5)}) == 1
    )


def test_bad_input():
    with pytest.raises(ValueError, match="needs the game hex, got othello"):
        make_agent("conductance", make_game("othello"))
    with pytest.raises(ValueError, match="epsilon must be a number from 0 to 1, got 2"):
        make_agent("conductance:epsilon=2", make_game("hex"))


@pytest.mark.slow
def test_compiled_values_equal_those_of_another_solver():
    game, rng = hex(11), np.random.default_rng(3)
    agent = ConductanceAgent(game)
    for plies in (0, 20, 50, 80):
        s = random_position(game, rng, plies)
        np.testing.assert_allclose(agent.values(s), expected_values(s, s.to_move), atol=1e-7)
