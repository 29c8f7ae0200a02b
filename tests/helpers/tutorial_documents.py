"""Outputs, pictures and notebooks of the tutorial.

`python -P tests/helpers/tutorial_documents.py run FILE...` runs documents from top to bottom in
runs/tutorial, writes what their blocks print into the documents, and copies the pictures that they
draw to docs/images. `notebooks` instead of `run` writes a notebook from each document to
docs/notebooks.
"""

import argparse
import json
import os
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":  # `python -P` does not put this folder on the import path
    sys.path.insert(0, str(Path(__file__).parent))

from document_blocks import FENCE, Block, agrees, blocks_of, execute  # noqa: E402

TUTORIAL = ROOT / "docs" / "tutorial"
NOTEBOOKS = ROOT / "docs" / "notebooks"
IMAGE = re.compile(r"!\[[^\]]*\]\((\.\./images/[^)]+)\)")
LINK = re.compile(r"(?P<start>\]\()(?P<target>(?!https?:|#)[^)]+)(?P<end>\))")


def main() -> None:
    """Parse the command line and run documents or write notebooks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("run", "notebooks"))
    parser.add_argument("documents", nargs="*", type=Path)
    args = parser.parse_args()
    documents = args.documents or sorted(TUTORIAL.glob("[0-9]_*.md"))
    for document in documents:
        if args.command == "run":
            run(document.resolve())
        else:
            path = NOTEBOOKS / f"{document.stem}.ipynb"
            path.parent.mkdir(exist_ok=True)
            path.write_text(notebook_text(document), encoding="utf-8")
            print(path.relative_to(ROOT))


def run(document: Path) -> None:
    """Run a document; write the outputs into it, and its pictures into docs/images."""
    folder = ROOT / "runs" / "tutorial"
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    text = document.read_text(encoding="utf-8")
    outputs = []
    for block in blocks_of(text):
        if block.language == "python" and "no-test" not in block.tags:
            printed = execute(block, names, document)
            print(printed, end="", flush=True)
            if bool(printed) != (block.output is not None):
                raise SystemExit(
                    f"{document}:{block.line}: prints {printed!r}, shows {block.output!r}"
                )
            outputs.append((block, printed))
    os.chdir(before)
    document.write_text(with_outputs(text, dict(outputs)), encoding="utf-8")
    for target in IMAGE.findall(text):
        picture = folder / Path(target).name
        if picture.exists():
            copy = (document.parent / target).resolve()
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(picture, copy)


def with_outputs(text: str, printed: dict[Block, str]) -> str:
    """Return a document with what its blocks printed.

    Args:
        text: the document.
        printed: the output of each block. Outputs that agree are not changed: they may have `...`
            for times.
    """
    starts = {block.line: block for block in printed}
    matches = list(FENCE.finditer(text))
    for match, follower in reversed(list(pairwise(matches))):
        block = starts.get(text.count("\n", 0, match.start("code")))
        if block is None or block.output is None or agrees(block.output, printed[block]):
            continue
        lines = [line.rstrip() for line in printed[block].strip("\n").split("\n")]
        output = "\n".join(lines) + "\n"
        text = text[: follower.start("code")] + output + text[follower.end("code") :]
    return text


def notebook_text(document: Path) -> str:
    """Return a document as a notebook, in JSON.

    Blocks of Python are cells of code with the output that the document shows; blocks tagged
    `file=NAME` write the file. All else is text. Links lead to the documents.
    """
    text = document.read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = []
    matches = list(FENCE.finditer(text))
    blocks = list(blocks_of(text))
    start = 0
    skipped = None
    for k, (match, block) in enumerate(zip(matches, blocks, strict=True)):
        if block is skipped:
            start = match.end()
            continue
        if block.language != "python" or "no-test" in block.tags:
            continue
        _add_text(cells, text[start : match.start()])
        cells.append(_code_cell(len(cells), block))
        start = match.end()
        skipped = blocks[k + 1] if block.output is not None else None
    _add_text(cells, text[start:])
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _add_text(cells: list[dict[str, Any]], text: str) -> None:
    """Add a cell of text to a notebook, without the tags of code blocks."""
    text = re.sub(r"^```(\w+)[^\n`]*$", r"```\1", text.strip("\n"), flags=re.MULTILINE)
    if text.strip():
        text = LINK.sub(_to_docs, text)
        cells.append(
            {
                "cell_type": "markdown",
                "id": f"cell-{len(cells)}",
                "metadata": {},
                "source": text.splitlines(keepends=True),
            }
        )


def _to_docs(match: re.Match[str]) -> str:
    """Return a link of a document in docs/tutorial as one of docs/notebooks."""
    target = match["target"]
    if not target.startswith("../"):
        target = f"../tutorial/{target}"
    return f"{match['start']}{target}{match['end']}"


def _code_cell(number: int, block: Block) -> dict[str, Any]:
    """Return the cell of a Python block, with the output that the document shows."""
    code = f"%%writefile {block.file}\n{block.code}" if block.file else block.code
    outputs = []
    if block.output is not None:
        outputs.append(
            {
                "name": "stdout",
                "output_type": "stream",
                "text": block.output.splitlines(keepends=True),
            }
        )
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"cell-{number}",
        "metadata": {"tags": ["parameters"]} if "parameters" in block.tags else {},
        "outputs": outputs,
        "source": code.rstrip("\n").splitlines(keepends=True),
    }


if __name__ == "__main__":
    main()
