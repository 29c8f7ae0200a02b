"""Python examples of the README and the documents run, and print the outputs shown.

Tags of blocks:

- `python`: the block is run, interpreted.
- `python no-test`: the block is not run.
- `python slow`: only slow tests run the block and those that follow it in the document.
- `python compiled`: only slow tests run the block, compiled, because it plays many games.
- `text`: the output of the block above; `...` stands for any text.
- `varies`: numbers and cells of the output may differ.
- `file=NAME`: the block is written to that file.
- `quick:NAME=VALUE,...`: values of the block's parameters in shortened runs. The slow tests run the
  notebooks of the tutorial from top to bottom, shortened.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from document_blocks import DOCUMENTS, ROOT, Block, agrees, blocks_of, execute

from ludoteca.envs.interpreted import interpreting, is_interpreted
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.solve import solve

pytestmark = pytest.mark.interpreted

TUTORIAL = ROOT / "docs/tutorial/2_deep_q_learning.md"
RUN_NOTEBOOK = ROOT / "tests/helpers/run_notebook.py"


def examples(text: str) -> list[Block]:
    """Return the blocks tagged `python`, but not `no-test`."""
    blocks = blocks_of(text)
    return [block for block in blocks if block.language == "python" and "no-test" not in block.tags]


def before_slow(blocks: list[Block]) -> list[Block]:
    """Return the blocks before the first slow one."""
    slow = [k for k, block in enumerate(blocks) if "slow" in block.tags]
    return blocks[: slow[0]] if slow else blocks


def quick_part(blocks: list[Block]) -> list[Block]:
    """Return the interpreted blocks before the first slow one."""
    return [block for block in before_slow(blocks) if "compiled" not in block.tags]


def run_blocks(document: Path, blocks: list[Block], quick: bool = False) -> dict[str, Any]:
    """Run the blocks of a document in one namespace; return the namespace.

    In interpreted mode, blocks tagged `compiled` compile nevertheless.

    Raises:
        AssertionError: if the output of a block differs from the document.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    interpreted = is_interpreted()
    for block in blocks:
        with interpreting(interpreted and "compiled" not in block.tags):
            text = execute(block, names, document, quick)
        check_output(document, block, text)
    return names


def check_output(document: Path, block: Block, text: str) -> None:
    """Assert that a block printed the output that the document shows."""
    where = f"the block at line {block.line} of {document.name}"
    if block.output is None:
        assert not text, f"{where} prints, but shows no output: {text!r}"
    else:
        same = agrees(block.output, text, "varies" in block.tags)
        assert same, f"{where} shows another output:\n{text}"


