"""Reference implementation of vector environments in Python, and fixtures of their tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES
from ludoteca.envs.rng import below, next_u64

MakeSmallGame = Callable[[str], Game]


ids = pytest.mark.parametrize("id_", GAMES)


# A sequential and a simultaneous game by default, the others in `make test-slow`.
THREADED = [
    pytest.param(id_, marks=() if id_ in ("TicTacToe-v0", "Tron-v0") else pytest.mark.slow)
    for id_ in GAMES
]


modes = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


illegal_actions = pytest.mark.parametrize("illegal_action", ["lose", "penalize", "random"])


opponents = pytest.mark.parametrize("opponent", [None, "random"], ids=["self-play", "opponent"])


class PythonRandom:
    """The uniform agent, called from Python: it has no kernel."""

    def __init__(self, game: Game):
        self._agent = RandomAgent(game)
        self.seats: list[int] = []  # the seats of all calls of `act`
        self.reset_indices: list[int] = []  # indices of the games that were reset

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        self.reset_indices += env_indices.tolist()

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.seats += seats.tolist()
        return self._agent.act(states, seats, rngs, env_indices)


class ReferenceGame:
    """One game of a batch as the documentation describes it, in interpreted Python.

    Args:
        game: the game.
        seed: the seed of this game of the batch.
        opponent: "random", or None for self-play.
        agent_seat: the agent's seat, or "random" for a new one in every game.
        illegal_action: "lose", "penalize" or "random".
    """

    def __init__(self, game: Game, seed: int, opponent: Any, agent_seat: Any, illegal_action: str):
        self.game, self.opponent, self.agent_seat = game, opponent, agent_seat
        self.illegal_action = illegal_action
        self.rng = np.array([seed], np.uint64)
        self.seat, self.mover = -1, 0
        self.reset()

    def reset(self) -> None:
        """Sample a seed and a seat, and let opponents move until the agent is to move."""
        self.s = self.game.new(int(next_u64(self.rng)))
        if self.opponent is not None:
            is_random = self.agent_seat == "random"
            self.seat = below(self.rng, self.game.num_players) if is_random else self.agent_seat
        self.over, self.illegal = False, False
        self.rewards = np.zeros(self.game.num_players, np.float32)
        self.reward = 0.0
        self.opponents_step()

    def legal(self, p: int) -> list[int]:
        """Return the legal actions of player `p`."""
        out = np.zeros(self.game.num_actions, np.int16)
        sides = (p, out) if self.game.simultaneous else (out,)
        return [int(action) for action in out[: self.game.legal_actions(self.s, *sides)]]

    def sample(self, p: int) -> int:
        """Sample a legal action of player `p`."""
        legal = self.legal(p)
        return legal[below(self.rng, len(legal))]

    def opponents_step(self) -> None:
        """Let the opponents move until the agent is to move, in sequential games."""
        game = self.game
        if self.opponent is None or game.simultaneous:
            return
        while not game.is_terminal(self.s) and game.player(self.s) != self.seat:
            game.step(self.s, self.sample(game.player(self.s)))

    def returns(self) -> NDArray[np.float32]:
        """Return the returns of all players."""
        out = np.zeros(self.game.num_players, np.float32)
        self.game.returns(self.s, out)
        return out

    def step(self, actions: list[int]) -> None:
        """Step with the actions of the controlled players, by the rule for illegal actions."""
        game, s = self.game, self.s
        if game.simultaneous:
            controlled = range(game.num_players) if self.opponent is None else [self.seat]
            movers = [p for p in controlled if game.is_active(s, p)]
            chosen = dict(zip(controlled, actions, strict=True))
        else:
            movers = [game.player(s)]
            chosen = {movers[0]: actions[0]}
        rewarded = self.seat if self.seat >= 0 else 0 if game.simultaneous else movers[0]
        wrong = [p for p in movers if chosen[p] not in self.legal(p)]
        self.illegal = bool(wrong)
        if wrong and self.illegal_action != "random":
            self.rewards = np.array([-(p in wrong) for p in range(game.num_players)], np.float32)
            self.over = self.illegal_action == "lose"
        else:
            for p in wrong:
                chosen[p] = self.sample(p)
            before = self.returns()
            if game.simultaneous:
                joint = np.zeros(game.num_players, np.int64)
                for p in range(game.num_players):
                    if p in movers:
                        joint[p] = chosen[p]
                    elif game.is_active(s, p):
                        joint[p] = self.sample(p)
                game.step(s, joint)
            else:
                game.step(s, chosen[movers[0]])
            self.opponents_step()
            is_out = game.simultaneous and self.seat >= 0 and not game.is_active(s, self.seat)
            self.over = game.is_terminal(s) or is_out
            has_rewards = game.simultaneous or game.is_terminal(s)
            self.rewards = self.returns() - before if has_rewards else np.zeros_like(before)
        self.reward = float(self.rewards[rewarded])

    def observe(self) -> dict[str, Any]:
        """Return observation, action mask and player, of all players in simultaneous self-play."""
        game, s = self.game, self.s
        if game.simultaneous:
            seats = [*range(game.num_players)] if self.opponent is None else [self.seat]
            movers, player = seats, self.seat
        else:
            movers = [game.player(s)]
            player = movers[0] if self.opponent is None else self.seat
            seats = [player]
        planes = np.zeros((len(seats), *game.observation_shape), np.int8)
        masks = np.zeros((len(seats), game.num_actions), np.int8)
        for row, p in enumerate(seats):
            game.observe(s, p, planes[row])
            if p in movers and not self.over:
                masks[row, self.legal(p)] = 1
        all_players = game.simultaneous and self.opponent is None
        return {
            "observation": planes if all_players else planes[0],
            "action_mask": masks if all_players else masks[0],
            "player": player,
        }

    def rewards_info(self) -> dict[str, Any]:
        """Return the information about the last step."""
        return {"rewards": self.rewards.copy(), "illegal_action": self.illegal}


def sample_actions(
    rng: np.random.Generator, masks: NDArray[np.int8], illegal: float
) -> NDArray[np.int64]:
    """Sample legal actions, or with probability `illegal` any number near the range of actions."""
    shape, count = masks.shape[:-1], masks.shape[-1]
    legal = (masks * rng.random(masks.shape)).argmax(-1)
    anything = rng.integers(-2, count + 2, shape)
    return np.where(rng.random(shape) < illegal, anything, legal)


def trajectory(env: GameVectorEnv, steps: int, illegal: float = 0.1, seed: int = 11) -> list[Any]:
    """Return all results of an environment in some steps of random play."""
    rng = np.random.default_rng(seed)
    observations, info = env.reset(seed=seed)
    log: list[Any] = [observations, info]
    for _ in range(steps):
        ended = env.game_batch.episode_states["over"].copy()
        if env.autoreset_mode == AutoresetMode.DISABLED and ended.any():
            observations, info = env.reset(options={"reset_mask": ended})
            log += [observations, info]
        *returned, info = env.step(sample_actions(rng, info["action_mask"], illegal))
        log += [*returned, info]
    return log


def assert_same(first: Any, second: Any) -> None:
    """Compare nested containers of arrays, types included."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, list | tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_same(a, b)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    else:
        assert first == second
