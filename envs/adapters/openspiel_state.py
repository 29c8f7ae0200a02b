"""States of this package's games in OpenSpiel, and their observers."""

import json
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
import pyspiel

from ludoteca.envs.adapters.openspiel_positions import CHANCE, SIMULTANEOUS, TERMINAL, Position
from ludoteca.envs.render.text import board_text
from ludoteca.envs.serialization import state_to_json


class LudotecaState(pyspiel.State):  # type: ignore[misc]
    """OpenSpiel state of a game of this package.

    The methods that OpenSpiel calls most often are overridden here, which avoids calls through C++.

    Attributes:
        position: the immutable position, which copies share.
    """

    position: Position

    def __init__(self, game: pyspiel.Game):
        """Make the state at the start of a `LudotecaGame`."""
        super().__init__(game)
        self.position = game.rules.start

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_state, (self.get_game(), self.serialize())

    def current_player(self) -> int:
        """Return the player to move, or a `pyspiel.PlayerId`."""
        return self.position.player

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.position.player == TERMINAL

    def is_chance_node(self) -> bool:
        """Return whether this is a chance node."""
        return self.position.player == CHANCE

    def is_simultaneous_node(self) -> bool:
        """Return whether all players move at once."""
        return self.position.player == SIMULTANEOUS

    def is_player_node(self) -> bool:
        """Return whether one player is to move."""
        return self.position.player >= 0

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions of a player, ascending; by default of the player to move.

        At simultaneous nodes the default is the list of flat joint actions (indices of joint
        actions), as in OpenSpiel.
        """
        position = self.position
        mover = position.player
        if player is None:
            player = mover
        if mover >= 0:
            if player == mover:
                return position.legal[:]  # type: ignore[no-any-return]
            if 0 <= player < position.rules.game.num_players:
                return []
        elif mover == SIMULTANEOUS and 0 <= player < len(position.legal):
            return position.legal[player][:]  # type: ignore[no-any-return]
        listed: list[int] = super().legal_actions(player)
        return listed

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each legal action and 0 for every other action."""
        position = self.position
        mover = position.player
        if mover < 0 or (player is not None and player != mover):
            base_mask: list[int] = super().legal_actions_mask(mover if player is None else player)
            return base_mask
        mask = [0] * position.rules.game.num_actions
        for action in position.legal:
            mask[action] = 1
        return mask

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of this chance node and their probabilities."""
        if self.position.player != CHANCE:
            raise ValueError(f"expected a chance node, got a node of player {self.position.player}")
        outcomes: list[tuple[int, float]] = self.get_game().outcomes()
        return outcomes

    def returns(self) -> list[float]:
        """Return the total reward of each player so far."""
        return self.position.returns[:]

    def rewards(self) -> list[float]:
        """Return the reward of each player for the last step."""
        return self.position.rewards[:]

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Return the flattened planes of a player, by default of the player to move."""
        if player is None:
            player = self.position.player
        if not 0 <= player < self.position.rules.game.num_players:
            tensor: list[float] = super().observation_tensor(player)
            return tensor
        planes = self.position.rules.observe(self.position, player)
        return planes.ravel().tolist()

    # OpenSpiel's C++ code calls the methods from here on.

    def _legal_actions(self, player: int) -> list[int]:
        position = self.position
        if position.player == SIMULTANEOUS:
            if player == SIMULTANEOUS:
                return self._flat_joint_actions()
            return position.legal[player]  # type: ignore[no-any-return]
        return position.legal  # type: ignore[no-any-return]

    def _apply_action(self, action: int) -> None:
        position = self.position
        if position.player >= 0:
            if action not in position.legal:
                raise ValueError(self._illegal_message(position.player, action, position.legal))
            self.position = position.rules.step(position, action)
        elif position.player == CHANCE:
            if not 0 <= action < len(self.chance_outcomes()):
                raise ValueError(f"expected a chance outcome, got {action}")
            self.position = position.rules.apply_outcome(position, action)
        else:
            self._apply_actions(self._joint_of(action))

    def _apply_actions(self, actions: list[int]) -> None:
        position = self.position
        joint = np.array(actions, np.int64)
        for player, (action, legal) in enumerate(zip(actions, position.legal, strict=True)):
            if action not in legal:
                raise ValueError(self._illegal_message(player, action, legal))
        self.position = position.rules.step(position, joint)

    def _illegal_message(self, player: int, action: int, legal: list[int]) -> str:
        return (
            f"action {action} of player {player} is illegal: expected one of {legal} in this "
            f"position:\n{self}"
        )

    def _flat_joint_actions(self) -> list[int]:
        """Return the indices of the joint actions of a simultaneous node, see `_joint_of`."""
        return list(range(prod(len(legal) for legal in self.position.legal)))

    def _joint_of(self, flat: int) -> list[int]:
        """Return the joint action with index `flat`; the action of player 0 varies fastest."""
        count = prod(len(legal) for legal in self.position.legal)
        if not 0 <= flat < count:
            raise ValueError(f"expected a flat joint action from 0 to {count - 1}, got {flat}")
        joint = []
        for legal in self.position.legal:
            flat, k = divmod(flat, len(legal))
            joint.append(legal[k])
        return joint

    def _action_to_string(self, player: int, action: int) -> str:
        names = self.position.rules.game.action_names
        if player == CHANCE:
            return f"chance {action}"
        if player == SIMULTANEOUS:
            return f"[{', '.join(names[a] for a in self._joint_of(action))}]"
        return names[action]

    def _to_struct(self) -> dict[str, Any]:
        self._check_not_chance_node("to_struct")
        position = self.position
        struct: dict[str, Any] = json.loads(state_to_json(position.rules.game, position.record))
        return struct

    def _check_not_chance_node(self, method: str) -> None:
        """Raise a `ValueError` at a chance node; `method` is the name of the method called."""
        if self.position.player == CHANCE:
            raise ValueError(f"{method} needs a position, but this is a chance node:\n{self}")

    def __str__(self) -> str:
        """Return the board, the player to move, and a digest that identifies the position."""
        position = self.position
        game, record = position.rules.game, position.record
        if position.player == CHANCE and position.actions is None:
            return "chance node before the start"
        fields = (name for name in game.state.names or () if name != "rng")
        digest = blake2b(b"".join(record[name].tobytes() for name in fields), digest_size=8)
        lines = [board_text(game, record), f"position {digest.hexdigest()}"]
        if position.player == CHANCE:
            actions = np.atleast_1d(position.actions).tolist()
            lines.append(f"chance node after {', '.join(game.action_names[a] for a in actions)}")
        return "\n".join(lines)


def _restore_state(game: pyspiel.Game, text: str) -> LudotecaState:
    """Return a state from its serialized text."""
    state: LudotecaState = game.deserialize_state(text)
    return state


class PlanesObserver:
    """OpenSpiel observer of the planes.

    Attributes:
        tensor: all planes, flattened, float32.
        dict: the planes, as `{"observation": [planes, rows, columns]}`, in the same memory.
    """

    def __init__(self, game: pyspiel.Game, params: Any = None):
        """Make the observer of a `LudotecaGame`; it has no parameters."""
        if params:
            raise ValueError(f"expected no parameters of the observer, got {params}")
        shape = game.game.observation_shape
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: LudotecaState, player: int) -> None:
        """Write the observation of `player`, or if that is negative of player 0, in `state`."""
        position = state.position
        self.dict["observation"][:] = position.rules.observe(position, max(player, 0))

    def string_from(self, state: LudotecaState, player: int) -> str:
        """Return the board as text, which is the same for all players."""
        return str(state)
