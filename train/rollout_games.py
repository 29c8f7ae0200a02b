"""Where the games of a round are played side by side, each to its end."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.engine.episode_state import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.playouts import make_returns
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.train.monitor import Monitor
from ludoteca.train.replay import Packing


class Turn(NamedTuple):
    """The moves that are to be made in a ply: K, one for each mover of each game that goes on.

    Attributes:
        ply: how many plies were played in each game.
        env_indices: indices of the games. Shape `[K]`.
        states: the positions. Shape `[K]`.
        movers: who moves; where all move at once, everyone who still can. Shape `[K]`.
        planes: what they see, as the network does. Shape `[K, *encoder.shape]`.
        masks: what is legal, as the network numbers actions. Shape `[K, A]`.
    """

    ply: int
    env_indices: NDArray[np.int64]
    states: NDArray[np.void]
    movers: NDArray[np.int64]
    planes: NDArray[np.int8]
    masks: NDArray[np.int8]


class RolloutGames:
    """Batch for the games of a round.

    Attributes:
        encoder: tells what is seen.
        count: B, games of a round.
        plies: T, of the longest possible game.
        packing: in which form a round keeps what was seen.
        monitor: is shown every ply, and may end a round.
    """

    def __init__(self, encoder: Encoder | SeatEncoder, count: int, monitor: Monitor | None = None):
        """Make room for `count` games."""
        game = encoder.game
        self.monitor = monitor or Monitor()
        self._longest = game.max_plies  # of the last round
        self.encoder, self.count, self.plies = encoder, count, game.max_plies
        self.packing = Packing(encoder.shape, encoder.scale == 1)
        self._game_batch = GameBatch(game, count)
        self._stepper = make_stepper(game)
        self._scratch = np.zeros(1, scratch_dtype(game))

    def begin(self, rng: np.random.Generator) -> None:
        """Begin a game at every index; `rng` decides about what the games draw."""
        game_batch = self._game_batch
        game_batch.episode_states["rng"][:, 0] = rng.integers(2**63, size=self.count)
        everyone = np.ones(self.count, np.bool_)
        self._stepper.reset(
            game_batch.states, game_batch.episode_states, everyone, game_batch.history, EVERY_SEAT
        )

    def turns(self) -> Iterator[Turn]:
        """Return the turns of the round, one by one; each is to be answered with `play`.

        Raises:
            Stopped: if the run is to stop.
        """
        self.monitor.begin("playing", self._longest, "move")
        for ply in range(self.plies):
            going = np.flatnonzero(~self._game_batch.episode_states["over"])
            if len(going) == 0:
                self._longest = ply
                return
            if ply > 0:
                self.monitor.step("playing", ply)
            env_indices, movers = self._movers(going)
            states = self._game_batch.states[env_indices]
            yield Turn(ply, env_indices, states, movers, *self.encoder.encode(states, movers))

    def _movers(self, going: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return in which of the games which player is to move. Shapes `[K]`."""
        game = self.encoder.game
        if not game.simultaneous:
            return going, self._game_batch.episode_states["mover"][going].astype(np.int64)
        active = np.zeros((game.num_players, len(going)), np.bool_)
        for p in range(game.num_players):
            self._stepper.is_active(self._game_batch.states, going, p, active[p])
        rows, movers = np.divmod(np.flatnonzero(active.T), game.num_players)
        return going[rows], movers

    def play(self, turn: Turn, actions: NDArray[np.int64]) -> int:
        """Play a ply, one action for each move of a turn, as the game numbers actions.

        Returns:
            -1, or the row of the first action that is illegal; nothing is played then.
        """
        game_batch, players = self._game_batch, self.encoder.game.num_players
        going, rows = np.unique(turn.env_indices, return_inverse=True)
        joint = np.zeros((len(going), players), np.int64)
        joint[rows, turn.movers] = actions
        wrong = self._stepper.apply_joint_actions(
            game_batch.states,
            game_batch.episode_states,
            going,
            joint,
            game_batch.history,
            self._scratch,
        )
        if wrong < 0:
            return -1
        k, player = divmod(int(wrong), players)
        return int(np.flatnonzero((rows == k) & (turn.movers == player))[0])

    @property
    def returns(self) -> NDArray[np.float32]:
        """Results of all players of games that are over. Shape `[B, P]`."""
        returns = np.zeros((self.count, self.encoder.game.num_players))
        make_returns(self.encoder.game)(self._game_batch.states, np.arange(self.count), returns)
        return returns.astype(np.float32)
