"""Workloads of this package: vector, AEC and single Gymnasium environments, and agents."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

import ludoteca  # noqa: F401  registers the environments
from ludoteca.agents.registry import make_agent
from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.peers.pettingzoo_aec import timed_replay
from ludoteca.evaluate.bench.sampler import MaskSampler
from ludoteca.evaluate.bench.workloads import Sample
from ludoteca.evaluate.match import play_match


class VectorWorkload:
    """Native vector environment in self-play with random legal actions and next-step autoreset.

    Next-step is Gymnasium's default: the call of `step` after a game's end resets the game, and is
    not counted. In samples, `seconds` includes the sampling of actions, and `inside` is the time in
    `step`.
    """

    def __init__(self, game: Game | str, num_envs: int, num_threads: int = 1):
        self._env = GameVectorEnv(game, num_envs, num_threads=num_threads)
        self._sample_actions = MaskSampler()
        self._steps = 0  # steps of all games
        _, info = self._env.reset(seed=0)
        self._masks = info["action_mask"]
        self._stagger()

    def __call__(self, seconds: float) -> Sample:
        """Step for about `seconds`; each call of `step` counts one step per unfinished game."""
        steps_before, inside = self._steps, 0.0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            inside += self._play(8)  # 8 calls between two readings of the clock
        return Sample(self._steps - steps_before, passed, inside)

    def close(self) -> None:
        """End the threads."""
        self._env.close()

    def _stagger(self) -> None:
        """Warm up, and spread the games evenly over the plies, so that rounds are comparable."""
        steps = min(self._env.game.max_plies, 128)
        reset_step = np.arange(self._env.num_envs) % steps
        for step in range(min(steps, self._env.num_envs)):
            self._play(1)
            _, info = self._env.reset(options={"reset_mask": reset_step == step})
            self._masks = info["action_mask"]

    def _play(self, calls: int) -> float:
        """Call `step` `calls` times; return the seconds spent in it."""
        inside = 0.0
        for _ in range(calls):
            actions = self._sample_actions(self._masks)
            start = perf_counter()
            _, _, terminated, _, info = self._env.step(actions)
            inside += perf_counter() - start
            self._masks = info["action_mask"]
            # The next call resets games that have ended.
            self._steps += self._env.num_envs - int(np.count_nonzero(terminated))
        return inside


class AECWorkload:
    """AEC environment of Connect Four that replays recorded games in the same loop as the peer."""

    def __init__(self, games: Sequence[Sequence[int]]):
        self._env: Any = aec_env("Connect4-v0")  # as pettingzoo.make returns it
        self._run = timed_replay(self._env, games)
        self._run(0.1)  # warm-up

    def __call__(self, seconds: float) -> Sample:
        """Replay games for about `seconds`; count moves."""
        return Sample(*self._run(seconds))

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class SingleEnvWorkload:
    """Single Gymnasium environment with a random opponent, whose moves count, too.

    The agent's actions are recorded in advance: with the same seed the games repeat.
    """

    def __init__(self, num_games: int = 300):
        self._env = gymnasium.make("ludoteca/Connect4-v0", opponent="random")
        self._actions, self._moves = self._record(num_games)

    def __call__(self, seconds: float) -> Sample:
        """Replay all recorded games repeatedly for about `seconds`; count moves."""
        step, reset = self._env.step, self._env.reset
        moves = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            reset(seed=0)
            for action in self._actions:
                _, _, terminated, truncated, _ = step(action)
                if terminated or truncated:
                    reset()
            moves += self._moves
        return Sample(moves, passed)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _record(self, num_games: int) -> tuple[list[int], int]:
        """Return the agent's actions in random games, and the number of moves of both players."""
        sample_actions = MaskSampler()
        actions, moves = [], 0
        _, info = self._env.reset(seed=0)
        while num_games > 0:
            actions.append(int(sample_actions(info["action_mask"])))
            observation, _, terminated, truncated, info = self._env.step(actions[-1])
            if terminated or truncated:
                num_games -= 1
                moves += int(observation.sum())  # one disc on the board per move
                _, info = self._env.reset()
        return actions, moves


class AgentWorkload:
    """Agent that acts for every player in all positions of recorded games, as one batch.

    The game is simultaneous. The recorded games are those of the agent against `greedy`, so that
    all stages of a game occur.
    """

    def __init__(self, game: str, agent: str, num_games: int = 20):
        rules = make_game(game)
        self._agent = make_agent(agent, rules)
        agents = (self._agent, "greedy")
        replays = play_match(rules, agents, num_games, num_replays=num_games).replays
        legal = np.zeros(rules.num_actions, rules.action_dtype)
        decisions = [
            (s, seat)
            for replay in replays
            for s in replay.positions()
            for seat in range(rules.num_players)
            if rules.legal_actions(s, seat, legal) > 0
        ]
        self._states, self._seats = (
            rules.empty(len(decisions)),
            np.zeros(len(decisions), np.int64),
        )
        for k, (s, seat) in enumerate(decisions):
            self._states[k], self._seats[k] = np.array(s, rules.state), seat
        self._rngs = np.zeros((len(decisions), 1), np.uint64)
        self._env_indices = np.arange(len(decisions))

    def __call__(self, seconds: float) -> Sample:
        """Act for about `seconds`; count moves."""
        moves = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            self._agent.act(self._states, self._seats, self._rngs, self._env_indices)
            moves += len(self._states)
        return Sample(moves, passed)

    def close(self) -> None:
        """Do nothing: there are no processes or threads."""


def random_games(name: str, count: int, seed: int = 0) -> list[list[int]]:
    """Return the actions of `count` uniformly random games of a turn-based game."""
    game = make_game(name)
    rng = np.random.default_rng(seed)
    legal: Any = np.zeros(game.num_actions, game.action_dtype)
    games = []
    for i in range(count):
        s = game.new(i)
        actions: list[int] = []
        while not game.is_terminal(s):
            n = game.legal_actions(s, legal)
            actions.append(int(legal[rng.integers(n)]))
            game.step(s, actions[-1])
        games.append(actions)
    return games
