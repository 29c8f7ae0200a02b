"""Import targets: objects named `module:attribute` or `path/to/file.py:attribute`.

Loading a target runs the module's code. So only targets that a user typed may be loaded. Code that
reads names of games and agents from files (weights, replays, results) makes them within
`untrusted_names`, where no target is imported.
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
FILE = re.compile(r"[^:]+\.py")  # path of a Python file


class NoSuchModuleError(ModuleNotFoundError):
    """Error for a target whose own module does not exist (as opposed to one that it imports)."""


_lock = RLock()
_search_folders: list[str] = []  # searched for modules after `sys.path`
_loaded: dict[str, Any] = {}  # the objects of targets that users typed
# Argument of the innermost `untrusted_names`; "": names are trusted.
_source: ContextVar[str] = ContextVar("_source", default="")


def is_target(text: str) -> bool:
    """Return whether a text has the form `module:attribute` or `path/to/file.py:attribute`."""
    module, colon, attribute = text.rpartition(":")
    has_module = MODULE.fullmatch(module) or FILE.fullmatch(module)
    return bool(colon and has_module and MODULE.fullmatch(attribute))


def split_target(spec: str) -> tuple[str, str] | None:
    """Split a spec string that begins with a target into the target and the text of its parameters.

    Returns:
        For example `("mygames:dots", "rows=2")` for `"mygames:dots:rows=2"`; None if the spec
        string does not begin with a target.
    """
    module, _, attribute_and_params = spec.partition(":")
    attribute, _, params = attribute_and_params.partition(":")
    target = f"{module.strip()}:{attribute.strip()}"
    return (target, params) if is_target(target) else None


@contextmanager
def untrusted_names(source: str | Path) -> Iterator[None]:
    """Refuse to load targets in this context, in which names of games and agents are from a file.

    Targets that this process has loaded before, because a user typed them, are allowed.

    Args:
        source: the file that holds the names, or its description, for messages; `""` trusts them.
    """
    token = _source.set(str(source))
    try:
        yield
    finally:
        _source.reset(token)


def add_search_folder(folder: str | Path) -> None:
    """Search `folder` for the modules of targets, after all other places.

    When a target's module is not found elsewhere, the folder is appended to `sys.path`, and stays
    there for the imports of that module.
    """
    path = str(Path(folder).resolve())
    if path not in _search_folders:
        _search_folders.append(path)


def load_target(text: str) -> Any:
    """Return the object that a target names, and import its module.

    Modules are searched for in `sys.path`, then in the folders of `add_search_folder` (the command
    `ludoteca` adds the current folder). The imports of a file are also searched for in its folder.

    Args:
        text: for example `"mygames:dots_and_boxes"`, `"mypackage.agents:Agent.from_file"` or
            `"games/mine.py:dots_and_boxes"`.

    Raises:
        ValueError: if the text is not a target, if the module raises an exception or lacks the
            attribute, or within `untrusted_names`.
        NoSuchModuleError: if there is no such module.
        ImportError: if the module imports something that is missing.
        FileNotFoundError: if there is no such file.
    """
    if not isinstance(text, str) or not is_target(text):
        raise ValueError(
            f"expected module:attribute or path/to/file.py:attribute, got {text!r:.200}"
        )
    if _source.get():
        if text in _loaded:
            return _loaded[text]
        raise ValueError(
            f"{_source.get()} names {text!r:.200}, which is not imported, because the name comes "
            "from a file: if you trust it, also name it on the command line or load it first "
            "(docs/extending.md)"
        )
    module_name, _, attribute = text.rpartition(":")
    with _lock:
        is_file = FILE.fullmatch(module_name)
        module = _load_file(module_name) if is_file else _load_module(module_name)
    target: Any = module
    for name in attribute.split("."):
        if not hasattr(target, name):
            public = [public_name for public_name in dir(target) if not public_name.startswith("_")]
            suggestion = did_you_mean(name, public)
            raise ValueError(f"{module_name} has no {name!r}{suggestion}, as in {text!r}")
        target = getattr(target, name)
    _loaded[text] = target
    return target


def _load_module(name: str) -> ModuleType:
    """Import a module; if it is not found, search the folders of `add_search_folder`, too."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Whether the module itself or its package is missing, not a module that it imports.
        is_own = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not is_own:
            raise
        added = [folder for folder in _search_folders if folder not in sys.path]
        if added:
            sys.path += added
            importlib.invalidate_caches()
            return _load_module(name)
        places = " and ".join(["sys.path", *_search_folders])
        raise NoSuchModuleError(f"no module named {name!r} in {places}", name=error.name) from None
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"importing {name} failed: {_describe(error)}") from error


def _load_file(name: str) -> ModuleType:
    """Return the module in a file, which is executed once per process."""
    path = Path(name).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module_name = f"{path.stem}_{sha256(os.fsencode(path)).hexdigest()[:12]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    module_spec = spec_from_file_location(module_name, path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = module_from_spec(module_spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    sys.modules[module_name] = module
    try:
        module_spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if isinstance(error, ImportError) or not isinstance(error, Exception):
            raise
        raise ValueError(f"running {path} failed: {_describe(error)}") from error
    return module


def _describe(error: Exception) -> str:
    """Return the type and the message of an error, at most 400 characters of it."""
    return f"{type(error).__name__}: {error!s:.400}"
