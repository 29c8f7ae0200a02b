"""Command of the recipes, `python -m ludoteca.evaluate.recipes`; `make recipes` runs it."""

import sys

from ludoteca.evaluate.cli.commands import Command, run_command


def main() -> int:
    """Run the command line; return the exit status: 0, or 2 if a recipe failed."""
    command = Command("ludoteca.evaluate.recipes.command:run_recipes", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.recipes")


if __name__ == "__main__":
    sys.exit(main())
