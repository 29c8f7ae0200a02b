"""Commands of the documents, which are parsed by their programs, or run, in this process."""

import contextlib
import inspect
import io
import re
import runpy
import shlex
import sys
import warnings
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import tyro
from document_blocks import ROOT, blocks_of

from ludoteca.agents.registry import AGENTS, agent_params
from ludoteca.envs.spec import parse_name, parse_spec

# By option: its largest value in test runs, so that they end within seconds.
SMALLER = {
    "--games": "4",
    "--games-per-pair": "6",
    "--games-per-iteration": "8",
    "--replay-count": "2",
    "--count": "10",
}


class Parsed(BaseException):  # not an Exception: no `except Exception` of a program may catch it
    """Signal that a command line was parsed, and would now be run."""


def commands_of(document: Path) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the line of the block, the command and the block's tags, for commands in `bash` blocks.

    Lines that end in a backslash are joined with the next one; comments are left out.
    """
    for block in blocks_of(document.read_text(encoding="utf-8")):
        if block.language == "bash":
            for line in block.code.replace("\\\n", " ").splitlines():
                command = re.sub(r"(^|\s)#.*", "", line).strip()
                if command:
                    yield block.line, command, block.tags


def check_command(command: str) -> None:
    """Parse a command without running it.

    Raises:
        ValueError: if it is wrong: an unknown program, option, value, agent, target or file.
    """
    words = shlex.split(command)
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        unknown = {word for word in words[1:] if "=" not in word} - set(targets)
    elif words[:2] == ["pip", "install"]:
        unknown = _unknown_for_pip(words[2:])
    elif Path(words[0]).name == "pytest":
        unknown = {word for word in words[1:] if "/" in word and not (ROOT / word).exists()}
    else:
        if words[0] == "torchrun":
            words = _started_by_torchrun(words)
        for word in words[1:]:
            _check_agent(word)
        _parse(words)
        return
    if unknown:
        raise ValueError(f"{command}: there is no {', '.join(sorted(unknown))}")


def smaller(command: str) -> str:
    """Return the command with the numbers of its options limited by `SMALLER`.

    Searches have a tenth of their simulations.
    """
    command = re.sub(r"(?<=simulations=)(\d+)\d", r"\1", command)
    words = shlex.split(command)
    for k, word in enumerate(words[:-1]):
        number = words[k + 1]  # in tournaments, the value of --games is a name
        if word in SMALLER and number.isdigit() and int(number) > int(SMALLER[word]):
            words[k + 1] = SMALLER[word]
    return shlex.join(words)


def run(command: str) -> str:
    """Run a command in this process and return what it printed.

    Raises:
        ValueError: if it fails.
    """
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        status = _call(shlex.split(command))
    if status:
        raise ValueError(f"{command}: exit status {status}\n{errors.getvalue()}")
    return printed.getvalue()


def _parse(words: list[str]) -> None:
    """Parse a command line as its program does.

    Raises:
        ValueError: if the program refuses it, or does something before it parses.
    """
    parse, override = tyro.cli, tyro.extras.overridable_config_cli

    def only_parse(target: Any, *args: Any, **kwargs: Any) -> Any:
        if inspect.isfunction(target):
            target = _bound(target)
        result = parse(target, *args, **kwargs)
        if kwargs.get("return_unknown_args") and result[1]:
            raise ValueError(f"unknown arguments {result[1]}")
        raise Parsed

    def only_override(*args: Any, **kwargs: Any) -> Any:
        override(*args, **kwargs)
        raise Parsed

    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tyro, "cli", only_parse)
        patch.setattr(tyro.extras, "overridable_config_cli", only_override)
        try:
            with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
                status = _call(words)
        except Parsed:
            return
    if words[-1] in ("--help", "--version") and status == 0:
        return
    raise ValueError(f"{shlex.join(words)}: exit status {status}\n{printed.getvalue()}")


def _started_by_torchrun(words: list[str]) -> list[str]:
    """Return the command that torchrun starts in each process.

    Raises:
        ValueError: if torchrun refuses its own options, or would not start a module.
    """
    from torch.distributed.run import parse_args

    try:
        parsed = parse_args(words[1:])
    except SystemExit as end:
        raise ValueError(f"torchrun refuses {shlex.join(words)}") from end
    if not parsed.module:
        raise ValueError(f"{shlex.join(words)} starts no module: it has no -m")
    return ["python", "-m", parsed.training_script, *parsed.training_script_args]


def _bound(function: Any) -> Any:
    """Return a function that accepts the arguments of `function` and does nothing."""

    @wraps(function)
    def bind(*args: Any, **kwargs: Any) -> None:
        return

    return bind


def _call(words: list[str]) -> int:
    """Call the program of a command line in this process; return its exit status."""
    if Path(words[0]).name == "ludoteca":
        from ludoteca.__main__ import main

        try:
            return int(main(words[1:]))
        except SystemExit as end:
            return _status(end)
    if words[:2] != ["python", "-m"] or not words[2].startswith("ludoteca."):
        raise ValueError(f"no test knows how to check the command {shlex.join(words)}")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # Another test may have imported the module.
        warnings.filterwarnings("ignore", ".* found in sys.modules", RuntimeWarning)
        patch.setattr(sys, "argv", [words[2], *words[3:]])
        try:
            runpy.run_module(words[2], run_name="__main__", alter_sys=False)
        except SystemExit as end:
            return _status(end)
    return 0


def _status(end: SystemExit) -> int:
    """Return the exit status of an exit of Python, and print its message."""
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def _check_agent(word: str) -> None:
    """Check the parameters in a word if it is the spec string of an agent.

    Raises:
        ValueError: if the agent has no parameter of a name.
    """
    name = parse_name(word.removeprefix("--agent="))
    if name not in AGENTS or "/" in name:
        return
    try:
        known = agent_params(name)
    except ImportError:  # a package that need not be installed
        return
    unknown = set(parse_spec(word, first=next(iter(known), None))[1]) - set(known)
    if unknown:
        raise ValueError(f"agent {name} has no parameter {', '.join(sorted(unknown))}")


def _unknown_for_pip(words: list[str]) -> set[str]:
    """Return the files and extras of `pip install` that do not exist."""
    project = (ROOT / "pyproject.toml").read_text()
    unknown = set()
    for before, word in zip(["", *words], words, strict=False):
        extras = re.fullmatch(r"(?:\.|ludoteca)\[([\w,]+)\]", word)
        if before == "-c" and not (ROOT / word).exists():
            unknown.add(word)
        for extra in extras[1].split(",") if extras else ():
            if not re.search(rf"^{extra} = \[", project, re.MULTILINE):
                unknown.add(extra)
    return unknown
