"""Player of Hungry Geese submissions in kaggle-environments, which records every state.

Run in the environment that `make geese-oracle` sets up; `tests/agents/test_kaggle_live.py` does. It
reads a list of games from standard input, as JSON, and writes the played games:

    {"configuration": {...}, "seed": 0, "bank": 60, "agents": [...]}

`bank` is the overage time in seconds. An agent is the path of a submission, or a list of the values
that it returns step by step, where `"raise"` raises an error. The output of each game has `boards`
(the step, geese and food of each state) and `geese` (the status, action, reward and remaining
overage time of each goose in each state).
"""

import contextlib
import io
import json
import random
import sys
from typing import Any

with contextlib.redirect_stdout(io.StringIO()):  # kaggle reports games that cannot be loaded
    import kaggle_environments


def play(game: dict[str, Any]) -> dict[str, Any]:
    """Play one game."""
    random.seed(game["seed"])
    env = kaggle_environments.make("hungry_geese", game["configuration"])
    env.reset(len(game["agents"]))
    for state in env.state:
        state.observation.remainingOverageTime = game["bank"]
    # The loop of `env.run`, which itself would first reset the overage time.
    runner = env._Environment__agent_runner(
        [agent if isinstance(agent, str) else scripted(agent) for agent in game["agents"]]
    )
    while not env.done:
        env.step(*runner.act())
    boards = [steps[0].observation for steps in env.steps]
    return {
        "boards": [{key: board[key] for key in ("step", "geese", "food")} for board in boards],
        "geese": [
            [
                [state.status, state.action, state.reward, state.observation.remainingOverageTime]
                for state in steps
            ]
            for steps in env.steps
        ],
    }


def scripted(answers: list[Any]) -> Any:
    """Return an agent that plays given actions."""

    def agent(observation: Any) -> Any:
        answer = answers[observation.step]
        if answer == "raise":
            raise RuntimeError(answer)
        return answer

    return agent


if __name__ == "__main__":
    games = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):
        played = [play(game) for game in games]
    json.dump(played, sys.stdout)
