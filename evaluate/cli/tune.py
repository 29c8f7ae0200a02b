"""The command `ludoteca tune`."""

import subprocess
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
        """Tune parameters of an agent, and measure the improvement in a match.

        The optimizers play games, for example for the exploration constant of a search:
        ludoteca tune connect4 --agent mcts:simulations=100 --tune policy.alpha=0.01:4:log

        Simulation balancing and maximum likelihood train the weights of softmax playouts instead:
        ludoteca tune breakthrough --agent mcts:simulations=200 --tune playout.weights --optimizer
        simulation_balancing

        After an interruption, the same command resumes. The folder gets tuning.json and, from
        optimizers that play games, a log of all evaluations and tuning.png; the weights of playouts
        are in its folder training. The parameters of the game are options, too: see
        `ludoteca tune hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            agent: the agent; its values of the tuned parameters are the starting values, otherwise
                the middle of their ranges.
            tune: the parameters: NAME=LOW:HIGH, with :int for integers and :log for a logarithmic
                scale; or choices, 'mast=greedy|gibbs'; or playout.weights, to be trained.
            optimizer: spsa, cma_es, ntbea, optuna or grid; or, for playout.weights,
                simulation_balancing or maximum_likelihood. Settings may follow, such as
                ntbea:levels=20; see docs/tuning.md.
            against: the opponents, which share the games of an evaluation; by default the agent
                with the starting values. With spsa, by default its two perturbed points play
                each other.
            out: folder of the run.
            games: total number of games that the optimizer plays; not for playout.weights.
            batch: number of games of each evaluation; not for playout.weights.
            match_games: number of games of each final match between the recommended and the
                starting values.
            random_plies: number of random plies at the beginning of each game; without any,
                deterministic agents repeat the same game.
            seed: seed of the optimizer and of the games.
            threads: number of threads that share the games.
        """
        from rich.console import Console

        from ludoteca.evaluate.tuning.report import (
            errors_table,
            matches_table,
            values_table,
            write_report,
        )
        from ludoteca.evaluate.tuning.run import tune_agent

        try:
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
        except subprocess.CalledProcessError as error:  # the training has printed its message
            sys.exit(error.returncode)
        console = Console(highlight=False)
        console.print(values_table(result), soft_wrap=True)
        if result.errors:
            console.print()
            console.print(errors_table(result), soft_wrap=True)
        if result.matches:
            console.print()
            console.print(matches_table(result), soft_wrap=True)
        else:
            console.print("the recommended values are the starting values: no match was played")
        write_report(result, out)
        kind = "log, figure and results" if result.evaluations else "weights and results"
        console.print(f"\n{kind}: {out}", soft_wrap=True)

    return tune
