"""Bundle of functions and their dependencies, as source code of one file that needs only NumPy.

Kernels are plain Python, so an exported agent runs the same kernels as the original, without Numba:
the kernels of its policy, of the random generator, and of the observation of its network.
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
MAX_LIST_SIZE = 16  # larger arrays are packed, see `pack`; others are written as lists of numbers
LINE_WIDTH = 96  # characters per line of packed arrays


class Bundle:
    """Source code of functions, and of all functions, constants and imports that they refer to.

    Attributes:
        precision: float type of packed arrays.
    """

    def __init__(self, precision: Precision = "float32"):
        self.precision = precision
        self._names: dict[int, str] = {}  # names in the bundle by id() of the object
        self._kept_objects: list[Any] = []  # keeps objects alive, so that no id() is reused
        self._reserved_names: set[str] = set()
        self._imports: list[str] = []
        self._constants: list[str] = []
        self._functions: list[str] = []
        self._packed: list[str] = []

    def add(self, value: Any, name: str) -> str:
        """Add a function or a constant; return its name in the bundle.

        Args:
            value: the function, module or constant; it is added once.
            name: preferred name.

        Raises:
            ValueError: if it is not plain Python, or needs packages other than NumPy.
        """
        if id(value) in self._names and not isinstance(value, LITERALS):
            return self._names[id(value)]
        if isinstance(value, LITERALS):
            return self._add_literal(value, name)
        name = self._unused_name(name)
        self._names[id(value)] = name
        self._kept_objects.append(value)
        if isinstance(value, ModuleType):
            self._require(value.__name__, name)
            renamed = "" if name == value.__name__ else f" as {name}"
            self._imports.append(f"import {value.__name__}{renamed}")
        elif isinstance(value, FunctionType) and not is_numpy_or_stdlib(value.__module__):
            self._functions.append(self._source(value, name))
        elif isinstance(value, BuiltinFunctionType | FunctionType):
            self._require(value.__module__, name)
            renamed = "" if name == value.__name__ else f" as {name}"
            self._imports.append(f"from {value.__module__} import {value.__name__}{renamed}")
        elif isinstance(value, np.ndarray) and value.size > MAX_LIST_SIZE:
            self._packed.append(f"{name} = {self._array(value)}")
        elif isinstance(value, dict) and any(
            isinstance(item, np.ndarray) for item in value.values()
        ):
            rows = [f"    {key!r}: {self._array(item)},\n" for key, item in value.items()]
            self._packed.append(f"{name} = {{\n{''.join(rows)}}}")
        else:
            self._constants.append(f"{name} = {self._constant(value, name)}")
        return name

    def reserve(self, name: str) -> None:
        """Reserve a name, so that no function or constant is given it."""
        self._reserved_names.add(name)

    def text(self) -> str:
        """Return the source code of the bundle."""
        parts = ["\n".join(sorted(self._imports)), "\n".join(self._constants)]
        parts += [f"\n{function}\n" for function in self._functions]
        parts += ["\n".join(self._packed)]
        return "\n".join(part for part in parts if part)

    def _add_literal(self, value: Any, name: str) -> str:
        """Add a literal; equal values share a name."""
        for candidate in (name, *(f"{name}_{k}" for k in range(2, 100))):
            line = f"{candidate} = {literal(value)}"
            if line in self._constants:
                return candidate
            if candidate not in self._reserved_names:
                self._reserved_names.add(candidate)
                self._constants.append(line)
                return candidate
        raise ValueError(f"there are too many constants called {name}")

    def _unused_name(self, name: str) -> str:
        """Return an unused name."""
        free_name, k = name, 2
        while free_name in self._reserved_names:
            free_name, k = f"{name}_{k}", k + 1
        self._reserved_names.add(free_name)
        return free_name

    def _require(self, module: str, name: str) -> None:
        """Check that a module, from which `name` is, belongs to NumPy or the standard library.

        Raises:
            ValueError: if it does not.
        """
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
        variables = referenced_variables(function)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        transformer = KernelTransformer(
            {key: self.add(variables[key], key) for key in variables if key in used}
        )
        tree = transformer.visit(tree)
        tree.name, tree.decorator_list = name, []
        return ast.unparse(ast.fix_missing_locations(tree))

    def _constant(self, value: Any, name: str) -> str:
        """Return the source of a constant, whose name is for error messages."""
        if all(isinstance(leaf, LITERALS) for leaf in leaves(value)):
            return literal(value)
        if isinstance(value, np.generic):
            return f"{self.add(np, 'np')}.{value.dtype.name}({literal(value.item())})"
        if isinstance(value, np.ndarray):
            numpy = self.add(np, "np")
            return f"{numpy}.array({value.tolist()!r}, {numpy}.{value.dtype.name})"
        raise ValueError(f"{name} cannot be exported: it is {value!r:.80}")

    def _array(self, values: Any) -> str:
        """Return the source of a call of `unpack` that returns an array."""
        values = np.asarray(values)
        if values.dtype.kind == "f":
            with np.errstate(over="ignore"):  # numbers that overflow raise an error below
                values = values.astype(self.precision)
            if not np.isfinite(values).all():
                raise ValueError(f"an array has numbers that are too large for {self.precision}")
        unpacker, dtype = self.add(unpack, "unpack"), values.dtype.newbyteorder("<").str
        text = pack(values)
        lines = "\n".join(text[i : i + LINE_WIDTH] for i in range(0, len(text), LINE_WIDTH))
        return f'{unpacker}({dtype!r}, {values.shape}, """\n{lines}\n""")'


class KernelTransformer(ast.NodeTransformer):
    """AST transformer: it removes annotations and renames globals to their names in the bundle."""

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


def referenced_variables(function: FunctionType) -> dict[str, Any]:
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


def is_numpy_or_stdlib(module: str) -> bool:
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
    little_endian = values.astype(values.dtype.newbyteorder("<"))
    return base64.b85encode(zlib.compress(little_endian.tobytes(), 9)).decode()


def unpack(dtype: str, shape: tuple[int, ...], text: str) -> NDArray[Any]:
    """Return the array of a NumPy dtype string and a shape that `pack` encoded as `text`.

    Float16 becomes float32.
    """
    data = zlib.decompress(base64.b85decode("".join(text.split())))
    values = np.frombuffer(data, dtype).reshape(shape)
    return values.astype(np.float32) if values.dtype.kind == "f" else values.copy()
