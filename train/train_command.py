"""The command `ludoteca train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import Seconds

Preset = Literal["one-minute", "two-minutes", "ten-minutes", "half-hour", "hour", "night"]
AlgorithmName = Literal["auto", "dqn", "alphazero", "actor-critic"]
Settings = Annotated[
    tuple[str, ...], arg(name="set", metavar="[NAME=VALUE ...]", help_behavior_hint="")
]
RunDir = Annotated[
    Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: runs/GAME-PRESET)")
]


def train_command(parameters: Any) -> Callable[..., None]:
    """Return the command `train`, with options for the game's parameters."""

    def train(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        preset: Preset = "two-minutes",
        minutes: Seconds = None,
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

        The default algorithm depends on the game: AlphaZero for sequential games, DQN if there are
        100 actions or more or an opponent is given, actor-critic for simultaneous games. The number
        of games depends on the speed of this machine. The equivalent command with all settings is
        printed first. After an interruption, the same command resumes the run. Parameters of the
        game are options, too: see `ludoteca train hex --help`.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game.
            preset: time of the run, with evaluations and report, without the first compilation;
                longer runs have larger networks.
            minutes: another time; the network is that of the preset.
            algorithm: the learning algorithm.
            opponent: agent to learn against, such as mcts:simulations=50, or self.
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
