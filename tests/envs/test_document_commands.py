"""The commands of the README and the documents.

Every command in a block tagged `bash` is parsed by its program. Commands of blocks tagged `bash
quick` are also run. The slow tests run all other commands that need neither a window nor files that
the documents do not make. Commands are run in order, in an empty folder for each document, with the
smaller numbers of `document_commands.SMALLER`. The commands of `docs/adding_a_game.md` are run by
their own test.
"""

import importlib.util
from pathlib import Path

import pytest
from document_blocks import DOCUMENTS, ROOT
from document_commands import check_command, commands_of, run, smaller

RUN_ELSEWHERE = ROOT / "docs/adding_a_game.md"  # in test_adding_a_game.py
documents = pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if path != RUN_ELSEWHERE and list(commands_of(path))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
# Parts of commands that are parsed but not run, each with the reason.
NOT_RUN = {
    "make ": "sets up a virtual environment",
    "pip ": "installs packages",
    "ludoteca play": "opens a window or waits for keys",
    "ludoteca arena": "serves until it is interrupted",
    "ludoteca gtp": "reads commands from standard input",
    "ludoteca htp": "reads commands from standard input",
    "ludoteca nboard": "reads commands from standard input",
    "my-engine": "needs an engine",
    "ludoteca ggp-player": "waits for a game manager",
    "ludoteca ggp-match": "needs players",
    "--clock": "plays for minutes; its own tests are smaller",
    "--watch": "plays an animation in the terminal",
    "--peers": "needs the peers of `make peers`",
    "ludoteca bench": "measures for minutes",
    "ludoteca reproduce": "computes for hours",
    "ludoteca tune": "plays for minutes; its own tests are smaller",
    "ludoteca train": "trains for a given time",
    "ludoteca rating": "needs the networks of a long training",
    "torchrun": "starts several processes",
    "ludoteca.train.": "trains a network; the tests of train/ run them",
    "runs/": "needs the folder of a training",
    "kaggle:": "needs a submission",
    "python=": "needs another Python",
    "pytest": "is run by its own test",
}


def is_runnable(command: str, folder: Path) -> bool:
    """Return whether a command is run: its files exist, and NOT_RUN has no reason against it."""
    if "--executor ray" in command:
        return False  # the tests of Ray run such commands
    uses_onnx = "export onnx" in command or "onnx:" in command
    if uses_onnx and importlib.util.find_spec("onnx") is None:
        return False  # the command needs the extra `onnx`; the tests of ONNX run it
    run_folders = [word for word in command.split() if word.startswith("runs/") and "=" not in word]
    if command.startswith("ludoteca replay ") and "--watch" not in command:
        return (folder / command.split()[2]).exists()
    if run_folders and ("--replays" in command or command.startswith(("ludoteca tournament",))):
        return True
    if "kaggle:submission.py" in command and (folder / "submission.py").exists():
        return "python=" not in command
    return not any(part in command for part in NOT_RUN)


@documents
def test_commands_are_parsed(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for line, command, _ in commands_of(document):
        try:
            check_command(command)
        except ValueError as error:
            pytest.fail(f"{document.name}, block at line {line}: {error}")


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if any("quick" in tags for _, _, tags in commands_of(path))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
@pytest.mark.interpreted
def test_quick_commands_run(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for _, command, tags in commands_of(document):
        if "quick" in tags:
            assert run(smaller(command)).strip(), command


@pytest.mark.slow
@documents
def test_commands_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for _, command, _ in commands_of(document):
        if is_runnable(command, tmp_path):
            printed = run(smaller(command))
            assert printed.strip(), command


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("ludoteca match hex --bord-size 5", "--bord-size"),
        ("ludoteca match hex --games many", "many"),
        ("ludoteca mach hex", "mach"),
        ("ludoteca match hex --agents mcts:simulation=5 random", "simulation"),
        ("python -m ludoteca.train.dqn --game hex --lerning-rate 1", "lerning-rate"),
        ("make dmeo", "there is no dmeo"),
        ("pip install -c constraint.txt .[trian]", "there is no constraint.txt, trian"),
        ("pytest tests/none.py", "there is no tests/none.py"),
        ("curl example.org", "no test knows how to check"),
    ],
)
def test_invalid_commands_are_found(command: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_command(command)


def test_numbers_are_made_smaller() -> None:
    assert smaller("ludoteca match hex --games 1000 --seed 5000") == (
        "ludoteca match hex --games 4 --seed 5000"
    )
    assert smaller("ludoteca match hex --agents mcts:simulations=50 random") == (
        "ludoteca match hex --agents mcts:simulations=5 random"
    )
    for command in ("ludoteca match hex --games 3", "ludoteca tournament --games hex tron"):
        assert smaller(command) == command
