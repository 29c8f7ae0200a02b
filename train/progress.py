"""A progress bar that counts games, or files of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def games_bar(
    total: int, shown: bool = True, what: str = "games"
) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error; yields the function that is told how many more are done."""
    if not shown:
        yield lambda done: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda done: progress.advance(task, done)
