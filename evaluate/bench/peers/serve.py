"""Measure a peer, round by round: `python serve.py MODULE JSON`.

`MODULE` is a file in this folder with `prepare(**options) -> (versions, run)`, and `JSON` holds
the options. `prepare` warms up; `run(seconds) -> (steps, seconds)` plays for about that long. When
ready, the versions are written as one JSON line; then each line of the input asks for one round of
that many seconds, and is answered by one JSON line.
"""

import importlib
import json
import os
import sys


def main() -> None:
    """Prepare the peer, then answer until the input ends."""
    # Some packages print at import; their output goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    versions, run = importlib.import_module(sys.argv[1]).prepare(**json.loads(sys.argv[2]))
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        steps, seconds = run(float(line))
        print(json.dumps({"steps": steps, "seconds": seconds}), file=answers, flush=True)


if __name__ == "__main__":
    main()
