"""Opponents replaced between steps, in single and vector environments."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import greedy
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv

pytestmark = pytest.mark.interpreted

ids = pytest.mark.parametrize("id_", ["TicTacToe-v0", "Othello-v0", "Tron-v0", "HungryGeese-v0"])


class FirstLegal(Agent):
    """Agent that plays the legal action with the lowest number and records its calls."""

    def __init__(self, game: Any):
        super().__init__(game)
        self.reset_indices: list[int] = []
        self.seats: list[int] = []

    def reset(self, env_indices: Any) -> None:
        self.reset_indices += env_indices.tolist()

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.seats += seats.tolist()
        legal = np.zeros(self.game.num_actions, np.int16)
        actions = []
        for s, seat in zip(states.view(np.recarray), seats, strict=True):
            self.game.legal_actions(*((s, seat) if self.game.simultaneous else (s,)), legal)
            actions.append(int(legal[0]))
        return np.array(actions)


class Refusing(FirstLegal):
    """Agent whose `reset` raises an error."""

    def reset(self, env_indices: Any) -> None:
        raise RuntimeError("no")


def play(env: Any, steps: int, seed: int) -> list[Any]:
    """Return all results of an environment in some steps of random legal play."""
    rng, log = np.random.default_rng(seed), []
    for _ in range(steps):
        masks = env.action_masks()
        actions = (rng.random(masks.shape) * masks).argmax(-1)
        observations, rewards, terminated, _, info = env.step(actions)
        log += [observations, rewards, terminated, info["action_mask"], info["player"]]
        if isinstance(env, GameEnv) and terminated:
            log.append(env.reset()[0])
    return log


@ids
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_games_continue_as_if_the_new_opponents_had_always_played(
    id_: str, seat: Any, make_small_game: Any
) -> None:
    game = make_small_game(id_)
    for make, options in (
        (GameEnv, {}),
        (GameVectorEnv, {"num_envs": 2}),
        (GameVectorEnv, {"num_envs": 2, "autoreset_mode": AutoresetMode.SAME_STEP}),
    ):
        env = make(game, opponent="random", agent_seat=seat, **options)
        env.reset(seed=2)
        play(env, 2, seed=0)
        # From compiled opponents to those in Python, and back.
        for new in (FirstLegal(game), "random", [FirstLegal(game)] * (game.num_players - 1)):
            twin = make(game, opponent=new, agent_seat=seat, **options)
            twin.restore(env.save())
            env.set_opponent(new)
            np.testing.assert_equal(env.action_masks(), twin.action_masks())
            np.testing.assert_equal(play(env, 6, seed=1), play(twin, 6, seed=1))


@pytest.mark.slow
def test_results_against_a_new_opponent_do_not_depend_on_threads(make_small_game: Any) -> None:
    game, logs = make_small_game("TicTacToe-v0"), []
    for threads in (1, 2):
        env = GameVectorEnv(game, 5, opponent=FirstLegal(game), num_threads=threads)
        env.reset(seed=0)
        log = play(env, 3, seed=0)
        env.set_opponent("random")
        log += play(env, 10, seed=1)
        env.set_opponent(FirstLegal(game))
        logs.append(log + play(env, 10, seed=2))
        env.close()
    np.testing.assert_equal(logs[0], logs[1])


def test_each_seat_gets_its_own_opponent(make_small_game: Any) -> None:
    game = make_small_game("HungryGeese-v0")
    env = GameVectorEnv(game, 4, opponent="random", agent_seat=1)
    env.reset(seed=0)
    first, other = FirstLegal(game), FirstLegal(game)
    env.set_opponent([first, other])
    assert first.reset_indices == other.reset_indices == [0, 1, 2, 3]
    play(env, 5, seed=0)
    assert set(first.seats) == {0}
    assert set(other.seats) == {2}
    env.set_opponent([first, "random"])
    other.seats.clear()
    play(env, 5, seed=0)
    assert not other.seats


def test_a_replay_holds_the_moves_of_both_opponents(make_small_game: Any) -> None:
    env = GameEnv(make_small_game("TicTacToe-v0"), opponent="random", illegal_action="random")
    env.reset(seed=0)
    env.step(8)
    env.set_opponent(FirstLegal(env.game))
    before = env.replay().actions
    env.step(int(np.flatnonzero(env.action_masks())[-1]))
    assert env.replay().actions[:2] == before
    assert len(env.replay().actions) == 4


def test_set_opponent_works_through_gymnasiums_wrappers() -> None:
    name = "ludoteca/TicTacToe-v0"
    single = gym.make(name)
    for change in (single.unwrapped.set_opponent, single.get_wrapper_attr("set_opponent")):
        change("greedy")
        change("random")
    single.get_wrapper_attr("set_opponent")("greedy")
    assert type(single.unwrapped.game_batch.opponents[0]) is type(greedy(single.unwrapped.game))
    several = gym.make_vec(name, num_envs=2, vectorization_mode="sync")
    several.call("set_opponent", "greedy")
    kinds = {type(env.unwrapped.game_batch.opponents[0]) for env in several.envs}
    assert kinds == {type(single.unwrapped.game_batch.opponents[0])}
    wrapped = RecordEpisodeStatistics(gym.make_vec(name, num_envs=2, opponent="random"))
    wrapped.unwrapped.set_opponent("greedy")
    assert {type(env) for env in wrapped.unwrapped.game_batch.opponents} == kinds


@pytest.mark.parametrize("make", [GameEnv, GameVectorEnv])
def test_invalid_opponents_are_errors_and_change_nothing(make: Any, make_small_game: Any) -> None:
    game, other = make_small_game("HungryGeese-v0"), make_small_game("TicTacToe-v0")
    env = make(game, opponent="random", agent_seat=1)
    env.reset(seed=0)
    before, opponents = env.save(), env.game_batch.opponents
    for new, kind, message in (
        (None, TypeError, "opponent must be a spec string .*got None"),
        (3, TypeError, "opponent must be a spec string .*got 3"),
        (["random"], ValueError, "so opponent must be one spec or a list of 2, got 1"),
        (["random", None], TypeError, "got None"),
        ("nobody", ValueError, "unknown agent 'nobody'"),
        (FirstLegal(other), ValueError, "was made for tictactoe"),
        (Refusing(game), RuntimeError, "no"),
    ):
        with pytest.raises(kind, match=message):
            env.set_opponent(new)
        assert env.save() == before
        assert env.game_batch.opponents is opponents
    play(env, 3, seed=0)


def test_in_self_play_set_opponent_is_an_error() -> None:
    env = GameVectorEnv("tictactoe", 2)
    with pytest.raises(ValueError, match=r"made with opponent=\.\.\.: in self-play the caller act"):
        env.set_opponent("random")
