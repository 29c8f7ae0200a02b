"""Type annotations of options that several commands `ludoteca gdl ...` share."""

from typing import Annotated

from tyro.conf import Positional, arg

SHEET_HELP = "file of the rule sheet, or a sheet of this package, such as breakthrough."
Sheet = Annotated[Positional[str], arg(metavar="SHEET", help=SHEET_HELP)]
