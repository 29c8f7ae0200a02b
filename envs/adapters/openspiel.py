"""OpenSpiel games and states for every game of this package.

Importing this module registers all games of the package in OpenSpiel (pyspiel) as
`ludoteca_<name>`: `pyspiel.load_game("ludoteca_hex(board_size=5)")`. `register` and `load_game` do
the same for other games.

https://github.com/google-deepmind/open_spiel
"""

import inspect
import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.adapters.openspiel_positions import rules_of
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import GAMES, game_source, make_game
from ludoteca.envs.serialization import state_from_json

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame

    from ludoteca.envs.adapters.openspiel_state import LudotecaState, PlanesObserver
    from ludoteca.envs.adapters.openspiel_types import (
        CHANCE_OUTCOMES,
        MAX_OUTCOMES,
        PREFIX,
        default_of,
        from_openspiel,
        openspiel_game_type,
        to_openspiel,
    )
except ImportError as error:
    raise ImportError(
        'OpenSpiel is not installed: pip install "ludoteca[openspiel]"', name="pyspiel"
    ) from error


class LudotecaGame(pyspiel.Game):  # type: ignore[misc]
    """OpenSpiel game that wraps a game of this package.

    Attributes:
        game: the game.
        rules: its rules as functions from position to position.
    """

    def __init__(self, game: Game, game_type: Any, params: Mapping[str, Any]):
        """Make the game; users call `load_game`.

        Args:
            game: the game.
            game_type: its `pyspiel.GameType`.
            params: its parameters with their values in OpenSpiel, by name.

        Raises:
            ValueError: if players do not observe the state.
        """
        if game.hidden_information:
            raise ValueError(
                f"{game.spec} has hidden information, of which the OpenSpiel games of this package "
                "have none; expected observe=state"
            )
        self.game, self.rules = game, rules_of(game)
        self._outcomes: list[tuple[int, float]] = []
        if game.has_chance:
            num_outcomes = check_integer(CHANCE_OUTCOMES, params[CHANCE_OUTCOMES], 1, MAX_OUTCOMES)
            self._outcomes = [(k, 1 / num_outcomes) for k in range(num_outcomes)]
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=len(self._outcomes),
            num_players=game.num_players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if game.zero_sum else None,
            max_game_length=game.max_plies,
        )
        super().__init__(game_type, info, dict(params))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_pickled, (self.game, self.get_parameters())

    def new_initial_state(self, state: Any = None) -> LudotecaState:
        """Return the state at the start of the game, or in a given position.

        Args:
            state: None, or a position: a record, its JSON as
                `ludoteca.envs.serialization.state_to_json` writes it, or the same as a dictionary
                (as `State.to_dict` returns it).

        Raises:
            ValueError: if it is not a position of this game.
        """
        initial = LudotecaState(self)
        if state is not None:
            initial.position = self.rules.from_bytes(self._record(state).view(np.uint8))
        return initial

    def _record(self, state: Any) -> NDArray[np.void]:
        """Return the argument of `new_initial_state` as an array of one record."""
        if isinstance(state, pyspiel.StateStruct):
            state = state.to_json()
        elif isinstance(state, dict):
            state = json.dumps(state)
        if isinstance(state, str):
            state = state_from_json(self.game, state)
        return batch_of_one(self.game, state)

    def max_chance_nodes_in_history(self) -> int:
        """Return the maximum number of chance nodes in a game: one before each position."""
        return self.game.max_plies + 1 if self.game.has_chance else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Return an observer of the planes, or (for perfect recall) of the move history as text."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PlanesObserver(self, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance nodes and their probabilities."""
        return self._outcomes


class MCTSBot(pyspiel.MCTSBot):  # type: ignore[misc]
    """OpenSpiel's tree search in C++ (`pyspiel.MCTSBot`) for games written in Python.

    In OpenSpiel 2.0.2 and before, `pyspiel.MCTSBot.step` crashes with such games: it releases
    Python's global interpreter lock, although it copies their states. This `step` keeps the lock.
    """

    def step(self, state: Any) -> int:
        """Search, and return the action with the most simulations."""
        action: int = self.step_with_policy(state)[1]
        return action


def register(game: Game | str) -> str:
    """Register a game in OpenSpiel, and return its name for `pyspiel.load_game`.

    It replaces a game registered before under the same name.

    Args:
        game: a game, its name, or its spec string, such as `"hex:board_size=5"`.

    Returns:
        The name with the parameters, such as
        `"ludoteca_hex(board_size=5,first=black,swap=False)"`.

    Raises:
        ValueError: if there is no such game, or OpenSpiel has no type for one of its parameters.
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
        chance_outcomes: number of equally likely outcomes of each chance node, in games with
            chance; 1000 by default.
        params: parameters of the game, if it is given by its name.

    Raises:
        ValueError: if there is no such game, a parameter is unknown or out of range, or OpenSpiel
            has no type for it.
    """
    if isinstance(game, str):
        game = make_game(game, **params)
    elif params:
        raise ValueError(f"{game.spec} has its parameters already, got {params}")
    name, parameters = _register(game)
    if chance_outcomes is not None:
        if not game.has_chance:
            raise ValueError(
                f"{game.spec} has no chance nodes, so it cannot take "
                f"chance_outcomes={chance_outcomes}"
            )
        parameters[CHANCE_OUTCOMES] = chance_outcomes
    loaded: LudotecaGame = pyspiel.load_game(name, parameters)
    return loaded


def _register(game: Game) -> tuple[str, dict[str, Any]]:
    """Register the factory of a game; return the name and the parameters that make this game."""
    factory = _factory_of(game)
    signature = {} if factory is None else inspect.signature(factory).parameters
    values = {
        key: to_openspiel(key, value, signature[key])
        for key, value in game.params.items()
        if signature
    }
    defaults = {key: default_of(parameter, values) for key, parameter in signature.items()}
    name, game_type = f"{PREFIX}{game.name}", openspiel_game_type(game, defaults)

    def create(params: Mapping[str, Any]) -> LudotecaGame:
        arguments = {
            key: from_openspiel(params[key], parameter) for key, parameter in signature.items()
        }
        made = game if factory is None else factory(**arguments)
        return LudotecaGame(made, game_type, dict(params))

    # OpenSpiel's registry outlives the interpreter, so the function must never be freed: a
    # reference to itself keeps it alive.
    vars(create)["itself"] = create
    pyspiel.register_game(game_type, create)
    return name, values


def _factory_of(game: Game) -> Callable[..., Game] | None:
    """Return the factory that made a game from parameters, or None if it was made otherwise."""
    factory: Callable[..., Game] | None = vars(game).get("_factory")
    return factory


def _load_pickled(game: Game, params: dict[str, Any]) -> LudotecaGame:
    """Register a pickled game, and return it."""
    loaded: LudotecaGame = pyspiel.load_game(_register(game)[0], params)
    return loaded


def register_all() -> None:
    """Register in OpenSpiel every game of this package's registry, also games of other packages.

    Importing this module calls this function; games that are registered later need `register`, or
    another call. If a game of another package is broken, or has parameters for which OpenSpiel has
    no type, a warning is issued.
    """
    for id_ in tuple(GAMES):
        try:
            register(id_)
        except (ImportError, ValueError) as error:
            if game_source(id_) == "ludoteca":
                raise
            warnings.warn(f"{id_} is not registered in OpenSpiel: {error}", stacklevel=2)


register_all()
