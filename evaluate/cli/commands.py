"""Command lines: a table of commands, each imported when it is asked for, and their errors."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from ludoteca.agents.registry import spec_parts
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.registry import find_factory, game_id, make_game, split_game
from ludoteca.envs.spec import parse_name
from ludoteca.envs.targets import also_search, split_target
from ludoteca.evaluate.cli.help_text import overview, print_help, unwrapped
from ludoteca.extras import explain
from ludoteca.interrupt import INTERRUPTED

WRONG = 2  # exit status


@dataclass(frozen=True)
class Command:
    """A line in a table of commands.

    Attributes:
        where: `"module:function"`, imported when the command is asked for. The parameters of the
            function are the options, and its docstring is the help.
        summary: what the command does, for the overview.
        of_game: whether the parameters of the game that is named become options, too. Then `where`
            is a function that makes the command from the type annotation of those parameters, see
            `game_parameters`.
        group: if `where` is not a function but a table of further commands: what those are called.
        resumes: whether the same command resumes what an interruption ended, wherever it came.
    """

    where: str
    summary: str
    of_game: bool = False
    group: str = ""
    resumes: bool = False


def run_commands(
    commands: Mapping[str, Command],
    arguments: Sequence[str],
    prog: str,
    description: str,
    more: str = "",
    kind: str = "command",
) -> int:
    """Run the command that the arguments name; return the exit status of the program.

    Args:
        commands: the commands by name.
        arguments: the command line, the name of a command first.
        prog: what the user typed before the arguments.
        description: what the commands are for.
        more: shown below the list of commands.
        kind: what the commands are called.

    Returns:
        0, or 2 if the arguments are wrong, or 130 if the user interrupted the command, or 128 and
        the number of another signal that stopped it.
    """
    name, *rest = arguments or [""]
    if name in ("", "help", "-h", "--help") and not rest:
        out = sys.stdout if name else sys.stderr
        print(overview(commands, prog, description, more, kind), file=out)
        return 0 if name else WRONG
    if name == "help":
        name, *rest = [*rest, "--help"]
    name = name.lower()
    command = commands.get(name)
    if command is None:
        near = did_you_mean(name, commands)
        print(
            f"{_label(prog)}: unknown {kind} {name!r}{near}; there are {', '.join(commands)}",
            file=sys.stderr,
        )
        return WRONG
    return run_command(command, rest, f"{prog} {name}")


def run_command(command: Command, arguments: Sequence[str], prog: str) -> int:
    """Run one command; return the exit status of the program, see `run_commands`.

    Errors and interruptions are reported in one line on standard error.

    Args:
        command: the command, which may be a group.
        arguments: what follows its name.
        prog: what the user typed before the arguments.
    """
    # Networks of our size run slower in several threads than in one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        found = _load(command.where)
        if command.group:
            return run_commands(found, arguments, prog, command.summary, kind=command.group)
        _call(found, list(arguments), prog, command.of_game)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except KeyboardInterrupt as interruption:
        number = getattr(interruption, "signal", None)
        if number is not None:  # the command has stopped in good order, and said where
            return int(128 + number)
        again = "; the same command resumes" if command.resumes else ""
        print(f"interrupted{again}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("LUDOTECA_DEBUG"):
            raise
        print(f"{_label(prog)}: {_message(error)}", file=sys.stderr)
        return WRONG
    return 0


def _label(prog: str) -> str:
    """Return the name that error messages begin with: of the script, or of the module."""
    return prog.rpartition(".")[2] if prog.startswith("python") else prog.split()[0]


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if line := explain(error, "evaluate"):
        return line
    return str(error)


def _load(where: str) -> Any:
    module, _, attribute = where.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ValueError(f"this installation lacks the command: no module {module}") from None


def _call(function: Callable[..., Any], arguments: list[str], prog: str, of_game: bool) -> None:
    """Parse the arguments and call the command."""
    import tyro

    also_search(Path.cwd())  # for module:factory
    game = _find_game(arguments) if of_game else None
    if of_game:
        function = function(game_parameters(game))
    wants_help = bool({"-h", "--help"} & set(arguments))
    if wants_help:
        arguments = [
            one for one in arguments if one != game
        ]  # shows only what is still to be given
    options = _options(function, game)
    try:
        with print_help() if wants_help else nullcontext():
            call, unknown = tyro.cli(
                _later(function),
                prog=prog,
                args=arguments,
                return_unknown_args=True,
                config=(tyro.conf.HelptextFromCommentsOff, tyro.conf.FlagCreatePairsOff),
            )
    except SystemExit as end:
        if end.code:
            _suggest(arguments, options)
        raise
    if unknown:
        if of_game:
            make_game(call.keywords["game"])  # if the game is unknown, so are its options
        raise ValueError(_unknown_arguments(options, unknown, prog, game))
    call()


def _options(function: Callable[..., Any], game: str | None) -> list[str]:
    """Return the options of a command, those of the game included."""
    names = [*(make_game(game).params if game is not None else ())]
    for name, parameter in inspect.signature(function).parameters.items():
        configured = [one for one in get_args(parameter.annotation) if hasattr(one, "aliases")]
        names += [next((one.name for one in configured if one.name), name)]
        names += [alias for one in configured for alias in one.aliases or ()]
    return [f"--{name.removeprefix('--').replace('_', '-')}" for name in names]


def _near(argument: str, options: Sequence[str]) -> str:
    """Return the suggestion for an unknown option, such as `" (did you mean --games?)"`."""
    name = argument.partition("=")[0].replace("_", "-")
    return did_you_mean(name, options).replace("'", "") if name.startswith("--") else ""


def _suggest(arguments: Sequence[str], options: Sequence[str]) -> None:
    """Print a suggestion for each option that is near a known one."""
    for one in arguments:
        name = one.partition("=")[0]
        known = name.replace("_", "-").replace("--no-", "--") in options
        if not known and _near(name, options):
            print(f"{name}{_near(name, options)}", file=sys.stderr)


def _later(command: Callable[..., Any]) -> Callable[..., partial[Any]]:
    """Return a function of the same arguments that returns the call instead of making it."""

    def bind(*args: Any, **kwargs: Any) -> partial[Any]:
        return partial(command, *args, **kwargs)

    bind.__name__ = command.__name__
    bind.__signature__ = inspect.signature(command)  # type: ignore[attr-defined]
    bind.__annotations__ = inspect.get_annotations(command)
    bind.__doc__ = unwrapped(inspect.getdoc(command) or "")
    return bind


def _unknown_arguments(
    options: Sequence[str], unknown: Sequence[str], prog: str, game: str | None
) -> str:
    command = re.split(r"[ .]", prog)[-1]
    message = f"{command} does not know {' '.join(unknown)}{_near(unknown[0], options)}"
    if game is None:
        return f"{message}; see {prog} --help"
    made = make_game(game)
    named = ", ".join(f"--{key.replace('_', '-')}" for key in made.params)
    return f"{message}; parameters of {made.name} are {named}; see {prog} {game} --help"


def game_parameters(spec: str | None) -> Any:
    """Return the type annotation that makes options of a game's parameters.

    The spec string sets the defaults. Parsing yields the parameters as a dictionary, empty if there
    is no spec string.
    """
    from typing import Annotated

    from tyro.conf import OmitArgPrefixes, arg

    def collect(**params: Any) -> dict[str, Any]:
        return params

    name = "game"
    if spec is not None:
        game = make_game(spec)
        name, factory = game.name, find_factory(game.spec)
        signature = inspect.signature(factory)
        collect.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[
                parameter.replace(default=game.params[key])
                for key, parameter in signature.parameters.items()
            ]
        )
        collect.__annotations__ = inspect.get_annotations(factory)
        collect.__doc__ = unwrapped(inspect.getdoc(factory) or "")
    return Annotated[dict[str, Any], arg(constructor=collect, name=name), OmitArgPrefixes]


def _find_game(arguments: Sequence[str]) -> str | None:
    """Return the argument that names a game, or None if there is none.

    Names of registered games come first. Among targets, `module:factory`, the first argument is
    taken for the game; others, which may be agents, only if what they name is a factory.

    Raises:
        ValueError: if the first argument is a target, but names no factory.
    """
    for argument in arguments:
        if _is_game(argument):
            return argument
    for k, argument in enumerate(arguments):
        if split_target(argument) is None or _is_agent(argument):
            continue
        try:
            split_game(argument)
        except (ValueError, ImportError):
            if k == 0:
                raise
            continue
        return argument
    return None


def _is_game(argument: str) -> bool:
    try:
        return bool(game_id(parse_name(argument)))
    except ValueError:
        return False


def _is_agent(argument: str) -> bool:
    return ":" not in spec_parts(argument)[0]
