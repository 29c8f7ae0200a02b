"""Every Python example of the README and the documentation runs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
DOCUMENTS += [ROOT / "docs/results/README.md", *sorted((ROOT / "docs/games").glob("*.md"))]
DOCUMENTS += sorted((ROOT / "docs/tutorial").glob("*.md"))


def examples(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the code of each block tagged `python`, but not `no-test`."""
    for match in FENCE.finditer(text):
        tags = match["info"].split()
        if tags[:1] == ["python"] and "no-test" not in tags:
            yield text.count("\n", 0, match.start("code")), match["code"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a document run in order and share their names, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for line, code in examples(document.read_text(encoding="utf-8")):
        # Empty lines in front give errors the line numbers of the document.
        exec(compile("\n" * line + code, str(document), "exec"), names)


def test_blocks_are_found_by_their_tags() -> None:
    text = "# A\n```python\na = 1\n```\n```python no-test\nb\n```\n```bash\nc\n```\n```\nd\n```\n"
    text += "```python\ne = 2\nf = 3\n```\n"
    assert list(examples(text)) == [(2, "a = 1\n"), (14, "e = 2\nf = 3\n")]
