"""The command `ludoteca match`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import Agents, Clock, File, Folder, Number, time_control_of

if TYPE_CHECKING:
    from rich.console import Console

    from ludoteca.agents.time_control import TimeControl
    from ludoteca.envs.replay import Replay
    from ludoteca.evaluate.statistics.sprt import Sprt


def match_command(parameters: Any) -> Callable[..., None]:
    """Return the command `match`, with options for the game's parameters."""

    def match(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        agents: Agents = ("random", "random"),
        games: Number = None,
        seed: int = 0,
        threads: int = 1,
        random_plies: int = 0,
        json: File = None,
        replays: Folder = None,
        replay_count: int = 10,
        sprt: Annotated[
            tuple[float, float] | None, arg(metavar="ELO0 ELO1", help_behavior_hint="")
        ] = None,
        alpha: float = 0.05,
        beta: float = 0.05,
        elo_model: Literal["logistic", "normalized"] = "logistic",
        counts: Literal["auto", "pentanomial", "trinomial"] = "auto",
        clock: Clock = None,
        bank: float = 0.0,
        out_of_time: Literal["forfeit", "random"] = "forfeit",
    ) -> None:
        """Play a match of many games between agents, and count wins, draws and losses.

        The parameters of the game are options, too: see `ludoteca match hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agents: two agents, or up to one per seat, such as random mcts:simulations=200; each
                plays every seat equally often.
            games: number of games, 1000 by default; of a sequential test the limit, 100,000 by
                default.
            seed: the same seed gives the same match.
            threads: number of threads that share the games; more than one pays for agents that
                search.
            random_plies: number of random plies at the beginning of each game, the same once for
                every seating of the agents; without any, deterministic agents repeat one game.
            json: also write all results to this file.
            replays: also write replays of the first games to this folder.
            replay_count: number of these replays.
            sprt: play until a sequential test (SPRT) is decided: is the first agent ELO0 (H0) or
                ELO1 (H1) points of Elo stronger than the second?
            alpha: probability of accepting H1 at ELO0.
            beta: probability of accepting H0 at ELO1.
            elo_model: scale of ELO0 and ELO1.
            counts: results that the test counts: pairs of games with exchanged seats (pentanomial),
                or single games (trinomial); auto chooses pairs if both games begin equally.
            clock: seconds before the first move and for every move, such as 10+1, or for every
                move alone, such as 1; see docs/playing.md.
            bank: seconds a game beyond those of the moves, for each player.
            out_of_time: whether a player who is out of time has to forfeit, or a random move is
                played for it.
        """
        loaded_game = make_game(game, **rules)
        time_control = time_control_of(clock, bank, out_of_time)
        if sprt is not None:
            from ludoteca.evaluate.sequential_match import counts_for
            from ludoteca.evaluate.statistics.sprt import Sprt

            used = counts_for(loaded_game) if counts == "auto" else counts
            test = Sprt(*sprt, alpha, beta, elo_model, used)
            run_test_and_report(
                loaded_game,
                agents,
                test,
                games,
                seed,
                threads,
                random_plies,
                json,
                replays,
                replay_count,
                time_control,
            )
            return
        if (alpha, beta, elo_model, counts) != (0.05, 0.05, "logistic", "auto"):
            raise ValueError(
                "--alpha, --beta, --elo-model and --counts are options of a sequential test: "
                "give its hypotheses, too, such as --sprt 0 20"
            )
        games = 1000 if games is None else games
        play_and_report(
            loaded_game,
            agents,
            games,
            seed,
            threads,
            random_plies,
            json,
            replays,
            replay_count,
            time_control,
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
    time_control: "TimeControl | None",
) -> None:
    """Play a match, print the table, and write the requested files."""
    from ludoteca.evaluate.match import play_match
    from ludoteca.evaluate.match_table import match_json, match_text

    result = play_match(
        game,
        agents,
        games,
        seed=seed,
        num_threads=threads,
        num_replays=min(replay_count, games) if replays else 0,
        progress=sys.stderr.isatty(),
        random_plies=random_plies,
        time_control=time_control,
    )
    width = _console().width
    print(match_text(result, width))
    _write(match_json(result), result.replays, json, replays)


def run_test_and_report(
    game: Game,
    agents: Sequence[str],
    test: "Sprt",
    games: int | None,
    seed: int,
    threads: int,
    random_plies: int,
    json: Path | None,
    replays: Path | None,
    replay_count: int,
    time_control: "TimeControl | None",
) -> None:
    """Play a sequential match, print the decision, and write the requested files.

    Raises:
        KeyboardInterrupt: if the user ended the match, after its report.
    """
    from ludoteca.evaluate.sequential_match import MAX_GAMES, play_sequential_match
    from ludoteca.evaluate.sequential_text import sequential_json, sequential_text

    result = play_sequential_match(
        game,
        agents,
        test,
        max_games=MAX_GAMES if games is None else games,
        seed=seed,
        num_threads=threads,
        num_replays=replay_count if replays else 0,
        random_plies=random_plies,
        progress=sys.stderr.isatty(),
        time_control=time_control,
    )
    print(sequential_text(result, _console().width))
    _write(sequential_json(result), result.match.replays, json, replays)
    if result.interrupted:
        sys.stdout.flush()
        raise KeyboardInterrupt


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def _write(
    content: dict[str, Any], games: Sequence["Replay"], json: Path | None, replays: Path | None
) -> None:
    """Write the numbers and the replays to the requested files."""
    from json import dumps

    from ludoteca.files import write_whole
    from ludoteca.provenance import run_provenance

    console = _console()
    if json is not None:
        write_whole(json, dumps(content | run_provenance(), indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    if replays is not None:
        for k, replay in enumerate(games):
            replay.save(replays / f"game_{k:04}.json")
        console.print(f"{len(games)} replays: {replays}", soft_wrap=True)
