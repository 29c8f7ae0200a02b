"""Digests of everything that a function's machine code depends on: sources, constants, names."""

import dis
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def source_digest(function: Callable[..., Any], *more: str) -> str:
    """Digest all functions that `function` can call, the values of their names, and `more`.

    A function is represented by the contents of its file, if there is one, and its line there.

    Raises:
        TypeError: if it depends on an object that is not the same in every process.
    """
    digest = hashlib.sha256(repr(more).encode())
    functions = [function]
    for one in functions:  # the list grows
        code = one.__code__
        place = _source(code.co_filename) or _code_digest(code)
        digest.update(
            repr((one.__module__, code.co_qualname, code.co_firstlineno)).encode() + place
        )
        for name, value in _links(one):
            digest.update(f"\n{name} = ".encode())
            if not _is_ours(value):
                digest.update(_constant(value))
            else:
                if not any(value is other for other in functions):
                    functions.append(value)
                number = next(k for k, other in enumerate(functions) if other is value)
                digest.update(f"function {number}".encode())
    return digest.hexdigest()[:12]


def code_size(function: Callable[..., Any]) -> int:
    """Return the size of the bytecode of all functions that `function` can call, in bytes."""
    functions = [function]
    for one in functions:  # the list grows
        for _, value in _links(one):
            if _is_ours(value) and not any(value is other for other in functions):
                functions.append(value)
    return sum(len(one.__code__.co_code) for one in functions)


def _links(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the free names of a function and their values, in a deterministic order."""
    code: CodeType = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for k, value in enumerate(function.__defaults__ or ()):
        yield f"default {k}", value
    yield from sorted((function.__kwdefaults__ or {}).items())
    for path in _global_names(code):
        name, _, attribute = path.partition(".")
        if name in function.__globals__:
            value = function.__globals__[name]
            ours = isinstance(value, ModuleType) and not _is_library(value.__name__)
            yield path, getattr(value, attribute, None) if attribute and ours else value


def _is_ours(value: Any) -> bool:
    """Return whether a value is a Python function outside of NumPy and Numba."""
    return isinstance(value, FunctionType) and not _is_library(value.__module__ or "")


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("numpy", "numba", "math")


@cache
def _global_names(code: CodeType) -> tuple[str, ...]:
    """Return the global names that code reads, and `name.attribute` if it reads an attribute."""
    names, name = set[str](), ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = str(instruction.argval)
            names.add(name)
        else:
            if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and name:
                names.add(f"{name}.{instruction.argval}")
            name = ""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_global_names(constant))
    return tuple(sorted(names))


def _code_digest(code: CodeType) -> bytes:
    """Digest code without a file, such as that of a notebook cell."""
    constants = [
        _code_digest(one)
        if isinstance(one, CodeType)
        else sorted(map(repr, one))
        if isinstance(one, frozenset)
        else repr(one)
        for one in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return hashlib.sha256(repr((code.co_code, constants, names)).encode()).digest()


def _constant(value: Any) -> bytes:
    if inspect.ismodule(value):
        return f"module {value.__name__}".encode()
    if isinstance(value, FunctionType) or inspect.isbuiltin(value):
        return f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, np.ndarray):
        data = f"{value.dtype} {value.shape}".encode() + value.tobytes()
    else:
        data = f"{type(value).__name__} {value!r}".encode()
    if b" at 0x" in data:
        raise TypeError(f"compiled code must not depend on {value!r}: it could not be cached")
    return hashlib.sha256(data).digest()


@cache
def _source(file: str) -> bytes | None:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None
