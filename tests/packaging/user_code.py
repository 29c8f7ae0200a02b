"""Program of a user, for type checkers: `make typecheck` and `make test-install` check it.

It is checked with the package as it is installed. Two calls are wrong: a checker that does not see
the signatures finds the comments beside them unnecessary, and fails.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import Any, assert_type

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import ludoteca
from ludoteca import make_agent, make_game
from ludoteca.agents import Agent
from ludoteca.agents.mcts.agent import MCTSAgent
from ludoteca.agents.mcts.report import SearchReport
from ludoteca.envs import Game
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.evaluate.match import MatchResult, play_match

assert_type(ludoteca.__version__, str)
env = gym.make("ludoteca/Hex-v0", opponent="random")
observation, info = env.reset(seed=0)

game = make_game("hex", board_size=5)
assert_type(game, Game)
assert_type(game.num_actions, int)
assert_type(make_agent("greedy", game), Agent)

agent = MCTSAgent(game, simulations=100)
report = agent.search(game.new())
assert_type(report, SearchReport)
assert_type(report.action, int)

result = play_match(game, ["greedy", agent], games=10, seed=1)
assert_type(result, MatchResult)
assert_type(result.totals[0].wins, int)

vector = GameVectorEnv("hex", num_envs=4)
_, rewards, terminated, truncated, infos = vector.step(np.zeros(4, np.int64))
assert_type(rewards, NDArray[np.float32])
assert_type(terminated, NDArray[np.bool_])
assert_type(truncated, NDArray[np.bool_])
assert_type(infos, dict[str, Any])

play_match(game, agents=3, games=2)  # type: ignore[arg-type]
MCTSAgent(game, simulation=1)  # type: ignore[call-arg]
