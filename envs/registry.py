"""Registry of games, by name, id, alias and import target.

A spec string begins with the name of a registered game, or with a target, `module:factory` or
`path/to/file.py:factory`; parameters may follow after a colon. Parameters have an equal sign, so
the text after the first colon shows which of the two it is.
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ludoteca.envs.extensions import Extension, target_of
from ludoteca.envs.game import Game
from ludoteca.envs.game_factory import check_game_factory
from ludoteca.envs.names import did_you_mean, plain_name
from ludoteca.envs.params import unknown_parameter
from ludoteca.envs.spec import parse_name, parse_params, parse_spec
from ludoteca.envs.targets import NoSuchModuleError, load_target, split_target

# Games by id: the import target of the factory that makes the game from its parameters.
GAMES = {
    "HungryGeese-v0": "ludoteca.envs.games.hungry_geese:hungry_geese",
    "Othello-v0": "ludoteca.envs.games.othello:othello",
    "Hex-v0": "ludoteca.envs.games.hex:hex",
    "Connect4-v0": "ludoteca.envs.games.connect4:connect4",
    "TicTacToe-v0": "ludoteca.envs.games.tictactoe:tictactoe",
    "Tron-v0": "ludoteca.envs.games.tron:tron",
    "AtariGo-v0": "ludoteca.envs.games.atari_go:atari_go",
    "Breakthrough-v0": "ludoteca.envs.games.breakthrough:breakthrough",
    "BreakthroughHoles-v0": "ludoteca.envs.games.breakthrough:breakthrough_holes",
    "BreakthroughSuicide-v0": "ludoteca.envs.games.breakthrough:breakthrough_suicide",
    "KnightThrough-v0": "ludoteca.envs.games.knight_through:knight_through",
    "KnightFight-v0": "ludoteca.envs.games.knight_fight:knight_fight",
    "SheepAndWolf-v0": "ludoteca.envs.games.sheep_and_wolf:sheep_and_wolf",
    "TicTacToeLarge-v0": "ludoteca.envs.games.tictactoe:tictactoe_large",
    "FreeForAll-v0": "ludoteca.envs.games.free_for_all:free_for_all",
    "GDL-v0": "ludoteca.envs.gdl.game:gdl",
}
# Other names of games, with the spec strings (or ids) that they stand for; case, hyphens and
# underscores do not matter.
ALIASES = {
    "geese": "hungry_geese",
    "reversi": "othello",
    "connect_four": "connect4",
    "four_in_a_row": "connect4",
    "noughts_and_crosses": "tictactoe",
    "gomoku": "tictactoe:board_size=15,line=5",
    "five_in_a_row": "tictactoe:board_size=15,line=5",
    "light_cycles": "tron",
    "capture_go": "atari_go",
    "ponnuki": "atari_go",
    "wolf_and_sheep": "sheep_and_wolf",
}


EXTENSIONS: dict[str, Extension] = {}  # games of other packages, by id; they are in `GAMES`, too
_names: dict[str, str] = {}  # names of these games, by id
# Factories of extensions (by id) and of targets (by target): the loaded object, and the factory
# that `check_game_factory` returned for it.
_factories: dict[str, tuple[Any, Callable[..., Game]]] = {}


def make_game(name: str, **params: Any) -> Game:
    """Return a game by name, id, spec string or target.

    Examples of `name` are `"hex"`, `"Hex-v0"`, `"ludoteca/Hex-v0"`, `"hex:board_size=5"` and the
    alias `"gomoku"`. Case, hyphens and underscores do not matter. A game that is not
    registered is named by its factory: `"mygames:dots_and_boxes"` or
    `"games/mine.py:dots_and_boxes:size=3"`, which imports that module.

    Raises:
        ValueError: if there is no such game or parameter, or a value is out of range. For a keyword
            argument that the game does not have, it is an `UnknownParameter`, also a `TypeError`.
        ImportError: if the module of a factory, or a module that it imports, is missing.
        FileNotFoundError: if the file of a factory is missing.
    """
    key, params_text = split_game(name)
    alias = ALIASES.get(_find_alias(parse_name(name)), "") if key in GAMES else ""
    factory = _factory(key)
    known = inspect.signature(factory).parameters
    spec_params = parse_params(name, params_text, known=known)
    name = parse_name(name) if key in GAMES else key
    for parameter in spec_params:
        if parameter not in known:
            suggestion = did_you_mean(parameter, known)
            raise ValueError(
                f"{name} has no parameter {parameter!r}{suggestion}; it has {', '.join(known)}"
            )
    for parameter in params:
        if parameter not in known:
            raise unknown_parameter(name, parameter, known)
    game = factory(**(parse_spec(alias)[1] | spec_params | params))
    # The spec string of a game that is not registered is its target; the dataclass is frozen.
    if key in GAMES:
        vars(game).pop("_target", None)
    else:
        vars(game)["_target"] = key
    return game


def find_factory(spec: str) -> Callable[..., Game]:
    """Return the factory of the game with this name or spec string.

    Raises:
        ValueError: if there is no such game.
        ImportError: if the package of a game is broken, or a target's module is missing.
        FileNotFoundError: if a target's file is missing.
    """
    return _factory(split_game(spec)[0])


def default_game(game: Game) -> Game:
    """Return the same game with default parameters."""
    return find_factory(game.spec)()


def split_game(spec: str) -> tuple[str, str]:
    """Split a spec string into an id or a target, and the text of its parameters.

    If the factory of a target is registered, its id is returned instead of the target.

    Raises:
        ValueError: if there is no such game, or the object of a target is not a factory.
        ImportError: if the module of a target is missing.
        FileNotFoundError: if its file is missing.
    """
    name = parse_name(spec)
    registered, split = _find_id(name), split_target(spec)
    if split is None:
        if not registered:
            raise ValueError(_unknown_game(name))
        return registered, spec.partition(":")[2]
    target, text = split
    try:
        loaded = load_target(target)
    except NoSuchModuleError as error:
        if registered:
            return registered, spec.partition(":")[2]
        raise ValueError(f"{_unknown_game(name)}; and not a module: {error}") from None
    id_ = next((id_ for id_, game_target in GAMES.items() if game_target == target_of(loaded)), "")
    if id_:
        return id_, text
    if target not in _factories or _factories[target][0] is not loaded:
        _factories[target] = loaded, _check_target(target, loaded)
    return target, text


def game_id(name: str) -> str:
    """Return the id, such as `"Hex-v0"`, of a game's name, id or alias in any spelling.

    Raises:
        ValueError: if there is no such game.
    """
    name = parse_name(name)
    registered = _find_id(name)
    if not registered:
        raise ValueError(_unknown_game(name))
    return registered


def game_name(id_: str) -> str:
    """Return the name of a registered game, such as `"hex"`, by its id; nothing is imported."""
    return _names.get(id_) or GAMES[id_].partition(":")[2]


def game_source(id_: str) -> str:
    """Return the origin of a registered game: `"ludoteca"`, or e.g. `"package dots-games 0.1"`."""
    return EXTENSIONS[id_].source if id_ in EXTENSIONS else "ludoteca"


def add_game(id_: str, name: str, extension: Extension) -> None:
    """Add or replace a game of another package; see `ludoteca.register_game`."""
    EXTENSIONS[id_], _names[id_], GAMES[id_] = extension, name, extension.target
    _factories.pop(id_, None)


def remove_game(id_: str) -> None:
    """Remove a game that `add_game` added, and its aliases."""
    for table in (EXTENSIONS, _names, GAMES, _factories):
        table.pop(id_, None)
    for alias in [alias for alias, spec in ALIASES.items() if spec == id_]:
        del ALIASES[alias]


def _factory(key: str) -> Callable[..., Game]:
    """Return the factory of an id or target, as returned by `split_game`."""
    if key in _factories:
        return _factories[key][1]
    if key in EXTENSIONS:
        extension, label = EXTENSIONS[key], f"{game_name(key)} ({EXTENSIONS[key].source})"
        loaded = extension.load()
        try:
            factory = check_game_factory(loaded, label)
        except Exception as error:
            raise ImportError(f"{label} is broken: {error}") from error
        if factory().name != game_name(key):
            raise ImportError(
                f"{label} is broken: it makes a game with the name {factory().name!r}, expected "
                f"{game_name(key)!r}"
            )
        _factories[key] = loaded, factory
        return factory
    module, _, attribute = GAMES[key].partition(":")
    builtin: Callable[..., Game] = getattr(importlib.import_module(module), attribute)
    return builtin


def _check_target(target: str, loaded: Any) -> Callable[..., Game]:
    """Return the factory of a target that a user typed.

    Raises:
        ValueError: if it is not a factory, or if its game has the name of a registered game.
    """
    try:
        factory = check_game_factory(loaded, target)
    except TypeError as error:
        raise ValueError(str(error)) from None
    name = factory().name
    if _find_id(name):
        raise ValueError(
            f"the factory {target} makes a game with the name {name!r}, which a registered game "
            f"has ({game_source(_find_id(name))}); choose another name"
        )
    return factory


def _find_id(name: str) -> str:
    """Return the id of a game's name, id or alias in any spelling, or `""`."""
    plain = plain_name(parse_name(ALIASES.get(_find_alias(name), name)).removeprefix("ludoteca/"))
    for id_ in GAMES:
        if plain in (plain_name(game_name(id_)), plain_name(id_)):
            return id_
    return ""


def _unknown_game(name: str) -> str:
    """Return the error message for a name that no game has."""
    names = [game_name(id_) for id_ in GAMES]
    suggestion = did_you_mean(name, [*names, *ALIASES])
    return f"unknown game {name!r}{suggestion}; there are {', '.join(names)}"


def _find_alias(name: str) -> str:
    """Return the key in `ALIASES` of a name in any spelling, or `""`."""
    return next((key for key in ALIASES if plain_name(key) == plain_name(name)), "")
