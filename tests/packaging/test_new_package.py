"""Tests of `ludoteca new-package`: its package can be installed and passes its own tests."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from bounds import ROOT
from fresh_install import check_wheel, install

from ludoteca.evaluate.new_package.write import FILES, write_package
from ludoteca.testing import check_kernels


def run(command: list[object], folder: Path) -> str:
    """Run a command; return its output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    process = subprocess.run(
        [str(argument) for argument in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    return process.stdout


def test_a_new_package_declares_its_game_and_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_package("my-games", tmp_path / "my-games")
    assert len(files) == len(FILES)
    assert all("$" not in str(file) and "$" not in file.read_text() for file in files)
    project = tomllib.loads((tmp_path / "my-games" / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {
        "ludoteca.games": {"my_games_heap": "my_games.games:my_games_heap"},
        "ludoteca.agents": {"my_games_perfect": "my_games.agents:PerfectAgent"},
    }
    monkeypatch.syspath_prepend(tmp_path / "my-games" / "src")
    from my_games.games import my_games_heap

    check_kernels(my_games_heap(heap=5), games=5)
    check_kernels("my_games.games:my_games_heap:heap=3,max_take=1", games=2)


@pytest.mark.parametrize(
    "name", ["My-games", "1games", "my--games", "import", "ludoteca", "", "a b"]
)
def test_invalid_package_names_are_errors(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name"):
        write_package(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_not_empty_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(ValueError, match="is not an empty folder"):
        write_package("my-games", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.slow
def test_an_installed_package_adds_its_game_and_agent(tmp_path: Path) -> None:
    wheel = check_wheel()
    python = install("new-package", "-c", str(ROOT / "constraints.txt"), str(wheel), "pytest")
    ludoteca = python.parent / "ludoteca"
    package = tmp_path / "my-games"
    assert "my_games/games.py" in run([ludoteca, "new-package", "my-games"], tmp_path)
    run([python, "-m", "pip", "install", "--quiet", package], tmp_path)
    listed = run([ludoteca, "list"], tmp_path)
    assert "MyGamesHeap-v0" in listed
    assert "heap=12, max_take=3 (package my-games 0.1.0)" in listed
    assert "Agent of another package: my_games_perfect (package my-games 0.1.0)" in " ".join(
        listed.split()
    )
    assert "4 passed" in run([python, "-m", "pytest", "-q"], package)
    match = ["match", "my_games_heap", "--heap", "7", "--agents", "my_games_perfect", "random"]
    assert "100.0" in run([ludoteca, *match, "--games", "20"], tmp_path)
    program = (
        "import gymnasium, ludoteca\n"
        "env = gymnasium.make('ludoteca/MyGamesHeap-v0', heap=9, opponent='my_games_perfect')\n"
        "print(env.reset(seed=0)[1]['action_mask'])\n"
    )
    assert "[1 1 1]" in run([python, "-c", program], tmp_path)
