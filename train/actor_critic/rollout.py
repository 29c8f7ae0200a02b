"""Games of a network against itself and a league, and how well each decision turned out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.agents.seat_network import Run, masked_softmax
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.monitor import Monitor
from ludoteca.train.rollout_games import RolloutGames, Turn

LEARNER = 0  # who sits in a seat; k + 1 is member k of the league


@dataclass(frozen=True)
class ActorCriticRollout:
    """B games of P players, and N decisions in them, in the order in which they were made.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: results of all players. Shape `[B, P]`.
        who: who sat where: `LEARNER`, or a member of the league. Shape `[B, P]`.
        env_indices: the games of the decisions. Shape `[N]`.
        seats: who decided. Shape `[N]`.
        planes: what was seen, packed. Shape `[N, bytes]`.
        masks: what could be chosen. Shape `[N, A]`.
        actions: what was. Shape `[N]`.
        chances: the probability with which it was. Shape `[N]`.
        peaks: the probability of the likeliest action. Shape `[N]`.
        values: what the network expected. Shape `[N]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    who: NDArray[np.int8]
    env_indices: NDArray[np.int32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int8]
    chances: NDArray[np.float32]
    peaks: NDArray[np.float32]
    values: NDArray[np.float32]


class ActorCriticCollector:
    """Where a network plays rounds."""

    round: ClassVar[type[ActorCriticRollout]] = ActorCriticRollout

    def __init__(
        self, encoder: SeatEncoder, config: ActorCriticConfig, monitor: Monitor | None = None
    ):
        """Make room for a round of games; `monitor` is shown the progress, and may end a round."""
        self._encoder, self._config = encoder, config
        self._arena = RolloutGames(encoder, config.games_per_iteration, monitor)

    def play(
        self, run: Run, league: Sequence[Agent], rng: np.random.Generator
    ) -> ActorCriticRollout:
        """Play a round.

        Args:
            run: the network: planes to logits and, in the last column, values.
            league: who else may play.
            rng: decides about everything.

        Raises:
            Stopped: if the run is to stop.
        """
        arena = self._arena
        who = self._seat(len(league), rng)
        streams = rng.integers(2**63, size=who.shape).astype(np.uint64)
        lengths = np.zeros(arena.count, np.int64)
        kept: list[tuple[NDArray[Any], ...]] = []
        for agent in league:
            agent.reset(np.arange(arena.count))
        arena.begin(rng)
        for turn in arena.turns():
            actions = np.zeros(len(turn.env_indices), np.int64)
            owners = who[turn.env_indices, turn.movers]
            mine = np.flatnonzero(owners == LEARNER)
            if len(mine) > 0:
                actions[mine] = self._decide(run, turn, mine, kept, rng)
            for member, agent in enumerate(league, LEARNER + 1):
                rows = np.flatnonzero(owners == member)
                if len(rows) > 0:
                    env_indices, seats = turn.env_indices[rows], turn.movers[rows]
                    drawn = streams[env_indices, seats].reshape(-1, 1)
                    actions[rows] = agent.act(turn.states[rows], seats, drawn, env_indices)
                    streams[env_indices, seats] = drawn[:, 0]
            wrong = arena.play(turn, actions)
            if wrong >= 0:
                raise ValueError(
                    f"player {turn.movers[wrong]} chose the illegal action {actions[wrong]} in "
                    f"{self._encoder.game.spec}"
                )
            lengths[turn.env_indices] = turn.ply + 1
        columns = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        return self.round(lengths, arena.returns, who, *columns)

    def _seat(self, members: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Draw who sits where. Shape `[B, P]`."""
        count, players = self._arena.count, self._encoder.game.num_players
        with_league = rng.random(count) < self._config.opponent_pool_prob
        given = rng.random((count, players)) < 0.5
        given[np.arange(count), rng.integers(players, size=count)] = False
        drawn = rng.integers(members, size=(count, players)) if members else np.zeros(1, np.int64)
        taken = given & with_league[:, None] & (members > 0)
        return np.where(taken, LEARNER + 1 + drawn, LEARNER).astype(np.int8)

    def _decide(
        self,
        run: Run,
        turn: Turn,
        rows: NDArray[np.int64],
        kept: list[tuple[NDArray[Any], ...]],
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the network's actions in some rows of a turn, and keep the decisions."""
        policies, values, *more = self._think(run, turn, rows, rng)
        actions = sample_by_weight(policies.astype(np.float64), rng.random(len(rows)))
        kept.append(
            (
                turn.env_indices[rows].astype(np.int32),
                turn.movers[rows].astype(np.int8),
                self._arena.packing.pack(turn.planes[rows]),
                turn.masks[rows],
                actions.astype(np.int8),
                policies[np.arange(len(rows)), actions],
                policies.max(1),
                values,
                *more,
            )
        )
        return actions

    def _think(
        self, run: Run, turn: Turn, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Return policies to draw from, values, and what else the round keeps of the decisions."""
        outputs = run(turn.planes[rows])
        return masked_softmax(outputs[:, :-1], turn.masks[rows]), outputs[:, -1].copy()


def advantages(played: ActorCriticRollout, gamma: float, trace: float) -> NDArray[np.float32]:
    """Return how much better each decision was than expected. Shape `[N]`.

    Schulman et al., "High-dimensional continuous control using generalized advantage estimation"
    (2016), equation 16; the reward is the game's result, at the last decision of each player: the
    result of a player who is out is known then, and nothing is guessed.
    """
    found = np.zeros(len(played.values), np.float32)
    ahead = np.zeros((2, *played.returns.shape), np.float32)
    seen = np.zeros(played.returns.shape, np.bool_)
    trace_back()(
        played.env_indices,
        played.seats,
        played.values,
        played.returns,
        gamma,
        trace,
        ahead,
        seen,
        found,
    )
    return found


@factory()
def trace_back() -> Any:
    """Return `trace_back(env_indices, seats, values, returns, gamma, trace, ahead, seen, found)`.

    Goes through the decisions from the last to the first; `ahead` holds the value and advantage of
    the next one of each player, once `seen`.
    """

    @compiled_without_allocation
    def back(
        env_indices: Any,
        seats: Any,
        values: Any,
        returns: Any,
        gamma: float,
        trace: float,
        ahead: Any,
        seen: Any,
        found: Any,
    ) -> None:
        for i in range(len(values) - 1, -1, -1):
            b, p = env_indices[i], seats[i]
            if seen[b, p]:
                later = gamma * (ahead[0, b, p] + trace * ahead[1, b, p])
                found[i] = later - values[i]
            else:
                found[i] = returns[b, p] - values[i]
            seen[b, p] = True
            ahead[0, b, p] = values[i]
            ahead[1, b, p] = found[i]

    return back
