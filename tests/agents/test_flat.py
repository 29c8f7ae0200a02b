"""Tests of flat Monte Carlo and of the playout policies."""

from dataclasses import replace

import numpy as np
import pytest
from boards import small_spec
from scipy.stats import chisquare

from ludoteca.agents import make_agent
from ludoteca.agents.flat import (
    FlatAgent,
    make_act,
    num_states,
    simulate_kernel,
    work_dtype,
)
from ludoteca.agents.games.hungry_geese.policies import length_to_the_fifth
from ludoteca.agents.playouts import playout_policy
from ludoteca.envs.games.goose_positions import FOOD
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.games.tron import tron
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

NORTH, EAST, SOUTH, WEST = range(4)


def position(lines, last, **params):
    """Return the game and the position drawn in `lines`.

    The geese are `0123` and `abcd` from head to tail, food is `*`; `last` are their last actions.
    """
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in ("01234", "abcde")]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    game = hungry_geese(2, len(lines), len(lines[0]), min_food=max(1, len(food)), **params)
    s = game.new()
    s.occupied[:], s.num_food, s.steps = 0, len(food), 1
    s.food[:] = -1
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p, body in enumerate(bodies):
        s.body[p, : len(body)], s.length[p] = body, len(body)
        s.occupied.ravel()[body] = 1
        s.last_action[p] = "NESW".find(last[p])
    assert game.validate(s) == ""
    return game, s


# North and west of goose 0 are bodies, south is its neck; it can only go east, where food is.
FOOD_EAST = (
    [
        "..bcd.",
        "..a0*.",
        "...1..",
        "...2..",
        "......",
    ],
    "NS",
)


def interpret(spec, game, s, seat=0, seed=3):
    """Return the action, the mean reward of each first move, and the number of its playouts."""
    agent = make_agent(spec, game)
    states, work = view_records(game.empty(num_states(game))), np.zeros(1, work_dtype(game))
    states[0] = np.array(s, game.state)
    rng = np.array([seed], np.uint64)
    with np.errstate(over="ignore"):
        action = simulate_kernel(game, agent.playout)(
            states, seat, rng, view_records(work)[0], 0, agent.simulations, agent.playout_depth
        )
    visits = work["visits"][0]
    return action, np.where(visits > 0, work["total"][0] / np.maximum(visits, 1), np.nan), visits


def test_reward_matches_the_thesis():
    _, s = position(*FOOD_EAST)
    assert length_to_the_fifth(s, 0, 6) == 7 + 3**5
    assert length_to_the_fifth(s, 1, 4) == 5 + 4**5
    s.length[1] = 0
    assert length_to_the_fifth(s, 1, 4) == 0
    s.length[0] = 99
    assert length_to_the_fifth(s, 0, 1) == 2 + 99**5


def test_one_step_playouts_match_hand_computation():
    game, s = position(*FOOD_EAST)
    # East it eats: length 4 after one step. Every other move kills; south is never tried.
    action, means, _ = interpret("flat:simulations=60,playout_depth=1,playout=valid", game, s)
    assert action == EAST
    np.testing.assert_array_equal(means, [0, 2 + 4**5, np.nan, 0])
    action, means, visits = interpret("flat:simulations=60,playout_depth=1", game, s)
    assert action == EAST
    np.testing.assert_array_equal(means, [np.nan, 2 + 4**5, np.nan, np.nan])
    assert visits.tolist() == [0, 60, 0, 0]
    # If all moves are sampled, the rival may turn back and die, so that its cells become free.
    _, means, _ = interpret("flat:simulations=200,playout_depth=1,playout=uniform", game, s)
    assert means[EAST] == 2 + 4**5
    assert means[SOUTH] == 0
    assert 0 < means[NORTH] < 2 + 3**5


def test_steps_are_counted_up_to_the_end_of_the_game():
    lines = ["012......", ".........", "....abc.*", ".........", "........."]
    game, s = position(lines, "WW", episode_steps=4)  # one step has been played, two are left
    _, means, _ = interpret("flat:simulations=20,playout_depth=1", game, s)
    assert (means[[NORTH, WEST]] == 2 + 3**5).all()
    _, means, _ = interpret("flat:simulations=20,playout_depth=2", game, s)
    assert means[NORTH] == 3 + 3**5  # the food is too far to be reached in two steps
    _, same, _ = interpret("flat:simulations=20,playout_depth=6", game, s)
    np.testing.assert_array_equal(means, same)


