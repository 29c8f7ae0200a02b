"""Redirection of `/kaggle_simulations/agent`, the folder of a submission on Kaggle.

The code of submissions opens files by that path. In the worker process, paths in it are redirected
to the folder of the submission: in `open`, in functions of `os`, `os.path` and `pathlib`, and in
imports through `sys.path`. Libraries that open files in compiled code (`torch.jit.load`, HDF5) are
not redirected; `hint` returns a workaround.

This is a plain script, which `worker.py` runs.
"""

from __future__ import annotations

import builtins
import functools
import importlib.machinery
import io
import os
import sys
from collections.abc import Callable
from typing import Any

FOLDER = "/kaggle_simulations/agent"
# Functions of `os` whose first argument is a path.
OS_FUNCTIONS = (
    "access", "chdir", "listdir", "lstat", "makedirs", "mkdir", "open", "readlink", "remove",
    "rename", "replace", "rmdir", "scandir", "stat", "statvfs", "unlink", "utime", "walk",
)  # fmt: skip


def install(folder: str) -> None:
    """Redirect paths below `FOLDER` to `folder`."""
    for module, names in ((builtins, ("open",)), (io, ("open",)), (os, OS_FUNCTIONS)):
        for name in names:
            function = getattr(module, name)
            wrapper = with_redirected_path(function, folder)
            setattr(module, name, wrapper)
            # Code such as `shutil` asks these sets which options a function supports.
            for capability in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if function in capability:
                    capability.add(wrapper)
    loaders = [
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    ]
    find = importlib.machinery.FileFinder.path_hook(*loaders)

    def hook(path: str) -> Any:
        """Return the finder of modules in a redirected path; an ImportError rejects other paths."""
        redirected_path = redirect_path(path, folder)
        if redirected_path == path:
            raise ImportError(f"{path} is not in {FOLDER}")
        return find(redirected_path)

    sys.path_hooks.insert(0, hook)


def with_redirected_path(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    """Return the function with its first argument, a path, redirected."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if arguments:
            arguments = (redirect_path(arguments[0], folder), *arguments[1:])
        for name in ("path", "file"):
            if name in options:
                options[name] = redirect_path(options[name], folder)
        return function(*arguments, **options)

    return call


def redirect_path(path: Any, folder: str) -> Any:
    """Redirect a path in `FOLDER`; return anything else unchanged."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return path
    text = os.fsdecode(path)
    if text != FOLDER and not text.startswith(FOLDER + "/"):
        return path
    redirected_path = folder + text[len(FOLDER) :]
    return os.fsencode(redirected_path) if isinstance(os.fspath(path), bytes) else redirected_path


def hint(folder: str) -> str:
    """Return a workaround for errors that name `FOLDER`."""
    return (
        f"; {FOLDER} is redirected to {folder} in Python's open, os and imports, not in compiled "
        f"code: for that, run `mkdir -p {os.path.dirname(FOLDER)} && ln -s {folder} {FOLDER}`, or "
        "use the folder of __raw_path__ in the configuration"
    )
