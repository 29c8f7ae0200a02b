"""Progress displays on standard error: bars in a terminal, single lines in a file."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from threading import Event, Thread

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ludoteca.compile_status import CompileStatus
from ludoteca.duration import format_duration
from ludoteca.envs.jit import compile_seconds

REFRESH_RATE = 4  # updates per second in a terminal
RATE_WINDOW = 60.0  # seconds over which rates are measured
MIN_RATE_SECONDS = 0.1  # shortest time over which a rate is measured
MIN_INTERVAL, MAX_INTERVAL = 5.0, 60.0  # seconds between lines in a file, doubled each time


@dataclass(frozen=True)
class RunStatus:
    """Progress of a run.

    Attributes:
        phase: current activity, such as `"playing"`.
        detail: progress within the phase, such as `"move 12 of 40"`, or "".
        done: number of finished units; games in progress count in proportion.
        total: number of units of the run.
        unit: name of the units, such as `"games"`.
        counts: further counts, by name; the display shows only the rates at which they grow.
        seconds_left: seconds until the time limit of the run; infinite without one.
        last: result of the last evaluation, or "".
        notice: message to the user, such as that the run will stop, or "".
    """

    phase: str
    detail: str
    done: float
    total: float
    unit: str
    counts: dict[str, float] = field(default_factory=dict)
    seconds_left: float = inf
    last: str = ""
    notice: str = ""


class RateClock:
    """Rates and remaining time, measured over the last minute, compilation excluded."""

    def __init__(self) -> None:
        """Start without measurements."""
        # Times without compilation, each with the status at that time.
        self._measurements: deque[tuple[float, RunStatus]] = deque()
        self._start = self._now = 0.0  # first and last time, compilation included

    def add(self, now: float, status: RunStatus, compiling: float = 0.0) -> None:
        """Add a measurement.

        Args:
            now: time in seconds, of `time.monotonic`.
            status: the status at that time.
            compiling: seconds spent on compilation up to that time, which rates exclude.
        """
        self._start, self._now = self._start if self._measurements else now, now
        working = now - compiling
        self._measurements.append((working, status))
        while len(self._measurements) > 2 and working - self._measurements[1][0] > RATE_WINDOW:
            self._measurements.popleft()

    def rates(self) -> dict[str, float]:
        """Return rates per second by name, the rate of the run's unit first."""
        (start, first), (now, last) = self._measurements[0], self._measurements[-1]
        seconds = now - start
        if seconds < MIN_RATE_SECONDS:
            return {}
        rates = {last.unit: (last.done - first.done) / seconds}
        for name, count in last.counts.items():
            rates[name] = (count - first.counts.get(name, 0)) / seconds
        return {name: rate for name, rate in rates.items() if rate > 0}

    def seconds_left(self) -> float:
        """Return the estimated seconds until the end; infinite if unknown."""
        return min(self._seconds_by_rate(), self._measurements[-1][1].seconds_left)

    def completed(self) -> float:
        """Return the completed fraction of the work, or of the time if it runs out first."""
        status = self._measurements[-1][1]
        if status.seconds_left < self._seconds_by_rate():
            elapsed = self._now - self._start
            return elapsed / max(elapsed + status.seconds_left, 1e-9)  # 1e-9: not 0 / 0
        return status.done / max(status.total, 1e-9)

    def _seconds_by_rate(self) -> float:
        """Return the seconds until all units are done at the present rate; infinite if unknown."""
        status = self._measurements[-1][1]
        rate = self.rates().get(status.unit, 0.0)
        return (status.total - status.done) / rate if rate > 0 else inf


def bar_line(status: RunStatus, clock: RateClock) -> Table:
    """Return the first line of the display: phase, bar, count and remaining time."""
    left = f"{format_duration(clock.seconds_left())} left"
    line = Table.grid(padding=(0, 1), expand=True)
    for justify in ("left", "left", "right", "right"):
        line.add_column(justify=justify, no_wrap=True, ratio=None)
    line.columns[1].ratio = 1
    bar = ProgressBar(total=1.0, completed=clock.completed())
    line.add_row(Text(status.phase), bar, Text(_count(status)), Text(left))
    return line


