"""Type annotations of options that several commands share."""

from pathlib import Path
from typing import Annotated

from tyro.conf import arg

Agents = Annotated[tuple[str, ...], arg(metavar="AGENT [AGENT ...]")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Seconds = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
Folder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]
