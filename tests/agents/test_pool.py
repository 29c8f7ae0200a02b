"""Tests of opponent pools: members, sampling probabilities and results."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from ludoteca import make_agent, make_game
from ludoteca.agents.agent import Agent
from ludoteca.agents.pool import OpponentPool, PoolAgent
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")
TRON = make_game("tron")


class Corner(Agent):
    """Agent that plays the lowest or highest legal action and records its calls."""

    def __init__(self, game: Any, highest: bool = False):
        super().__init__(game)
        self.highest, self.reset_indices, self.act_indices = highest, [], []

    def reset(self, env_indices: Any) -> None:
        self.reset_indices += env_indices.tolist()

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.act_indices += env_indices.tolist()
        rngs += np.uint64(1)
        empty = [np.flatnonzero(s["board"].ravel() < 0) for s in states.view(np.recarray)]
        return np.array([cells[-1 if self.highest else 0] for cells in empty], np.int64)


def pool_of(count: int, **options: Any) -> OpponentPool:
    """Return a pool with a number of past networks, and options of `OpponentPool`."""
    pool = OpponentPool(**options)
    for k in range(count):
        pool.add(f"step_{k}", Corner(GAME))
    return pool


def test_full_pool_evicts_the_oldest_unfixed_member() -> None:
    pool = OpponentPool(3, fixed={"random": make_agent("random", GAME)})
    for k in range(5):
        pool.add(str(k), Corner(GAME))
    assert [member.name for member in pool.members] == ["random", "2", "3", "4"]
    assert [member.name for member in pool.past] == ["2", "3", "4"]


def test_probabilities_are_those_of_the_formulas() -> None:
    uniform = pool_of(4, latest_prob=0.5)
    assert uniform.probabilities() == pytest.approx([0.125, 0.125, 0.125, 0.625])
    assert pool_of(4, latest_prob=0).probabilities() == pytest.approx([0.25] * 4)
    assert pool_of(2, latest_prob=1).probabilities() == pytest.approx([0, 1])
    fixed_only = OpponentPool(fixed={"random": Corner(GAME), "greedy": Corner(GAME)})
    assert fixed_only.probabilities() == pytest.approx([0.5, 0.5])  # without past networks

    prioritized = pool_of(3, sampling="prioritized", latest_prob=0.2, power=2)
    for member, games, points in zip(prioritized.members, (8, 2, 0), (8, 1, 0), strict=True):
        member.games, member.points = games, points
    win_rates = np.array([9 / 10, 2 / 4, 1 / 2])
    expected = 0.8 * (1 - win_rates) ** 2 / ((1 - win_rates) ** 2).sum()
    expected[-1] += 0.2
    assert prioritized.probabilities() == pytest.approx(expected)
    names = [member.name for member in prioritized.sample(20_000)]
    counts = [names.count(member.name) for member in prioritized.members]
    assert chisquare(counts, 20_000 * expected).pvalue > 1e-3


def test_results_decay_when_a_member_joins() -> None:
    pool = pool_of(2)
    first, second = pool.members
    first.games, first.points = 8.0, 6.0
    assert first.win_rate == pytest.approx(0.7)
    assert second.win_rate == 0.5
    pool.add("late", Corner(GAME))
    assert (first.games, first.points) == (4, 3)


def test_one_pool_member_plays_a_game_to_its_end() -> None:
    pool = OpponentPool(latest_prob=0.5, seed=1)
    low, high = Corner(GAME), Corner(GAME, highest=True)
    pool.add("low", low)
    pool.add("high", high)
    agent, env_indices = PoolAgent(GAME, pool), np.arange(40)
    agent.reset(env_indices)
    assert set(low.reset_indices + high.reset_indices) == set(range(40))
    states, seats = GAME.empty(40), np.zeros(40, np.int64)
    for k in range(40):
        states[k] = np.array(GAME.new(k), GAME.state)
    rngs = np.zeros((40, 1), np.uint64)
    actions = agent.act(states, seats, rngs, env_indices)
    assert (rngs == 1).all()  # each stream was advanced by the member that used it
    assert sorted(low.act_indices + high.act_indices) == list(range(40))
    assert set(low.act_indices) <= set(low.reset_indices)
    assert (actions[low.act_indices] == 0).all()
    assert (actions[high.act_indices] == 8).all()
    assert 3 < len(low.act_indices) < 20  # a quarter of 40 is expected
    pool.add("later", Corner(GAME))
    pool.members = pool.members[-1:]
    assert np.array_equal(agent.act(states, seats, rngs, env_indices), actions)  # games in progress
    agent.reset(env_indices[:10])
    changed = agent.act(states, seats, rngs, env_indices)
    assert np.array_equal(changed[10:], actions[10:])
    assert (changed[:10] == 0).all()


def test_results_are_counted_for_the_sampled_members() -> None:
    pool = OpponentPool(latest_prob=1.0)
    first = pool.add("first", Corner(GAME))
    agent = PoolAgent(GAME, pool)
    agent.reset(np.arange(3))
    second = pool.add("second", Corner(GAME))
    agent.reset(np.arange(3))  # the games against the first are over
    for env_index, rewards in enumerate(([1, -1], [0, 0], [-1, 1])):
        agent.record_result(env_index, 0, np.array(rewards, np.float32))
    assert (first.games, first.points) == (3, 1.5)
    agent.record_result(0, 1, np.array([-1, 1]), after_reset=False)  # a win from the other seat
    assert (second.games, second.points) == (1, 1)


def test_results_count_each_opponent_of_a_game_of_several_players() -> None:
    pool = OpponentPool(latest_prob=1.0)
    member = pool.add("one", make_agent("random", make_game("hungry_geese")))
    agent = PoolAgent(make_game("hungry_geese"), pool)
    agent.reset(np.arange(1))
    agent.record_result(0, 2, np.array([-1, 1, 1 / 3, 1 / 3], np.float32), after_reset=False)
    assert (member.games, member.points) == (3, 1.5)  # a win, a loss and a draw


@pytest.mark.parametrize("game", [GAME, TRON])
def test_a_pool_plays_matches(game: Any) -> None:
    pool = OpponentPool(seed=3)
    pool.add("random", make_agent("random", game))
    pool.add("greedy", make_agent("greedy", game))
    result = play_match(game, [PoolAgent(game, pool), "random"], 40, seed=0, batch_size=7)
    assert result.games == 40


def test_invalid_parameters_raise() -> None:
    with pytest.raises(ValueError, match="size must be an integer from 1 to"):
        OpponentPool(0)
    with pytest.raises(ValueError, match="sampling must be one of 'uniform', 'prioritized'"):
        OpponentPool(sampling="newest")
    with pytest.raises(ValueError, match="latest_prob must be a number from 0 to 1"):
        OpponentPool(latest_prob=2)
    with pytest.raises(ValueError, match="the pool is empty"):
        OpponentPool().sample(1)