def display(status: RunStatus, clock: RateClock) -> Group:
    """Return the terminal display: two lines, and further ones for an evaluation and a notice."""
    texts = [" · ".join(filter(None, (status.detail, _rates(clock)))) or "…"]
    texts += [text for text in (status.last, status.notice) if text]
    lines = [Text(text, no_wrap=True, overflow="ellipsis", style="dim") for text in texts]
    if status.notice:
        lines[-1].style = "bold"
    return Group(bar_line(status, clock), *lines)


def plain_line(status: RunStatus, clock: RateClock) -> str:
    """Return the progress as one line for a file."""
    parts = [
        f"{status.phase}: {_count(status)}, {format_duration(clock.seconds_left())} left",
        status.detail,
        _rates(clock),
        status.last,
    ]
    return "; ".join(filter(None, parts))


def _count(status: RunStatus) -> str:
    """Return the number of finished units as text, such as `"12 of 40 games"`."""
    return f"{int(status.done):,} of {status.total:,.0f} {status.unit}"


def _rates(clock: RateClock) -> str:
    """Return the rates as text: integers from 10 on, two significant digits below."""
    return ", ".join(
        f"{rate:,.0f} {name}/s" if rate >= 10 else f"{rate:.2g} {name}/s"
        for name, rate in clock.rates().items()
    )


@contextmanager
def show_progress(status: Callable[[], RunStatus], enabled: bool = True) -> Iterator[None]:
    """Show the progress of a run while the block runs.

    A terminal shows a bar, rates and the last evaluation, several times a second. A file gets a
    line for each notice and each evaluation, and further lines at growing intervals. Compilation in
    this process is shown as a phase, instead of messages on standard error.

    Args:
        status: function that returns the current status; called in another thread.
        enabled: whether to show the progress.
    """
    if not enabled:
        yield
        return
    console, clock, compiling = Console(stderr=True), RateClock(), CompileStatus()

    def current_status() -> RunStatus:
        now = status()
        if detail := compiling.detail():
            now = replace(now, phase="compiling", detail=detail)
        clock.add(time.monotonic(), now, compile_seconds())
        return now

    if console.is_terminal:

        def draw() -> Group:
            return display(current_status(), clock)

        with (
            compiling.listening(),
            Live(get_renderable=draw, console=console, refresh_per_second=REFRESH_RATE),
        ):
            yield
        return
    finished = Event()
    thread = Thread(
        target=_write_lines, args=(current_status, clock, compiling, finished), daemon=True
    )
    thread.start()
    try:
        with compiling.listening():
            yield
    finally:
        finished.set()
        thread.join()


def _write_lines(
    status: Callable[[], RunStatus], clock: RateClock, compiling: CompileStatus, finished: Event
) -> None:
    """Write lines of progress until `finished` is set.

    Args:
        status: function that returns the current status, and adds it to `clock`.
        clock: rates and remaining time.
        compiling: compilations, which are announced.
        finished: event that ends the function.
    """
    interval, line_time = MIN_INTERVAL, time.monotonic()
    previous, is_last = status(), False
    while not is_last:
        is_last = finished.wait(1 / REFRESH_RATE)
        now = status()
        if now.notice != previous.notice:
            print(now.notice, file=sys.stderr, flush=True)
        if message := compiling.announcement():
            print(message, file=sys.stderr, flush=True)
        is_due = time.monotonic() - line_time > interval
        if (is_due or now.last != previous.last) and not is_last:
            print(plain_line(now, clock), file=sys.stderr, flush=True)
            line_time = time.monotonic()
            interval = min(2 * interval, MAX_INTERVAL) if is_due else interval
        previous = now


@contextmanager
def progress_bar(
    total: int, enabled: bool = True, unit: str = "games", *, done: int = 0, transient: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error while the block runs.

    Args:
        total: number of units of the whole work.
        enabled: whether to show the bar.
        unit: name of the units.
        done: number of units that are already finished.
        transient: whether the bar disappears at the end.

    Yields:
        A function that advances the bar by a number of units.
    """
    if not enabled:
        yield lambda advance: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=transient) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda advance: progress.advance(task, advance)
