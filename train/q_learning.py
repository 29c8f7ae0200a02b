"""Tabular Q-learning for Gymnasium environments with discrete observations and actions.

`python -m ludoteca.train.q_learning` solves the grid world in a second, and compares the table with
the exact action values; `docs/tutorial/1_q_learning.md` explains it. A run that is stopped by
`--minutes` or Ctrl-C writes its results so far.
"""

import json
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from ludoteca.envs.grid_world import GridWorld
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.spec import parse_spec
from ludoteca.files import write_atomically
from ludoteca.progress import RunStatus, show_progress
from ludoteca.train.interruption import Interrupted, stopping_on_signals
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.q_learning_report import describe, draw
from ludoteca.train.value_iteration import optimal_q

NO_ACTIONS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class QLearningConfig:
    """Settings of tabular Q-learning."""

    env: str = "ludoteca/GridWorld-v0"
    """Environment, as a spec string: a Gymnasium id with parameters, as in
    `ludoteca/GridWorld-v0:slip=0.2,random_start=True`."""
    run_dir: Path = Path("runs/q_learning")
    """Folder of the results."""
    seed: int = 0
    """Seed of exploration and environment."""

    episodes: int = 1000
    """Training episodes."""
    learning_rate: float = 0.5
    """Learning rate (alpha), above 0 and up to 1."""
    gamma: float = 0.9
    """Discount factor, 0 to 1."""
    epsilon: float = 0.3
    """Probability of a random action, 0 to 1 (epsilon-greedy)."""
    n_eval_episodes: int = 100
    """Evaluation episodes of the greedy policy."""
    minutes: float | None = None
    """Time limit of training in minutes; None: no limit."""

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0, 2**63 - 1)
        for name in ("episodes", "n_eval_episodes"):
            check_integer(name, getattr(self, name), 1, 10**9)
        for name in ("learning_rate", "gamma", "epsilon"):
            check_real(name, getattr(self, name), 0, 1)
        if self.minutes is not None:
            check_real("minutes", self.minutes, 0, 1e9)
        if self.learning_rate == 0:
            raise ValueError("learning_rate must be above 0, got 0: nothing would be learned")


def main(config: QLearningConfig) -> dict[str, Any]:
    """Learn and evaluate a table; print and write the results, and return them.

    Raises:
        ValueError: if the environment cannot be made, or its spaces are not discrete; or if the
            time limit ended the run during the first episode.
        Interrupted: if a signal has stopped the run, after all results are written.
    """
    monitor = Monitor()
    if config.minutes is not None:
        monitor.deadline = time.monotonic() + 60 * config.minutes
    env = make_env(config.env)
    world = env.unwrapped
    exact = optimal_q(world, config.gamma) if isinstance(world, GridWorld) else None
    with stopping_on_signals(monitor) as received, show_progress(lambda: _status(monitor, config)):
        learned = learn(env, config, monitor)
    episodes = len(learned.returns)
    if episodes < config.episodes:
        print(f"stopped after {episodes:,} of {config.episodes:,} episodes")
    if episodes > 0:
        results = _conclude(env, config, learned, exact)
    if received:
        raise Interrupted(received[0])
    if episodes == 0:
        raise ValueError(f"minutes={config.minutes} ended during the first episode")
    return results


