"""Check of the language: words that this package does not use, and the word to use instead.

`make lint` runs it over all sources and documents. docs/GLOSSARY.md has the terms.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".md", ".tmpl", ".j2", ".toml", ".yaml"}
NOT_CHECKED = {"tests/packaging/language.py", "tests/packaging/test_language.py"}

# A word ends at an underscore, too: `warm_up_steps` has `warm_up`.
WORDS = {
    # Prose.
    # `tell` is a method of the ask-and-tell interface of optimizers.
    r"(?<!\.)(?<!def )[Tt]ells?|tells?(?!\()|[Tt]old|telling": "return, report, say, whether",
    "goes[ _]on|go[ _]on|going[ _]on|went[ _]on": "continue, resume",
    "[Ww]hoever|[Ww]homever": "the player, the agent, a user",
    "foretells?|foretold|foresee": "predict",
    "what comes of|what came of|what becomes of": "result, outcome",
    "(?<!there )is no (number|name|file|folder|agent|game|position|action|integer)": "is not a",
    "[Ss]ide[ _]by[ _]side": "in a batch, in parallel",
    "skins? of": "wraps",
    # Environments.
    "lanes?|Lanes?": "env_index, GameBatch, EpisodeState",
    "OneByOne|InTurn": "ParallelToAEC, AECToParallel",
    "use_maker": "set_agent_factory",
    "names_from": "untrusted_names",
    "write_whole": "write_atomically",
    # Search.
    "judges?|Judge|judged": "evaluator, evaluate",
    "Found|JointFound": "SearchResult, DecoupledSearchResult",
    # Training.
    "warm_up": "learning_starts",
    "target_every": "target_update_interval",
    "clip_ratio": "clip_range",
    "full_share": "full_search_prob",
    "keep_every": "checkpoint_interval",
    "certain_share": "confident_fraction",
    "gain_share": "improvement_fraction",
    "Descent": "TrainableModel",
    "HerePlayer|WorkersPlayer": "LocalActor, MultiprocessActor",
    # Evaluation.
    "Hall": "MatchRunner",
    "Tally|tally|tallies": "Record, count",
}
PATTERNS = {re.compile(rf"(?<![A-Za-z])({word})(?![a-z])"): use for word, use in WORDS.items()}
GENERIC_CLASS = re.compile(r"^class (Config|Training|Learner|Round|Data)\b")


def files(folders: list[str]) -> list[Path]:
    """Return the sources and documents that git tracks in some folders, or everywhere."""
    command = ["git", "ls-files", "-z", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in listed.split("\0") if name and name not in NOT_CHECKED)
    return [path for path in paths if path.suffix in SUFFIXES and path.is_file()]


def violations(name: str, text: str) -> Iterator[str]:
    """Return each banned word of a text, with its line and the word to use instead."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, use in PATTERNS.items():
            if match := pattern.search(line):
                yield f"{name}:{number}: {match[1]!r}; use: {use}"
        if match := GENERIC_CLASS.match(line):
            yield f"{name}:{number}: class {match[1]!r}; use a name of its own, such as DQNConfig"


def main(folders: list[str]) -> int:
    """Print all violations; return the exit status: 1 if there are any."""
    lines = [
        line
        for path in files(folders)
        for line in violations(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    print("\n".join(lines) or "language: nothing found")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
