"""OpenSpiel's types of games (`pyspiel.GameType`), and conversions of game parameters."""

import inspect
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args

import pyspiel

from ludoteca.envs.adapters.openspiel_positions import has_early_returns
from ludoteca.envs.game import Game

PREFIX = "ludoteca_"  # of the names of games in OpenSpiel
CHANCE_OUTCOMES = "chance_outcomes"  # name of an additional parameter of games with chance nodes
DEFAULT_OUTCOMES, MAX_OUTCOMES = 1000, 10**6  # values of this parameter
MAX_PLAYERS = 64  # stated for games whose number of players is a parameter
# OpenSpiel has no None: these values stand for it, by the type of the parameter.
NONE_VALUES: Mapping[type, Any] = {int: -1, float: -1.0, str: "None"}


def openspiel_game_type(game: Game, parameters: Mapping[str, Any]) -> Any:
    """Return the `pyspiel.GameType` of a game.

    Args:
        game: the game.
        parameters: the defaults of its parameters for OpenSpiel, by name.
    """
    any_number, stochastic = "num_players" in parameters, game.has_chance
    chance_parameters = {CHANCE_OUTCOMES: DEFAULT_OUTCOMES} if stochastic else {}
    game_type = pyspiel.GameType
    return game_type(
        short_name=f"{PREFIX}{game.name}",
        long_name=f"Ludoteca {game.title}",
        dynamics=game_type.Dynamics.SIMULTANEOUS
        if game.simultaneous
        else game_type.Dynamics.SEQUENTIAL,
        chance_mode=(
            game_type.ChanceMode.EXPLICIT_STOCHASTIC
            if stochastic
            else game_type.ChanceMode.DETERMINISTIC
        ),
        information=game_type.Information.PERFECT_INFORMATION,
        utility=(game_type.Utility.ZERO_SUM if game.zero_sum else game_type.Utility.GENERAL_SUM),
        reward_model=(
            game_type.RewardModel.REWARDS
            if has_early_returns(game)
            else game_type.RewardModel.TERMINAL
        ),
        max_num_players=MAX_PLAYERS if any_number else game.num_players,
        min_num_players=1 if any_number else game.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(parameters) | chance_parameters,
    )


def default_of(parameter: inspect.Parameter, values: Mapping[str, Any]) -> Any:
    """Return the default of a parameter for OpenSpiel; if it has none, its value in `values`."""
    if parameter.default is inspect.Parameter.empty:
        return values[parameter.name]
    return to_openspiel(parameter.name, parameter.default, parameter)


def to_openspiel(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter's value for OpenSpiel.

    Raises:
        ValueError: if OpenSpiel has no such type.
    """
    if value is None:
        value = next(iter(_none_values(parameter)), None)
    if type(value) not in (bool, int, float, str):
        raise ValueError(
            f"OpenSpiel has no type for {name}={value!r}: it has only numbers, strings and booleans"
        )
    return value


def from_openspiel(value: Any, parameter: inspect.Parameter) -> Any:
    """Return the value of a parameter from its value in OpenSpiel; inverse of `to_openspiel`."""
    if NoneType in _types(parameter) and any(none == value for none in _none_values(parameter)):
        return None
    return value


def _none_values(parameter: inspect.Parameter) -> list[Any]:
    """Return the values that stand for None, one for each type of the parameter."""
    return [NONE_VALUES[type_] for type_ in _types(parameter) if type_ in NONE_VALUES]


def _types(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return get_args(parameter.annotation) or (parameter.annotation,)
