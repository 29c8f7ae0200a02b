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

from ludoteca.envs.game import Game
from ludoteca.envs.registry import find_factory, game_id, make_game
from ludoteca.envs.spec import parse_name
from ludoteca.evaluate.play.command import play_command
from ludoteca.evaluate.tournament.command import tournament

DESCRIPTION = """Board and grid games for reinforcement learning.

Games and agents have names, which parameters may follow: hex, hex:board_size=5,swap=True,
sb3:path=model.zip. `ludoteca list` shows the games, `ludoteca list hex` all about one and the
agents that play it. With LUDOTECA_DEBUG=1, errors come with tracebacks.
"""
Agents = Annotated[tuple[str, ...], arg(metavar="AGENT [AGENT ...]")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Seconds = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
Folder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]


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
    if isinstance(error, ModuleNotFoundError):
        extras = "evaluate,render,train"
        return f'this needs the package {error.name}: pip install "ludoteca[{extras}]"'
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


def match_command(parameters: Any) -> Callable[..., None]:
    """Return the command `match`, with options for the game's parameters."""

    def match(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        agents: Agents = ("random", "random"),
        games: int = 1000,
        seed: int = 0,
        threads: int = 1,
        random_plies: int = 0,
        json: File = None,
        replays: Folder = None,
        replay_count: int = 10,
    ) -> None:
        """Let agents play a match, and tell who won how often.

        The parameters of the game are options too: see `ludoteca match hex --help`.

        Args:
            game: which game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agents: who plays, two or up to one for each seat; they take turns in every seat.
            games: how many games to play.
            seed: the same seed gives the same match.
            threads: threads that share the games; helps agents that think long.
            random_plies: plies at the beginning of each game that are random, the same ones for
                each agent once in every seat; for agents that always answer the same.
            json: also write all results to this file.
            replays: also write replays of the first games to this folder.
            replay_count: how many replays to write there.
        """
        made = make_game(game, **rules)
        play_and_report(
            made, agents, games, seed, threads, random_plies, json, replays, replay_count
        )

    return match


