"""Shared parts of training commands: progress display, time limit, signals, and the report."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, TypeVar

import tyro
from rich.console import Console

from ludoteca.divergence import DIVERGED, DivergedError
from ludoteca.evaluate.cli.help_text import wrapped_help
from ludoteca.progress import show_progress
from ludoteca.train import STARTED
from ludoteca.train.algorithms import find_algorithm
from ludoteca.train.distributed import PeerLostError, joined, ranks
from ludoteca.train.epoch_report import ValidationReport, validation_table, write_supervised_report
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.evaluation_table import results_table
from ludoteca.train.interruption import Interrupted, stopping_on_signals
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Stopped
from ludoteca.train.next_command import next_command
from ludoteca.train.paper_presets import load_presets
from ludoteca.train.report import write_report
from ludoteca.train.settings import RLConfig, SupervisedConfig
from ludoteca.train.status import rl_status, supervised_status
from ludoteca.train.time_limit import TimeLimit

InEpochs = TypeVar("InEpochs", bound=SupervisedTraining)
Config = TypeVar("Config", bound=RLConfig | SupervisedConfig)

# Time limits in seconds for the evaluation after a signal, by signal.
SECONDS_AFTER_SIGNAL: dict[int, float] = {signal.SIGINT: 10.0, signal.SIGTERM: 3.0}
MIN_EVAL_SECONDS = 3.0  # time limit in seconds for the evaluation when time is up
_start_time: float | None = None  # start of this process's command, by `time.monotonic()`


def train(training: RLTraining) -> dict[str, Any] | None:
    """Train to the end or until the run is stopped, with a progress display; then report.

    The time limit, if there is one, includes evaluations, compiling and the report. Ctrl-C and
    SIGTERM stop the run as the limit does: the run is saved, and its network briefly evaluated.

    Args:
        training: training run.

    Returns:
        Contents of `results.json`, or None if the run was stopped before its end.

    Raises:
        Interrupted: if a signal has stopped the run, after everything was saved.
        KeyboardInterrupt: if a second signal came before everything was saved.
    """
    config, monitor = training.config, training.monitor
    limit = TimeLimit(config.minutes, min(training.begun, _start_time or inf))
    results, received = None, list[int]()
    initial = (training.games, training.updates)
    try:
        with (
            stopping_on_signals(monitor) as received,
            show_progress(lambda: rl_status(training), ranks().is_main_process),
        ):
            monitor.deadline = limit.deadline(None)
            for _ in training.run():
                monitor.deadline = limit.deadline(_final_seconds(training))
            if not training.finished:
                training.save()
            if ranks().is_main_process and (training.updates > 0 or training.finished):
                monitor.extend(_evaluation_end(limit, received))
                results = _evaluated(training)
    except KeyboardInterrupt:
        _print_resume_hint(training.saved, config.games, "games")
        raise
    finally:
        training.metrics.close()
    if not ranks().is_main_process:
        _end_worker_rank(received)
        return None
    if results is not None:
        Console().print(results_table(results), highlight=False)
        print(f"report: {config.run_dir / 'report.md'}")
    if not training.finished:
        progress = f"after {training.games:,} of {config.games:,} games"
        print(_stopped(progress if training.updates > 0 else "", received))
        if initial == (training.games, training.updates) and not received:
            print(
                f"a rollout of {config.games_per_iteration:,} games needs more time: give it more "
                "--minutes or, in another run_dir, fewer --games-per-iteration"
            )
    elif results is None:
        print("the training is finished; the same command evaluates it and writes the report")
    if training.updates > 0:
        print(f"next: {next_command(training.game, training.algorithm.agent_name, config.run_dir)}")
    if received:
        raise Interrupted(received[0])
    return results if training.finished else None


def _evaluated(training: RLTraining) -> dict[str, Any] | None:
    """Evaluate the network and write the report; return None if there is no time."""
    monitor = training.monitor
    try:
        if not training.selected_is_latest and not training.finished:
            with monitor.task(1 / 2):  # the other half of the time left is for the report
                training.evaluate_off_schedule()
        return write_report(training)
    except Stopped:
        return None


def _final_seconds(training: RLTraining) -> float | None:
    """Return the estimated seconds of both evaluations in `_evaluated`, or None if unknown.

    The second one, in `write_report`, has `final_eval_games`, and is also against random moves.
    """
    config, opponents = training.config, len(training.algorithm.opponents())
    if training.evaluator.seconds == 0:
        return None
    ratio = config.final_eval_games / config.eval_games * (opponents + 1) / opponents
    return training.evaluator.seconds * (1 + ratio)


def _evaluation_end(limit: TimeLimit, received: Sequence[int]) -> float:
    """Return the deadline of the final evaluation, by `time.monotonic()`."""
    now = time.monotonic()
    if received:
        return now + SECONDS_AFTER_SIGNAL[received[0]]
    return max(limit.end, now + MIN_EVAL_SECONDS)


def _stopped(progress: str, received: Sequence[int]) -> str:
    """Describe why an unfinished run has stopped, and how to resume it.

    Args:
        progress: games or epochs, such as `"after 20 of 100 games"`; "" if nothing was learned.
        received: signals that have stopped it.
    """
    reason = f"stopped by {signal.Signals(received[0]).name}" if received else "time is up"
    progress = progress or "before anything was learned"
    return f"{reason} {progress}; the same command resumes it"


def _print_resume_hint(saved: int | None, total: int, unit: str) -> None:
    """Print the checkpoint from which a run that was quit will resume.

    Args:
        saved: number of games or epochs at the last checkpoint, or None if there is none.
        total: number of games or epochs of the whole run.
        unit: `"games"` or `"epochs"`.
    """
    if saved is None:
        checkpoint = "there is no checkpoint: the same command begins anew"
    else:
        checkpoint = (
            f"the same command resumes from the checkpoint of {saved:,} of {total:,} {unit}"
        )
    print(f"quit at once; {checkpoint}", file=sys.stderr, flush=True)


def train_epochs(
    training: InEpochs, validate: Callable[[InEpochs], ValidationReport], progress: bool = True
) -> dict[str, Any] | None:
    """Train in epochs to the end or until the run is stopped; then write the report.

    See `train` for the time limit and signals.

    Args:
        training: training run.
        validate: function that validates the best network of the run.
        progress: show a progress bar on standard error, and the results on standard output.

    Returns:
        Contents of `results.json`, or None if the run was stopped before its end.

    Raises:
        Interrupted: if a signal has stopped the run, after everything was saved.
        KeyboardInterrupt: if a second signal came before everything was saved.
    """
    config, monitor = training.config, training.monitor
    limit = TimeLimit(config.minutes, min(training.begun, _start_time or inf))
    findings, received = None, list[int]()
    try:
        with (
            stopping_on_signals(monitor) as received,
            show_progress(
                lambda: supervised_status(training), progress and ranks().is_main_process
            ),
        ):
            monitor.deadline = limit.deadline(None)
            for _ in training.run():
                # Two validations: that of the epoch, and the final one.
                monitor.deadline = limit.deadline(2 * training.validation_seconds or None)
            if not training.finished:
                training.save()
            if ranks().is_main_process and (training.learned or training.finished):
                monitor.extend(_evaluation_end(limit, received))
                try:
                    findings = validate(training)
                    results = write_supervised_report(training, findings)
                except Stopped:
                    findings = None
    except KeyboardInterrupt:
        _print_resume_hint(training.saved, config.epochs, "epochs")
        raise
    finally:
        training.metrics.close()
    if not ranks().is_main_process:
        _end_worker_rank(received)
        return None
    if findings is not None and progress:
        Console().print(validation_table(findings), highlight=False)
        print(f"report: {config.run_dir / 'report.md'}")
    if not training.finished:
        reached = f"in epoch {training.epoch + 1} of {config.epochs}"
        print(_stopped(reached if training.learned else "", received))
    elif findings is None:
        print("the training is finished; the same command evaluates it and writes the report")
    if training.learned and progress:
        print(f"next: {next_command(training.game, training.kind, config.run_dir)}")
    if received:
        raise Interrupted(received[0])
    return results if training.finished and findings is not None else None


def _end_worker_rank(received: Sequence[int]) -> None:
    """End the run in a process other than rank 0, which reports.

    Raises:
        Interrupted: if a signal has stopped the run.
    """
    if received:
        raise Interrupted(received[0])


def parse_preset(
    name: str,
    description: str | None,
    presets: Mapping[str, tuple[str, Config]],
    arguments: Sequence[str],
) -> Config:
    """Parse a command line: the name of a preset, by default the first one, and changed settings.

    Args:
        name: name of the module that `python -m` runs.
        description: description of the command.
        presets: description and settings of each preset, by name.
        arguments: arguments of the command.
    """
    default, *other_presets = presets
    options = {}
    for preset, (summary, config) in presets.items():
        text = f"{(description or '').strip()}\n\nDefaults below: preset `{preset}`, {summary}."
        if preset == default:
            text += "".join(f" Preset `{other}`: see `{other} --help`." for other in other_presets)
        options[preset] = (text, config)
    has_preset = arguments[:1] and arguments[0] in presets
    parsed: Config = tyro.extras.overridable_config_cli(
        options,
        prog=f"python -m {name}",
        args=arguments if has_preset else [default, *arguments],
    )
    return parsed


def parse(name: str, arguments: Sequence[str]) -> Any:
    """Parse the command line of an algorithm: an optional preset, and changed settings.

    Args:
        name: a name in `ludoteca.train.algorithms.ALGORITHMS`.
        arguments: arguments of the command.
    """
    algorithm = find_algorithm(name)
    description = sys.modules[algorithm.__module__].__doc__
    default = algorithm.config_class()
    presets = load_presets(name, default)
    if presets:
        presets = {"default": (f"settings of our own for {algorithm.title}", default)} | presets
        return parse_preset(algorithm.module, description, presets, arguments)
    prog = f"python -m {algorithm.module}"
    return tyro.cli(algorithm.config_class, prog=prog, description=description, args=arguments)


def run(config: RLConfig) -> dict[str, Any] | None:
    """Train with an algorithm, evaluate the selected network, and write the report.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    return train(RLTraining(config))


def run_algorithm(name: str) -> None:
    """Run the command of an algorithm, `python -m ludoteca.train.NAME`."""
    run_command(find_algorithm(name).module, lambda: run(parse(name, sys.argv[1:])))


def run_command(name: str, main: Callable[[], Any]) -> None:
    """Run a command; invalid settings, divergence and signals end it with a message.

    The exit status after a divergence is `DIVERGED`. If several processes of torchrun fail for one
    reason, rank 0 prints it.

    Args:
        name: name of the module that `python -m` runs, for messages.
        main: function that parses the command line and trains.
    """
    global _start_time
    _start_time, processes = STARTED, ranks()
    try:
        with joined() as processes, wrapped_help(sys.argv[1:]):
            main()
    except (ValueError, OSError) as error:
        if error is not processes.received:
            print(f"{name}: {error}", file=sys.stderr)
        sys.exit(DIVERGED if isinstance(error, DivergedError) else 1)
    except PeerLostError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # at once: other threads may wait for the lost process
    except Interrupted as stop:
        sys.exit(128 + stop.signal)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + signal.SIGINT)  # at once: other threads may still play or compile
    finally:
        _start_time = None
