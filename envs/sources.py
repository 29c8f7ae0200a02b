"""Digests of the sources and constants on which the machine code of a function depends."""

import dis
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def source_digest(function: Callable[..., Any], *extra: str) -> str:
    """Return a digest of all functions that `function` can call and of their constants.

    Each function contributes the content of its file (or its bytecode, if it has none), its name
    and its line.

    Args:
        function: the function.
        extra: further strings that the digest depends on, such as compiler options.

    Returns:
        12 hexadecimal digits.

    Raises:
        TypeError: if it depends on an object whose `repr` is not the same in every process.
    """
    digest = hashlib.sha256(repr(extra).encode())
    functions = [function]
    for callee in functions:  # the list grows in the loop
        code = callee.__code__
        source = _file_digest(code.co_filename) or _code_digest(code)
        digest.update(
            repr((callee.__module__, code.co_qualname, code.co_firstlineno)).encode() + source
        )
        for name, value in _free_names(callee):
            digest.update(f"\n{name} = ".encode())
            if not _is_own_function(value):
                digest.update(_constant_digest(value))
            else:
                if not any(value is other for other in functions):
                    functions.append(value)
                number = next(k for k, other in enumerate(functions) if other is value)
                digest.update(f"function {number}".encode())
    return digest.hexdigest()[:12]


def code_size(function: Callable[..., Any]) -> int:
    """Return the size of the bytecode of all functions that `function` can call, in bytes."""
    functions = [function]
    for callee in functions:  # the list grows in the loop
        for _, value in _free_names(callee):
            if _is_own_function(value) and not any(value is other for other in functions):
                functions.append(value)
    return sum(len(callee.__code__.co_code) for callee in functions)


def _free_names(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the closure, default and global variables of a function, names and values.

    The order is the same in every process.
    """
    code: CodeType = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for k, value in enumerate(function.__defaults__ or ()):
        yield f"default {k}", value
    yield from sorted((function.__kwdefaults__ or {}).items())
    for dotted_name in _global_names(code):
        name, _, attribute = dotted_name.partition(".")
        if name in function.__globals__:
            value = function.__globals__[name]
            is_own_module = isinstance(value, ModuleType) and not _is_library(value.__name__)
            if attribute and is_own_module:
                value = getattr(value, attribute, None)
            yield dotted_name, value


def _is_own_function(value: Any) -> bool:
    """Return whether a value is a Python function that is not from NumPy, Numba or `math`."""
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
    """Return the digest of code without a file, such as a notebook cell."""
    constants = [
        _code_digest(constant)
        if isinstance(constant, CodeType)
        else sorted(map(repr, constant))
        if isinstance(constant, frozenset)
        else repr(constant)
        for constant in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return hashlib.sha256(repr((code.co_code, constants, names)).encode()).digest()


def _constant_digest(value: Any) -> bytes:
    """Return the digest of a value that is not an own function (`_is_own_function`).

    Raises:
        TypeError: if its `repr` differs between processes.
    """
    if inspect.ismodule(value):
        return f"module {value.__name__}".encode()
    if isinstance(value, FunctionType) or inspect.isbuiltin(value):
        return f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, np.ndarray):
        data = f"{value.dtype} {value.shape}".encode() + value.tobytes()
    else:
        data = f"{type(value).__name__} {value!r}".encode()
    if b" at 0x" in data:  # a default `repr`, which has the address of the object
        raise TypeError(f"compiled code must not depend on {value!r}: it could not be cached")
    return hashlib.sha256(data).digest()


@cache
def _file_digest(file: str) -> bytes | None:
    """Return the digest of a file, or None if it does not exist."""
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None
