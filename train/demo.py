"""The demonstration: MaskablePPO learns Hex 5x5 from random opponents, and is put to the test.

`python -m ludoteca.train.demo` trains, evaluates from both seats, and writes a report with all that
belongs to it into `runs/demo/`. `--help` lists the settings.
"""

import io
import shlex
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from ludoteca.agents.sb3 import SB3Agent
from ludoteca.envs.files import write_whole
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.sb3 import SB3VecEnv
from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.match import MatchResult, play_match
from ludoteca.train.demo_report import table, write_report


@dataclass(frozen=True)
class Config:
    """Settings; with the same ones a run gives the same model, unless time runs out first."""

    game: str = "hex:board_size=5"
    """The game, for two players, as a spec string."""
    opponent: str = "random"
    """Who it learns from and is evaluated against, as a spec string."""
    folder: Path = Path("runs/demo")
    """Where everything is written."""
    seed: int = 0
    """Determines networks, games and evaluation."""

    steps: int = 500_000
    """How many moves it learns from; training ends at the first multiple of a rollout."""
    seconds: float = 100.0
    """Training ends after this time, if the steps are not done before."""
    n_envs: int = 128
    """Games side by side."""
    n_steps: int = 32
    """Moves per game and rollout."""
    batch_size: int = 1024
    """Moves per gradient step."""
    n_epochs: int = 4
    """Times that each rollout is learned from."""
    learning_rate: float = 1e-3
    """Of Adam."""
    gamma: float = 1.0
    """Discount; games are short and rewarded at their end."""
    gae_lambda: float = 0.95
    """Of generalized advantage estimation."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    hidden: tuple[int, ...] = (128, 128)
    """Hidden layers of the policy's network, and of the value's."""
    torch_threads: int = 1
    """More than one makes networks this small slower."""

    curve_every: int = 25_000
    """Steps between the points of the learning curve."""
    curve_games: int = 500
    """Games per seat and point."""
    games: int = 2_000
    """Games per seat in the final evaluation."""

    def __post_init__(self) -> None:
        for name in ("steps", "n_envs", "n_steps", "curve_every", "curve_games", "games"):
            integer(name, getattr(self, name), 1, 10**9)
        players = make_game(self.game).num_players
        if players != 2:
            raise ValueError(f"game must be for two players, got {self.game!r} for {players}")


def main(config: Config) -> dict[str, Any]:
    """Run the demonstration; return what is in `results.json`."""
    game = make_game(config.game)
    console = Console()
    torch.set_num_threads(config.torch_threads)

    console.print(f"training MaskablePPO on {game.title} against {config.opponent}", style="bold")
    model, training = train(config, game)
    file = io.BytesIO()
    model.save(file)
    checkpoint = config.folder / "model.zip"
    write_whole(checkpoint, file.getvalue())

    agent = SB3Agent(game, checkpoint)  # as anyone would load it
    match = play_match(
        game,
        [agent, config.opponent],
        2 * config.games,
        seed=config.seed + 1,
        record=2,
        progress=True,
    )
    results = {
        "command": shlex.join(["python", "-m", "ludoteca.train.demo", *sys.argv[1:]]),
        "config": asdict(config) | {"folder": str(config.folder)},
        "game": game.spec,
        "training": training,
        "evaluation": {
            "opponent": config.opponent,
            "seed": config.seed + 1,
            "seats": rate_seats(match),
        },
    }
    replay = replace(match.replays[0], players=("MaskablePPO", config.opponent))
    console.print(table(results))
    write_report(config.folder, results, replay)
    console.print(f"report: {config.folder / 'report.md'}", highlight=False)
    return results


def train(config: Config, game: Game) -> tuple[MaskablePPO, dict[str, Any]]:
    """Train a model; return it, and how that went."""
    envs = VecMonitor(SB3VecEnv(game, config.n_envs, opponent=config.opponent, agent_seat="random"))
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        learning_rate=config.learning_rate,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        ent_coef=config.ent_coef,
        policy_kwargs={"net_arch": list(config.hidden), "activation_fn": torch.nn.ReLU},
        tensorboard_log=str(config.folder / "tensorboard"),
        seed=config.seed,
        device="cpu",
    )
    progress = Progress(
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} moves"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )
    with progress:
        watch = Watch(config, game, progress)
        model.learn(config.steps, callback=watch, tb_log_name="maskable_ppo")
    envs.close()
    return model, watch.summary()


class Watch(BaseCallback):
    """Ends training when time is up; draws the learning curve and the progress bar."""

    def __init__(self, config: Config, game: Game, progress: Progress):
        super().__init__()
        self._config, self._game, self._progress = config, game, progress
        self._task = progress.add_task("", total=config.steps)
        self._curve: list[dict[str, Any]] = []
        self._out_of_time = False

    def summary(self) -> dict[str, Any]:
        """Return how training went."""
        return {
            "steps": self.num_timesteps,
            "seconds": round(self._seconds(), 2),
            "ended_by": "seconds" if self._out_of_time else "steps",
            "curve": self._curve,
        }

    def _on_training_start(self) -> None:
        self._start = time.perf_counter()
        self._add_point()

    def _on_step(self) -> bool:
        self._out_of_time = self._seconds() >= self._config.seconds
        return not self._out_of_time

    def _on_rollout_start(self) -> None:
        # The model has just learned from the previous rollout.
        self._progress.update(self._task, completed=min(self.num_timesteps, self._config.steps))
        if self.num_timesteps >= self._curve[-1]["steps"] + self._config.curve_every:
            self._add_point()

    def _on_training_end(self) -> None:
        if self.num_timesteps > self._curve[-1]["steps"]:
            self._add_point()
        self._progress.update(self._task, completed=min(self.num_timesteps, self._config.steps))

    def _seconds(self) -> float:
        return time.perf_counter() - self._start

    def _add_point(self) -> None:
        """Evaluate the model as it is."""
        config = self._config
        assert isinstance(self.model, MaskablePPO)
        agent = SB3Agent.from_model(self._game, self.model)
        match = play_match(
            self._game, [agent, config.opponent], 2 * config.curve_games, seed=config.seed
        )
        seats = rate_seats(match)
        point = {
            "steps": self.num_timesteps,
            "seconds": round(self._seconds(), 2),
            "seats": seats,
        }
        self._curve.append(point)
        for rated in seats:
            self.logger.record(f"evaluation/win_rate_{rated['seat']}", rated["win_rate"])
        rates = ", ".join(f"{rated['seat']} {100 * rated['win_rate']:.1f} %" for rated in seats)
        self._progress.update(self._task, description=f"wins as {rates}")


def rate_seats(match: MatchResult) -> list[dict[str, Any]]:
    """Return how the match's first agent did in each seat, with 95 % Wilson intervals."""
    rated = []
    for seat, tally in zip(("first", "second"), match.seats[0], strict=True):
        low, high = wilson(tally.wins, tally.games)
        rated.append(
            {
                "seat": seat,
                "games": tally.games,
                "wins": tally.wins,
                "draws": tally.draws,
                "losses": tally.losses,
                "win_rate": tally.win_rate,
                "low": low,
                "high": high,
            }
        )
    return rated


if __name__ == "__main__":
    try:
        settings = tyro.cli(Config, description=__doc__)
    except ValueError as error:
        sys.exit(f"ludoteca.train.demo: {error}")
    main(settings)
