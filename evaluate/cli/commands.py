"""Command line: dispatch of lazily imported commands, parsing of options, error messages."""

import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from ludoteca.agents.registry import split_agent_spec
from ludoteca.divergence import DIVERGED, DivergedError
from ludoteca.envs.gdl.errors import GDLWarning
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.registry import find_factory, game_id, make_game, split_game
from ludoteca.envs.spec import parse_name
from ludoteca.envs.targets import add_search_folder, split_target
from ludoteca.evaluate.cli.help_text import overview, print_help, unwrapped
from ludoteca.extras import explain
from ludoteca.interrupt import INTERRUPTED

USAGE_ERROR = 2  # exit status


@dataclass(frozen=True)
class Command:
    """Entry of a table of commands.

    Attributes:
        target: `"module:function"`, imported when the command is called. The parameters of the
            function are the options, and its docstring is the help.
        summary: sentence for the overview.
        game_options: whether the parameters of the game are options, too. Then `target` is a
            function that makes the command from the type annotation of these parameters, see
            `game_parameters`.
        group: if `target` is a table of subcommands, the word for a subcommand in messages, such
            as `"study"`.
        resumes: whether the command, called again after an interruption, resumes its work.
    """

    target: str
    summary: str
    game_options: bool = False
    group: str = ""
    resumes: bool = False


def run_commands(
    commands: Mapping[str, Command],
    arguments: Sequence[str],
    prog: str,
    description: str,
    epilog: str = "",
    noun: str = "command",
) -> int:
    """Run the command that the first argument names; return the exit status of the program.

    Args:
        commands: the commands by name.
        arguments: the command line, beginning with the name of a command.
        prog: program name, and names of commands, before the arguments.
        description: text above the list of commands.
        epilog: text below the list of commands.
        noun: word for a command in messages.

    Returns:
        0, or 2 if the arguments are wrong, 130 if the user interrupted the command, or 128 plus the
        number of another signal that stopped it.
    """
    name, *command_arguments = arguments or [""]
    if name in ("", "help", "-h", "--help") and not command_arguments:
        out = sys.stdout if name else sys.stderr
        print(overview(commands, prog, description, epilog, noun), file=out)
        return 0 if name else USAGE_ERROR
    if name == "help":
        name, *command_arguments = [*command_arguments, "--help"]
    name = name.lower()
    command = commands.get(name)
    if command is None:
        hint = did_you_mean(name, commands)
        print(
            f"{_error_prefix(prog)}: unknown {noun} {name!r}{hint}; there are "
            f"{', '.join(commands)}",
            file=sys.stderr,
        )
        return USAGE_ERROR
    return run_command(command, command_arguments, f"{prog} {name}")


