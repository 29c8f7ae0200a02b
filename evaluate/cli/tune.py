"""The command `ludoteca tune`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.envs.registry import make_game


def tune_command(parameters: Any) -> Callable[..., None]:
    """Return the command `tune`, with options for the game's parameters."""

    def tune(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        agent: Annotated[str, arg(metavar="AGENT")],
        tune: Annotated[tuple[str, ...], arg(metavar="NAME=VALUES [NAME=VALUES ...]")],
        optimizer: Annotated[str, arg(metavar="OPTIMIZER")] = "spsa",
        against: Annotated[tuple[str, ...], arg(metavar="[AGENT ...]", help_behavior_hint="")] = (),
        out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/tune"),
        games: int = 10_000,
        batch: int = 20,
        match_games: int = 1000,
        random_plies: int = 0,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        """Tune parameters of an agent by playing games, and measure the improvement in a match.

        For example the exploration constant of a search:
        ludoteca tune connect4 --agent mcts:simulations=100 --tune policy.alpha=0.01:4:log

        After an interruption, the same command resumes. The folder gets a log of all evaluations,
        tuning.json and tuning.png. The parameters of the game are options, too: see
        `ludoteca tune hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agent: the agent; its values of the tuned parameters are the starting values, otherwise
                the middle of their ranges.
            tune: the parameters: NAME=LOW:HIGH, with :int for integers and :log for a logarithmic
                scale; or choices, 'mast=greedy|gibbs'.
            optimizer: spsa, cma_es, ntbea, optuna or grid, with settings, such as ntbea:levels=20;
                see docs/tuning.md.
            against: the opponents, which share the games of an evaluation; by default the agent
                with the starting values. With spsa, by default its two perturbed points play
                each other.
            out: folder of the run.
            games: total number of games that the optimizer plays.
            batch: number of games of each evaluation.
            match_games: number of games of each final match between the recommended and the
                starting values.
            random_plies: number of random plies at the beginning of each game; without any,
                deterministic agents repeat the same game.
            seed: seed of the optimizer and of the games.
            threads: number of threads that share the games.
        """
        from rich.console import Console

        from ludoteca.evaluate.tuning.report import matches_table, values_table, write_report
        from ludoteca.evaluate.tuning.run import tune_agent

        result = tune_agent(
            make_game(game, **rules),
            agent,
            tune,
            out,
            optimizer=optimizer,
            against=against,
            games=games,
            batch=batch,
            match_games=match_games,
            random_plies=random_plies,
            seed=seed,
            num_threads=threads,
            progress=sys.stderr.isatty(),
        )
        console = Console(highlight=False)
        console.print(values_table(result), soft_wrap=True)
        if result.matches:
            console.print()
            console.print(matches_table(result), soft_wrap=True)
        else:
            console.print("the recommended values are the starting values: no match was played")
        write_report(result, out)
        console.print(f"\nlog, figure and results: {out}", soft_wrap=True)

    return tune