def empty_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder, without windows and with a terminal of 80 columns."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if quick_part(examples(path.read_text(encoding="utf-8")))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a document run in order, in an empty folder."""
    empty_folder(tmp_path, monkeypatch)
    run_blocks(document, quick_part(examples(document.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    "document",
    [
        path
        for path in DOCUMENTS
        if any("compiled" in block.tags for block in examples(path.read_text(encoding="utf-8")))
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
@pytest.mark.slow
@pytest.mark.interpreted
def test_examples_with_compiled_blocks_run(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_folder(tmp_path, monkeypatch)
    run_blocks(document, before_slow(examples(document.read_text(encoding="utf-8"))))


@pytest.mark.slow
def test_the_network_of_the_tutorial_agrees_with_perfect_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the document's training, the value of each first move has the sign of its result."""
    empty_folder(tmp_path, monkeypatch)
    blocks = examples(TUTORIAL.read_text(encoding="utf-8"))
    assert any("slow" in block.tags for block in blocks)
    names = run_blocks(TUTORIAL, blocks)
    check_signs(names["values"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "docs/notebooks").glob("[3-9]_*.ipynb")), ids=lambda p: p.stem
)
def test_notebooks_run_from_top_to_bottom(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cells run in IPython, shortened, and print what the document shows."""
    pytest.importorskip("IPython", reason="IPython runs notebooks: the extra `notebook`")
    empty_folder(tmp_path, monkeypatch)
    document = TUTORIAL.with_name(f"{notebook.stem}.md")
    blocks = examples(document.read_text(encoding="utf-8"))
    quick = {name: value for block in blocks for name, value in block.quick.items()}
    assert quick, "no parameter shortens the run"
    command = [
        sys.executable,
        "-P",
        str(RUN_NOTEBOOK),
        str(notebook),
        json.dumps(quick),
        "out.json",
    ]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    printed = json.loads(Path("out.json").read_text(encoding="utf-8"))
    for block, text in zip(blocks, printed, strict=False):
        if not block.file:
            check_output(document, block, text)
    assert done.returncode == 0, done.stderr
    assert len(printed) == len(blocks)


def test_the_values_shown_in_the_tutorial_agree_with_perfect_play() -> None:
    """The values in the document's table have the signs of the solver's results."""
    (printed,) = (
        block.output
        for block in examples(TUTORIAL.read_text(encoding="utf-8"))
        if "print(values)" in block.code
    )
    assert printed is not None
    numbers = printed.replace("[", " ").replace("]", " ").split()
    check_signs(np.array([float(number) for number in numbers]).reshape(3, 3))


def check_signs(values: Any) -> None:
    """Assert that values `[3, 3]` of first moves in Hex have the signs of the solver's results."""
    game = make_game("hex:board_size=3")
    results = solve(game).actions
    by_cell = np.array([results[name] for name in game.action_names[:9]]).reshape(3, 3)
    assert (by_cell == 1).sum() == 5  # winning openings of the solved board
    np.testing.assert_array_equal(np.sign(values), by_cell)


def test_blocks_are_found_by_their_tags() -> None:
    text = "# A\n```python\na = 1\n```\n```python no-test\nb\n```\n```bash\nc\n```\n```\nd\n```\n"
    text += "```python\ne = 2\nf = 3\n```\n\n```text\n1 ...\n```\nprose\n```text\nelse\n```\n"
    text += "```python slow\ng\n```\n```python\nh\n```\n"
    blocks = [(block.line, block.code, block.output) for block in examples(text)]
    assert blocks == [
        (2, "a = 1\n", None),
        (14, "e = 2\nf = 3\n", "1 ...\n"),
        (26, "g\n", None),
        (29, "h\n", None),
    ]
    assert [block.code for block in quick_part(examples(text))] == ["a = 1\n", "e = 2\nf = 3\n"]


def test_parameters_are_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "```python parameters quick:N=2,M=(1)\nN = 10\nM = 3\n```\n"
    text += "```python file=a.py\nx = 1\n```\n```python\nprint(N + M)\n```\n```text\n{}\n```\n"
    run_blocks(tmp_path / "a.md", examples(text.format(13)))
    run_blocks(tmp_path / "a.md", examples(text.format(3)), quick=True)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    wrong = "```python parameters quick:K=2\nN = 10\n```\n"
    with pytest.raises(AssertionError, match="no parameter"):
        run_blocks(tmp_path / "a.md", examples(wrong), quick=True)


@pytest.mark.parametrize(
    ("output", "printed", "same"),
    [
        ("a 1.0 s\n", "a 1.0 s\n", True),
        ("a ... s\n", "a 1.0 s\n", True),
        ("a ... s\n", "a 1.0 t\n", False),
        ("a b\n", "a  b\n", False),
        ("\na\n\nb", "a  \n\nb \n\n", True),
        ("a\nb\n", "a\n", False),
    ],
)
def test_outputs_are_compared_by_line(output: str, printed: str, same: bool) -> None:
    assert agrees(output, printed) == same


def test_numbers_of_outputs_that_vary_may_differ() -> None:
    assert agrees(
        "won 62.0 % [-0.5  1.]\n", "won 7 % [ 0.25 -1. ]\n".replace(". ]", ".]"), varies=True
    )
    assert not agrees("won 62 %\n", "lost 62 %\n", varies=True)
    assert not agrees("1\n2\n", "1\n", varies=True)


def test_a_block_that_prints_must_show_its_output(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    for text in ("```python\nprint(1)\n```\n", "```python\nprint(1)\n```\n```text\n2\n```\n"):
        with pytest.raises(AssertionError, match=r"the block at line 1 of a\.md"):
            run_blocks(document, examples(text))
    assert run_blocks(document, examples("```python\nx = 3\n```\n"))["x"] == 3
