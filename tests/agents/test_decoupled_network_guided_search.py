"""Tests of network-guided search in simultaneous games."""

import numpy as np
import pytest

from ludoteca.agents.networks.ac_network import ACConfig, make_ac_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.decoupled_search import DecoupledNetworkGuidedSearch
from ludoteca.agents.search.network.policy_improvement import improved_policies
from ludoteca.agents.search.network.selection import SelectionParams, make_puct
from ludoteca.agents.search.network.simulation import BY_POLICY, make_simulation
from ludoteca.agents.search.network.trees import ILLEGAL, make_trees
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

SPECS = ["tron:rows=5,columns=5", "hungry_geese", "hungry_geese:num_players=2,rows=4,columns=4"]


def uniform_evaluation(game):
    """Return an evaluation with a uniform policy and the value 0 for every position."""

    def evaluate(states, seats):
        policies = np.full((len(states), game.num_actions), 1 / game.num_actions, np.float32)
        return policies, np.zeros(len(states), np.float32)

    return evaluate


def positions_after(game, count, plies=0, seed=0):
    """Return `count` positions after `plies` random safe plies."""
    result = game.empty(count)
    agent = make_agent("random_safe", game)
    for k in range(count):
        s = game.new(seed + k)
        for ply in range(plies):
            joint = np.zeros(game.num_players, np.int64)
            for p in range(game.num_players):
                stream = np.full((1, 1), 1000 * k + 10 * ply + p, np.uint64)
                state = np.asarray(s).reshape(1).astype(game.state)
                joint[p] = agent.act(state, np.array([p]), stream, np.zeros(1, int))[0]
            if not game.is_terminal(s):
                t = s.copy()
                with np.errstate(over="ignore"):
                    game.step(t, joint)
                s = s if game.is_terminal(t) else t
        result[k] = s
    return result


def streams(count):
    """Return states of random generators `[count, 1]`."""
    return np.arange(1, count + 1, dtype=np.uint64).reshape(-1, 1)


@pytest.mark.parametrize("spec", SPECS)
def test_visits_of_every_active_player_add_up(spec):
    game = make_game(spec)
    states = positions_after(game, 6, plies=3)
    result = DecoupledNetworkGuidedSearch(game, 6, 40).run(
        states, uniform_evaluation(game), 40, streams(6)
    )
    for b in range(6):
        s = states.view(np.recarray)[b]
        active = [game.is_active(s, p) for p in range(game.num_players)]
        assert (result.visit_counts[b].sum(1) == np.where(active, 40, 0)).all()
    tried = result.visit_counts > 0
    assert np.isnan(result.action_values[~tried]).all()
    assert (abs(result.action_values[tried]) <= 1).all()


def test_exploration_visits_actions_of_low_prior():
    game = make_game("hungry_geese")
    states = positions_after(game, 4, plies=3)

    def confident_evaluation(positions, seats):
        policies = np.zeros((len(positions), 4), np.float32)
        policies[:, 0], policies[:, 1:] = 0.997, 0.001
        return policies, np.zeros(len(positions), np.float32)

    search = DecoupledNetworkGuidedSearch(game, 4, 30)
    plain = search.run(states, confident_evaluation, 30, streams(4))
    explored = search.run(states, confident_evaluation, 30, streams(4), uniform_fraction=0.5)
    active = plain.visit_counts.sum(2) > 0
    assert (plain.visit_counts[active][:, 1:] == 0).mean() > 0.8
    assert (explored.visit_counts[active] > 0).all()
    for result in (plain, explored):
        assert np.allclose(result.priors[active], [0.997, 0.001, 0.001, 0.001])
        assert (result.priors[~active] == 0).all()


@pytest.mark.parametrize("leaf_batch", [1, 4])
def test_searches_of_a_batch_are_independent(leaf_batch):
    game = make_game("hungry_geese")
    states = positions_after(game, 5, plies=4)
    together = DecoupledNetworkGuidedSearch(game, 8, 30, leaf_batch).run(
        states, uniform_evaluation(game), 30, streams(5)
    )
    search = DecoupledNetworkGuidedSearch(game, 1, 30, leaf_batch)
    for b in range(5):
        alone = search.run(states[b : b + 1], uniform_evaluation(game), 30, streams(5)[b : b + 1])
        assert np.array_equal(alone.visit_counts[0], together.visit_counts[b])
        assert np.array_equal(alone.action_values[0], together.action_values[b], equal_nan=True)


