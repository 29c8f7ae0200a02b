"""Import targets: objects named `module:attribute` or `path/to/file.py:attribute`.

Loading a target runs the module's code. So only names that a user typed may be loaded: code that
reads names from files (weights, replays, results) does so within `names_from`, where nothing is
imported.
"""

import importlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from ludoteca.envs.names import did_you_mean

MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")  # also the form of an attribute
FILE = re.compile(r"[^:]+\.py")


class NoSuchModuleError(ModuleNotFoundError):
    """The module of a target does not exist (not a module that the target's module imports)."""


_lock = RLock()
_folders: list[str] = []  # searched for modules after `sys.path`
_loaded: dict[str, Any] = {}  # the objects of targets that users typed
_file: ContextVar[str] = ContextVar("_file", default="")  # where names are being read from


def is_target(text: str) -> bool:
    """Return whether a text has the form `module:attribute` or `path/to/file.py:attribute`."""
    where, colon, attribute = text.rpartition(":")
    named = MODULE.fullmatch(where) or FILE.fullmatch(where)
    return bool(colon and named and MODULE.fullmatch(attribute))


def split_target(spec: str) -> tuple[str, str] | None:
    """Split a spec string that begins with a target into the target and the text of its parameters.

    Returns:
        For example `("mygames:dots", "rows=2")` for `"mygames:dots:rows=2"`; None if the spec
        string does not begin with a target.
    """
    where, _, rest = spec.partition(":")
    attribute, _, params = rest.partition(":")
    target = f"{where.strip()}:{attribute.strip()}"
    return (target, params) if is_target(target) else None


@contextmanager
def names_from(file: str | Path) -> Iterator[None]:
    """Refuse to load targets in this context, as the names of games and agents are from a file.

    Targets that this process has loaded before, as a user typed them, are not refused.

    Args:
        file: the file, or another name for the source of the names, for messages.
    """
    before = _file.set(str(file))
    try:
        yield
    finally:
        _file.reset(before)


def also_search(folder: str | Path) -> None:
    """Search `folder` for the modules of targets, after all other places.

    It is appended to `sys.path` when a target's module is not found elsewhere, and stays there for
    the imports of that module.
    """
    path = str(Path(folder).resolve())
    if path not in _folders:
        _folders.append(path)


def load_target(text: str) -> Any:
    """Return the object that a target names, and import its module.

    Modules are searched for in `sys.path`, then in the folders of `also_search` (the command
    `ludoteca` adds the current folder). The imports of a file are also searched for in its folder.

    Args:
        text: for example `"mygames:dots_and_boxes"`, `"mypackage.agents:Agent.from_file"` or
            `"games/mine.py:dots_and_boxes"`.

    Raises:
        ValueError: if the text has another form, the module fails or lacks the attribute, or the
            name comes from a file, see `names_from`.
        NoSuchModuleError: if there is no such module.
        ImportError: if it imports something that is missing.
        FileNotFoundError: if there is no such file.
    """
    if not isinstance(text, str) or not is_target(text):
        raise ValueError(
            f"expected module:attribute or path/to/file.py:attribute, got {text!r:.200}"
        )
    if _file.get():
        if text in _loaded:
            return _loaded[text]
        raise ValueError(
            f"{_file.get()} names {text!r:.200}, which is not imported, as it comes from a file: "
            "if you trust it, name it yourself, too (docs/extending.md)"
        )
    where, _, attribute = text.rpartition(":")
    with _lock:
        module = _load_file(where) if FILE.fullmatch(where) else _load_module(where)
    target: Any = module
    for name in attribute.split("."):
        if not hasattr(target, name):
            public = [public_name for public_name in dir(target) if not public_name.startswith("_")]
            raise ValueError(f"{where} has no {name!r}{did_you_mean(name, public)}, as in {text!r}")
        target = getattr(target, name)
    _loaded[text] = target
    return target


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not missing:
            raise
        added = [folder for folder in _folders if folder not in sys.path]
        if added:
            sys.path += added
            importlib.invalidate_caches()
            return _load_module(name)
        places = " and ".join(["sys.path", *_folders])
        raise NoSuchModuleError(f"no module named {name!r} in {places}", name=error.name) from None
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"importing {name} failed: {_line(error)}") from error


def _load_file(name: str) -> ModuleType:
    """Return the module in a file, which is run once in a process."""
    path = Path(name).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    known = f"{path.stem}_{sha256(os.fsencode(path)).hexdigest()[:12]}"
    if known in sys.modules:
        return sys.modules[known]
    module_spec = spec_from_file_location(known, path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = module_from_spec(module_spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    sys.modules[known] = module
    try:
        module_spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[known]
        if isinstance(error, ImportError) or not isinstance(error, Exception):
            raise
        raise ValueError(f"running {path} failed: {_line(error)}") from error
    return module


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {error!s:.400}"
