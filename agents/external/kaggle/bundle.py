"""Bundle of functions and their dependencies, as source of one file that needs only NumPy.

Kernels are plain Python, so an exported agent has the same kernels as the original: of its policy,
the random generator, and a network's planes.
"""

import ast
import base64
import inspect
import sys
import textwrap
import zlib
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Precision = Literal["float16", "float32"]
LITERALS = (bool, int, float, str, bytes, type(None))
SMALL = 16  # numbers: up to this size, arrays are written as lists, larger ones are packed
WIDTH = 96  # characters per line of packed arrays


class Bundle:
    """Source of functions and of everything that they refer to.

    Attributes:
        precision: float type of packed arrays.
    """

    def __init__(self, precision: Precision = "float32"):
        self.precision = precision
        self._names: dict[int, str] = {}  # by id()
        self._alive: list[Any] = []  # keeps objects alive, so that no id() is reused
        self._taken: set[str] = set()
        self._imports: list[str] = []
        self._constants: list[str] = []
        self._functions: list[str] = []
        self._packed: list[str] = []

    def add(self, thing: Any, name: str) -> str:
        """Add a function or a constant; return its name in the bundle.

        Args:
            thing: the function, module or constant; it is added once.
            name: preferred name.

        Raises:
            ValueError: if it is not plain Python, or needs packages other than NumPy.
        """
        if id(thing) in self._names and not isinstance(thing, LITERALS):
            return self._names[id(thing)]
        if isinstance(thing, LITERALS):
            return self._add_literal(thing, name)
        name = self._free(name)
        self._names[id(thing)] = name
        self._alive.append(thing)
        if isinstance(thing, ModuleType):
            self._require(thing.__name__, name)
            renamed = "" if name == thing.__name__ else f" as {name}"
            self._imports.append(f"import {thing.__name__}{renamed}")
        elif isinstance(thing, FunctionType) and not is_library(thing.__module__):
            self._functions.append(self._source(thing, name))
        elif isinstance(thing, BuiltinFunctionType | FunctionType):
            self._require(thing.__module__, name)
            renamed = "" if name == thing.__name__ else f" as {name}"
            self._imports.append(f"from {thing.__module__} import {thing.__name__}{renamed}")
        elif isinstance(thing, np.ndarray) and thing.size > SMALL:
            self._packed.append(f"{name} = {self._array(thing)}")
        elif isinstance(thing, dict) and any(
            isinstance(item, np.ndarray) for item in thing.values()
        ):
            rows = [f"    {key!r}: {self._array(value)},\n" for key, value in thing.items()]
            self._packed.append(f"{name} = {{\n{''.join(rows)}}}")
        else:
            self._constants.append(f"{name} = {self._constant(thing, name)}")
        return name

    def reserve(self, name: str) -> None:
        """Reserve a name."""
        self._taken.add(name)

    def text(self) -> str:
        """Return the source."""
        parts = ["\n".join(sorted(self._imports)), "\n".join(self._constants)]
        parts += [f"\n{function}\n" for function in self._functions]
        parts += ["\n".join(self._packed)]
        return "\n".join(part for part in parts if part)

    def _add_literal(self, value: Any, name: str) -> str:
        """Add a literal; equal values share a name."""
        for known in (name, *(f"{name}_{k}" for k in range(2, 100))):
            line = f"{known} = {literal(value)}"
            if line in self._constants:
                return known
            if known not in self._taken:
                self._taken.add(known)
                self._constants.append(line)
                return known
        raise ValueError(f"there are too many constants called {name}")

    def _free(self, name: str) -> str:
        """Return an unused name."""
        free_name, k = name, 2
        while free_name in self._taken:
            free_name, k = f"{name}_{k}", k + 1
        self._taken.add(free_name)
        return free_name

    def _require(self, module: str, name: str) -> None:
        top = module.partition(".")[0]
        if top != "numpy" and top not in sys.stdlib_module_names:
            raise ValueError(f"{name} is from {module}, but exported agents can import NumPy only")

    def _source(self, function: FunctionType, name: str) -> str:
        """Return the source of a function, without decorators and annotations."""
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        except (OSError, TypeError) as error:
            raise ValueError(f"{name} has no source: {error}") from None
        if not isinstance(tree, ast.FunctionDef):
            raise ValueError(f"{name} must be a function with a name, got {ast.unparse(tree):.60}")
        outer = free_variables(function)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        plain = Plain({key: self.add(outer[key], key) for key in outer if key in used})
        tree = plain.visit(tree)
        tree.name, tree.decorator_list = name, []
        return ast.unparse(ast.fix_missing_locations(tree))

    def _constant(self, value: Any, name: str) -> str:
        if all(isinstance(leaf, LITERALS) for leaf in leaves(value)):
            return literal(value)
        if isinstance(value, np.generic):
            return f"{self.add(np, 'np')}.{value.dtype.name}({literal(value.item())})"
        if isinstance(value, np.ndarray):
            numpy = self.add(np, "np")
            return f"{numpy}.array({value.tolist()!r}, {numpy}.{value.dtype.name})"
        raise ValueError(f"{name} cannot be exported: it is {value!r:.80}")

    def _array(self, values: Any) -> str:
        """Return a packed array, as a call of `unpack`."""
        values = np.asarray(values)
        if values.dtype.kind == "f":
            with np.errstate(over="ignore"):
                values = values.astype(self.precision)
            if not np.isfinite(values).all():
                raise ValueError(f"an array has numbers that are too large for {self.precision}")
        unpacker, kind = self.add(unpack, "unpack"), values.dtype.newbyteorder("<").str
        text = pack(values)
        lines = "\n".join(text[i : i + WIDTH] for i in range(0, len(text), WIDTH))
        return f'{unpacker}({kind!r}, {values.shape}, """\n{lines}\n""")'


