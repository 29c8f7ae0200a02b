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
    """A position of a game of this package in OpenSpiel.

    The methods that OpenSpiel calls most often are overridden, which avoids calls through C++.

    Attributes:
        position: the position, the only data that a copy needs.
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
        """Return the legal actions of a player, ascending; of the one to move by default.

        At simultaneous nodes the default is the list of flat joint actions, as in OpenSpiel.
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
        found: list[int] = super().legal_actions(player)
        return found

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return a 1 for each legal action and a 0 for each other."""
        position = self.position
        mover = position.player
        if mover < 0 or (player is not None and player != mover):
            masked: list[int] = super().legal_actions_mask(mover if player is None else player)
            return masked
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
        """Return the observation of a player, by default the one to move: all planes, flattened."""
        if player is None:
            player = self.position.player
        if not 0 <= player < self.position.rules.game.num_players:
            found: list[float] = super().observation_tensor(player)
            return found
        planes = self.position.rules.observe(self.position, player)
        return planes.ravel().tolist()

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
                raise ValueError(self._illegal(position.player, action, position.legal))
            self.position = position.rules.step(position, action)
        elif position.player == CHANCE:
            if not 0 <= action < len(self.chance_outcomes()):
                raise ValueError(f"expected a chance outcome, got {action}")
            self.position = position.rules.decide(position, action)
        else:
            self._apply_actions(self._joint_of(action))

    def _apply_actions(self, actions: list[int]) -> None:
        position = self.position
        joint = np.array(actions, np.int64)
        for player, (action, legal) in enumerate(zip(actions, position.legal, strict=True)):
            if action not in legal:
                raise ValueError(self._illegal(player, action, legal))
        self.position = position.rules.step(position, joint)

    def _illegal(self, player: int, action: int, legal: list[int]) -> str:
        return f"action {action} of player {player} is illegal: expected one of {legal}, in\n{self}"

    def _flat_joint_actions(self) -> list[int]:
        """Return a number for each joint action of a node where all move at once."""
        return list(range(prod(len(legal) for legal in self.position.legal)))

    def _joint_of(self, flat: int) -> list[int]:
        """Return the joint action of a number; the action of player 0 varies fastest."""
        count = prod(len(legal) for legal in self.position.legal)
        if not 0 <= flat < count:
            raise ValueError(f"expected a flat joint action from 0 to {count - 1}, got {flat}")
        joint = []
        for legal in self.position.legal:
            flat, place = divmod(flat, len(legal))
            joint.append(legal[place])
        return joint

    def _action_to_string(self, player: int, action: int) -> str:
        names = self.position.rules.game.action_names
        if player == CHANCE:
            return f"chance {action}"
        if player == SIMULTANEOUS:
            return f"[{', '.join(names[part] for part in self._joint_of(action))}]"
        return names[action]

    def _to_struct(self) -> dict[str, Any]:
        self._check_decided("to_struct")
        position = self.position
        found: dict[str, Any] = json.loads(state_to_json(position.rules.game, position.record))
        return found

    def _check_decided(self, what: str) -> None:
        if self.position.player == CHANCE:
            raise ValueError(f"{what} needs a position, but this is a chance node:\n{self}")

    def __str__(self) -> str:
        """Return the board, the player to move, and a digest that identifies the position."""
        position = self.position
        game, record = position.rules.game, position.record
        if position.player == CHANCE and position.actions is None:
            return "before the start: chance decides"
        fields = (name for name in game.state.names or () if name != "rng")
        digest = blake2b(b"".join(record[name].tobytes() for name in fields), digest_size=8)
        lines = [board_text(game, record), f"position {digest.hexdigest()}"]
        if position.player == CHANCE:
            actions = np.atleast_1d(position.actions).tolist()
            lines.append(f"chance decides after {', '.join(game.action_names[a] for a in actions)}")
        return "\n".join(lines)


def _restore_state(game: pyspiel.Game, text: str) -> LudotecaState:
    """Return a state that was pickled."""
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
            raise ValueError(f"the observer has no parameters, got {params}")
        shape = game.game.observation_shape
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: LudotecaState, player: int) -> None:
        """Write the observation of `player` in `state`."""
        position = state.position
        self.dict["observation"][:] = position.rules.observe(position, max(player, 0))

    def string_from(self, state: LudotecaState, player: int) -> str:
        """Return the board as text: it is public."""
        return str(state)
