"""Self-play for Stable-Baselines3: a callback that makes past policies of a model its opponents."""

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
from ludoteca.envs.params import integer, real
from ludoteca.files import read_json, write_whole, writing

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

STATE = "pool.json"


class SelfPlayCallback(BaseCallback):
    """Self-play against a pool of past policies, for any model that `SB3Agent` can play.

    Every `every` steps a frozen copy of the model joins the pool, and each game is played against a
    member of it inside the environment: the model observes only its own turns, and receives the
    reward of a loss. The environment is an `SB3VecEnv`, or SB3's `DummyVecEnv` of environments of
    `gymnasium.make`, with any wrappers. Its opponent is replaced when learning begins::

        envs = SB3VecEnv("Connect4-v0", 64, opponent="random", agent_seat="random")
        model = MaskablePPO("MlpPolicy", envs)
        model.learn(500_000, callback=SelfPlayCallback(every=20_000, folder="runs/selves"))

    SB3's logger gets `self_play/win_rate` against all members, `self_play/win_rate_latest`,
    `self_play/members`, and `self_play/win_rate_NAME` for each of them (not on standard output). A
    draw counts as half; older games count less. With a `folder`, each copy is saved there as a
    model, `sb3:path=FOLDER/step_20000.zip` as an agent, and another callback with the same folder
    and a loaded model resume with the same pool.
    """

    def __init__(
        self,
        every: int = 20_000,
        *,
        size: int = 10,
        sampling: str = "uniform",
        latest_prob: float = 0.5,
        fixed: tuple[str, ...] = (),
        epsilon: float | None = None,
        folder: str | Path | None = None,
        seed: int = 0,
        verbose: int = 0,
    ):
        """Make the callback.

        Args:
            every: environment steps from one copy to the next, rounded up to whole rollouts; the
                first joins at once.
            size: maximum number of copies; the oldest is replaced.
            sampling: `"uniform"`, or `"prioritized"`: more weight on those that the model wins
                fewer games against (PFSP), see `ludoteca.agents.pool`.
            latest_prob: probability of the latest copy; otherwise any member is sampled.
            fixed: spec strings of agents that are members, too, and never replaced, such as
                `"random"`.
            epsilon: probability with which copies play a random action. None: 0 for copies that
                sample from a policy; 0.1 for those that play their highest value (`DQN`, `QRDQN`,
                `ARS`), as their games would otherwise be alike.
            folder: folder for the copies; None: they are not saved.
            seed: seed of the sampling of opponents.
            verbose: 1: print a line for each copy.

        Raises:
            ValueError: if a parameter is out of range.
        """
        super().__init__(verbose)
        self.every = integer("every", every, 1, 10**12)
        self.epsilon = None if epsilon is None else real("epsilon", epsilon, 0, 1)
        self.folder = None if folder is None else Path(folder)
        self.fixed = fixed
        self.pool = OpponentPool(size, sampling=sampling, latest_prob=latest_prob, seed=seed)
        self._earlier = 0  # steps in calls of `learn` before this one
        self._joined = 0  # steps at which the latest copy was taken
        self._reached = 0  # steps at the last one
        self._players: list[PoolAgent] = []

    @property
    def steps(self) -> int:
        """Environment steps with this pool, in all calls of `learn` together."""
        return self._earlier + int(self.num_timesteps)

    def _on_training_start(self) -> None:
        env, pool = self.training_env, self.pool
        self._game: Game = env.get_attr("game")[0]
        if not pool.members:
            for spec in self.fixed:
                pool.members.append(PoolMember(spec, make_agent(spec, self._game), fixed=True))
            if self.folder is not None and (self.folder / STATE).exists():
                self._restore(self.folder)
        # `learn` counts from 0 again, unless it is called with `reset_num_timesteps=False`.
        self._earlier += max(0, self._reached - self.steps)
        if not pool.past:
            self._take_copy()
        self._players = set_opponents(env, pool)

    def _on_rollout_start(self) -> None:
        if self.steps - self._joined >= self.every:
            self._take_copy()

    def _on_step(self) -> bool:
        self._reached = self.steps
        # ARS does not show its steps to callbacks.
        for k in np.flatnonzero(self.locals.get("dones", ())).tolist():
            info = self.locals["infos"][k]
            together = len(self._players) == 1
            player, env_index = self._players[0 if together else k], k if together else 0
            player.record(env_index, info["player"], info["rewards"])
        return True

    def _on_rollout_end(self) -> None:
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
        if self.folder is not None:
            self._write_state(self.folder)

    def _take_copy(self) -> None:
        self._joined = self._reached = self.steps
        name = f"step_{self._joined}"
        self.pool.add(name, self._agent(frozen(self.model.policy)))
        if self.verbose > 0:
            print(f"self-play: {name} joins the pool, which has {len(self.pool.members)} members")
        if self.folder is not None:
            with writing(self.folder / f"{name}.zip") as file:
                self.model.save(cast(BufferedIOBase, file))
            self._write_state(self.folder)

    def _agent(self, policy: BasePolicy) -> Agent:
        _, is_distribution = find_scores(policy)
        epsilon = (0.0 if is_distribution else 0.1) if self.epsilon is None else self.epsilon
        return SB3Agent(self._game, policy, deterministic=not is_distribution, epsilon=epsilon)

    def _write_state(self, folder: Path) -> None:
        members = [
            {"name": one.name, "fixed": one.fixed, "games": one.games, "points": one.points}
            for one in self.pool.members
        ]
        state = {
            "game": self._game.spec,
            "steps": self._reached,
            "joined": self._joined,
            "rng": self.pool.rng.bit_generator.state,
            "members": members,
        }
        write_whole(folder / STATE, json.dumps(state, indent=2) + "\n")

    def _restore(self, folder: Path) -> None:
        """Restore the pool of an earlier run from its folder.

        Raises:
            ValueError: if it is for another game, or its models do not fit.
        """
        state = read_json(folder / STATE)
        if state["game"] != self._game.spec:
            raise ValueError(
                f"the pool in {folder} is for {state['game']}, expected {self._game.spec}"
            )
        self._reached, self._joined = state["steps"], state["joined"]
        self.pool.rng.bit_generator.state = state["rng"]
        stay = {member.name: member for member in self.pool.members}
        for one in state["members"]:
            if one["fixed"]:
                member = stay.get(one["name"])
            else:
                policy = frozen(self.model.policy)
                policy.load_state_dict(read_weights(folder / f"{one['name']}.zip"))
                member = PoolMember(one["name"], self._agent(policy))
                self.pool.members.append(member)
            if member is not None:
                member.games, member.points = one["games"], one["points"]