class Plain(ast.NodeTransformer):
    """Transformer that removes annotations and renames globals to their names in the bundle."""

    def __init__(self, names: dict[str, str]):
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Rename a global."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Remove the annotation."""
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove the annotation of the result."""
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Remove the annotation; without a value, the whole statement."""
        if node.value is None:
            return ast.Pass()
        return ast.Assign([self.visit(node.target)], self.visit(node.value))


def free_variables(function: FunctionType) -> dict[str, Any]:
    """Return the global and closure variables that a function refers to, by name."""
    code = function.__code__
    cells = function.__closure__ or ()
    variables = {
        name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)
    }
    parts = nested_code(code)
    local = {name for part in parts for name in (*part.co_varnames, *part.co_cellvars)}
    names = {name for part in parts for name in part.co_names} - local - set(variables)
    return variables | {
        name: function.__globals__[name] for name in sorted(names) if name in function.__globals__
    }


def nested_code(code: Any) -> list[Any]:
    """Return a code object and those of its nested functions."""
    inner = [constant for constant in code.co_consts if isinstance(constant, type(code))]
    return [code, *(part for constant in inner for part in nested_code(constant))]


def is_library(module: str) -> bool:
    """Return whether a module belongs to NumPy or the standard library."""
    top = module.partition(".")[0]
    return top == "numpy" or top in sys.stdlib_module_names


def leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of nested tuples, lists and dictionaries."""
    if isinstance(value, dict):
        yield from leaves([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def literal(value: Any) -> str:
    """Return the source of a literal, or of nested tuples, lists and dictionaries of literals."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(literal, value))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def pack(values: NDArray[Any]) -> str:
    """Encode an array as text: little-endian, compressed, base85."""
    little = values.astype(values.dtype.newbyteorder("<"))
    return base64.b85encode(zlib.compress(little.tobytes(), 9)).decode()


def unpack(kind: str, shape: tuple[int, ...], text: str) -> NDArray[Any]:
    """Decode an array that `pack` encoded; float16 becomes float32."""
    data = zlib.decompress(base64.b85decode("".join(text.split())))
    values = np.frombuffer(data, kind).reshape(shape)
    return values.astype(np.float32) if values.dtype.kind == "f" else values.copy()
