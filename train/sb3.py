"""Self-play callback for Stable-Baselines3, with past policies of the model as opponents."""

import copy
import json
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.pool import OpponentPool, PoolAgent, PoolMember
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.files import atomic_writer, read_json, write_atomically

try:
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.policies import BasePolicy
    from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

    from ludoteca.agents.external.sb3 import SB3Agent, find_scores
    from ludoteca.agents.external.sb3_file import read_weights
    from ludoteca.envs.adapters.sb3 import SB3VecEnv
except ImportError as error:
    raise ImportError(
        'ludoteca.train.sb3 needs Stable-Baselines3: pip install "ludoteca[train]"'
    ) from error

STATE = "pool.json"  # file in `save_path` with the state of the pool


class SelfPlayCallback(BaseCallback):
    """Self-play against a pool of past policies, for any model that `SB3Agent` can play.

    Every `snapshot_freq` steps a frozen copy of the model, a snapshot, joins the pool. Each game is
    played against a member of the pool inside the environment: the model observes only its own
    turns, and the last of them has the final reward, even if the opponent moves after it. The
    environment is an `SB3VecEnv`, or SB3's `DummyVecEnv` of environments of `gymnasium.make`, with
    any wrappers. Its opponent is replaced when learning begins::

        envs = SB3VecEnv("Connect4-v0", 64, opponent="random", agent_seat="random")
        model = MaskablePPO("MlpPolicy", envs)
        callback = SelfPlayCallback(snapshot_freq=20_000, save_path="runs/self_play")
        model.learn(500_000, callback=callback)

    SB3's logger records the number of members as `self_play/members`, and the model's win rates:
    `self_play/win_rate` against all members, `self_play/win_rate_latest` against the latest, and
    `self_play/win_rate_NAME` against each (not on standard output). A draw counts as half a win;
    each new snapshot halves the weight of all earlier games; `win_rate_latest` includes one win and
    one loss as a prior.

    With a `save_path`, each snapshot is saved there as a model file, which
    `sb3:path=SAVE_PATH/step_20000.zip` plays as an agent. To resume training, load the model with
    SB3, and use a new callback with the same `save_path`, which restores the pool.
    """

    def __init__(
        self,
        snapshot_freq: int = 20_000,
        *,
        pool_size: int = 10,
        sampling: str = "uniform",
        latest_prob: float = 0.5,
        fixed_opponents: tuple[str, ...] = (),
        epsilon: float | None = None,
        save_path: str | Path | None = None,
        seed: int = 0,
        verbose: int = 0,
    ):
        """Make the callback.

        Args:
            snapshot_freq: environment steps between snapshots, rounded up to whole rollouts; the
                first is taken when training begins, unless a pool with snapshots is restored.
            pool_size: maximum number of snapshots; the oldest is replaced.
            sampling: `"uniform"`, or `"prioritized"`: more weight on members that the model wins
                fewer games against (PFSP), see `ludoteca.agents.pool`.
            latest_prob: probability of the latest snapshot; otherwise any member is sampled.
            fixed_opponents: spec strings of further members, which are never replaced, such as
                `"random"`.
            epsilon: probability with which snapshots play a random action. None: 0 for snapshots
                that sample from a policy; 0.1 for those that play the action of the highest value
                (`DQN`, `QRDQN`, `ARS`), as their games would otherwise be identical.
            save_path: folder for the snapshots; None: they are not saved.
            seed: seed of the sampling of opponents.
            verbose: 1: print a line for each snapshot.

        Raises:
            ValueError: if a parameter is out of range.
        """
        super().__init__(verbose)
        self.snapshot_freq = check_integer("snapshot_freq", snapshot_freq, 1, 10**12)
        self.epsilon = None if epsilon is None else check_real("epsilon", epsilon, 0, 1)
        self.save_path = None if save_path is None else Path(save_path)
        self.fixed_opponents = fixed_opponents
        self.pool = OpponentPool(pool_size, sampling=sampling, latest_prob=latest_prob, seed=seed)
        self._previous_steps = 0  # in calls of `learn` before this one
        self._snapshot_steps = 0  # `steps` of the latest snapshot
        self._latest_steps = 0  # `steps` when the environment was stepped last
        self._pool_agents: list[PoolAgent] = []

    @property
    def steps(self) -> int:
        """Environment steps with this pool, in all calls of `learn` together."""
        return self._previous_steps + int(self.num_timesteps)

    def _on_training_start(self) -> None:
        """Restore or fill the pool, and set its members as opponents."""
        env, pool = self.training_env, self.pool
        self._game: Game = env.get_attr("game")[0]
        if not pool.members:
            for spec in self.fixed_opponents:
                pool.members.append(PoolMember(spec, make_agent(spec, self._game), fixed=True))
            if self.save_path is not None and (self.save_path / STATE).exists():
                self._restore(self.save_path)
        # `learn` counts from 0 again, unless it is called with `reset_num_timesteps=False`.
        self._previous_steps += max(0, self._latest_steps - self.steps)
        if not pool.past:
            self._take_snapshot()
        self._pool_agents = set_opponents(env, pool)

    def _on_rollout_start(self) -> None:
        if self.steps - self._snapshot_steps >= self.snapshot_freq:
            self._take_snapshot()

    def _on_step(self) -> bool:
        """Record the results of finished games with the pool; return True: training continues."""
        self._latest_steps = self.steps
        # ARS has no `dones` for callbacks.
        for k in np.flatnonzero(self.locals.get("dones", ())).tolist():
            info = self.locals["infos"][k]
            # One agent plays in all games of an `SB3VecEnv`; else each environment has its own.
            is_batched = len(self._pool_agents) == 1
            agent, env_index = self._pool_agents[0 if is_batched else k], k if is_batched else 0
            agent.record_result(env_index, info["player"], info["rewards"])
        return True

    def _on_rollout_end(self) -> None:
        """Log the win rates against the members."""
        members = self.pool.members
        self.logger.record("self_play/members", len(members))
        self.logger.record("self_play/win_rate_latest", members[-1].win_rate)
        games = sum(member.games for member in members)
        if games > 0:
            points = sum(member.points for member in members)
            self.logger.record("self_play/win_rate", points / games)
        for member in members:
            if member.games > 0:
                rate = member.points / member.games
                self.logger.record(f"self_play/win_rate_{member.name}", rate, exclude="stdout")

    def _on_training_end(self) -> None:
        if self.save_path is not None:
            self._write_state(self.save_path)

    def _take_snapshot(self) -> None:
        """Add a frozen copy of the model to the pool, and save it."""
        self._snapshot_steps = self._latest_steps = self.steps
        name = f"step_{self._snapshot_steps}"
        self.pool.add(name, self._agent(frozen(self.model.policy)))
        if self.verbose > 0:
            print(f"self-play: {name} joins the pool, which has {len(self.pool.members)} members")
        if self.save_path is not None:
            with atomic_writer(self.save_path / f"{name}.zip") as file:
                self.model.save(cast(BufferedIOBase, file))
            self._write_state(self.save_path)

    def _agent(self, policy: BasePolicy) -> Agent:
        """Return an agent that plays a snapshot, with the `epsilon` of the constructor."""
        _, is_distribution = find_scores(policy)
        epsilon = (0.0 if is_distribution else 0.1) if self.epsilon is None else self.epsilon
        return SB3Agent(self._game, policy, deterministic=not is_distribution, epsilon=epsilon)

    def _write_state(self, folder: Path) -> None:
        """Write the state of the pool; the weights of its members are in files of their own."""
        members = [
            {
                "name": member.name,
                "fixed": member.fixed,
                "games": member.games,
                "points": member.points,
            }
            for member in self.pool.members
        ]
        state = {
            "game": self._game.spec,
            "steps": self._latest_steps,
            "snapshot_steps": self._snapshot_steps,
            "rng": self.pool.rng.bit_generator.state,
            "members": members,
        }
        write_atomically(folder / STATE, json.dumps(state, indent=2) + "\n")

    def _restore(self, folder: Path) -> None:
        """Restore the pool of an earlier run from its folder.

        Fixed opponents of that run that are not among the `fixed_opponents` now are left out, and
        the oldest snapshots if there are more than `pool_size`.

        Raises:
            FileNotFoundError: if the file of a snapshot is missing.
            ValueError: if the pool is for another game, or a snapshot is not a model file.
            RuntimeError: if the weights of a snapshot do not fit the policy of the model.
        """
        state = read_json(folder / STATE)
        if state["game"] != self._game.spec:
            raise ValueError(
                f"the pool in {folder} is for {state['game']}, expected {self._game.spec}"
            )
        self._latest_steps, self._snapshot_steps = state["steps"], state["snapshot_steps"]
        self.pool.rng.bit_generator.state = state["rng"]
        fixed = {member.name: member for member in self.pool.members}
        names = [saved["name"] for saved in state["members"] if not saved["fixed"]]
        dropped = set(names[: -self.pool.size])  # the oldest, if the pool was larger in that run
        for saved in state["members"]:
            if saved["fixed"]:
                member = fixed.get(saved["name"])
            elif saved["name"] in dropped:
                member = None
            else:
                policy = frozen(self.model.policy)
                policy.load_state_dict(read_weights(folder / f"{saved['name']}.zip"))
                member = PoolMember(saved["name"], self._agent(policy))
                self.pool.members.append(member)
            if member is not None:
                member.games, member.points = saved["games"], saved["points"]


