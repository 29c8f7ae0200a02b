"""Opponents of vector environments: compiled and Python ones, seats, rewards, errors."""

from typing import Any

import numpy as np
import pytest
from boards import EVERY_GAME
from gymnasium.vector import AutoresetMode
from pettingzoo_make import make_pettingzoo
from vector_games import (
    THREADED,
    MakeSmallGame,
    PythonRandom,
    assert_same,
    modes,
    sample_actions,
    trajectory,
)

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


RULES = ("lose", "raise", "penalize", "random")
SEATS = (0, 1, "random")
# All pairs of a mode and a rule by default, with a seat of its own each, and all three otherwise.
COMBINATIONS = [
    pytest.param(mode, rule, seat, marks=() if (m + r + k) % 3 == 0 else pytest.mark.slow)
    for m, mode in enumerate(AutoresetMode)
    for r, rule in enumerate(RULES)
    for k, seat in enumerate(SEATS)
]


@pytest.mark.parametrize("id_", THREADED)
@pytest.mark.parametrize(("mode", "rule", "seat"), COMBINATIONS)
def test_compiled_opponents_equal_python_opponents(
    id_: str, mode: AutoresetMode, rule: str, seat: Any, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    options = {"agent_seat": seat, "illegal_action": rule, "autoreset_mode": mode}
    compiled = GameVectorEnv(game, 4, opponent="random", **options)
    python = GameVectorEnv(game, 4, opponent=PythonRandom(game), **options)
    assert compiled.game_batch.has_compiled_opponents
    assert not python.game_batch.has_compiled_opponents
    illegal = 0.0 if rule == "raise" else 0.1
    assert_same(trajectory(compiled, 25, illegal), trajectory(python, 25, illegal))


@pytest.mark.parametrize(
    "rule",
    [pytest.param(rule, marks=() if rule == "penalize" else pytest.mark.slow) for rule in RULES],
)
@modes
def test_opponents_may_win_before_the_agent_can_move(rule: str, mode: AutoresetMode) -> None:
    """On this small board, White can win by its first move, so that Black has no legal action."""
    game = make_game("knight_through:rows=4,columns=4")
    options = {"agent_seat": 1, "illegal_action": rule, "autoreset_mode": mode}
    compiled = GameVectorEnv(game, 16, opponent="random", **options)
    python = GameVectorEnv(game, 16, opponent=PythonRandom(game), **options)
    assert_same(trajectory(compiled, 8, 0.0), trajectory(python, 8, 0.0))
    _, info = compiled.reset(seed=0)
    lost = ~info["action_mask"].any(-1)
    assert 0 < lost.sum() < 16
    _, rewards, terminated, _, info = compiled.step(info["action_mask"].argmax(-1))
    assert terminated[lost].all()
    assert (rewards[lost] == -1).all()
    assert (info["rewards"][lost] == [1, -1]).all()
    assert not info["illegal_action"].any()

    lost_game = int(np.flatnonzero(lost)[0])  # also its seed
    single = GameEnv(game, agent_seat=1, illegal_action=rule)
    _, single_info = single.reset(seed=lost_game)
    assert not single_info["action_mask"].any()
    twin = GameEnv(game, agent_seat=1, illegal_action=rule)
    twin.restore(single.save())
    for env in (single, twin):
        assert env.step(0)[1:3] == (-1.0, True)
        assert env.replay().returns == (1.0, -1.0)
        env.reset()


@pytest.mark.parametrize("id_", EVERY_GAME)
def test_the_loser_receives_its_reward(id_: str, make_small_game: MakeSmallGame) -> None:
    game = make_small_game(id_)
    env = GameVectorEnv(game, 16, opponent="random", agent_seat="random")
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    final_rewards = set()
    for _ in range(30):
        seats = env.game_batch.episode_states["seat"].copy()
        over = env.game_batch.episode_states["over"].copy()
        _, rewards, terminated, _, info = env.step(sample_actions(rng, info["action_mask"], 0.0))
        np.testing.assert_array_equal(
            rewards, np.where(over, 0, info["rewards"][np.arange(16), seats])
        )
        assert not rewards[~terminated].any()
        final_rewards |= set(rewards[terminated].tolist())
    assert {-1.0, 1.0} <= final_rewards


def test_a_goose_gets_its_reward_when_it_dies() -> None:
    env = make_pettingzoo("parallel", "ludoteca/HungryGeese-v0")
    deaths_before_the_end = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        died: dict[str, float] = {}
        while env.agents:
            playing = env.agents[:]
            _, rewards, terminations, _, _ = env.step(
                {agent: int(rng.integers(4)) for agent in playing}
            )
            for agent in playing:
                totals[agent] += rewards[agent]
                if terminations[agent]:
                    died[agent] = totals[agent]
                else:
                    assert rewards[agent] == 0
            deaths_before_the_end += bool(env.agents) and any(terminations.values())
        returns = env.replay().returns
        assert tuple(died[agent] for agent in env.possible_agents) == pytest.approx(
            returns, abs=1e-5
        )
        assert sum(returns) == pytest.approx(0, abs=1e-5)
    assert deaths_before_the_end > 5


def test_opponents_are_in_the_order_of_seats_without_the_agents(
    make_small_game: MakeSmallGame,
) -> None:
    game = make_small_game("HungryGeese-v0")
    for seat in range(game.num_players):
        first, second = PythonRandom(game), PythonRandom(game)
        env = GameVectorEnv(game, 4, opponent=[first, second], agent_seat=seat)
        _, info = env.reset(seed=0)
        for _ in range(10):
            info = env.step(sample_actions(np.random.default_rng(0), info["action_mask"], 0.0))[-1]
        others = [p for p in range(game.num_players) if p != seat]
        assert set(first.seats) == {others[0]}
        assert set(second.seats) == {others[1]}
        assert set(first.reset_indices) == {0, 1, 2, 3}


def test_one_opponent_may_take_all_seats_and_is_reset_once(make_small_game: MakeSmallGame) -> None:
    game = make_small_game("HungryGeese-v0")
    python = PythonRandom(game)
    env = GameVectorEnv(game, 3, opponent=python, agent_seat=1)
    env.reset(seed=0)
    assert python.reset_indices == [0, 1, 2]
    env.step(np.zeros(3, np.int64))
    assert set(python.seats) == {0, 2}


def test_a_list_of_specs_and_objects_is_one_per_seat(make_small_game: MakeSmallGame) -> None:
    game = make_small_game("HungryGeese-v0")
    by_list = GameVectorEnv(game, 3, opponent=["random", RandomAgent(game)], agent_seat="random")
    by_spec = GameVectorEnv(game, 3, opponent="random", agent_seat="random")
    assert by_list.game_batch.has_compiled_opponents
    assert_same(trajectory(by_list, 20), trajectory(by_spec, 20))


class InvalidOpponent(PythonRandom):
    """Opponent that chooses invalid actions after `num_legal` legal ones.

    Args:
        game: the game.
        invalid_answer: an exception to raise, or a function from the batch size to actions.
        num_legal: number of calls of `act` with legal actions before.
    """

    def __init__(self, game: Game, invalid_answer: Any, num_legal: int):
        super().__init__(game)
        self.invalid_answer, self.num_legal = invalid_answer, num_legal

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.num_legal -= 1
        if self.num_legal >= 0:
            return super().act(states, seats, rngs, env_indices)
        if isinstance(self.invalid_answer, Exception):
            raise self.invalid_answer
        return self.invalid_answer(len(states))


@pytest.mark.parametrize("id_", ["TicTacToe-v0", "Tron-v0"])
@pytest.mark.parametrize(
    ("invalid_answer", "message"),
    [
        (lambda n: np.full(n, 99), r"opponent in seat 1 of game \d chose 99, which is illegal"),
        (lambda n: np.full(n, -2), "chose -2, which is illegal"),
        (lambda n: np.zeros(n), r"must return integers of shape \(\d,\), got float64"),
        (lambda n: 0, r"must return integers of shape \(\d,\), got int64 of shape \(\)"),
        (lambda n: np.zeros(n + 1, int), "must return integers of shape"),
        (lambda n: np.zeros((n, 1), int), "must return integers of shape"),
        (lambda n: None, "must return integers of shape .* got object"),
        (RuntimeError("the program crashed"), "the program crashed"),
    ],
)
def test_errors_of_opponents_name_them_and_change_nothing(
    id_: str, invalid_answer: Any, message: str, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    wrong = InvalidOpponent(game, invalid_answer, num_legal=1)
    env = GameVectorEnv(game, 3, opponent=wrong, autoreset_mode=AutoresetMode.SAME_STEP)
    _, info = env.reset(seed=0)
    _, _, _, _, info = env.step(info["action_mask"].argmax(-1))
    before, masks = env.save(), env.action_masks()
    seen = env.game_batch.observations.copy()
    actions = info["action_mask"].argmax(-1)
    with pytest.raises((ValueError, RuntimeError), match=message):
        env.step(actions)
    assert env.save() == before
    np.testing.assert_array_equal(env.action_masks(), masks)
    np.testing.assert_array_equal(env.game_batch.observations, seen)
    wrong.num_legal = 10**6
    env.step(actions)


def test_opponents_cannot_change_positions(make_small_game: MakeSmallGame) -> None:
    class Vandal(PythonRandom):
        def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
            actions = super().act(states, seats, rngs, env_indices)
            states["board"], seats[:], env_indices[:] = 1, 0, 0
            return actions

    game = make_small_game("TicTacToe-v0")
    vandal = GameVectorEnv(game, 3, opponent=Vandal(game), agent_seat="random")
    undisturbed = GameVectorEnv(game, 3, opponent="random", agent_seat="random")
    assert_same(trajectory(vandal, 20), trajectory(undisturbed, 20))


def test_agents_have_the_opponent_protocol(make_small_game: MakeSmallGame) -> None:
    assert issubclass(Agent, Opponent)
    assert isinstance(PythonRandom(make_small_game("Hex-v0")), Opponent)
