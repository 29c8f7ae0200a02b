"""Messages about missing optional dependencies, which name the extra to install.

The extras are read from the installed metadata, so only `pyproject.toml` lists them. After an
import of this module, programs of this package report a missing package in one line and end with
exit status 2.
"""

import os
import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from types import TracebackType

from ludoteca.interrupt import is_our_program

# Distributions by import name, where the two differ.
DISTRIBUTIONS = {"PIL": "pillow", "pyspiel": "open-spiel"}
# Extras by subpackage; messages name the first of them that installs the missing package.
PREFERRED_EXTRAS = {
    "train": ("train",),
    "evaluate": ("evaluate", "train", "render"),
    "envs": ("render", "train"),
    "agents": ("train",),
}
EXIT_STATUS = 2  # exit status of a command that cannot run


def extras_of(package: str, requirements: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the extras that install a package, in the order of the metadata.

    Args:
        package: import name, such as `"PIL"` or `"torch.nn"`.
        requirements: requirements of this package, as `importlib.metadata.requires` returns them;
            by default those of the installed package.
    """
    if requirements is None:
        try:
            requirements = requires("ludoteca") or ()
        except PackageNotFoundError:  # a checkout that is not installed
            requirements = ()
    top_level = package.partition(".")[0]
    distribution, extras = _normalize(DISTRIBUTIONS.get(top_level, top_level)), []
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", requirement)
        if name and extra and _normalize(name[0]) == distribution:
            extras.append(extra[1])
    return tuple(extras)


def explain(error: BaseException, subpackage: str = "") -> str | None:
    """Return a line that names the extra to install, or None if no optional package is missing.

    Args:
        error: exception of an import. A message of this package that names the extra is returned
            unchanged.
        subpackage: subpackage that is used, such as `"train"`; it determines the extra if several
            extras install the missing package.
    """
    if not isinstance(error, ImportError):
        return None
    if "ludoteca[" in str(error):
        return str(error)
    package = (error.name or "").partition(".")[0]
    extras = extras_of(package)
    if not isinstance(error, ModuleNotFoundError) or not extras:
        return None
    extra = next(
        (name for name in PREFERRED_EXTRAS.get(subpackage, ()) if name in extras), extras[0]
    )
    return f'this needs the package {package}: pip install "ludoteca[{extra}]"'


def guard_programs() -> None:
    """Install an exception hook that reports a missing package in one line in our programs.

    Other programs that import this package keep their own hook. With LUDOTECA_DEBUG=1, errors are
    shown with tracebacks.
    """
    if is_our_program(sys.argv, sys.orig_argv) and not os.environ.get("LUDOTECA_DEBUG"):
        previous_hook = sys.excepthook

        def report(
            kind: type[BaseException], error: BaseException, traceback: TracebackType | None
        ) -> None:
            program = program_name(sys.orig_argv)
            subpackage = program.partition(".")[2].partition(".")[0]
            line = explain(error, subpackage)
            if line is None:
                previous_hook(kind, error, traceback)
                return
            print(f"{program}: {line}", file=sys.stderr, flush=True)
            raise SystemExit(EXIT_STATUS)

        sys.excepthook = report


def program_name(original: list[str]) -> str:
    """Return the module that `python -m` runs, or `"ludoteca"` for the script of this name.

    Args:
        original: `sys.orig_argv`.
    """
    for k, argument in enumerate(original):
        if argument == "-m":
            return "".join(original[k + 1 : k + 2]) or "ludoteca"
        if argument.startswith("-m"):
            return argument[2:]
    return "ludoteca"


def _normalize(name: str) -> str:
    """Return the name of a distribution in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


guard_programs()
