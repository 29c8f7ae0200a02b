"""Rollouts of actor-critic learning: self-play with an opponent pool, and advantages."""

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

LEARNER = 0  # agent in a seat; k + 1 is member k of the opponent pool


@dataclass(frozen=True)
class ActorCriticRollout:
    """Rollout of B games of P players, with N decisions in order of play.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of all players. Shape `[B, P]`.
        seat_agents: agent in each seat: `LEARNER`, or a member of the opponent pool. Shape
            `[B, P]`.
        game_index: game of each decision. Shape `[N]`.
        seats: player of each decision. Shape `[N]`.
        planes: observations, packed. Shape `[N, bytes]`.
        masks: legal actions. Shape `[N, A]`.
        actions: sampled actions. Shape `[N]`.
        probs: probabilities of the sampled actions. Shape `[N]`.
        max_probs: probabilities of the most likely actions. Shape `[N]`.
        values: value estimates of the network. Shape `[N]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    seat_agents: NDArray[np.int8]
    env_indices: NDArray[np.int32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int8]
    probs: NDArray[np.float32]
    max_probs: NDArray[np.float32]
    values: NDArray[np.float32]


class ActorCriticCollector:
    """Collects rollouts of a network against itself and an opponent pool."""

    rollout_class: ClassVar[type[ActorCriticRollout]] = ActorCriticRollout

    def __init__(
        self, encoder: SeatEncoder, config: ActorCriticConfig, monitor: Monitor | None = None
    ):
        """Allocate a rollout of games; `monitor` receives the progress, and may stop the run."""
        self._encoder, self._config = encoder, config
        self._games = RolloutGames(encoder, config.games_per_iteration, monitor)

    def play(
        self, run: Run, opponents: Sequence[Agent], rng: np.random.Generator
    ) -> ActorCriticRollout:
        """Collect a rollout.

        Args:
            run: the network: planes to logits and, in the last column, values.
            opponents: members of the opponent pool.
            rng: random stream.

        Raises:
            Stopped: if the run is to stop.
        """
        games = self._games
        seat_agents = self._assign_seats(len(opponents), rng)
        streams = rng.integers(2**63, size=seat_agents.shape).astype(np.uint64)
        lengths = np.zeros(games.count, np.int64)
        decisions: list[tuple[NDArray[Any], ...]] = []
        for agent in opponents:
            agent.reset(np.arange(games.count))
        games.begin(rng)
        for turn in games.turns():
            actions = np.zeros(len(turn.env_indices), np.int64)
            owners = seat_agents[turn.env_indices, turn.movers]
            learner_rows = np.flatnonzero(owners == LEARNER)
            if len(learner_rows) > 0:
                actions[learner_rows] = self._act(run, turn, learner_rows, decisions, rng)
            for member, agent in enumerate(opponents, LEARNER + 1):
                rows = np.flatnonzero(owners == member)
                if len(rows) > 0:
                    env_indices, seats = turn.env_indices[rows], turn.movers[rows]
                    sampled = streams[env_indices, seats].reshape(-1, 1)
                    actions[rows] = agent.act(turn.states[rows], seats, sampled, env_indices)
                    streams[env_indices, seats] = sampled[:, 0]
            wrong = games.play(turn, actions)
            if wrong >= 0:
                raise ValueError(
                    f"player {turn.movers[wrong]} chose the illegal action {actions[wrong]} in "
                    f"{self._encoder.game.spec}"
                )
            lengths[turn.env_indices] = turn.ply + 1
        columns = (np.concatenate(parts) for parts in zip(*decisions, strict=True))
        return self.rollout_class(lengths, games.returns, seat_agents, *columns)

    def _assign_seats(self, members: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Sample the agent of each seat. Shape `[B, P]`."""
        count, players = self._games.count, self._encoder.game.num_players
        with_league = rng.random(count) < self._config.opponent_pool_prob
        given = rng.random((count, players)) < 0.5
        given[np.arange(count), rng.integers(players, size=count)] = False
        sampled = rng.integers(members, size=(count, players)) if members else np.zeros(1, np.int64)
        taken = given & with_league[:, None] & (members > 0)
        return np.where(taken, LEARNER + 1 + sampled, LEARNER).astype(np.int8)

    def _act(
        self,
        run: Run,
        turn: Turn,
        rows: NDArray[np.int64],
        decisions: list[tuple[NDArray[Any], ...]],
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the network's actions in some rows of a turn, and record the decisions."""
        policies, values, *more = self._policies(run, turn, rows, rng)
        actions = sample_by_weight(policies.astype(np.float64), rng.random(len(rows)))
        decisions.append(
            (
                turn.env_indices[rows].astype(np.int32),
                turn.movers[rows].astype(np.int8),
                self._games.packing.pack(turn.planes[rows]),
                turn.masks[rows],
                actions.astype(np.int8),
                policies[np.arange(len(rows)), actions],
                policies.max(1),
                values,
                *more,
            )
        )
        return actions

    def _policies(
        self, run: Run, turn: Turn, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Return policies, values, and further columns of the rollout."""
        outputs = run(turn.planes[rows])
        return masked_softmax(outputs[:, :-1], turn.masks[rows]), outputs[:, -1].copy()


def advantages(rollout: ActorCriticRollout, gamma: float, gae_lambda: float) -> NDArray[np.float32]:
    """Compute generalized advantage estimates (GAE). Shape `[N]`.

    Schulman et al., "High-dimensional continuous control using generalized advantage estimation"
    (2016), equation 16. The reward is the game's result, at the last decision of each player: it is
    final for a player that is eliminated.
    """
    out = np.zeros(len(rollout.values), np.float32)
    ahead = np.zeros((2, *rollout.returns.shape), np.float32)
    seen = np.zeros(rollout.returns.shape, np.bool_)
    make_gae()(
        rollout.env_indices,
        rollout.seats,
        rollout.values,
        rollout.returns,
        gamma,
        gae_lambda,
        ahead,
        seen,
        out,
    )
    return out


@factory()
def make_gae() -> Any:
    """Return `gae(game_index, seats, values, returns, gamma, gae_lambda, ahead, seen, out)`.

    Visits the decisions from the last to the first; `ahead` holds the value and advantage of the
    next one of each player, once `seen`.
    """

    @compiled_without_allocation
    def gae(
        env_indices: Any,
        seats: Any,
        values: Any,
        returns: Any,
        gamma: float,
        gae_lambda: float,
        ahead: Any,
        seen: Any,
        out: Any,
    ) -> None:
        for i in range(len(values) - 1, -1, -1):
            b, p = env_indices[i], seats[i]
            if seen[b, p]:
                later = gamma * (ahead[0, b, p] + gae_lambda * ahead[1, b, p])
                out[i] = later - values[i]
            else:
                out[i] = returns[b, p] - values[i]
            seen[b, p] = True
            ahead[0, b, p] = values[i]
            ahead[1, b, p] = out[i]

    return gae
