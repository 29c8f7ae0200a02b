"""Encoder of positions for networks that play any seat: one observation per player."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.knowledge import HandCraftedFeatures, load
from ludoteca.agents.games.registry import find_knowledge, games_with
from ludoteca.agents.networks.encoder import SequentialEncoder
from ludoteca.agents.predictor import Observer
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.params import check_choice
from ludoteca.envs.symmetry import Symmetry

View = Literal["plain", "hand_crafted"]


class SeatEncoder:
    """Encoder of positions with which one network can play every player.

    The view `plain` is the game's observation, in sequential games that of `SequentialEncoder`. The
    view `hand_crafted` has the game's `HandCraftedFeatures`; its masks exclude actions that
    certainly lose, unless all do.

    Attributes:
        game: the game.
        view: the view.
        shape: shape of one observation, `(planes, rows, columns)`.
        scale: factor by which planes are multiplied before they enter the network.
        symmetries: symmetries of the game on these planes.
    """

    def __init__(self, game: Game, view: View = "plain"):
        """Make the encoder.

        Raises:
            ValueError: if there is no such view, or the view is `hand_crafted` and the game is
                sequential or has no hand-crafted features.
        """
        check_choice("view", view, ("plain", "hand_crafted"))
        self.game, self.view = game, view
        self._sequential = None if game.simultaneous else SequentialEncoder(game)
        if self._sequential is not None:
            if view != "plain":
                raise ValueError(
                    f"sequential games support only view='plain', got view={view!r} for "
                    f"{game.short_spec}"
                )
            self.shape, self.scale = self._sequential.shape, self._sequential.scale
            self.symmetries = self._sequential.symmetries
            self._encode: Any = self._sequential.encode
            return
        _, rows, columns = game.observation_shape
        if view == "plain":
            self.shape, self.scale = game.observation_shape, 1 / game.observation_high
            self.symmetries = game.symmetries()
            self._encode = Observer(game).observe
        else:
            features = find_hand_crafted_features(game)
            self.shape, self.scale = (features.planes, rows, columns), 1 / features.high
            self.symmetries = _symmetries_about_the_center(game, rows, columns)
            self._encode = self._encode_hand_crafted

    def encode(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return planes, int8 `[K, *shape]`, and masks, int8 `[K, num_actions]`.

        Args:
            states: positions. Shape `[K]`.
            seats: observing players, which must be active. Shape `[K]`.
        """
        planes_and_masks: tuple[NDArray[np.int8], NDArray[np.int8]] = self._encode(states, seats)
        return planes_and_masks

    def translate(self, actions: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Translate the network's actions to the game's, or the game's to the network's.

        They differ where `SequentialEncoder` mirrors a position; the translation is its own
        inverse.

        Args:
            actions: actions. Shape `[K]`.
            seats: observing players. Shape `[K]`.
        """
        return actions if self._sequential is None else self._sequential.translate(actions, seats)

    def translate_policy(
        self, policies: NDArray[np.float32], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the network's per-action outputs in the game's action order. Shape `[K, A]`."""
        if self._sequential is None:
            return policies
        return self._sequential.translate_policy(policies, seats)

    def _encode_hand_crafted(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the planes and masks of the view `hand_crafted`, see `encode`."""
        planes = np.empty((len(states), *self.shape), np.int8)
        masks = np.empty((len(states), self.game.num_actions), np.int8)
        make_feature_encoder(self.game)(states, differs_from_previous(states), seats, planes, masks)
        return planes, masks


def find_hand_crafted_features(game: Game) -> HandCraftedFeatures:
    """Return the hand-crafted features of a game.

    Raises:
        ValueError: if it has none.
    """
    target = find_knowledge(game).features
    if not target:
        games = ", ".join(games_with("features"))
        raise ValueError(f"{game.name} has no hand-crafted features; games with them are {games}")
    features: HandCraftedFeatures = load(target)
    return features


def differs_from_previous(states: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return whether each position differs from the previous one; the first does. Shape `[K]`."""
    differs = np.ones(len(states), np.bool_)
    content = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.itemsize)
    differs[1:] = (content[1:] != content[:-1]).any(1)
    return differs


@factory("network input")
def make_feature_encoder(game: Game) -> Any:
    """Return the compiled function `encode(states, is_new, seats, planes, masks)`.

    It writes `planes` and `masks`, see `SeatEncoder.encode`. `is_new`, bool `[K]`, marks the
    positions that differ from the previous one.
    """
    features = find_hand_crafted_features(game)
    prepare, observe, safe_actions = features.prepare, features.observe, features.safe_actions
    legal_actions, num_actions = game.legal_actions, game.num_actions
    action_dtype = game.action_dtype
    rows = features.workspace_rows(game.num_players)
    cells = game.observation_shape[1] * game.observation_shape[2]

    @compiled
    def encode(states: Any, is_new: Any, seats: Any, planes: Any, masks: Any) -> None:
        workspace = np.zeros((rows, cells), np.int32)
        legal = np.zeros(num_actions, action_dtype)
        for i in range(len(states)):
            if is_new[i]:
                prepare(states[i], workspace)
            observe(states[i], seats[i], workspace, planes[i])
            if safe_actions(states[i], seats[i], workspace, masks[i]) == 0:  # all certainly lose
                masks[i] = 0
                for k in range(legal_actions(states[i], seats[i], legal)):
                    masks[i, legal[k]] = 1

    return encode


def _symmetries_about_the_center(game: Game, rows: int, columns: int) -> tuple[Symmetry, ...]:
    """Return the symmetries that map the center, `rows // 2`, `columns // 2`, to itself.

    Hand-crafted features are centered there. On a torus, such symmetries exist for even sizes, too.
    """
    about_center = []
    for symmetry in game.symmetries():
        center = rows // 2 * columns + columns // 2
        if symmetry.cells[center] == center:
            about_center.append(symmetry)
    return tuple(about_center)
