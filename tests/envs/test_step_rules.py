"""Rules of one step, interpreted: resets, illegal actions, opponents, rewards, observations."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.episode_state import (
    DISABLED,
    EVERY_SEAT,
    LOSE,
    NO_SEAT,
    PENALIZE,
    RANDOM,
    RANDOM_SEAT,
    episode_state_dtype,
    scratch_dtype,
)
from ludoteca.envs.engine.legality import NONE, make_legality
from ludoteca.envs.engine.step_rules import make_step_rules
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.jit import kernel
from ludoteca.envs.registry import make_game

TICTACTOE = make_game("tictactoe")
TRON = make_game("tron:rows=5,columns=5")


@kernel
def choose_first(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    return int(legal[0])


class OneGame:
    """One game of a batch with its episode state, scratch memory, history, planes and masks."""

    def __init__(self, game: Game, seat_rule: int, opponents: bool = False):
        choose = choose_first if opponents else None
        with interpreting():
            self.stepper = make_stepper(game, choose)
            self.rules, self.legality = make_step_rules(game, choose), make_legality(game)
        self.states = game.empty(1).view(np.recarray)
        self.episodes = np.zeros(1, episode_state_dtype(game)).view(np.recarray)
        self.scratch = np.zeros(1, scratch_dtype(game)).view(np.recarray)
        self.s, self.episode, self.work = self.states[0], self.episodes[0], self.scratch[0]
        plies = game.max_plies * (game.num_players if game.simultaneous else 1)
        self.history = np.zeros(1 + plies, np.int16)
        width = game.num_players if game.simultaneous and seat_rule == EVERY_SEAT else 1
        self.planes = np.zeros((width, *game.observation_shape), np.int8)
        self.masks = np.zeros((width, game.num_actions), np.int8)
        with np.errstate(over="ignore"):  # uint64 wraps around
            self.rules.reset(self.s, self.episode, self.history, seat_rule)
            self.rules.opponents_step(self.s, self.episode, self.history, self.work)
        self.observe()

    def observe(self) -> None:
        legal = self.work.legal
        self.rules.observe(self.s, self.episode, self.planes, self.masks, legal)

    def step(self, *actions: int, illegal_rule: int = LOSE) -> None:
        rows = (self.masks[None], self.planes[None], self.planes[None], self.history[None])
        arrays = (self.states, self.episodes, np.array([actions]), *rows, self.scratch)
        self.stepper.step(arrays, (EVERY_SEAT, illegal_rule, DISABLED), 0, 0, 1)


def test_self_play_alternates_and_pays_the_mover() -> None:
    one = OneGame(TICTACTOE, EVERY_SEAT)
    assert one.episode.seat == NO_SEAT
    for ply, action in enumerate((0, 3, 1, 4)):
        assert one.episode.mover == ply % 2
        assert one.masks[0, action] == 1
        one.step(action)
        assert one.masks[0, action] == 0
        assert not one.episode.over
    one.step(2)
    assert one.episode.over
    assert one.episode.terminated
    assert one.episode.rewards.tolist() == [1, -1]
    assert one.episode.reward == 1  # of the player that moved
    assert not one.masks.any()
    assert one.history[:6].tolist() == [5, 0, 3, 1, 4, 2]


@pytest.mark.parametrize("action", [0, -1, 9])
def test_an_illegal_action_loses_is_penalized_or_replaced(action: int) -> None:
    for rule in (LOSE, PENALIZE, RANDOM):
        one = OneGame(TICTACTOE, EVERY_SEAT)
        one.step(0)
        position = one.s.board.copy()
        assert one.legality.find_illegal(one.s, one.episode, np.array([action]), one.masks) == 0
        one.step(action, illegal_rule=rule)
        assert one.episode.illegal
        assert one.episode.over == one.episode.terminated == (rule == LOSE)
        assert one.episode.mover == (rule != RANDOM)
        assert (one.s.board == position).all() == (rule != RANDOM)
        if rule != RANDOM:
            assert one.episode.rewards.tolist() == [0, -1]
            assert one.episode.reward == -1


def test_opponents_play_until_the_agent_is_to_move() -> None:
    one = OneGame(TICTACTOE, 1, opponents=True)
    assert one.episode.seat == one.episode.mover == 1
    assert one.history[:2].tolist() == [1, 0]  # the opponent moved first
    one.step(4)
    assert one.history[:4].tolist() == [3, 0, 4, 1]
    one.step(8)
    assert one.episode.over  # the opponent has completed a row
    assert one.episode.rewards.tolist() == [1, -1]
    assert one.episode.reward == -1  # of the agent


def test_the_seat_is_sampled_for_each_game() -> None:
    one = OneGame(TICTACTOE, RANDOM_SEAT, opponents=True)
    seats, seeds = set(), set()
    for _ in range(20):
        with np.errstate(over="ignore"):
            one.rules.reset(one.s, one.episode, one.history, RANDOM_SEAT)
        seats.add(int(one.episode.seat))
        seeds.add(int(one.episode.game_seed))
    assert seats == {0, 1}
    assert len(seeds) == 20


def test_simultaneous_rewards_are_changes_of_the_returns() -> None:
    one = OneGame(TRON, EVERY_SEAT)
    returned = np.zeros(2)
    while not one.episode.over:
        before = returned.copy()
        one.step(*one.masks.argmax(1))
        TRON.returns(one.s, returned)
        assert np.allclose(one.episode.rewards, returned - before)
    assert one.history[0] > 0


def test_a_joint_action_is_validated_for_all_active_players() -> None:
    one = OneGame(TRON, EVERY_SEAT)
    find = one.legality.find_illegal_in_joint
    legal = one.masks.argmax(1)
    assert find(one.s, legal, one.work) == NONE
    assert find(one.s, np.array([legal[0], 99]), one.work) == 1
    assert find(one.s, np.array([FORFEIT, legal[1]]), one.work) == NONE
    one.rules.apply_joint_action(
        one.s, one.episode, np.array([FORFEIT, legal[1]]), one.history, one.work
    )
    assert one.episode.over
    assert one.episode.rewards.tolist() == [-1, 1]


def test_opponents_that_are_not_compiled_act_after_the_agent() -> None:
    one = OneGame(TICTACTOE, 0)
    arguments = (one.s, one.episode, np.array([4]), one.masks, one.history, one.work, LOSE)
    assert one.rules.apply_action(*arguments)
    assert one.episode.mover == 1
    assert one.history[:2].tolist() == [1, 4]
    one.observe()
    assert not one.rules.apply_action(*arguments)  # illegal now: the game is lost
    assert one.episode.over


def test_rewards_of_the_last_step_are_cleared() -> None:
    one = OneGame(TICTACTOE, EVERY_SEAT)
    one.step(0)
    one.step(0)
    one.rules.clear_rewards(one.episode)
    assert one.episode.rewards.tolist() == [0, 0]
    assert (one.episode.reward, one.episode.terminated, one.episode.illegal) == (0, False, False)