def frozen(policy: BasePolicy) -> BasePolicy:
    """Return a frozen copy of a policy, without its optimizer."""
    memo: dict[int, Any] = {}
    if (optimizer := getattr(policy, "optimizer", None)) is not None:
        memo[id(optimizer)] = None
    if (last := getattr(policy, "action_dist", None)) is not None:
        memo[id(last)] = copy.copy(last)  # holds tensors of the last step, which cannot be copied
    twin = copy.deepcopy(policy, memo)
    twin.requires_grad_(False)
    twin.set_training_mode(False)
    return twin


def set_opponents(env: VecEnv, pool: OpponentPool) -> list[PoolAgent]:
    """Set the members of a pool as the opponents in an SB3 environment.

    Returns:
        One agent that plays in all games of an `SB3VecEnv`, or one for each single environment.

    Raises:
        TypeError: if the environment is of another kind.
    """
    base = env.unwrapped
    if isinstance(base, SB3VecEnv):
        players = [PoolAgent(base.game, pool)]
        base.set_opponent(players[0])
        return players
    if not isinstance(base, DummyVecEnv):
        raise TypeError(
            "self-play needs an SB3VecEnv, or a DummyVecEnv of gymnasium.make's environments; got "
            f"{type(base).__name__}"
        )
    players = [PoolAgent(game, pool) for game in env.get_attr("game")]
    for k, player in enumerate(players):
        env.env_method("set_opponent", player, indices=k)
    return players
