"""OpenSpiel games and states for every game of this package.

Importing this module registers all games of the package in OpenSpiel (pyspiel) as
`ludoteca_<name>`: `pyspiel.load_game("ludoteca_hex(board_size=5)")`. `register` and `load_game` do
the same for games of your own.

https://github.com/google-deepmind/open_spiel
"""

import inspect
import json
import warnings
from collections.abc import Callable, Mapping
from hashlib import blake2b
from math import prod
from types import NoneType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.adapters.openspiel_positions import (
    CHANCE,
    SIMULTANEOUS,
    TERMINAL,
    Position,
    has_chance,
    pays_early,
    rules_of,
)
from ludoteca.envs.batch import root
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import GAMES, game_source, make_game
from ludoteca.envs.render.text import board_text
from ludoteca.envs.storage import state_from_json, state_to_json

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ImportError as error:
    raise ImportError(
        'OpenSpiel is not installed: pip install "ludoteca[openspiel]"', name="pyspiel"
    ) from error

PREFIX = "ludoteca_"
CHANCE_OUTCOMES = "chance_outcomes"  # a parameter of games with chance
DEFAULT_OUTCOMES, MOST_OUTCOMES = 1000, 10**6
MOST_PLAYERS = 64  # where their number is a parameter
# OpenSpiel has no None: these values of parameters stand for it.
NONES: Mapping[type, Any] = {int: -1, float: -1.0, str: "None"}


class LudotecaGame(pyspiel.Game):  # type: ignore[misc]
    """A game of this package in OpenSpiel.

    Attributes:
        game: the game.
        rules: its rules as steps.
    """

    def __init__(self, game: Game, kind: Any, params: Mapping[str, Any]):
        """Make the game; `load_game` does it by name.

        Args:
            game: the game.
            kind: its `pyspiel.GameType`.
            params: its parameters as OpenSpiel has them.
        """
        self.game, self.rules = game, rules_of(game)
        self._outcomes: list[tuple[int, float]] = []
        if has_chance(game):
            count = integer(CHANCE_OUTCOMES, params[CHANCE_OUTCOMES], 1, MOST_OUTCOMES)
            self._outcomes = [(k, 1 / count) for k in range(count)]
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=len(self._outcomes),
            num_players=game.num_players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=game.max_plies,
        )
        super().__init__(kind, info, dict(params))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_again, (self.game, self.get_parameters())

    def new_initial_state(self, state: Any = None) -> "LudotecaState":
        """Return the state at the start, or at a position.

        Args:
            state: None, or a position: a record, its JSON as `ludoteca.envs.storage.state_to_json`
                writes it, or that as a dictionary (as `State.to_dict` returns it).

        Raises:
            ValueError: if it is not a position of this game.
        """
        made = LudotecaState(self)
        if state is not None:
            made.position = self.rules.at(self._record(state).view(np.uint8))
        return made

    def _record(self, state: Any) -> NDArray[np.void]:
        if isinstance(state, pyspiel.StateStruct):
            state = state.to_json()
        elif isinstance(state, dict):
            state = json.dumps(state)
        if isinstance(state, str):
            state = state_from_json(self.game, state)
        return root(self.game, state)

    def max_chance_nodes_in_history(self) -> int:
        """Return the maximum number of chance nodes in a game: one before each position."""
        return self.game.max_plies + 1 if has_chance(self.game) else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Return an observer of states: of the planes, or of the move history as text."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PlanesObserver(self, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance nodes and their probabilities."""
        return self._outcomes


class LudotecaState(pyspiel.State):  # type: ignore[misc]
    """A position of a game of this package in OpenSpiel.

    The methods that OpenSpiel calls most often are overridden, which avoids calls through C++.

    Attributes:
        position: the position, the only data that a copy needs.
    """

    position: Position

    def __init__(self, game: LudotecaGame):
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
            return f"[{', '.join(names[one] for one in self._joint_of(action))}]"
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


class PlanesObserver:
    """OpenSpiel observer of the planes.

    Attributes:
        tensor: all planes, flattened, float32.
        dict: the planes, as `{"observation": [planes, rows, columns]}`, in the same memory.
    """

    def __init__(self, game: LudotecaGame, params: Any = None):
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


class MCTSBot(pyspiel.MCTSBot):  # type: ignore[misc]
    """OpenSpiel's search in C++, for games in Python.

    The `step` of `pyspiel.MCTSBot` releases Python's global interpreter lock, which copies of
    states need: up to OpenSpiel 2.0.2 at least, the process crashes. This `step` keeps the lock.
    """

    def step(self, state: Any) -> int:
        """Search, and return the action with the most simulations."""
        action: int = self.step_with_policy(state)[1]
        return action


def register(game: Game | str) -> str:
    """Register a game in OpenSpiel, and return its name for `pyspiel.load_game`.

    A game registered under the same name before is replaced.

    Args:
        game: a game, its name, or its spec string, such as `"hex:board_size=5"`.

    Returns:
        The name with the parameters, such as
        `"ludoteca_hex(board_size=5,first=black,swap=False)"`.

    Raises:
        ValueError: if there is no such game, or OpenSpiel cannot hold its parameters.
    """
    name, params = _register(make_game(game) if isinstance(game, str) else game)
    texts = ",".join(f"{key}={value}" for key, value in params.items())
    return f"{name}({texts})" if texts else name