@pytest.mark.slow
def test_search_avoids_crashes_with_uniform_priors():
    game = make_game("tron:rows=5,columns=5")
    states = positions_after(game, 40, plies=4)
    result = DecoupledNetworkGuidedSearch(game, 40, 300).run(
        states, uniform_evaluation(game), 300, streams(40)
    )
    num_checked = 0  # players with both safe and unsafe actions
    for b in range(40):
        s = states.view(np.recarray)[b]
        for p in range(2):
            row, column = s.head[p]
            free = [
                0 <= row + i < 5 and 0 <= column + j < 5 and s.walls[row + i, column + j] == 0
                for i, j in ((-1, 0), (0, 1), (1, 0), (0, -1))
            ]
            if any(free) and not all(free):
                assert free[result.visit_counts[b, p].argmax()]
                num_checked += 1
    assert num_checked > 20


def test_values_and_priors_of_the_network_guide_the_search():
    game = make_game("hungry_geese")
    states = positions_after(game, 1)

    def rows(states, seats):
        k = np.arange(len(states))
        return states["body"][k, seats, states["start"][k, seats]] // 11

    initial_rows = rows(states.repeat(4), np.arange(4))

    def evaluate(states, seats):
        # Only east and north have a prior; a goose that left its first row has a high value.
        policies = np.tile(np.array([0.1, 0.9, 0, 0], np.float32), (len(states), 1))
        better = rows(states, seats) != initial_rows[seats]
        return policies, np.where(better, 0.9, -0.9).astype(np.float32)

    result = DecoupledNetworkGuidedSearch(game, 1, 80).run(
        states, evaluate, 80, streams(1), c_puct=0.5
    )
    assert (result.visit_counts[0, :, 2:] == 0).all()
    assert (result.visit_counts[0, :, 0] > result.visit_counts[0, :, 1]).all()
    assert np.allclose(result.priors[0], [0.1, 0.9, 0, 0])


def test_search_stops_at_its_time_limit():
    game = make_game("tron")
    search = DecoupledNetworkGuidedSearch(game, 1, 10**5, leaf_batch=4)
    result = search.run(
        positions_after(game, 1), uniform_evaluation(game), 10**5, streams(1), seconds=0.05
    )
    assert 4 <= result.visit_counts[0, 0].sum() < 10**5


def test_too_many_simulations_or_games_raise():
    game = make_game("tron")
    search = DecoupledNetworkGuidedSearch(game, 2, 10)
    with pytest.raises(ValueError, match="2 searches of 10 simulations, got 3 of up to 10"):
        search.run(positions_after(game, 3), uniform_evaluation(game), 10, streams(3))


@pytest.mark.parametrize(
    "spec",
    [
        "hungry_geese:num_players=3,rows=4,columns=5,episode_steps=6",
        pytest.param("hungry_geese:episode_steps=30", marks=pytest.mark.slow),
    ],
)
def test_agent_is_reproducible_with_the_same_seed(spec, tmp_path):
    game = make_game(spec)
    config = ACConfig(filters=8, blocks=1)
    path = tmp_path / "net.safetensors"
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(path, make_ac_network(config, game).state_dict(), metadata)
    agents = [f"ac:{path},simulations=6", f"ac:{path},simulations=4,temperature=1", "greedy"]
    one, other = (play_match(game, agents, 2, seed=4) for _ in range(2))
    assert np.array_equal(one.returns, other.returns)
    config = ACConfig(filters=8, blocks=1, value=False)
    without_value = tmp_path / "without_value.safetensors"
    save_weights(
        without_value,
        make_ac_network(config, game).state_dict(),
        metadata | {"network": config.as_dict()},
    )
    with pytest.raises(ValueError, match="no value head"):
        make_agent(f"ac:{without_value},simulations=4", game)
    with pytest.raises(ValueError, match="seconds needs simulations"):
        make_agent(f"ac:{path},seconds=1", game)


def test_improved_policy_matches_hand_computation():
    nan = np.nan
    visits = np.array([[3, 1, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]])
    values = np.array([[0.5, -0.5, nan, nan], [0.2, nan, nan, nan], [nan] * 4], np.float32)
    priors = np.array([[0.5, 0.3, 0.2, 0], [0.9, 0.1, 0, 0], [0] * 4], np.float32)
    policies, means, _ = improved_policies(priors, visits, values, value_scale=2.0)
    # Values from 0 to 1 are 0.75 and 0.25, and their mean, weighted with visits, is 0.625.
    weights = np.array([0.5 * np.exp(1.5), 0.3 * np.exp(0.5), 0.2 * np.exp(1.25), 0])
    assert np.allclose(policies[0], weights / weights.sum(), rtol=1e-5)
    assert np.allclose(policies[1], [0.9, 0.1, 0, 0])  # only one action has a value
    assert (policies[2] == 0).all()  # the player is eliminated
    assert np.allclose(means, [0.25, 0.2, 0])
    sharp, _, improvements = improved_policies(priors, visits, values, value_scale=1e6)
    assert np.allclose(sharp[0], [1, 0, 0, 0])
    # Probability 1 for value 0.75, instead of 0.5 for 0.75, 0.3 for 0.25 and 0.2 for 0.625.
    assert np.allclose(improvements, [0.75 - (0.5 * 0.75 + 0.3 * 0.25 + 0.2 * 0.625), 0, 0])


