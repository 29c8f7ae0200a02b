"""Opponent pool: past policies of a learning agent, and an agent that plays them.

Self-play against the latest policy alone can cycle: a policy that beats the latest one may lose to
an earlier one. So opponents are sampled from a pool of past policies (fictitious self-play,
Heinrich, Lanctot and Silver, "Fictitious self-play in extensive-form games", 2015), the latest in a
given share of the games (OpenAI, "Dota 2 with large scale deep reinforcement learning", 2019), or
with more weight on those that the learner wins fewer games against: prioritized fictitious
self-play, PFSP (Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement
learning", 2019).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real

RESULT_DECAY = 0.5  # factor of the weight of earlier results when a policy is added


@dataclass(eq=False)
class PoolMember:
    """Member of a pool, with the learner's results against it.

    Attributes:
        name: name, such as `"step_20000"`.
        agent: the agent.
        fixed: whether the member is permanent, that is, never replaced.
        games: weighted number of games against the member: 1 for each, times `RESULT_DECAY` for
            each policy that was added since.
        points: points of the learner in these games, with the same weights: 1 for a win, 1/2 for a
            draw.
    """

    name: str
    agent: Agent
    fixed: bool = False
    games: float = 0.0
    points: float = 0.0

    @property
    def win_rate(self) -> float:
        """The learner's points per game, with one win and one loss added as a prior, in (0, 1)."""
        return (self.points + 1) / (self.games + 2)


class OpponentPool:
    """Past policies of a learning agent, sampled for each game; the oldest is replaced when full.

    Attributes:
        members: permanent members, then past policies from the oldest to the latest.
    """

    def __init__(
        self,
        size: int = 10,
        *,
        sampling: str = "uniform",
        latest_prob: float = 0.5,
        power: float = 2.0,
        fixed: Mapping[str, Agent] | None = None,
        seed: int = 0,
    ):
        """Make an empty pool.

        Args:
            size: maximum number of past policies.
            sampling: `"uniform"`, or `"prioritized"`: by `(1 - w) ** power`, w being the learner's
                win rate against a member.
            latest_prob: probability of the latest policy; otherwise any member is sampled, the
                latest included.
            power: the exponent of prioritized sampling.
            fixed: permanent members by name.
            seed: seed of the sampling.

        Raises:
            ValueError: if a parameter is out of range.
        """
        self.size = check_integer("size", size, 1, 10_000)
        self.sampling = check_choice("sampling", sampling, ("uniform", "prioritized"))
        self.latest_prob = check_real("latest_prob", latest_prob, 0, 1)
        self.power = check_real("power", power, 0, 100)
        self.members = [PoolMember(name, agent, True) for name, agent in (fixed or {}).items()]
        self.rng = np.random.default_rng(seed)

    @property
    def past(self) -> list[PoolMember]:
        """The members that can be replaced, from the oldest to the latest."""
        return [member for member in self.members if not member.fixed]

    def add(self, name: str, agent: Agent) -> PoolMember:
        """Add a policy as the latest; remove the oldest if there are more than `size`.

        The weight of the learner's earlier results decays, since the learner has changed.
        """
        for member in self.members:
            member.games *= RESULT_DECAY
            member.points *= RESULT_DECAY
        member = PoolMember(name, agent)
        self.members.append(member)
        if len(past := self.past) > self.size:
            self.members.remove(past[0])
        return member

    def probabilities(self) -> NDArray[np.float64]:
        """Return the sampling probability of each member. Shape `[len(members)]`.

        Raises:
            ValueError: if the pool is empty.
        """
        if not self.members:
            raise ValueError("the pool is empty: add a member before sampling from it")
        weights = np.ones(len(self.members))
        if self.sampling == "prioritized":
            weights = (1 - np.array([member.win_rate for member in self.members])) ** self.power
        weights /= weights.sum()
        if self.past:
            weights *= 1 - self.latest_prob
            weights[-1] += self.latest_prob  # the last member is the latest policy
        probabilities: NDArray[np.float64] = weights
        return probabilities

    def sample(self, count: int) -> list[PoolMember]:
        """Sample `count` members independently."""
        indices = self.rng.choice(len(self.members), count, p=self.probabilities())
        return [self.members[k] for k in indices]


class PoolAgent(Agent):
    """Agent that plays each seat of each game with a pool member, sampled when the game begins.

    A game in progress keeps its members, even if they are removed from the pool. Members are
    sampled by the pool's generator, not by the games' random streams.
    """

    def __init__(self, game: Game, pool: OpponentPool):
        """Make the agent; several agents, one for each environment, may share a pool."""
        super().__init__(game)
        self.pool = pool
        # Members of the current and the previous game: lists over seats, by env_index.
        self._current_members: dict[int, list[PoolMember]] = {}
        self._previous_members: dict[int, list[PoolMember]] = {}

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Sample members for the games that begin at `env_indices`."""
        seats = self.game.num_players
        sampled = self.pool.sample(len(env_indices) * seats)
        games_by_agent: dict[int, tuple[Agent, list[int]]] = {}
        for k, env_index in enumerate(env_indices.tolist()):
            if env_index in self._current_members:
                self._previous_members[env_index] = self._current_members[env_index]
            self._current_members[env_index] = sampled[k * seats : (k + 1) * seats]
            for agent in {
                id(member.agent): member.agent for member in self._current_members[env_index]
            }.values():
                games_by_agent.setdefault(id(agent), (agent, []))[1].append(env_index)
        for agent, own_games in games_by_agent.values():
            agent.reset(np.array(own_games, np.int64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the actions of the members that play the seats, one batch per agent."""
        rows: dict[int, tuple[Agent, list[int]]] = {}
        for k, (env_index, seat) in enumerate(
            zip(env_indices.tolist(), seats.tolist(), strict=True)
        ):
            agent = self._current_members[env_index][seat].agent
            rows.setdefault(id(agent), (agent, []))[1].append(k)
        actions = np.zeros(len(states), np.int64)
        for agent, own_rows in rows.values():
            streams = rngs[own_rows]  # a copy, so the advanced streams are written back
            actions[own_rows] = agent.act(
                states[own_rows], seats[own_rows], streams, env_indices[own_rows]
            )
            rngs[own_rows] = streams
        return actions

    def record_result(
        self, env_index: int, player: int, rewards: NDArray[Any], *, after_reset: bool = True
    ) -> None:
        """Record the result of a finished game for its members.

        Args:
            env_index: index of the game in the environment.
            player: the player that the learner played.
            rewards: rewards of all players. Shape `[P]`.
            after_reset: whether the environment has reset this game already, as with same-step
                autoreset; False: it will be reset later.
        """
        members = (self._previous_members if after_reset else self._current_members)[env_index]
        for seat, member in enumerate(members):
            if seat != player:
                member.games += 1
                member.points += (1 + float(np.sign(rewards[player] - rewards[seat]))) / 2

    def prepare(self) -> None:
        """Prepare all members."""
        for member in self.pool.members:
            member.agent.prepare()