def test_player_without_moves_has_no_means():
    game, s = position(["012...", "......", "abc...", "......"], "WW")
    s.length[1] = 0  # the last living goose has won, so nothing is simulated
    s.occupied[2] = 0
    action, _, visits = interpret("flat", game, s)
    assert action == 0
    assert visits.sum() == 0


def test_first_goose_move_is_random_and_best_mean_is_played():
    game, s = position(["......", ".01.*.", "......", "......", ".abc.."], "WW")
    action, means, visits = interpret("flat:simulations=400,playout_depth=3,playout=valid", game, s)
    assert visits[EAST] == 0
    assert chisquare(visits[[NORTH, SOUTH, WEST]]).pvalue > 0.001
    assert len(set(visits[[NORTH, SOUTH, WEST]])) > 1
    assert action == np.nanargmax(means)


def test_equal_moves_are_chosen_equally_often():
    game, s = position(["......", ".01...", "......", "......", "...abc"], "WW")
    spec = "flat:simulations=12,playout_depth=1"
    actions = [interpret(spec, game, s, seed=seed)[0] for seed in range(0, 10**6, 10**4)]
    assert is_uniform(np.bincount(actions, minlength=4), [NORTH, SOUTH, WEST])


@pytest.mark.parametrize(
    ("name", "moves", "winning"),
    [
        ("tictactoe", (0, 3, 1, 4), 2),
        ("connect4", (0, 1, 0, 1, 0, 1), 0),
        ("connect4", (1, 0, 2, 0, 3), {0, 4}),  # only one of two threats can be blocked: all lose
    ],
)
def test_wins_are_found_in_sequential_games(name, moves, winning):
    game = make_game(name)
    s = game.new()
    for move in moves:
        game.step(s, move)
    seat = int(game.player(s))
    agent = make_agent("flat:simulations=350", game)
    means = agent.means(s, seat, np.array([1], np.uint64))
    visits = agent._work["visits"][0]
    assert visits.sum() == 350
    # Playouts are divided equally among the moves.
    assert visits[visits > 0].max() - visits[visits > 0].min() <= 1
    assert ((means >= -1) & (means <= 1) | np.isnan(means)).all()
    if isinstance(winning, int):
        assert means[winning] == 1
        assert np.nanargmax(means) == winning
    else:
        assert np.nanargmax(means) in winning


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        pytest.param("hungry_geese", "flat:simulations=40", marks=pytest.mark.slow),
        pytest.param(
            small_spec("Tron-v0"),
            "flat:simulations=40,playout_depth=5,playout=safe",
            marks=pytest.mark.compiled,
        ),
        pytest.param("tictactoe", "flat:simulations=40", marks=pytest.mark.compiled),
    ],
)
def test_compiled_and_interpreted_are_equal(name, spec):
    game = make_game(name)
    s = game.new(4)
    means = make_agent(spec, game).means(s, 0, np.array([3], np.uint64))
    np.testing.assert_array_equal(means, interpret(spec, game, s)[1])


def test_search_does_not_observe_future_random_numbers():
    game = make_game("hungry_geese")
    s = game.new(4)
    _, first, _ = interpret("flat:simulations=40", game, s)
    s.rng[0] = 99
    _, second, _ = interpret("flat:simulations=40", game, s)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", ["tron", "connect4", "hungry_geese"])
@pytest.mark.compiled
@pytest.mark.slow
def test_flat_monte_carlo_beats_random(name):
    game = make_game(name)
    agents = ("flat:simulations=100", *["random"] * (game.num_players - 1))
    result = play_match(game, agents, 100, seed=1)
    assert result.totals[0].score > 0.9


def test_defaults_are_those_of_the_thesis_in_hungry_geese_only():
    geese, other = FlatAgent(make_game("hungry_geese")), FlatAgent(make_game("tron"))
    assert (geese.simulations, geese.playout_depth, geese.playout) == (1000, 6, "safe")
    assert (other.simulations, other.playout_depth, other.playout) == (
        1000,
        other.game.max_plies,
        "uniform",
    )
    assert make_act(geese.game, "safe") is geese._act


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flat:simulations=0", "simulations must be an integer from 1"),
        ("flat:playout_depth=0", "playout_depth must be an integer from 1"),
        ("flat:playout=valid", "connect4 has no playout 'valid'; games with it are hungry_g"),
        ("flat:playout=x", "playout must be one of 'uniform', 'valid', 'safe', 'greedy', got 'x'"),
        ("random_safe", "connect4 has no playout 'safe'; games with it are hungry_geese, tron"),
    ],
)
def test_invalid_parameters_raise(spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game("connect4"))


