"""Redirection of Kaggle's folder of a submission, `/kaggle_simulations/agent`.

Submissions contain that path. In the worker's process, paths in that folder are redirected to the
folder of the submission: in `open`, in lookups of `os`, `os.path` and `pathlib`, and in imports
through `sys.path`. Libraries that open files in compiled code (`torch.jit.load`, HDF5) are not
redirected; `hint` describes a workaround.

A plain script like `worker.py`, which runs it.
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
OF_OS = (
    "access", "chdir", "listdir", "lstat", "makedirs", "mkdir", "open", "readlink", "remove",
    "rename", "replace", "rmdir", "scandir", "stat", "statvfs", "unlink", "utime", "walk",
)  # fmt: skip


def install(folder: str) -> None:
    """Redirect paths below `FOLDER` to `folder`."""
    for module, names in ((builtins, ("open",)), (io, ("open",)), (os, OF_OS)):
        for name in names:
            function = getattr(module, name)
            wrapper = redirected(function, folder)
            setattr(module, name, wrapper)
            for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if function in able:
                    able.add(wrapper)
    details = [
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    ]
    find = importlib.machinery.FileFinder.path_hook(*details)

    def hook(path: str) -> Any:
        translation = translated(path, folder)
        if translation == path:
            raise ImportError(f"{path} is not in {FOLDER}")
        return find(translation)

    sys.path_hooks.insert(0, hook)


def redirected(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    """Return a function whose first argument, a path, is redirected."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if arguments:
            arguments = (translated(arguments[0], folder), *arguments[1:])
        for name in ("path", "file"):
            if name in options:
                options[name] = translated(options[name], folder)
        return function(*arguments, **options)

    return call


def translated(path: Any, folder: str) -> Any:
    """Return the redirected path; anything else than a path in `FOLDER` unchanged."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return path
    text = os.fsdecode(path)
    if text != FOLDER and not text.startswith(FOLDER + "/"):
        return path
    translation = folder + text[len(FOLDER) :]
    return os.fsencode(translation) if isinstance(os.fspath(path), bytes) else translation


def hint(folder: str) -> str:
    """Return a workaround for errors that name `FOLDER`."""
    return (
        f"; {FOLDER} stands for {folder} in Python's open, os and imports, not in compiled code: "
        f"for that, `mkdir -p {os.path.dirname(FOLDER)} && ln -s {folder} {FOLDER}`, or let it "
        "take the folder of __raw_path__ in its configuration"
    )
