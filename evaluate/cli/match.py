"""The command `ludoteca match`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import Agents, File, Folder


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
        """Play a match of many games between agents, and count wins, draws and losses.

        The parameters of the game are options, too: see `ludoteca match hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agents: two agents, or up to one per seat, such as random mcts:simulations=200; each
                plays every seat equally often.
            games: number of games.
            seed: the same seed gives the same match.
            threads: number of threads that share the games; more than one pays for agents that
                search.
            random_plies: number of random plies at the beginning of each game, the same once for
                every seating of the agents; without any, deterministic agents repeat one game.
            json: also write all results to this file.
            replays: also write replays of the first games to this folder.
            replay_count: number of these replays.
        """
        loaded_game = make_game(game, **rules)
        play_and_report(
            loaded_game, agents, games, seed, threads, random_plies, json, replays, replay_count
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
    """Play a match, print the table, and write the requested files."""
    from json import dumps

    from rich.console import Console

    from ludoteca.evaluate.match import play_match
    from ludoteca.evaluate.match_table import match_json, match_text
    from ludoteca.files import write_whole
    from ludoteca.provenance import run_provenance

    result = play_match(
        game,
        agents,
        games,
        seed=seed,
        num_threads=threads,
        num_replays=min(replay_count, games) if replays else 0,
        progress=sys.stderr.isatty(),
        random_plies=random_plies,
    )
    console = Console(highlight=False)
    print(match_text(result, console.width))
    if json is not None:
        content = match_json(result) | run_provenance()
        write_whole(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    if replays is not None:
        for k, replay in enumerate(result.replays):
            replay.save(replays / f"game_{k:04}.json")
        console.print(f"{len(result.replays)} replays: {replays}", soft_wrap=True)
