"""Catalog of games: forms made from the parameters of their factories."""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from ludoteca.envs.formats.registry import format_of
from ludoteca.envs.game import Game
from ludoteca.envs.gdl.own_sheets import find_sheet, sheet_names
from ludoteca.envs.registry import (
    GAMES,
    find_factory,
    game_name,
    game_source,
    make_game,
    split_game,
)
from ludoteca.envs.spec import parse_params
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.docstring_params import describe_params
from ludoteca.files import parse_json

MAX_PARAM_LENGTH = 60  # characters of a parameter
GDL = "gdl"  # name of the games from rule sheets, whose parameter `path` names a file
GDL_TITLE = "Rule sheets (GDL)"  # their title depends on the sheet


class Catalog:
    """Catalog of the registered games, and of the rule sheets that the page may read.

    Attributes:
        sheets: names of the sheets of this package, and further files.
    """

    def __init__(self, sheets: Sequence[str | Path] = ()):
        """Make the catalog.

        Args:
            sheets: files of further rule sheets.

        Raises:
            ValueError: if there is no such file.
        """
        for sheet in sheets:
            find_sheet(sheet)
        self.sheets = tuple(dict.fromkeys((*sheet_names(), *map(str, sheets))))

    def games(self) -> list[dict[str, Any]]:
        """Return name, title, number of players and dynamics of every registered game.

        They are None for rule sheets, of which each has its own.
        """
        games: list[dict[str, Any]] = []
        for id_ in GAMES:
            if game_name(id_) == GDL:
                entry = {"title": GDL_TITLE, "players": None, "simultaneous": None}
                games.append({"name": GDL, **entry})
                continue
            try:
                game = make_game(id_)
            except Exception:  # a broken extension package
                if game_source(id_) == "ludoteca":
                    raise
                continue
            games.append(
                {
                    "name": game.name,
                    "title": game.title,
                    "players": game.num_players,
                    "simultaneous": game.simultaneous,
                }
            )
        return games

    def form(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of a form for the parameters of a game.

        Each field has the name, the default, the description, and the kind of input: `"integer"`,
        with its range from `low` to `high` if that is known, `"number"`, `"boolean"`, `"choice"`
        with `options`, or `"text"`; `optional` fields may be empty.

        Raises:
            ValueError: if there is no such registered game.
        """
        factory = find_factory(_registered(name))
        described = describe_params(factory)
        fields = [
            _field(parameter, described.get(key, ""))
            for key, parameter in inspect.signature(factory).parameters.items()
        ]
        for field in fields:
            if name == GDL and field["name"] == "path":
                field.update(kind="choice", options=list(self.sheets), description="the rule sheet")
        return fields

    def game(self, name: Any, params: Any) -> Game:
        """Return the game of a filled-in form.

        Args:
            name: name of a registered game.
            params: texts or JSON values by the names of parameters; "" or None for the default.

        Raises:
            ValueError: if there is no such registered game, or a value is wrong.
        """
        name = _registered(name)
        fields = {field["name"]: field for field in self.form(name)}
        if not isinstance(params, dict) or len(params) > len(fields):
            raise ValueError(f"expected the parameters {list(fields)}, got {params!r:.200}")
        values = {}
        for key, value in params.items():
            if key not in fields:
                raise ValueError(f"{name} has no parameter {key!r:.80}; it has {', '.join(fields)}")
            if value not in ("", None):
                values[key] = _read(fields[key], value)
        return make_game(name, **values)

    def check_replay(self, text: str) -> None:
        """Check that the text of a replay names no file of a rule sheet but those in `sheets`.

        Other faults are left to the functions that read replays.

        Raises:
            ValueError: if it does.
        """
        data = parse_json(text) if format_of(text, "") is None else None
        spec = data.get("game") if isinstance(data, dict) else None
        if not isinstance(spec, str):
            return
        with untrusted_names("the replay"):
            key, params_text = split_game(spec)
        if key not in GAMES or game_name(key) != GDL:
            return
        known = inspect.signature(find_factory(key)).parameters
        sheet = parse_params(spec, params_text, known=known).get("path", known["path"].default)
        if sheet not in self.sheets:
            raise ValueError(
                f"the rule sheet {sheet!r:.200} is not offered here; "
                f"`ludoteca arena --sheets FILE` adds one to {', '.join(self.sheets)}"
            )


def _registered(name: Any) -> str:
    """Return the name of a registered game; targets such as `module:factory` are refused."""
    names = [game_name(id_) for id_ in GAMES]
    if name not in names:
        raise ValueError(f"unknown game {name!r:.80}; there are {', '.join(names)}")
    return str(name)


def _field(parameter: inspect.Parameter, description: str) -> dict[str, Any]:
    """Return the field of a parameter; its options are the quoted texts in the description."""
    annotation, default = parameter.annotation, parameter.default
    types = [type_ for type_ in get_args(annotation) or (annotation,) if type_ is not NoneType]
    options = re.findall(r'"([^"]*)"', description)
    bounds = _range(description)
    kind = "text"
    if bool in types:
        kind = "boolean"
    elif int in types:
        kind = "integer"
    elif float in types:
        kind = "number"
    elif isinstance(default, str) and default in options:
        kind = "choice"
    return {
        "name": parameter.name,
        "kind": kind,
        "default": default,
        "optional": default is None,
        "description": description.replace("`", ""),
        **({"options": list(dict.fromkeys(options))} if kind == "choice" else {}),
        **({"low": bounds[0], "high": bounds[1]} if kind == "integer" and bounds else {}),
    }


def _range(description: str) -> tuple[int, int] | None:
    """Return the lowest and highest number in a description such as "2 to 19" or "4, 6 or 8"."""
    match = re.search(r"\b([\d,]+) to ([\d,]+)\b", description)
    if match is None:
        match = re.search(r"\b(\d+)(?:, \d+)* or (\d+)\b", description)
    if match is None:
        return None
    low, high = (int(number.replace(",", "")) for number in match.groups())
    return low, high


def _read(field: dict[str, Any], value: Any) -> Any:
    """Return the value of a field, which may be text."""
    name, kind, text = field["name"], field["kind"], str(value).strip()
    if kind == "choice":
        options = field["options"]
        if text not in options:
            raise ValueError(f"{name} must be one of {', '.join(options)}, got {text!r:.80}")
        return text
    if len(text) > MAX_PARAM_LENGTH:
        raise ValueError(f"{name} is too long: {text!r:.80}")
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{name} must be True or False, got {text!r}")
        return text.lower() == "true"
    if kind in ("integer", "number"):
        try:
            return int(text) if kind == "integer" else float(text)
        except ValueError:
            article = "an" if kind == "integer" else "a"
            raise ValueError(f"{name} must be {article} {kind}, got {text!r}") from None
    return text
