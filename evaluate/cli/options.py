"""Type annotations of options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

if TYPE_CHECKING:
    from ludoteca.agents.time_control import TimeControl

Agents = Annotated[tuple[str, ...], arg(metavar="AGENT [AGENT ...]")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Clock = Annotated[str | None, arg(metavar="[START+]MOVE", help_behavior_hint="")]
Seconds = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
Folder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]


def time_control_of(clock: str | None, bank: float, out_of_time: str) -> "TimeControl | None":
    """Return the time control of the options of a match.

    Raises:
        ValueError: if one is out of range, or there is no clock for the others.
    """
    from ludoteca.agents.time_control import TimeControl

    if clock is not None:
        return TimeControl.parse(clock, bank, out_of_time)
    if bank != 0 or out_of_time != "forfeit":
        raise ValueError("--bank and --out-of-time need a clock, such as --clock 1")
    return None
