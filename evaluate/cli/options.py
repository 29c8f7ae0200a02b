"""Type annotations of options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

if TYPE_CHECKING:
    from ludoteca.agents.time_control import TimeControl

Agents = Annotated[tuple[str, ...], arg(metavar="AGENT [AGENT ...]")]
OptionalFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
OptionalInt = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Clock = Annotated[str | None, arg(metavar="[START+]MOVE", help_behavior_hint="")]
OptionalFloat = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
OptionalFolder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]


def parse_time_control(clock: str | None, bank: float, out_of_time: str) -> "TimeControl | None":
    """Return the time control from the options `--clock`, `--bank` and `--out-of-time`.

    Raises:
        ValueError: if an option is invalid, or `--bank` or `--out-of-time` has no `--clock`.
    """
    from ludoteca.agents.time_control import TimeControl

    if clock is not None:
        return TimeControl.parse(clock, bank, out_of_time)
    if bank != 0 or out_of_time != "forfeit":
        raise ValueError("--bank and --out-of-time need a clock, such as --clock 1")
    return None
