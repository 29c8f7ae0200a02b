"""Play submissions to Hungry Geese in kaggle-environments, and write down what happened.

Run in the environment that `make geese-oracle` sets up; `tests/agents/test_kaggle_live.py` does. It
reads a list of games from standard input, as JSON, and writes the same games as they went:

    {"configuration": {...}, "seed": 0, "bank": 60, "agents": [...]}

An agent is the path of a submission, or a list of what it does, step for step: what it returns, or
`"raise"`. Of each game, `boards` are the geese, food and step of each state, and `geese` the
status, action, reward and time left of each goose in each state.
"""

import contextlib
import io
import json
import random
import sys
from typing import Any

with contextlib.redirect_stdout(io.StringIO()):  # it reports the games it cannot load
    import kaggle_environments


def play(game: dict[str, Any]) -> dict[str, Any]:
    """Play one game."""
    random.seed(game["seed"])
    env = kaggle_environments.make("hungry_geese", game["configuration"])
    env.reset(len(game["agents"]))
    for state in env.state:
        state.observation.remainingOverageTime = game["bank"]
    # As `env.run`, which would begin with a reset.
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

    def agent(seen: Any) -> Any:
        answer = answers[seen.step]
        if answer == "raise":
            raise RuntimeError(answer)
        return answer

    return agent


if __name__ == "__main__":
    games = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):
        played = [play(game) for game in games]
    json.dump(played, sys.stdout)