def action_counts(name, game, s, player=0, times=1200):
    """Sample `times` actions of an interpreted playout policy; return the count of each action."""
    legal, rng = np.arange(4, dtype=np.int16), np.array([1], np.uint64)
    with np.errstate(over="ignore"):
        choose = playout_policy(name, game)
        return np.bincount([choose(s, player, legal, 4, rng) for _ in range(times)], minlength=4)


def is_uniform(counts, actions):
    """Return whether only some actions occur, equally often by a chi-squared test."""
    others = np.delete(counts, actions)
    return others.sum() == 0 and (len(actions) == 1 or chisquare(counts[actions]).pvalue > 0.001)


def test_valid_geese_do_not_turn_back():
    game, s = position(*FOOD_EAST)
    assert is_uniform(action_counts("valid", game, s), [NORTH, EAST, WEST])
    s.last_action[0] = -1
    assert is_uniform(action_counts("valid", game, s), [NORTH, EAST, SOUTH, WEST])


def test_safe_geese_step_onto_free_cells():
    game, s = position(*FOOD_EAST)
    assert is_uniform(action_counts("safe", game, s), [EAST])
    assert is_uniform(action_counts("safe", game, s, player=1), [SOUTH, WEST])
    # A goose's tail leaves its cell. Without a free cell, any move but back is sampled.
    game, s = position(["03..", "12..", "....", "abcd"], "NW")
    # North of the first row is the last one: the board is a torus.
    assert is_uniform(action_counts("safe", game, s), [EAST, WEST])
    game, s = position(["..bcd", "..a0e", "...1.", "...2."], "NW")
    assert is_uniform(action_counts("safe", game, s), [NORTH, EAST, WEST])


def test_safe_riders_do_not_crash():
    game = tron(4, 4)
    s = game.new()
    assert is_uniform(action_counts("safe", game, s), [NORTH, EAST, SOUTH, WEST])
    game.step(s, np.array([NORTH, SOUTH]))
    assert is_uniform(action_counts("safe", game, s), [EAST, WEST])
    s.walls[:] = 1
    assert is_uniform(action_counts("safe", game, s), [NORTH, EAST, SOUTH, WEST])


@pytest.mark.slow
def test_safe_random_play_beats_valid_and_uniform_random_play():
    result = play_match("hungry_geese", ("random_safe", "random_valid", "random"), 300, seed=1)
    scores = [record.mean_return for record in result.totals]
    assert scores[0] > scores[1] > scores[2] + 0.5


@pytest.mark.parametrize("sheet", ["tictactoe", "tron"])  # sequential, simultaneous
def test_simulations_that_are_played_together_agree_with_single_ones(sheet):
    game = make_game(f"gdl:path={sheet}")
    single = replace(game, many=None)
    (_, means, visits), (_, expected, single_visits) = (
        interpret("flat:simulations=90", each, each.new()) for each in (game, single)
    )
    np.testing.assert_array_equal(visits, single_visits)
    # Returns are from -1 to 1, so their standard deviation is at most 1.
    errors = 5 * np.sqrt(2 / np.maximum(visits, 1))
    assert np.all(np.isnan(expected) | (np.abs(means - expected) < errors))


def test_simulations_that_are_played_together_find_a_win():
    game = make_game("gdl:path=tictactoe")
    s = game.new()
    for action in ("mark a 1", "mark b 1", "mark a 2", "mark b 2"):
        with np.errstate(over="ignore"):
            game.step(s, game.action_names.index(action))
    action, means, visits = interpret("flat:simulations=700", game, s)
    assert (game.action_names[action], means[action]) == ("mark a 3", 1.0)
    assert visits.sum() == 700  # more than are played at once
    _, means, _ = interpret("flat:simulations=50,playout_depth=1", game, s)
    assert means[action] == 1.0
    assert np.nansum(np.abs(means)) == 1.0  # no other move ends the game
