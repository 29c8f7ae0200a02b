"""Status of a training run, for the progress display."""

from ludoteca.evaluate.seat_results import seat_names
from ludoteca.progress import RunStatus
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.evaluation import MEAN_RETURN
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Monitor


def rl_status(training: RLTraining) -> RunStatus:
    """Return the status of a reinforcement learning run."""
    monitor = training.monitor
    return RunStatus(
        phase=phase(monitor),
        detail=detail(monitor),
        done=training.progress,
        total=training.config.games,
        unit="games",
        counts={"updates": training.updates},
        seconds_left=monitor.seconds_left,
        last=last_evaluation(training),
        notice=monitor.notice,
    )


def supervised_status(training: SupervisedTraining) -> RunStatus:
    """Return the status of a supervised run."""
    monitor = training.monitor
    return RunStatus(
        phase=phase(monitor),
        detail=detail(monitor),
        done=training.progress,
        total=training.config.epochs,
        unit="epochs",
        counts={"positions": training.positions},
        seconds_left=monitor.seconds_left,
        last=last_epoch(training),
        notice=monitor.notice,
    )


def phase(monitor: Monitor) -> str:
    """Return the phase of a run, or `"compiling"` before its first step."""
    return "compiling" if monitor.compiling else monitor.phase


def detail(monitor: Monitor) -> str:
    """Return the progress of the phase, such as `"move 12 of about 40"`."""
    work = monitor.phases[monitor.phase]
    if work.total == 0:
        return ""
    about = "about " if monitor.phase == "playing" else ""
    return f"{work.unit} {work.done:,} of {about}{max(work.total, work.done):,}"


def last_evaluation(training: RLTraining) -> str:
    """Return the win rates of the last evaluation, or "" if there was none.

    The rate `random__first` is the fraction of games that the trained network wins against the
    opponent `random` if the network has the first seat; `random__any` is that over all seats. In
    one-player games, return the mean return. See `ludoteca.train.evaluation.evaluation_metrics`.
    """
    seats = tuple(f"__{seat}" for seat in seat_names(training.game))
    for row in reversed(training.metrics.rows):
        if (mean_return := row.get(MEAN_RETURN)) is not None:
            return f"after {row['step']:,} games: mean return {mean_return:.3f}"
        rates = {
            name: rate
            for name, rate in row.items()
            if name.endswith(seats) and not name.startswith("training")
        }
        if rates:
            rates_text = ", ".join(
                f"{name.removesuffix('__any').replace('__', ' as ')} {100 * rate:.1f} %"
                for name, rate in rates.items()
                if rate is not None
            )
            return f"after {row['step']:,} games: {rates_text}"
    return ""


def last_epoch(training: SupervisedTraining) -> str:
    """Return the losses and the validation accuracy of the last epoch, or "" if there was none."""
    if not training.metrics.rows:
        return ""
    last = training.metrics.rows[-1]
    # No accuracy is None: each epoch ends with a validation.
    return (
        f"after epoch {last['step']}: loss {last['training_loss']:.3f}, validation loss "
        f"{last['validation_loss']:.3f}, accuracy {100 * (last['validation_accuracy'] or 0):.1f} %"
    )
