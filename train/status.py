"""What the progress display shows of a training."""

from ludoteca.progress import RunStatus
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Monitor


def rl_status(training: RLTraining) -> RunStatus:
    """Return how far a training by reinforcement learning is."""
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
    """Return how far a training in epochs is."""
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
    """Return the name of what a run does: its phase, or that the phase is being compiled."""
    return "compiling" if monitor.compiling else monitor.phase


def detail(monitor: Monitor) -> str:
    """Return how far the work of the phase is, such as `"move 12 of about 40"`."""
    work = monitor.phases[monitor.phase]
    if work.total == 0:
        return ""
    about = "about " if monitor.phase == "playing" else ""
    return f"{work.unit} {work.done:,} of {about}{max(work.total, work.done):,}"


def last_evaluation(training: RLTraining) -> str:
    """Return how the last evaluation went, or "" if there was none."""
    for row in reversed(training.metrics.rows):
        rates = {
            name: rate
            for name, rate in row.items()
            if name.endswith(("__first", "__second", "__any")) and not name.startswith("training")
        }
        if rates:
            found = ", ".join(
                f"{name.removesuffix('__any').replace('__', ' as ')} {100 * rate:.1f} %"
                for name, rate in rates.items()
                if rate is not None
            )
            return f"after {row['step']:,} games: {found}"
    return ""


def last_epoch(training: SupervisedTraining) -> str:
    """Return how the last epoch went, or "" if there was none."""
    if not training.metrics.rows:
        return ""
    last = training.metrics.rows[-1]
    return (
        f"after epoch {last['step']}: loss {last['training_loss']:.3f}, in validation "
        f"{last['validation_loss']:.3f}, accuracy {100 * (last['validation_accuracy'] or 0):.1f} %"
    )
