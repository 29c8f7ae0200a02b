"""Batch of self-play games of a rollout, each played to its end."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.envs.engine.episode_state import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.playouts import make_returns
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.train.monitor import Monitor
from ludoteca.train.replay import Packing


class Turn(NamedTuple):
    """Decisions of one ply: K, one for each player to move in each unfinished game.

    Attributes:
        ply: number of earlier plies, the same in all games.
        env_indices: index of each game in the rollout. Shape `[K]`.
        states: the positions. Shape `[K]`.
        movers: players to move; in simultaneous games, all active players. Shape `[K]`.
        planes: encoded observations. Shape `[K, *encoder.shape]`.
        masks: legal actions, in the network's numbering. Shape `[K, A]`.
    """

    ply: int
    env_indices: NDArray[np.int64]
    states: NDArray[np.void]
    movers: NDArray[np.int64]
    planes: NDArray[np.int8]
    masks: NDArray[np.int8]


class RolloutGames:
    """Batch of the games of a rollout.

    Attributes:
        encoder: encodes observations.
        count: B, games of a rollout.
        plies: T, plies of the longest possible game.
        packing: packs observations in a rollout.
        monitor: receives the progress, and may stop the run.
    """

    def __init__(self, encoder: Any, count: int, monitor: Monitor | None = None):
        """Allocate games, which `reset` begins; see the attributes for the arguments."""
        game = encoder.game
        self.monitor = monitor or Monitor()
        self._longest = game.max_plies  # plies of the longest game of the last rollout
        self.encoder, self.count, self.plies = encoder, count, game.max_plies
        self.packing = Packing(encoder.shape, encoder.scale == 1)
        self._game_batch = GameBatch(game, count)
        self._stepper = make_stepper(game)  # compiled functions that step batches of games
        self._scratch = np.zeros(1, scratch_dtype(game))

    def reset(self, rng: np.random.Generator) -> None:
        """Reset all games; `rng` seeds their chance events."""
        game_batch = self._game_batch
        game_batch.episode_states["rng"][:, 0] = rng.integers(2**63, size=self.count)
        all_games = np.ones(self.count, np.bool_)
        self._stepper.reset(
            game_batch.states, game_batch.episode_states, all_games, game_batch.history, EVERY_SEAT
        )

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of the rollout; step the games of each by `step`.

        Raises:
            Stopped: if the run is to stop.
        """
        self.monitor.begin("playing", self._longest, "move")
        for ply in range(self.plies):
            unfinished = np.flatnonzero(~self._game_batch.episode_states["over"])
            if len(unfinished) == 0:
                self._longest = ply
                return
            if ply > 0:
                self.monitor.step("playing", ply)
            env_indices, movers = self._movers(unfinished)
            states = self._game_batch.states[env_indices]
            yield Turn(ply, env_indices, states, movers, *self.encoder.encode(states, movers))

    def _movers(self, unfinished: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the game index and the player of each decision of a ply. Shapes `[K]`.

        Args:
            unfinished: indices of unfinished games.
        """
        game = self.encoder.game
        if not game.simultaneous:
            return unfinished, self._game_batch.episode_states["mover"][unfinished].astype(np.int64)
        active = np.zeros((game.num_players, len(unfinished)), np.bool_)
        for p in range(game.num_players):
            self._stepper.is_active(self._game_batch.states, unfinished, p, active[p])
        rows, movers = np.divmod(np.flatnonzero(active.T), game.num_players)
        return unfinished[rows], movers

    def act(
        self,
        agent: Agent | None,
        turn: Turn,
        rows: NDArray[np.int64],
        rngs: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Return the actions of an agent in some rows of a turn, in the game's numbering.

        Args:
            agent: the agent.
            turn: the turn.
            rows: rows of the turn in which the agent moves. Shape `[R]`.
            rngs: random streams, one per game `[B, 1]` or per player `[B, P]`, advanced in place.
        """
        assert agent is not None
        env_indices, players = turn.env_indices[rows], turn.movers[rows]
        index = (env_indices, players if rngs.shape[1] > 1 else np.zeros_like(players))
        advanced = rngs[index].reshape(-1, 1)
        actions = agent.act(turn.states[rows], players, advanced, env_indices)
        rngs[index] = advanced[:, 0]
        return np.asarray(actions, np.int64)

    def step(self, turn: Turn, actions: NDArray[np.int64]) -> None:
        """Step one ply, with one action for each decision of a turn, in the game's numbering.

        Raises:
            ValueError: if an action is illegal; no game is stepped.
        """
        game_batch, players = self._game_batch, self.encoder.game.num_players
        live, rows = np.unique(turn.env_indices, return_inverse=True)
        joint = np.zeros((len(live), players), np.int64)
        joint[rows, turn.movers] = actions
        illegal = self._stepper.apply_joint_actions(
            game_batch.states,
            game_batch.episode_states,
            live,
            joint,
            game_batch.history,
            self._scratch,
        )
        if illegal >= 0:
            k, player = divmod(int(illegal), players)
            raise ValueError(
                f"player {player} chose the illegal action {joint[k, player]} at ply {turn.ply} of "
                f"{self.encoder.game.spec}"
            )

    @property
    def returns(self) -> NDArray[np.float32]:
        """Returns of all players in finished games. Shape `[B, P]`."""
        returns = np.zeros((self.count, self.encoder.game.num_players))
        make_returns(self.encoder.game)(self._game_batch.states, np.arange(self.count), returns)
        return returns.astype(np.float32)
