"""Extensions: games and agents of other packages.

They are registered by code (`ludoteca.register_game`, `ludoteca.register_agent`) or by the entry
points of an installed package. An entry point is loaded only when its game or agent is requested.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ludoteca.envs.names import plain_name
from ludoteca.envs.targets import load_target, untrusted_names


@dataclass(frozen=True)
class Extension:
    """Game or agent that is not part of this package.

    Attributes:
        target: import target of its factory, `module:attribute`.
        package: name and version of the installed package that has its entry point; `""` if it
            was registered by code.
        factory: the factory registered by code; None: `target` is loaded when it is needed.
    """

    target: str
    package: str = ""
    factory: Callable[..., Any] | None = None

    @property
    def source(self) -> str:
        """Description of the origin, such as `"package dots-games 0.1"`, for messages."""
        return f"package {self.package}" if self.package else f"registered by {self.target}"

    def load(self) -> Any:
        """Return the factory.

        Raises:
            ImportError: if its module raises an exception; the message names the package.
        """
        if self.factory is not None:
            return self.factory
        try:
            return load_extension(self.target)
        except Exception as error:
            subject = "its entry point" if self.package else "loading"
            raise ImportError(
                f"{self.source} is broken: {subject} {self.target} raises "
                f"{type(error).__name__}: {error!s:.400}"
            ) from error


def load_extension(target: str) -> Any:
    """Return the object that an extension's target names.

    It is loaded within `untrusted_names`, too: the user has installed or registered the extension.
    """
    with untrusted_names(""):
        return load_target(target)


def target_of(factory: Any) -> str:
    """Return the target of a function or class, `module:attribute`, or `""` for other objects."""
    name = getattr(factory, "__qualname__", None)
    return f"{factory.__module__}:{name}" if name else ""


def find_extensions(group: str, taken: dict[str, str]) -> Iterator[tuple[str, Extension]]:
    """Yield the extensions that installed packages offer, with their names, without loading them.

    An extension whose name is taken or is not a lower-case identifier is skipped, with a warning
    that names the package.

    Args:
        group: group of entry points, such as `"ludoteca.games"`.
        taken: the names already in use, each with the `source` of its game or agent.
    """
    taken = {plain_name(name): source for name, source in taken.items()}
    visited: set[tuple[str, str]] = set()
    for point in sorted(entry_points(group=group), key=_by_package):
        if (point.name, point.value) in visited:  # the package is in sys.path twice
            continue
        visited.add((point.name, point.value))
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "(unknown)"
        problem = ""
        if not (point.name.isidentifier() and point.name == point.name.lower()):
            problem = "which is not a lower-case identifier"
        elif plain_name(point.name) in taken:
            problem = f"a name that is taken by {taken[plain_name(point.name)]}"
        if problem:
            warnings.warn(
                f"the package {package} offers {point.name!r} in {group}, {problem}; it is ignored",
                stacklevel=2,
            )
            continue
        taken[plain_name(point.name)] = f"package {package}"
        target = point.value.partition("[")[
            0
        ].strip()  # without extras, as in "module:name [extra]"
        yield point.name, Extension(target, package)


def _by_package(point: EntryPoint) -> tuple[str, str, str]:
    """Return the sort key of entry points: the order must not depend on `sys.path`."""
    return (point.dist.name if point.dist else "", point.name, point.value)


def without_factory(extension: Extension) -> Extension:
    """Return a picklable copy without the factory; another process loads it by its target."""
    return replace(extension, factory=None)
