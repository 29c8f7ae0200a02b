"""Process that measures a peer (another package) on request: `python serve.py MODULE JSON`.

`MODULE` is a file in this folder with `prepare(**options) -> (versions, run)`, and `JSON` holds
the options. `prepare` warms up; `run(seconds) -> (steps, seconds)` runs for about that time. When
ready, the process writes the versions as one JSON line. Then each line that it reads is a number of
seconds: it runs for that time, and writes the steps and seconds as one JSON line.
"""

import importlib
import json
import os
import sys


def main() -> None:
    """Prepare the peer, then measure until the input ends."""
    # Some packages print at import; their output goes to stderr.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    versions, run = importlib.import_module(sys.argv[1]).prepare(**json.loads(sys.argv[2]))
    print(json.dumps(versions), file=output, flush=True)
    for line in sys.stdin:
        steps, seconds = run(float(line))
        print(json.dumps({"steps": steps, "seconds": seconds}), file=output, flush=True)


if __name__ == "__main__":
    main()
