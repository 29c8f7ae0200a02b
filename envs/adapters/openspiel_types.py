"""Types of games in OpenSpiel, and parameters as OpenSpiel can hold them."""

import inspect
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args

import pyspiel

from ludoteca.envs.adapters.openspiel_positions import has_chance, pays_early
from ludoteca.envs.game import Game

PREFIX = "ludoteca_"
CHANCE_OUTCOMES = "chance_outcomes"  # a parameter of games with chance
DEFAULT_OUTCOMES, MOST_OUTCOMES = 1000, 10**6
MOST_PLAYERS = 64  # where their number is a parameter
# OpenSpiel has no None: these values of parameters stand for it.
NONES: Mapping[type, Any] = {int: -1, float: -1.0, str: "None"}


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


def default_of(parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    """Return the default of a parameter, as OpenSpiel can hold it; without one, a given value."""
    if parameter.default is inspect.Parameter.empty:
        return given[parameter.name]
    return to_openspiel(parameter.name, parameter.default, parameter)


def to_openspiel(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter's value as OpenSpiel can hold it.

    Raises:
        ValueError: if it cannot.
    """
    if value is None:
        value = next((NONES[kind] for kind in _kinds(parameter) if kind in NONES), None)
    if type(value) not in (bool, int, float, str):
        raise ValueError(f"OpenSpiel cannot hold {name}={value!r}: only numbers, texts and bools")
    return value


def from_openspiel(value: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter's value from OpenSpiel's."""
    kinds = _kinds(parameter)
    if NoneType in kinds and any(value == NONES[kind] for kind in kinds if kind in NONES):
        return None
    return value


def _kinds(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return get_args(parameter.annotation) or (parameter.annotation,)
