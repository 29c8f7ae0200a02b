"""Annotated type of the argument that all commands `ludoteca gdl ...` share: the rule sheet."""

from typing import Annotated

from tyro.conf import Positional, arg

SHEET_HELP = "file of a rule sheet, or the name of a sheet of this package, such as breakthrough."
Sheet = Annotated[Positional[str], arg(metavar="SHEET", help=SHEET_HELP)]
