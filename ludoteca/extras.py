"""Optional packages: which extra installs a package that is missing.

The extras are those of the installed metadata, so `pyproject.toml` is the only place that lists
them. Importing this module makes this package's programs report a missing package in one line with
exit status 2, wherever the import fails.
"""

import os
import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from types import TracebackType

from ludoteca.interrupt import is_our_program

# Packages that are imported by another name than they are installed by.
DISTRIBUTIONS = {"PIL": "pillow", "pyspiel": "open-spiel"}
# The extras by the part of this package that needs something; the first that has it is named.
PREFERRED = {
    "train": ("train",),
    "evaluate": ("evaluate", "train", "render"),
    "envs": ("render", "train"),
    "agents": ("train",),
}
STATUS = 2  # exit status of a command that cannot run


def extras_of(package: str, requirements: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the extras that install a package, in the order of the metadata.

    Args:
        package: as it is imported, such as `"PIL"` or `"torch.nn"`.
        requirements: of this package, as `importlib.metadata.requires` returns them; by default
            those of the installed one.
    """
    if requirements is None:
        try:
            requirements = requires("ludoteca") or ()
        except PackageNotFoundError:  # a checkout that is not installed
            requirements = ()
    top = package.partition(".")[0]
    wanted, found = _normal(DISTRIBUTIONS.get(top, top)), []
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", requirement)
        if name and extra and _normal(name[0]) == wanted:
            found.append(extra[1])
    return tuple(found)


def explain(error: BaseException, part: str = "") -> str | None:
    """Return one line that says which extra to install, or None if no optional package is missing.

    Args:
        error: what an import raised. An `ImportError` of ours that names the extra says it best.
        part: of this package that is used, such as `"train"`: if several extras have the package,
            the one that this part works with is named.
    """
    if not isinstance(error, ImportError):
        return None
    if "ludoteca[" in str(error):
        return str(error)
    package = (error.name or "").partition(".")[0]
    found = extras_of(package)
    if not isinstance(error, ModuleNotFoundError) or not found:
        return None
    extra = next((one for one in PREFERRED.get(part, ()) if one in found), found[0])
    return f'this needs the package {package}: pip install "ludoteca[{extra}]"'


def guard_programs() -> None:
    """Report a missing optional package in one line if this process runs one of our programs.

    Programs that import this package keep their own way. With LUDOTECA_DEBUG=1, errors come with
    tracebacks.
    """
    if is_our_program(sys.argv, sys.orig_argv) and not os.environ.get("LUDOTECA_DEBUG"):
        before = sys.excepthook

        def report(
            kind: type[BaseException], error: BaseException, traceback: TracebackType | None
        ) -> None:
            program = program_name(sys.orig_argv)
            line = explain(error, program.partition(".")[2].partition(".")[0])
            if line is None:
                before(kind, error, traceback)
                return
            print(f"{program}: {line}", file=sys.stderr, flush=True)
            raise SystemExit(STATUS)

        sys.excepthook = report


def program_name(original: list[str]) -> str:
    """Return the module that `python -m` runs, or `"ludoteca"`, from `sys.orig_argv`."""
    for k, argument in enumerate(original):
        if argument == "-m":
            return "".join(original[k + 1 : k + 2]) or "ludoteca"
        if argument.startswith("-m"):
            return argument[2:]
    return "ludoteca"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


guard_programs()
