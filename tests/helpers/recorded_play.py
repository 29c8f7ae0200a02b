"""Recorded play of environments and agents, in this or another process.

`python recorded_play.py FILE` reads a pickle of (name, environment or agent) pairs, plays with each
of them, and writes their results to `FILE.played`.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.envs.registry import make_game


class FirstLegal:
    """Opponent in Python with a state: its next move depends on the number of its earlier moves."""

    def __init__(self) -> None:
        self.moves = 0

    def reset(self, env_indices: Any) -> None:
        return

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        game = make_game("tictactoe")
        chosen = []
        for s in states.view(np.recarray):
            legal = game.legal(s)
            chosen.append(legal[self.moves % len(legal)])
            self.moves += 1
        return np.array(chosen)


def record_play(obj: Any, steps: int = 12) -> list[Any]:
    """Return the results of an environment in random play, or the actions of an agent.

    The random actions are the same in every call.
    """
    rng = np.random.default_rng(7)
    if hasattr(obj, "act"):
        return record_agent(obj)
    return [comparable(step_once(obj, rng)) for _ in range(steps)]


def record_agent(agent: Any) -> list[Any]:
    """Return the actions of an agent that plays all seats of a batch of three games."""
    game, log = agent.game, []
    states = game.empty(3)
    for env_index in range(3):
        states[env_index] = game.new(env_index)
    rngs = np.arange(3, dtype=np.uint64)[:, None] + np.uint64(5)
    for _ in range(4):
        over = [game.is_terminal(s) for s in states.view(np.recarray)]
        env_indices = np.flatnonzero(~np.array(over))
        if len(env_indices) == 0:
            break
        records = states.view(np.recarray)
        if game.simultaneous:
            joint = np.zeros((len(env_indices), game.num_players), np.int64)
            for player in range(game.num_players):
                streams = rngs[env_indices]
                seats = np.full(len(env_indices), player)
                active = np.array([game.is_active(records[k], player) for k in env_indices])
                chosen = agent.act(states[env_indices], seats, streams, env_indices)
                joint[:, player] = np.where(active, chosen, 0)
                rngs[env_indices] = streams
        else:
            seats = np.array([game.player(records[k]) for k in env_indices])
            streams = rngs[env_indices]
            joint = agent.act(states[env_indices], seats, streams, env_indices)
            rngs[env_indices] = streams
        log.append(joint.tolist())
        with np.errstate(over="ignore"):
            for k, action in zip(env_indices, joint, strict=True):
                game.step(records[k], action)
    log.append(rngs.tolist())
    return log


def step_once(env: Any, rng: np.random.Generator) -> Any:
    """Step an environment of any API with a random legal action, or reset it after a game."""
    if hasattr(env, "step_async"):  # Stable-Baselines3
        return env.step((env.action_masks() * rng.random(env.action_masks().shape)).argmax(1))
    if hasattr(env, "possible_agents"):
        return pettingzoo_step(env, rng)
    if hasattr(env, "num_envs"):
        masks = env.action_masks()
        return env.step((masks * rng.random(masks.shape)).argmax(-1))
    env = env.unwrapped
    masks = env.action_masks()
    return env.step(int((masks * rng.random(masks.shape)).argmax())) if masks.any() else env.reset()


def pettingzoo_step(env: Any, rng: np.random.Generator) -> Any:
    """Step a PettingZoo environment with random legal actions, or reset it after a game."""
    if not env.agents:
        return env.reset()
    game_batch = env.unwrapped.game_batch
    width = game_batch.masks.shape[1]
    actions = {}
    for index, agent in enumerate(env.possible_agents):
        mask = game_batch.masks[0, index if width > 1 else 0]
        actions[agent] = int((mask * rng.random(mask.shape)).argmax())
    if not hasattr(env, "agent_selection"):
        return env.step({agent: actions[agent] for agent in env.agents})
    agent, seen = env.agent_selection, env.last()
    env.step(None if seen[2] or seen[3] else actions[agent])
    return [agent, seen, env.agents[:]]


def comparable(obj: Any) -> Any:
    """Return a result with arrays replaced by lists, so that `==` compares it."""
    if isinstance(obj, dict):
        return {key: comparable(value) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return [comparable(value) for value in obj]
    return (str(obj.dtype), obj.tolist()) if isinstance(obj, np.ndarray) else obj


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        objects = pickle.load(file)
    played = {}
    for name, obj in objects:
        try:
            played[name] = record_play(obj)
        except Exception as error:
            played[name] = f"{type(error).__name__}: {error}"
    Path(sys.argv[1] + ".played").write_bytes(pickle.dumps(played))
