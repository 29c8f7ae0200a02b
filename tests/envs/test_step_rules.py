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
from ludoteca.envs.engine.legality import ALL_LEGAL, make_legality
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
    """Choose the first legal action: the kernel of an opponent."""
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
        self.scratch_records = np.zeros(1, scratch_dtype(game)).view(np.recarray)
        self.s, self.episode, self.scratch = (
            self.states[0],
            self.episodes[0],
            self.scratch_records[0],
        )
        plies = game.max_plies * (game.num_players if game.simultaneous else 1)
        self.history = np.zeros(1 + plies, np.int16)
        observers = game.num_players if game.simultaneous and seat_rule == EVERY_SEAT else 1
        self.planes = np.zeros((observers, *game.observation_shape), np.int8)
        self.masks = np.zeros((observers, game.num_actions), np.int8)
        with np.errstate(over="ignore"):  # uint64 wraps around
            self.rules.reset(self.s, self.episode, self.history, seat_rule)
            self.rules.opponents_step(self.s, self.episode, self.history, self.scratch)
        self.observe()

    def observe(self) -> None:
        """Write the planes and masks of the position."""
        legal = self.scratch.legal
        self.rules.observe(self.s, self.episode, self.planes, self.masks, legal)

    def step(self, *actions: int, illegal_rule: int = LOSE) -> None:
        """Step with one action per acting player."""
        rows = (self.masks[None], self.planes[None], self.planes[None], self.history[None])
        arrays = (self.states, self.episodes, np.array([actions]), *rows, self.scratch_records)
        self.stepper.step(arrays, (EVERY_SEAT, illegal_rule, DISABLED), 0, 0, 1)


def test_self_play_alternates_and_rewards_the_mover() -> None:
    game = OneGame(TICTACTOE, EVERY_SEAT)
    assert game.episode.seat == NO_SEAT
    for ply, action in enumerate((0, 3, 1, 4)):
        assert game.episode.mover == ply % 2
        assert game.masks[0, action] == 1
        game.step(action)
        assert game.masks[0, action] == 0
        assert not game.episode.over
    game.step(2)
    assert game.episode.over
    assert game.episode.terminated
    assert game.episode.rewards.tolist() == [1, -1]
    assert game.episode.reward == 1  # of the player that moved
    assert not game.masks.any()
    assert game.history[:6].tolist() == [5, 0, 3, 1, 4, 2]  # the number of plies, and the actions


@pytest.mark.parametrize("action", [0, -1, 9])
def test_an_illegal_action_loses_is_penalized_or_replaced(action: int) -> None:
    for rule in (LOSE, PENALIZE, RANDOM):
        game = OneGame(TICTACTOE, EVERY_SEAT)
        game.step(0)
        position = game.s.board.copy()
        assert game.legality.find_illegal(game.s, game.episode, np.array([action]), game.masks) == 0
        game.step(action, illegal_rule=rule)
        assert game.episode.illegal
        assert game.episode.over == game.episode.terminated == (rule == LOSE)
        assert game.episode.mover == (rule != RANDOM)
        assert (game.s.board == position).all() == (rule != RANDOM)
        if rule != RANDOM:
            assert game.episode.rewards.tolist() == [0, -1]
            assert game.episode.reward == -1


def test_opponents_play_until_the_agent_is_to_move() -> None:
    game = OneGame(TICTACTOE, 1, opponents=True)
    assert game.episode.seat == game.episode.mover == 1
    assert game.history[:2].tolist() == [1, 0]  # the opponent moved first
    game.step(4)
    assert game.history[:4].tolist() == [3, 0, 4, 1]
    game.step(8)
    assert game.episode.over  # the opponent has completed a row
    assert game.episode.rewards.tolist() == [1, -1]
    assert game.episode.reward == -1  # of the agent


def test_the_seat_is_sampled_for_each_game() -> None:
    game = OneGame(TICTACTOE, RANDOM_SEAT, opponents=True)
    seats, seeds = set(), set()
    for _ in range(20):
        with np.errstate(over="ignore"):
            game.rules.reset(game.s, game.episode, game.history, RANDOM_SEAT)
        seats.add(int(game.episode.seat))
        seeds.add(int(game.episode.game_seed))
    assert seats == {0, 1}
    assert len(seeds) == 20


def test_simultaneous_rewards_are_changes_of_the_returns() -> None:
    game = OneGame(TRON, EVERY_SEAT)
    returned = np.zeros(2)
    while not game.episode.over:
        before = returned.copy()
        game.step(*game.masks.argmax(1))
        TRON.returns(game.s, returned)
        assert np.allclose(game.episode.rewards, returned - before)
    assert game.history[0] > 0


def test_a_joint_action_is_validated_for_all_active_players() -> None:
    game = OneGame(TRON, EVERY_SEAT)
    find = game.legality.find_illegal_in_joint
    legal = game.masks.argmax(1)
    assert find(game.s, legal, game.scratch) == ALL_LEGAL
    assert find(game.s, np.array([legal[0], 99]), game.scratch) == 1
    assert find(game.s, np.array([FORFEIT, legal[1]]), game.scratch) == ALL_LEGAL
    game.rules.apply_joint_action(
        game.s, game.episode, np.array([FORFEIT, legal[1]]), game.history, game.scratch
    )
    assert game.episode.over
    assert game.episode.rewards.tolist() == [-1, 1]


def test_opponents_that_are_not_compiled_act_after_the_agent() -> None:
    game = OneGame(TICTACTOE, 0)
    arguments = (game.s, game.episode, np.array([4]), game.masks, game.history, game.scratch, LOSE)
    assert game.rules.apply_action(*arguments)
    assert game.episode.mover == 1
    assert game.history[:2].tolist() == [1, 4]
    game.observe()
    assert not game.rules.apply_action(*arguments)  # illegal now: the game is lost
    assert game.episode.over


def test_rewards_of_the_last_step_are_cleared() -> None:
    game = OneGame(TICTACTOE, EVERY_SEAT)
    game.step(0)
    game.step(0)
    game.rules.clear_rewards(game.episode)
    assert game.episode.rewards.tolist() == [0, 0]
    assert (game.episode.reward, game.episode.terminated, game.episode.illegal) == (0, False, False)
