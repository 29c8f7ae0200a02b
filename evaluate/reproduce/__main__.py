"""`python -m ludoteca.evaluate.reproduce NAME`: run an experiment by name."""

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from ludoteca.extras import explain

# One line for each experiment: its name, and the function whose parameters are its options.
EXPERIMENTS = {
    "bandits": "ludoteca.evaluate.bandits.command:reproduce",
    "geese": "ludoteca.evaluate.reproduce.geese:reproduce",
    "ggp": "ludoteca.evaluate.reproduce.ggp:reproduce",
    "hex": "ludoteca.evaluate.reproduce.hex:reproduce",
    "othello": "ludoteca.evaluate.reproduce.othello:reproduce",
    "solved": "ludoteca.evaluate.reproduce.solved:reproduce",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the user asked for what cannot be."""
    name, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    if name not in EXPERIMENTS:
        names = ", ".join(EXPERIMENTS)
        asked = name in ("", "-h", "--help")
        print(
            f"usage: python -m ludoteca.evaluate.reproduce NAME [OPTIONS]\n\nexperiments: {names}"
            if asked
            else f"unknown experiment {name!r}; there are {names}",
            file=sys.stdout if asked else sys.stderr,
        )
        return 0 if asked else 2
    module, _, attribute = EXPERIMENTS[name].partition(":")
    run: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    try:
        tyro.cli(
            run,
            prog=f"python -m ludoteca.evaluate.reproduce {name}",
            args=rest[:-1],
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("LUDOTECA_DEBUG"):
            raise
        print(f"reproduce {name}: {explain(error, 'evaluate') or error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
