"""A pool of past policies, from which every game draws its opponent."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer, real
from ludoteca.envs.rng import uniform


class OpponentPool(Agent):
    """Lets one of several agents play each game, from its beginning to its end.

    For self-play against past policies: make it the environment's opponent once, and add a frozen
    copy of the learning agent (`copy.deepcopy(agent)`) every so often. Games in progress keep their
    opponents. Which agent plays is drawn from the random stream of the game, so training stays
    reproducible.

    Attributes:
        members: the agents, the oldest first.
    """

    def __init__(
        self,
        game: Game,
        members: Iterable[str | Agent],
        *,
        size: int | None = None,
        latest_prob: float = 0.0,
    ):
        """Make the pool.

        Args:
            game: the game.
            members: spec strings or agents, at least one.
            size: the most members; a new one replaces the oldest. None: no limit.
            latest_prob: probability of the latest member; otherwise each of all members, the latest
                included, is as likely as the others.

        Raises:
            ValueError: if there is no member, or one is unknown or of another game.
        """
        super().__init__(game)
        self._size = None if size is None else integer("size", size, 1, 2**31 - 1)
        self._latest_prob = real("latest_prob", latest_prob, 0, 1)
        self.members: list[Agent] = []
        self._playing: dict[int, Agent] = {}  # by game
        for one in members:
            self.add(one)
        if not self.members:
            raise ValueError("a pool of opponents needs at least one member, got none")

    def add(self, agent: str | Agent) -> None:
        """Add an agent, which games that begin later can draw.

        Args:
            agent: a spec string or an agent. It plays as it is: copy it first if it learns.

        Raises:
            ValueError: if it is unknown or of another game.
        """
        made = make_agent(agent, self.game) if isinstance(agent, str) else agent
        if made.game is not self.game:
            raise ValueError(f"{agent!r} was made for {made.game.spec}, not for {self.game.spec}")
        self.members.append(made)
        if self._size is not None:
            del self.members[: -self._size]

    def start(self, lanes: NDArray[np.int64]) -> None:
        """Forget the games of `lanes` and who played them: new ones begin there."""
        for lane in lanes.tolist():
            self._playing.pop(lane, None)

    def prepare(self) -> None:
        """Prepare all members."""
        for member in self.members:
            member.prepare()

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        lanes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Ask each member about the games that it plays."""
        numbers = lanes.tolist()
        fresh = np.array([k for k, lane in enumerate(numbers) if lane not in self._playing], int)
        if len(fresh):
            self._draw(fresh, rngs, lanes)
        rows: dict[int, list[int]] = {}
        players = [self._playing[lane] for lane in numbers]
        for k, player in enumerate(players):
            rows.setdefault(id(player), []).append(k)
        actions = np.zeros(len(states), np.int64)
        for mine in rows.values():
            at = np.array(mine)
            streams = rngs[at]
            actions[at] = players[mine[0]].act(states[at], seats[at], streams, lanes[at])
            rngs[at] = streams
        return actions

    def _draw(
        self, rows: NDArray[np.int64], rngs: NDArray[np.uint64], lanes: NDArray[np.int64]
    ) -> None:
        """Draw a member for the games of some rows."""
        streams = rngs[rows]
        latest, which = (np.asarray(uniform(streams.T)).reshape(-1) for _ in range(2))
        rngs[rows] = streams
        index = (which * len(self.members)).astype(np.int64)
        index[latest < self._latest_prob] = len(self.members) - 1
        begun = lanes[rows]
        for lane, k in zip(begun.tolist(), index.tolist(), strict=True):
            self._playing[lane] = self.members[k]
        for k in np.unique(index):
            self.members[k].start(begun[index == k])

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {
            "members": list(self.members),
            "_playing": dict(self._playing),
        }
