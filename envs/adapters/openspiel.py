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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.adapters.openspiel_positions import has_chance, rules_of
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import GAMES, game_source, make_game
from ludoteca.envs.serialization import state_from_json

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame

    from ludoteca.envs.adapters.openspiel_state import LudotecaState, PlanesObserver
    from ludoteca.envs.adapters.openspiel_types import (
        CHANCE_OUTCOMES,
        MOST_OUTCOMES,
        PREFIX,
        default_of,
        from_openspiel,
        game_type,
        to_openspiel,
    )
except ImportError as error:
    raise ImportError(
        'OpenSpiel is not installed: pip install "ludoteca[openspiel]"', name="pyspiel"
    ) from error


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

    def new_initial_state(self, state: Any = None) -> LudotecaState:
        """Return the state at the start, or at a position.

        Args:
            state: None, or a position: a record, its JSON as
                `ludoteca.envs.serialization.state_to_json` writes it, or that as a dictionary
                (as `State.to_dict` returns it).

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
        return batch_of_one(self.game, state)

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
    given = {
        key: to_openspiel(key, value, known[key]) for key, value in game.params.items() if known
    }
    defaults = {key: default_of(parameter, given) for key, parameter in known.items()}
    name, kind = f"{PREFIX}{game.name}", game_type(game, defaults)

    def create(params: Mapping[str, Any]) -> LudotecaGame:
        ours = {key: from_openspiel(params[key], parameter) for key, parameter in known.items()}
        made = game if factory is None else factory(**ours)
        return LudotecaGame(made, kind, dict(params))

    # OpenSpiel's registry outlives the interpreter: what it holds must never be freed by it.
    vars(create)["itself"] = create
    pyspiel.register_game(kind, create)
    return name, given


def _factory_of(game: Game) -> Callable[..., Game] | None:
    """Return what makes a game from parameters, or None if it was made otherwise."""
    factory: Callable[..., Game] | None = vars(game).get("_factory")
    return factory


def _load_again(game: Game, params: dict[str, Any]) -> LudotecaGame:
    """Return a game that was pickled, registered."""
    loaded: LudotecaGame = pyspiel.load_game(_register(game)[0], params)
    return loaded


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
            warnings.warn(f"{id_} is not a game of OpenSpiel: {error}", stacklevel=2)


register_all()