def _conclude(
    env: gymnasium.Env[Any, Any],
    config: QLearningConfig,
    learned: "QLearningResult",
    exact: NDArray[np.float64] | None,
) -> dict[str, Any]:
    """Evaluate the table, print and write the results; return the content of `results.json`.

    Args:
        env: the environment.
        config: settings.
        learned: result of learning.
        exact: optimal action values of the grid world `[S, A]`, NaN where an action is illegal;
            None for other environments.
    """
    tenth = -(-len(learned.returns) // 10)
    results = {
        "command": shlex.join(["python", "-m", "ludoteca.train.q_learning", *sys.argv[1:]]),
        "config": asdict(config) | {"run_dir": str(config.run_dir)},
        "moves": int(learned.updates.sum()),
        "mean_return_first_tenth": float(learned.returns[:tenth].mean()),
        "mean_return_last_tenth": float(learned.returns[-tenth:].mean()),
        "mean_return_greedy": evaluate(env, learned.q, config),
        "q": learned.q.tolist(),
        "updates": learned.updates.tolist(),
    }
    env.close()
    print(
        f"{config.env}: {len(learned.returns):,} episodes, {results['moves']:,} moves\n"
        f"mean return, first tenth of the episodes: {results['mean_return_first_tenth']:.3f}\n"
        f"mean return, last tenth of the episodes:  {results['mean_return_last_tenth']:.3f}\n"
        f"mean return of the greedy policy:         {results['mean_return_greedy']:.3f}"
    )
    if exact is not None:
        results["exact"] = [[None if np.isnan(x) else float(x) for x in row] for row in exact]
        compare(config, learned, exact)
    write_atomically(config.run_dir / "results.json", json.dumps(results, indent=2) + "\n")
    return results


def _status(monitor: Monitor, config: QLearningConfig) -> RunStatus:
    """Return the progress of a run, for its display."""
    done = monitor.phases["learning"].done
    return RunStatus(
        phase="learning",
        detail="",
        done=done,
        total=config.episodes,
        unit="episodes",
        seconds_left=monitor.seconds_left,
        notice=monitor.notice,
    )


def compare(
    config: QLearningConfig, learned: "QLearningResult", exact: NDArray[np.float64]
) -> None:
    """Print the learned and exact values of the grid world, and write them as text and image."""
    text = describe(learned.q, exact, learned.updates)
    print("\n" + text, end="")
    title = (
        f"{len(learned.returns):,} episodes of {config.env}, learning rate "
        f"{config.learning_rate:g}, discount {config.gamma:g}, epsilon {config.epsilon:g}"
    )
    picture = draw(learned.q, exact, learned.updates, title)
    write_atomically(config.run_dir / "values.txt", text)
    write_atomically(config.run_dir / "values.png", picture)


def make_env(spec: str) -> gymnasium.Env[Any, Any]:
    """Make an environment from a spec string.

    Raises:
        ValueError: if the environment is unknown, or its parameters are invalid.
    """
    name, params = parse_spec(spec)
    try:
        return gymnasium.make(name, **params)
    except (gymnasium.error.Error, TypeError) as error:
        raise ValueError(f"env {spec!r} cannot be made: {error}") from error


@dataclass(frozen=True)
class QLearningResult:
    """Result of Q-learning, S states and A actions counted from 0.

    Attributes:
        q: table of action values, float64 `[S, A]`; 0 for pairs that were never visited.
        updates: number of updates of each value, int64 `[S, A]`.
        returns: undiscounted return of each episode, float64 `[episodes]`; fewer than
            `config.episodes` if the run was stopped.
    """

    q: NDArray[np.float64]
    updates: NDArray[np.int64]
    returns: NDArray[np.float64]


def learn(
    env: gymnasium.Env[Any, Any], config: QLearningConfig, monitor: Monitor | None = None
) -> QLearningResult:
    """Learn a table of action values by Q-learning with epsilon-greedy exploration.

    Watkins, "Learning from Delayed Rewards", 1989. Where `info` has an `action_mask`, only legal
    actions are selected and bootstrapped from. `monitor` gets the progress, and may stop the run.

    Raises:
        ValueError: if a space is not `Discrete` with start 0.
    """
    num_states, num_actions = num_states_and_actions(env)
    q = np.zeros((num_states, num_actions))
    updates = np.zeros((num_states, num_actions), np.int64)
    returns = np.zeros(config.episodes)
    rng, monitor = exploration_rng(config), monitor or Monitor()
    for episode in range(config.episodes):
        try:
            monitor.step("learning", episode)
        except Stopped:
            return QLearningResult(q, updates, returns[:episode])
        s_t, info = env.reset(seed=config.seed if episode == 0 else None)
        legal_t = legal_actions(info, num_actions)
        done = False
        while not done:
            a_t = choose(q[s_t], legal_t, config.epsilon, rng)
            s_tp1, reward, terminated, truncated, info = env.step(a_t)
            r_t = float(reward)
            # Only a terminated episode has no future; a truncated one is bootstrapped from.
            legal_tp1 = NO_ACTIONS if terminated else legal_actions(info, num_actions)
            update(q, s_t, a_t, r_t, s_tp1, legal_tp1, config.learning_rate, config.gamma)
            updates[s_t, a_t] += 1
            returns[episode] += r_t
            s_t, legal_t, done = s_tp1, legal_tp1, terminated or truncated
    return QLearningResult(q, updates, returns)


def update(
    q: NDArray[np.float64],
    s_t: int,
    a_t: int,
    r_t: float,
    s_tp1: int,
    legal_tp1: NDArray[np.int64],
    learning_rate: float,
    gamma: float,
) -> None:
    """Update `q` (`[S, A]`) in place by one transition `(s_t, a_t, r_t, s_tp1)`.

    Q(s_t, a_t) <- (1 - alpha) Q(s_t, a_t) + alpha (r_t + gamma max_a Q(s_tp1, a))

    Sutton and Barto, "Reinforcement Learning", 2nd edition, equation 6.8. The maximum is over
    `legal_tp1`; without legal actions, in a terminal state, it is 0.
    """
    future = q[s_tp1, legal_tp1].max() if len(legal_tp1) else 0.0
    target = r_t + gamma * future
    q[s_t, a_t] = (1 - learning_rate) * q[s_t, a_t] + learning_rate * target


def choose(
    values: NDArray[np.float64],
    legal: NDArray[np.int64],
    epsilon: float,
    rng: np.random.Generator,
) -> int:
    """Return an epsilon-greedy action; ties are broken at random.

    Args:
        values: values of all actions in the state, `[A]`.
        legal: legal actions, at least one.
        epsilon: probability of a random legal action, 0 to 1.
        rng: random number generator.
    """
    if rng.random() >= epsilon:
        legal = legal[values[legal] == values[legal].max()]
    return int(legal[rng.integers(len(legal))])


def evaluate(
    env: gymnasium.Env[Any, Any], q: NDArray[np.float64], config: QLearningConfig
) -> float:
    """Return the mean undiscounted return of the greedy policy, in episodes with other seeds."""
    rng = exploration_rng(config)
    total = 0.0
    for episode in range(config.n_eval_episodes):
        s_t, info = env.reset(seed=config.seed + 1 if episode == 0 else None)
        done = False
        while not done:
            a_t = choose(q[s_t], legal_actions(info, q.shape[1]), 0.0, rng)
            s_t, reward, terminated, truncated, info = env.step(a_t)
            total += float(reward)
            done = terminated or truncated
    return total / config.n_eval_episodes


def exploration_rng(config: QLearningConfig) -> np.random.Generator:
    """Return the random number generator of exploration, independent of the environment's."""
    return np.random.default_rng([config.seed, 1])


def num_states_and_actions(env: gymnasium.Env[Any, Any]) -> tuple[int, int]:
    """Return the numbers of states and of actions.

    Raises:
        ValueError: if a space is not `Discrete` with start 0.
    """
    counts = []
    for kind, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, Discrete) or space.start != 0:
            raise ValueError(f"the {kind} space must be Discrete and start at 0, got {space}")
        counts.append(int(space.n))
    return counts[0], counts[1]


def legal_actions(info: Mapping[str, Any], num_actions: int) -> NDArray[np.int64]:
    """Return the legal actions: those of the mask in `info`, or all if there is none.

    Raises:
        ValueError: if the mask does not have one entry per action, or allows no action.
    """
    if "action_mask" not in info:
        return np.arange(num_actions)
    mask = np.asarray(info["action_mask"])
    if mask.shape != (num_actions,) or not mask.any():
        raise ValueError(
            f"action_mask must have shape ({num_actions},) and allow an action, got {mask}"
        )
    return np.flatnonzero(mask)


if __name__ == "__main__":
    try:
        main(tyro.cli(QLearningConfig, description=__doc__))
    except ValueError as error:
        sys.exit(f"ludoteca.train.q_learning: {error}")
    except Interrupted as stop:
        sys.exit(128 + stop.signal)
    except KeyboardInterrupt:
        sys.exit("ludoteca.train.q_learning: interrupted, nothing was written")
