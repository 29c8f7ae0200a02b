"""Provenance of runs: the commit of the sources."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ludoteca.provenance import ROOT, run_info, source_commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder: Path, *arguments: str) -> str:
    """Run a git command in a folder and return its output."""
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a git checkout with one commit, which has a tag."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.py").write_text("A = 1\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    git(tmp_path, "tag", "v1")
    return tmp_path


def test_commit_of_a_checkout_is_recorded(checkout: Path) -> None:
    assert source_commit(checkout) == git(checkout, "rev-parse", "HEAD")


def test_commit_of_a_changed_checkout_is_dirty(checkout: Path) -> None:
    (checkout / "a.py").write_text("A = 2\n")
    assert source_commit(checkout) == git(checkout, "rev-parse", "HEAD") + "-dirty"


def test_commit_of_installed_sources_is_unknown(checkout: Path) -> None:
    """A virtual environment inside a checkout of another project is not that checkout."""
    installed = checkout / "site-packages"
    installed.mkdir()
    assert source_commit(installed) == "unknown"


def test_commit_is_unknown_without_git_or_commits(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    assert source_commit(empty) == "unknown"
    monkeypatch.setenv("PATH", "")
    assert source_commit(checkout) == "unknown"


def test_run_info_has_the_commit_of_this_package() -> None:
    commit = run_info()["commit"]
    if (ROOT / ".git").exists():
        assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", commit)
    else:
        assert commit == "unknown"
