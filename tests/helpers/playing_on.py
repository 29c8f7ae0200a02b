"""Plays environments and agents on, here or in another process: `python playing_on.py FILE`.

The file is a pickle of (name, environment or agent) pairs; what they did goes to `FILE.played`.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.envs.registry import make_game


class FirstLegal:
    """An opponent in Python that counts its moves, on which its next one depends."""

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


def play_on(thing: Any, steps: int = 12) -> list[Any]:
    """Play an environment or ask an agent, with random actions that are the same every time."""
    rng = np.random.default_rng(7)
    if hasattr(thing, "act"):
        return ask(thing)
    return [plain(one_step(thing, rng)) for _ in range(steps)]


def ask(agent: Any) -> list[Any]:
    """Let an agent play both sides of three games, as an environment would ask it."""
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


def one_step(env: Any, rng: np.random.Generator) -> Any:
    """Play one step of any kind of environment, or reset it where its game is over."""
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


def plain(thing: Any) -> Any:
    """Return what can be compared with `==`."""
    if isinstance(thing, dict):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(value) for value in thing]
    return (str(thing.dtype), thing.tolist()) if isinstance(thing, np.ndarray) else thing


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        things = pickle.load(file)
    played = {}
    for name, thing in things:
        try:
            played[name] = play_on(thing)
        except Exception as error:
            played[name] = f"{type(error).__name__}: {error}"
    Path(sys.argv[1] + ".played").write_bytes(pickle.dumps(played))