def frozen(policy: BasePolicy) -> BasePolicy:
    """Return a copy of a policy that does not learn, without its optimizer."""
    memo: dict[int, Any] = {}
    if (optimizer := getattr(policy, "optimizer", None)) is not None:
        memo[id(optimizer)] = None  # `deepcopy` puts None in its place
    if (distribution := getattr(policy, "action_dist", None)) is not None:
        # The distribution holds tensors of the last step, which `deepcopy` cannot copy.
        memo[id(distribution)] = copy.copy(distribution)
    frozen_policy = copy.deepcopy(policy, memo)
    frozen_policy.requires_grad_(False)
    frozen_policy.set_training_mode(False)
    return frozen_policy


def set_opponents(env: VecEnv, pool: OpponentPool) -> list[PoolAgent]:
    """Set the members of a pool as the opponents in an SB3 environment.

    Returns:
        The agents that play: one in all games of an `SB3VecEnv`, or one in each environment of a
        `DummyVecEnv`.

    Raises:
        TypeError: if `env` is neither an `SB3VecEnv` nor a `DummyVecEnv`.
    """
    base = env.unwrapped
    if isinstance(base, SB3VecEnv):
        agents = [PoolAgent(base.game, pool)]
        base.set_opponent(agents[0])
        return agents
    if not isinstance(base, DummyVecEnv):
        raise TypeError(
            "self-play needs an SB3VecEnv, or a DummyVecEnv of gymnasium.make's environments; got "
            f"{type(base).__name__}"
        )
    agents = [PoolAgent(game, pool) for game in env.get_attr("game")]
    for k, agent in enumerate(agents):
        env.env_method("set_opponent", agent, indices=k)
    return agents