@pytest.mark.parametrize(
    ("visits", "mean", "fpu", "switch_value"),
    [
        # N = 9: 0.5 - 0.1 + 1.5 * 0.25 * 3 / 1 - 1.5 * 0.5 * 3 / 10
        ((9, 0), None, 0.1, 1.3),
        # Without reduction: the switch value is higher by 0.1.
        ((9, 0), None, 0.0, 1.4),
        # N = 7, sqrt(7) = 2.645751: 0.3 + 1.5 * 0.25 * 2.645751 / 3 - 1.5 * 0.5 * 2.645751 / 6
        ((5, 2), 0.3, 0.1, 0.3),
        # N = 5, sqrt(5) = 2.236068: 0.3 + 1.5 * 0.25 * 2.236068 / 5 - 1.5 * 0.5 * 2.236068 / 2
        ((1, 4), 0.3, 0.1, -0.370820),
    ],
)
def test_puct_of_each_player_switches_action_at_hand_computed_value(
    visits, mean, fpu, switch_value
):
    """Two actions have equal scores `Q + c P sqrt(N) / (1 + n)` at the switch value of the first.

    An action without visits has Q = V - fpu.
    """
    game = make_game(SPECS[0])
    compiled, trees = make_simulation(game, "puct", False), make_trees(game, 1, 4)
    for p in range(2):
        for offset, chosen in ((-3e-5, 1), (3e-5, 0)):
            trees.states[0] = positions_after(game, 1)[0]
            compiled.reset(trees)
            trees.nodes["evaluated"][0, 0], trees.values[0, 0] = True, 0.5
            arms = trees.arms[0, 0]
            arms["prior"], arms["visits"], arms["value"] = ILLEGAL, 0, 0
            actions = game.legal(trees.states.view(np.recarray)[0], p)[:2]
            for k in range(2):
                arms["prior"][p, actions[k]] = (0.5, 0.25)[k]
                arms["visits"][p, actions[k]] = visits[k]
            arms["prior"][1 - p, game.legal(trees.states.view(np.recarray)[0], 1 - p)[0]] = 1
            arms["value"][p, actions[0]] = visits[0] * (switch_value + offset)
            arms["value"][p, actions[1]] = visits[1] * (mean or 0)
            params = SelectionParams(2 * 1.5, np.inf, 2 * fpu, fpu_by_prior=False)
            compiled.descend(trees, np.array([1]), np.array([BY_POLICY]), params)
            assert trees.simulations["actions"][0, 0, 0, p] == actions[chosen]


def test_a_search_ends_when_it_is_stopped():
    game, calls = make_game("tron:rows=4,columns=5"), []
    states = game.empty(1)
    states[0] = game.new()

    def is_stopped():
        calls.append(None)
        return len(calls) == 5

    search = DecoupledNetworkGuidedSearch(game, 1, 200)
    result = search.run(states, uniform_evaluation(game), 200, streams(1), is_stopped=is_stopped)
    assert result.visit_counts[0].sum(1).tolist() == [5, 5]


def test_puct_depends_only_on_the_arms_of_the_given_actions():
    select, rng = make_puct(simultaneous=True), np.random.default_rng(0)
    params, actions = SelectionParams(c_init=0.5, c_base=10.0), np.array([1, 3], np.int16)
    for _ in range(200):
        arms = view_records(np.zeros(5, arm_dtype(None)))
        for arm in arms:
            arm.visits, arm.prior = rng.integers(1, 40), rng.random()
            arm.value = arm.visits * rng.random()
        count = arms[1].visits + arms[3].visits
        c = (0.5 + np.log1p((count + 1) / 10.0)) / 2
        scores = [
            arms[a].value / arms[a].visits + c * arms[a].prior * count**0.5 / (1 + arms[a].visits)
            for a in actions
        ]
        assert select(arms, actions, 2, 0.5, params, None, None) == np.argmax(scores)