def play_and_report(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int,
    threads: int,
    random_plies: int,
    json: Path | None,
    replays: Path | None,
    replay_count: int,
) -> None:
    """Play a match, print the table, and write the files that are wanted."""
    from json import dumps

    from rich.console import Console

    from ludoteca.envs.files import write_whole
    from ludoteca.evaluate.bench.report import about_this_run, our_versions
    from ludoteca.evaluate.match import play_match
    from ludoteca.evaluate.match_table import match_json, match_summary, match_table

    result = play_match(
        game,
        agents,
        games,
        seed=seed,
        num_threads=threads,
        record=min(replay_count, games) if replays else 0,
        progress=sys.stderr.isatty(),
        random_plies=random_plies,
    )
    console = Console(highlight=False)
    console.print(match_table(game, result))
    console.print(match_summary(game, result), markup=False)
    if json is not None:
        content = match_json(result) | {"about": about_this_run(), "versions": our_versions()}
        write_whole(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    if replays is not None:
        for k, one in enumerate(result.replays):
            one.save(replays / f"game_{k:04}.json")
        console.print(f"{len(result.replays)} replays: {replays}", soft_wrap=True)


def render_command(parameters: Any) -> Callable[..., None]:
    """Return the command `render`, with options for the game's parameters."""

    def render(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        out: Annotated[Path, arg(metavar="FILE")],
        replay: File = None,
        agents: Agents = ("random", "random"),
        seed: int = 0,
        ply: Number = None,
        seconds: Seconds = None,
    ) -> None:
        """Draw a game: a replay, or one that agents play for it.

        Args:
            game: which game, such as hex or hex:board_size=5.
            rules: Parameters of the game, if agents play it.
            out: file to write: .gif and .svg show the whole game, .png its last position.
            replay: file of the replay to draw, as `match --replays` writes them.
            agents: who plays, if there is no replay.
            seed: of the game that they play.
            ply: draw only the position after so many plies.
            seconds: how long each position is shown; long games are shown faster by default.
        """
        from ludoteca.envs.replay import Replay
        from ludoteca.evaluate.match import play_match
        from ludoteca.evaluate.show import draw_replay

        rules_of = make_game(game, **rules)
        if replay is None:
            shown = play_match(rules_of, agents, 1, seed=seed, record=1).replays[0]
        else:
            shown = Replay.load(replay)
            if make_game(shown.game).name != rules_of.name:
                raise ValueError(f"{replay} is a game of {shown.game}, not of {rules_of.name}")
        draw_replay(shown, out, ply, seconds)
        print(f"{len(shown.actions)} plies: {out}")

    return render


def replay(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    final: bool = False,
    ply: Number = None,
    out: File = None,
    watch: bool = False,
    seconds: Seconds = None,
) -> None:
    """Check a replay by playing it again, and print, draw or show the game.

    Args:
        file: the replay, as `match --replays` writes them.
        final: only the last position.
        ply: only the position after so many plies.
        out: draw it into this file: .gif and .svg show the whole game, .png its last position.
        watch: show the game in the terminal, one position after the other.
        seconds: how long each position is shown; long games are shown faster by default.
    """
    from ludoteca.envs.replay import Replay
    from ludoteca.evaluate.show import draw_replay, replay_text
    from ludoteca.evaluate.watch import watch_replay

    if final and ply is not None:
        raise ValueError("either --final or --ply, not both")
    if watch and out is not None:
        raise ValueError("either --watch or --out, not both")
    if watch and (final or ply is not None):
        raise ValueError("--watch shows the whole game: no --final, no --ply")
    if seconds is not None and out is None and not watch:
        raise ValueError("--seconds is for --watch and --out")
    shown = Replay.load(file)
    ply = len(shown.actions) if final else ply
    if watch:
        watch_replay(shown, seconds)
    elif out is not None:
        draw_replay(shown, out, ply, seconds)
        print(f"{len(shown.actions)} plies: {out}")
    else:
        for line in replay_text(shown, ply):
            print(line)


def bench(
    what: Annotated[Positional[Literal["envs", "mcts", "endgame"]], arg(help_behavior_hint="")],
    peers: bool = False,
    strength: bool = False,
    games: int = 40,
    folder: Path = Path("runs/strength"),
    json: File = None,
    seconds: float = 2.0,
    only: Annotated[tuple[str, ...], arg(metavar="[MEASURE ...]", help_behavior_hint="")] = (),
) -> None:
    """Measure how fast environments or searches are, beside other packages if they are installed.

    Args:
        what: what to measure; endgame: exact endgames of Othello.
        peers: measure the other packages too; `make peers` installs them.
        strength: let our search play OpenSpiel's instead (mcts), at equal simulations and time.
        games: how many to play of each game and condition (strength).
        folder: where the games are recorded; an interrupted run goes on there (strength).
        json: also write all numbers to this file.
        seconds: time for each side of a comparison, or for each endgame.
        only: names of measures, matches or endgames (ffo-1 to ffo-59), or how they begin; all by
            default, and endgames with 20 to 23 empty squares.
    """
    if strength and what != "mcts":
        raise ValueError(f"only searches have a strength: bench mcts --strength, not bench {what}")
    if peers and what == "endgame":
        raise ValueError("endgames are not measured beside other packages: no --peers")
    if strength:
        from ludoteca.evaluate.bench.strength import bench_strength

        bench_strength(json=json, games=games, folder=folder, only=only)
    elif what == "mcts":
        from ludoteca.evaluate.bench.mcts import bench_mcts

        bench_mcts(peers=peers, json=json, seconds=seconds, only=only)
    elif what == "endgame":
        from ludoteca.evaluate.bench.endgame import bench_endgame

        bench_endgame(json=json, seconds=seconds, only=only)
    else:
        from ludoteca.evaluate.bench.envs import bench_envs

        bench_envs(peers=peers, json=json, seconds=seconds, only=only)


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