def load_game(
    game: Game | str, *, chance_outcomes: int | None = None, **params: Any
) -> LudotecaGame:
    """Register a game in OpenSpiel, and return it as a `pyspiel.Game`.

    Args:
        game: a game, its name, or its spec string.
        chance_outcomes: how many equally likely outcomes each chance node has, in games with
            chance, 1000 by default.
        params: parameters of the game, if it is given by its name.

    Raises:
        ValueError: if there is no such game, a parameter is unknown or out of range, or OpenSpiel
            cannot hold it.
    """
    if isinstance(game, str):
        game = make_game(game, **params)
    elif params:
        raise ValueError(f"{game.spec} has its parameters already, got {params}")
    name, given = _register(game)
    if chance_outcomes is not None:
        if not has_chance(game):
            raise ValueError(f"{game.spec} has no chance, but chance_outcomes={chance_outcomes}")
        given[CHANCE_OUTCOMES] = chance_outcomes
    loaded: LudotecaGame = pyspiel.load_game(name, given)
    return loaded


def _register(game: Game) -> tuple[str, dict[str, Any]]:
    """Register what makes a game; return the name and the parameters that make this one."""
    factory = _factory_of(game)
    known = {} if factory is None else inspect.signature(factory).parameters
    given = {key: _theirs(key, value, known[key]) for key, value in game.params.items() if known}
    defaults = {key: _default(one, given) for key, one in known.items()}
    name, kind = f"{PREFIX}{game.name}", game_type(game, defaults)

    def create(params: Mapping[str, Any]) -> LudotecaGame:
        ours = {key: _ours(params[key], one) for key, one in known.items()}
        made = game if factory is None else factory(**ours)
        return LudotecaGame(made, kind, dict(params))

    # OpenSpiel's registry outlives the interpreter: what it holds must never be freed by it.
    vars(create)["itself"] = create
    pyspiel.register_game(kind, create)
    return name, given


def game_type(game: Game, parameters: Mapping[str, Any]) -> Any:
    """Return the `pyspiel.GameType` of a game, all parameters with their defaults."""
    varies, by_chance = "num_players" in parameters, has_chance(game)
    chance = {CHANCE_OUTCOMES: DEFAULT_OUTCOMES} if by_chance else {}
    kind = pyspiel.GameType
    return kind(
        short_name=f"{PREFIX}{game.name}",
        long_name=f"Ludoteca {game.title}",
        dynamics=kind.Dynamics.SIMULTANEOUS if game.simultaneous else kind.Dynamics.SEQUENTIAL,
        chance_mode=(
            kind.ChanceMode.EXPLICIT_STOCHASTIC if by_chance else kind.ChanceMode.DETERMINISTIC
        ),
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=(kind.RewardModel.REWARDS if pays_early(game) else kind.RewardModel.TERMINAL),
        max_num_players=MOST_PLAYERS if varies else game.num_players,
        min_num_players=1 if varies else game.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(parameters) | chance,
    )


def _factory_of(game: Game) -> Callable[..., Game] | None:
    """Return what makes a game from parameters, or None if it was made otherwise."""
    factory: Callable[..., Game] | None = vars(game).get("_factory")
    return factory


def _default(parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    if parameter.default is inspect.Parameter.empty:
        return given[parameter.name]
    return _theirs(parameter.name, parameter.default, parameter)


def _theirs(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter's value as OpenSpiel can hold it.

    Raises:
        ValueError: if it cannot.
    """
    if value is None:
        value = next((NONES[kind] for kind in _kinds(parameter) if kind in NONES), None)
    if type(value) not in (bool, int, float, str):
        raise ValueError(f"OpenSpiel cannot hold {name}={value!r}: only numbers, texts and bools")
    return value


def _ours(value: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter's value from OpenSpiel's."""
    kinds = _kinds(parameter)
    if NoneType in kinds and any(value == NONES[kind] for kind in kinds if kind in NONES):
        return None
    return value


def _kinds(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return get_args(parameter.annotation) or (parameter.annotation,)


def _load_again(game: Game, params: dict[str, Any]) -> LudotecaGame:
    """Return a game that was pickled, registered."""
    loaded: LudotecaGame = pyspiel.load_game(_register(game)[0], params)
    return loaded


def _restore_state(game: LudotecaGame, text: str) -> LudotecaState:
    """Return a state that was pickled."""
    state: LudotecaState = game.deserialize_state(text)
    return state


def register_all() -> None:
    """Register every game that has a name, also those of other packages.

    Importing this module calls it; games that are registered later need `register`, or another
    call. A game of another package that is broken, or whose parameters OpenSpiel cannot hold,
    causes a warning.
    """
    for id_ in tuple(GAMES):
        try:
            register(id_)
        except (ImportError, ValueError) as error:
            if game_source(id_) == "ludoteca":
                raise
            warnings.warn(f"{id_} is no game of OpenSpiel: {error}", stacklevel=2)


register_all()
