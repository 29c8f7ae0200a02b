"""`python -m ludoteca.evaluate.perfect`: the command `ludoteca perfect`."""

import sys

from ludoteca.evaluate.cli import Command, run_command
from ludoteca.evaluate.perfect.command import perfect

__all__ = ["main", "perfect"]


def main() -> int:
    """Run the command line; return its exit status."""
    command = Command("ludoteca.evaluate.perfect.command:perfect", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.perfect")


if __name__ == "__main__":
    sys.exit(main())