def run_command(command: Command, arguments: Sequence[str], prog: str) -> int:
    """Run one command; return the exit status of the program, see `run_commands`.

    Errors, interruptions and warnings about rule sheets are reported in one line on standard error.

    Args:
        command: the command, or a group of subcommands.
        arguments: the arguments after the name of the command.
        prog: program name, and names of commands, before the arguments.
    """
    # Small networks run slower in several threads than in one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        target = _import_target(command.target)
        if command.group:
            return run_commands(target, arguments, prog, command.summary, noun=command.group)
        with _short_warnings(prog):
            _parse_and_call(target, list(arguments), prog, command.game_options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the flush at exit does not fail
    except KeyboardInterrupt as interruption:
        signal_number = getattr(interruption, "signal", None)
        if signal_number is not None:  # the command has saved its work and printed a message
            return int(128 + signal_number)
        hint = "; the same command resumes" if command.resumes else ""
        print(f"interrupted{hint}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("LUDOTECA_DEBUG"):
            raise
        print(f"{_error_prefix(prog)}: {_error_text(error)}", file=sys.stderr)
        return DIVERGED if isinstance(error, DivergedError) else USAGE_ERROR
    return 0


@contextmanager
def _short_warnings(prog: str) -> Iterator[None]:
    """Print warnings about rule sheets like errors, without file and line of the source."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_short(
            message: Warning | str, category: type[Warning], *place: Any, **options: Any
        ) -> None:
            if issubclass(category, GDLWarning):
                print(f"{_error_prefix(prog)}: warning: {message}", file=sys.stderr)
            else:
                show(message, category, *place, **options)

        warnings.showwarning = show_short
        yield


def _error_prefix(prog: str) -> str:
    """Return the beginning of error messages: the name of the script or of the module."""
    return prog.rpartition(".")[2] if prog.startswith("python") else prog.split()[0]


def _error_text(error: Exception) -> str:
    """Return the message of an error; for a missing package, how to install it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if explanation := explain(error, "evaluate"):  # of a missing package
        return explanation
    return str(error)


def _import_target(target: str) -> Any:
    """Import and return the attribute of a module that `"module:attribute"` names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _parse_and_call(
    function: Callable[..., Any], arguments: list[str], prog: str, game_options: bool
) -> None:
    """Parse the arguments and call the command."""
    import tyro

    add_search_folder(Path.cwd())  # targets `module:factory` may be in the working directory
    game = _find_game(arguments) if game_options else None
    if game_options:
        function = function(game_parameters(game))
    wants_help = bool({"-h", "--help"} & set(arguments))
    if wants_help:  # tyro's help omits positional arguments that are given
        arguments = [argument for argument in arguments if argument != game]
    options = _option_names(function, game)
    try:
        with print_help() if wants_help else nullcontext():
            call, unknown = tyro.cli(
                _deferred(function),
                prog=prog,
                args=arguments,
                return_unknown_args=True,
                config=(tyro.conf.HelptextFromCommentsOff, tyro.conf.FlagCreatePairsOff),
            )
    except SystemExit as system_exit:
        if system_exit.code:
            _print_suggestions(arguments, options)
        raise
    if unknown:
        if game_options:
            make_game(call.keywords["game"])  # raises if the game is unknown
        raise ValueError(_unknown_arguments(options, unknown, prog, game))
    call()


def _option_names(function: Callable[..., Any], game: str | None) -> list[str]:
    """Return the option names of a command, such as `"--games"`, including those of the game."""
    names = [*(make_game(game).params if game is not None else ())]
    for name, parameter in inspect.signature(function).parameters.items():
        metadata = [item for item in get_args(parameter.annotation) if hasattr(item, "aliases")]
        names += [next((item.name for item in metadata if item.name), name)]
        names += [alias for item in metadata for alias in item.aliases or ()]
    return [f"--{name.removeprefix('--').replace('_', '-')}" for name in names]


def _suggestion(argument: str, options: Sequence[str]) -> str:
    """Return the suggestion for an unknown option, such as `" (did you mean --games?)"`."""
    name = argument.partition("=")[0].replace("_", "-")
    return did_you_mean(name, options).replace("'", "") if name.startswith("--") else ""


def _print_suggestions(arguments: Sequence[str], options: Sequence[str]) -> None:
    """Print a suggestion for each unknown option that is similar to a known one."""
    for argument in arguments:
        name = argument.partition("=")[0]
        known = name.replace("_", "-").replace("--no-", "--") in options
        if not known and _suggestion(name, options):
            print(f"{name}{_suggestion(name, options)}", file=sys.stderr)


def _deferred(command: Callable[..., Any]) -> Callable[..., partial[Any]]:
    """Return a function with the same parameters that returns the call as a `partial`."""

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
    """Return the message about unknown arguments of a command."""
    command = re.split(r"[ .]", prog)[-1]
    message = f"{command} does not know {' '.join(unknown)}{_suggestion(unknown[0], options)}"
    if game is None:
        return f"{message}; see {prog} --help"
    loaded_game = make_game(game)
    param_options = ", ".join(f"--{key.replace('_', '-')}" for key in loaded_game.params)
    return (
        f"{message}; parameters of {loaded_game.name} are {param_options}; see {prog} {game} --help"
    )


def game_parameters(spec: str | None) -> Any:
    """Return the type annotation that turns the parameters of a game into options.

    The spec string sets the defaults. Parsing returns the parameters as a dictionary, which is
    empty without a spec string.
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
    """Return the argument that names a game, or None if no argument does.

    Names of registered games take precedence over targets `module:factory`, which may make games or
    agents.

    Raises:
        ValueError: if the first argument is a target, but does not make a game.
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
    """Return whether an argument names a registered game."""
    try:
        return bool(game_id(parse_name(argument)))
    except ValueError:
        return False


def _is_agent(argument: str) -> bool:
    """Return whether an argument names a registered agent, not a target `module:factory`."""
    return ":" not in split_agent_spec(argument)[0]
