"""The command `ludoteca match`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import (
    Agents,
    Clock,
    OptionalFile,
    OptionalFolder,
    OptionalInt,
    parse_time_control,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ludoteca.envs.replay import Replay
    from ludoteca.evaluate.statistics.sprt import Sprt


def match_command(parameters: Any) -> Callable[..., None]:
    """Return the command `match`, with options for the game's parameters."""

    def match(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        agents: Agents = ("random", "random"),
        games: OptionalInt = None,
        seed: int = 0,
        threads: int = 1,
        random_plies: int = 0,
        json: OptionalFile = None,
        replays: OptionalFolder = None,
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

        In one-player games the agents play alone in turn, and their mean returns are compared. The
        parameters of the game are options, too: see `ludoteca match hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agents: two agents, or up to one per seat, such as random mcts:simulations=200; each
                plays every seat equally often. One-player games: any number.
            games: number of games, by default 1000; in a sequential test their maximum, by default
                100,000.
            seed: seed of the match; the same seed gives the same games.
            threads: number of threads that share the games; several are faster for agents that
                search.
            random_plies: number of random plies at the beginning of each game, the same for every
                seating of the agents; without any, deterministic agents repeat the same game.
            json: also write all results to this file.
            replays: also write replays of the first games to this folder.
            replay_count: number of replays to write.
            sprt: play until a sequential test (SPRT) is decided: is the first agent ELO0 (H0) or
                ELO1 (H1) Elo points stronger than the second?
            alpha: probability that the test accepts H1 although H0 is true.
            beta: probability that the test accepts H0 although H1 is true.
            elo_model: scale of ELO0 and ELO1: logistic (usual) or normalized Elo.
            counts: unit of the test: pairs of games with exchanged seats (pentanomial), or single
                games (trinomial); auto: pairs, but single games if the game has chance events.
            clock: time control of each player in seconds: before the first move and for every move,
                such as 10+1, or only for every move, such as 1; see docs/playing.md.
            bank: time bank of each player in seconds per game, for moves that take longer.
            out_of_time: penalty of a player that is out of time: it forfeits, or a random move is
                played for it.
        """
        loaded_game = make_game(game, **rules)
        time_control = parse_time_control(clock, bank, out_of_time)
        plan = MatchPlan(
            loaded_game,
            agents,
            games,
            {
                "seed": seed,
                "num_threads": threads,
                "random_plies": random_plies,
                "time_control": time_control,
                "progress": sys.stderr.isatty(),
            },
            MatchFiles(json, replays, replay_count),
        )
        if sprt is not None:
            from ludoteca.evaluate.sequential_match import default_counts
            from ludoteca.evaluate.statistics.sprt import Sprt

            chosen_counts = default_counts(loaded_game) if counts == "auto" else counts
            test = Sprt(*sprt, alpha, beta, elo_model, chosen_counts)
            run_test_and_report(plan, test)
        elif (alpha, beta, elo_model, counts) != (0.05, 0.05, "logistic", "auto"):
            raise ValueError(
                "--alpha, --beta, --elo-model and --counts are options of a sequential test: "
                "give the hypotheses, too, such as --sprt 0 20"
            )
        else:
            play_and_report(plan)

    return match


@dataclass(frozen=True)
class MatchFiles:
    """Files to which the results of a match are written.

    Attributes:
        json: JSON file of the results, or None.
        replays: folder of replays of the first games, or None.
        replay_count: maximum number of replays.
    """

    json: Path | None
    replays: Path | None
    replay_count: int

    def write(self, content: dict[str, Any], games: Sequence["Replay"]) -> None:
        """Write the results and the replays."""
        from json import dumps

        from ludoteca.files import write_atomically
        from ludoteca.provenance import run_provenance

        console = _console()
        if self.json is not None:
            write_atomically(self.json, dumps(content | run_provenance(), indent=2) + "\n")
            console.print(f"all numbers: {self.json}", soft_wrap=True)
        if self.replays is not None:
            for k, replay in enumerate(games):
                replay.save(self.replays / f"game_{k:04}.json")
            console.print(f"{len(games)} replays: {self.replays}", soft_wrap=True)


@dataclass(frozen=True)
class MatchPlan:
    """Options of the command: game, agents, number of games, and files.

    Attributes:
        game: the game.
        agents: spec strings of the agents.
        games: number of games, or their maximum in a sequential test; None for the default.
        options: keyword arguments of both `play_match` and `play_sequential_match`.
        files: files to which the match is written.
    """

    game: Game
    agents: Sequence[str]
    games: int | None
    options: dict[str, Any]
    files: MatchFiles


def play_and_report(plan: MatchPlan) -> None:
    """Play a match, print the table, and write the requested files."""
    from ludoteca.evaluate.match import play_match
    from ludoteca.evaluate.match_table import match_json, match_text

    games, files = 1000 if plan.games is None else plan.games, plan.files
    num_replays = min(files.replay_count, games) if files.replays else 0
    result = play_match(plan.game, plan.agents, games, num_replays=num_replays, **plan.options)
    print(match_text(result, _console().width))
    files.write(match_json(result), result.replays)


def run_test_and_report(plan: MatchPlan, test: "Sprt") -> None:
    """Play a sequential match, print the decision, and write the requested files.

    Raises:
        KeyboardInterrupt: after the report, if the user interrupted the match.
    """
    from ludoteca.evaluate.sequential_match import MAX_GAMES, play_sequential_match
    from ludoteca.evaluate.sequential_text import sequential_json, sequential_text

    files = plan.files
    result = play_sequential_match(
        plan.game,
        plan.agents,
        test,
        max_games=MAX_GAMES if plan.games is None else plan.games,
        num_replays=files.replay_count if files.replays else 0,
        **plan.options,
    )
    print(sequential_text(result, _console().width))
    files.write(sequential_json(result), result.match.replays)
    if result.interrupted:
        sys.stdout.flush()
        raise KeyboardInterrupt


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)
