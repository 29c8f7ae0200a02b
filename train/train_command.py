"""Command `ludoteca train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import OptionalFloat
from ludoteca.train.algorithms import ALGORITHMS

Preset = Literal["one-minute", "two-minutes", "ten-minutes", "half-hour", "hour", "night"]
AlgorithmName = Annotated[str, arg(metavar=f"{{{','.join(('auto', *ALGORITHMS))}}}")]
Settings = Annotated[
    tuple[str, ...], arg(name="set", metavar="[NAME=VALUE ...]", help_behavior_hint="")
]
RunDir = Annotated[
    Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: runs/GAME-PRESET)")
]


def train_command(parameters: Any) -> Callable[..., None]:
    """Return the command `train`, with options for the game's parameters.

    Args:
        parameters: type annotation of these parameters, see
            `ludoteca.evaluate.cli.commands.game_parameters`.
    """

    def train(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        preset: Preset = "two-minutes",
        minutes: OptionalFloat = None,
        algorithm: AlgorithmName = "auto",
        opponent: Annotated[str, arg(metavar="AGENT")] = "self",
        run_dir: Annotated[RunDir, arg()] = None,
        seed: int = 0,
        threads: Annotated[
            int | None, arg(metavar="INT", help_behavior_hint="(default: the algorithm's)")
        ] = None,
        processes: int = 1,
        settings: Settings = (),
    ) -> None:
        """Train a network that plays a game, in a given time.

        The algorithm depends on the game: in sequential zero-sum games of two players AlphaZero,
        or deep Q-learning with 100 actions or more, with chance or with an opponent; in all other
        games, such as puzzles for one player, PPO. The number of games depends on the speed of this
        machine. The equivalent command of the algorithm, with all
        settings, is printed first. An interrupted run resumes when the same command is given
        again. The parameters of the game are options, too: see `ludoteca train hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            preset: time limit, including evaluations and report, but not the first compilation;
                longer runs have larger networks.
            minutes: time limit instead of the preset's; the network is that of the preset.
            algorithm: the learning algorithm.
            opponent: agent to learn against, such as mcts:simulations=50, or self; in one-player
                games there is none.
            run_dir: folder of the run: networks, report, checkpoint.
            seed: seed of initial weights, games and batches.
            threads: number of threads of the network.
            processes: number of self-play processes.
            settings: other settings of the algorithm, such as learning_rate=0.002
                network.blocks=5.
        """
        from ludoteca.train.timed_run import TimedRun

        run = TimedRun(
            make_game(game, **rules),
            preset=preset,
            minutes=minutes,
            algorithm=algorithm,
            opponent=opponent,
            run_dir=run_dir,
            seed=seed,
            threads=threads,
            processes=processes,
            settings=settings,
        )
        run.train()

    return train
