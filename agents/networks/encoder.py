"""Encoders of sequential games: observations from the view of the player to move."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.predictor import Observer
from ludoteca.envs.game import Game
from ludoteca.envs.symmetry import Symmetry


class SequentialEncoder:
    """Encoder of positions of sequential games with which one network can play every player.

    A game's `mirror` is the symmetry that exchanges two players. Positions of games with a mirror
    are always encoded as player 0 would observe them (those of player 1 are mirrored), and actions
    are translated. In other games the observation of the player to move has further planes for the
    player: none in games for one player, one plane with the player's index in games for two, and in
    games for more players a one-hot encoding, one plane for each player.

    Attributes:
        game: the game.
        shape: shape of one observation, `(planes, rows, columns)`.
        scale: factor by which planes are multiplied before they enter the network.
        symmetries: symmetries of the game on these planes.
    """

    def __init__(self, game: Game):
        """Make the encoder.

        Raises:
            ValueError: if the game is not sequential.
        """
        if game.simultaneous:
            raise ValueError(f"expected a sequential game, got {game.short_spec}, simultaneous")
        self.game = game
        self._mirror = None if game.mirror is None else game.mirror()
        self._observer = Observer(game)
        self.scale = 1 / game.observation_high
        planes, rows, columns = game.observation_shape
        players = game.num_players
        self._num_player_planes = players if players > 2 else players - 1
        if self._mirror is not None:
            self._num_player_planes = 0
        self.shape = (planes + self._num_player_planes, rows, columns)
        self.symmetries = tuple(self._extended(symmetry) for symmetry in game.symmetries())

    def encode(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return planes, and action masks in the network's order of actions.

        Args:
            states: positions. Shape `[K]`.
            seats: observing players. Shape `[K]`.

        Returns:
            Planes, shape `[K, *shape]`, and masks, shape `[K, num_actions]`.
        """
        observations, masks = self._observer.observe(states, seats)
        if self._mirror is not None:
            mirrored = np.flatnonzero(seats)
            if len(mirrored) > 0:
                observations[mirrored] = self._mirror.observation(observations[mirrored])
                masks[mirrored] = self._mirror.policy(masks[mirrored])
            return observations, masks
        if self._num_player_planes == 0:  # one player
            return observations, masks
        num_observed = observations.shape[1]
        planes = np.empty((len(observations), *self.shape), np.int8)
        planes[:, :num_observed] = observations
        if self._num_player_planes == 1:
            planes[:, num_observed] = seats[:, None, None]
        else:
            planes[:, num_observed:] = 0
            # The network multiplies planes by `scale`, so that its input is 1.
            planes[np.arange(len(seats)), num_observed + seats] = self.game.observation_high
        return planes, masks

    def translate(self, actions: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Translate the network's actions to the game's, or the game's to the network's.

        They differ in mirrored positions; the translation is its own inverse.

        Args:
            actions: actions. Shape `[K]`.
            seats: observing players. Shape `[K]`.
        """
        if self._mirror is None:
            return actions
        return np.where(seats == 1, self._mirror.actions[actions], actions)

    def translate_policy(
        self, policies: NDArray[np.float32], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return per-action outputs of the network in the game's action order.

        Args:
            policies: probabilities, logits or action values in the network's order. Shape
                `[K, num_actions]`.
            seats: observing players. Shape `[K]`.
        """
        if self._mirror is None or not seats.any():
            return policies
        mirrored = np.flatnonzero(seats)
        policies = policies.copy()
        policies[mirrored] = self._mirror.policy(policies[mirrored])
        return policies

    def _extended(self, symmetry: Symmetry) -> Symmetry:
        """Return a symmetry that also maps the planes of the player: each to itself."""
        if self._num_player_planes == 0 or symmetry.planes is None:
            return symmetry
        added = len(symmetry.planes) + np.arange(self._num_player_planes)
        return replace(symmetry, planes=np.append(symmetry.planes, added))


class Encoder(SequentialEncoder):
    """Encoder of sequential zero-sum games for two players, see `SequentialEncoder`.

    The value of a position for one player is then the negated value for the other, on which
    networks of deep Q-learning, AlphaZero and value regression rely.
    """

    def __init__(self, game: Game):
        """Make the encoder.

        Raises:
            ValueError: if the game is not sequential, zero-sum and for two players.
        """
        if game.simultaneous or game.num_players != 2:
            raise ValueError(
                f"expected a sequential game for two players, got {game.short_spec}, "
                f"{'simultaneous' if game.simultaneous else 'sequential'} for {game.num_players}"
            )
        if not game.zero_sum:
            raise ValueError(f"expected a zero-sum game, and {game.short_spec} is not zero-sum")
        super().__init__(game)
