"""The command `ludoteca`: games listed, played and shown, matches, speed, agents exported."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tyro.conf import OmitArgPrefixes, Positional, arg

from ludoteca.envs.registry import find_factory, game_id, make_game
from ludoteca.envs.spec import parse_name
from ludoteca.evaluate.bench.command import bench
from ludoteca.evaluate.match_command import match_command
from ludoteca.evaluate.play.command import play_command
from ludoteca.evaluate.show_commands import render_command, replay
from ludoteca.evaluate.tournament.command import tournament
from ludoteca.extras import explain

DESCRIPTION = """Board and grid games for reinforcement learning.

Games and agents have names, which parameters may follow: hex, hex:board_size=5,swap=True,
sb3:path=model.zip. `ludoteca list` shows the games, `ludoteca list hex` all about one and the
agents that play it. With LUDOTECA_DEBUG=1, errors come with tracebacks.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the user asked for what cannot be."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Networks of our size run slower in several threads than in one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        _run(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("LUDOTECA_DEBUG"):
            raise
        print(f"ludoteca: {_message(error)}", file=sys.stderr)
        return 2
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if line := explain(error, "evaluate"):
        return line
    return str(error)


def _run(arguments: list[str]) -> None:
    """Parse the arguments and call the command.

    The parameters of the game that is named become options of the commands that play it.
    """
    game = next((one for one in arguments[1:] if _is_game(one)), None)
    parameters = game_parameters(game)
    commands: dict[str, Callable[..., None]] = {
        "list": list_games,
        "play": play_command(parameters),
        "match": match_command(parameters),
        "tournament": tournament,
        "render": render_command(parameters),
        "replay": replay,
        "bench": bench,
        "export": export,
    }
    config = (tyro.conf.HelptextFromCommentsOff, tyro.conf.FlagCreatePairsOff)
    if not arguments or arguments[0] not in commands:
        tyro.extras.subcommand_cli_from_dict(
            commands, prog="ludoteca", description=DESCRIPTION, args=arguments, config=config
        )
        return
    name, *rest = arguments
    if {"-h", "--help"} & set(rest):
        rest = [one for one in rest if one != game]  # help shows only what is still to be given
    command, unknown = tyro.cli(
        _later(commands[name]),
        prog=f"ludoteca {name}",
        args=rest,
        return_unknown_args=True,
        config=config,
    )
    if unknown:
        raise ValueError(_unknown_arguments(name, unknown, game))
    command()


def _later(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """Return a function of the same arguments that returns the call instead of making it."""

    @wraps(command)
    def bind(*args: Any, **kwargs: Any) -> Callable[[], None]:
        return partial(command, *args, **kwargs)

    return bind


def _unknown_arguments(command: str, unknown: Sequence[str], game: str | None) -> str:
    message = f"{command} does not know {' '.join(unknown)}"
    if game is None or command not in ("play", "match", "render"):
        return f"{message}; see ludoteca {command} --help"
    made = make_game(game)
    known = ", ".join(f"--{key.replace('_', '-')}" for key in made.params)
    return f"{message}; parameters of {made.name} are {known}; see ludoteca {command} {game} --help"


def list_games(
    game: Annotated[Positional[str | None], arg(metavar="[GAME]", help_behavior_hint="")] = None,
) -> None:
    """List the games, or tell all about one: parameters, actions, agents.

    Args:
        game: which game to tell about, such as hex or hex:board_size=5; all games by default.
    """
    from rich.console import Console

    from ludoteca.evaluate.listing import game_details, games_table

    Console().print(games_table() if game is None else game_details(make_game(game)))


def export(
    what: Annotated[Positional[Literal["geese"]], arg(help_behavior_hint="")],
    agent: Annotated[str, arg(metavar="AGENT")],
    out: Annotated[Path, arg(metavar="FILE")],
    precision: Literal["float16", "float32"] = "float32",
) -> None:
    """Write an agent as a file that plays elsewhere: a submission to Kaggle that needs NumPy only.

    Args:
        what: for which competition; geese: Hungry Geese.
        agent: who is to play, such as greedy.
        out: the file to write, a Python file.
        precision: how the weights of a network are kept in the file.
    """
    from ludoteca.agents.kaggle.export import export_agent

    size = export_agent(agent, out, precision)
    print(f"{size:,} bytes: {out}")


def game_parameters(spec: str | None) -> Any:
    """Return the type annotation that makes options of a game's parameters.

    The spec string sets the defaults. Parsing yields the parameters as a dictionary, empty if there
    is no spec string.
    """

    def collect(**params: Any) -> dict[str, Any]:
        return params

    name = "game"
    if spec is not None:
        game = make_game(spec)
        name, factory = game.name, find_factory(game.name)
        signature = inspect.signature(factory)
        collect.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[
                parameter.replace(default=game.params[key])
                for key, parameter in signature.parameters.items()
            ]
        )
        collect.__annotations__ = inspect.get_annotations(factory)
        collect.__doc__ = inspect.getdoc(factory)
    return Annotated[dict[str, Any], arg(constructor=collect, name=name), OmitArgPrefixes]


def _is_game(argument: str) -> bool:
    try:
        return bool(game_id(parse_name(argument)))
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main())
