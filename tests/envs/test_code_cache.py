"""Disk cache of compiled code: read-only folders, full disks, broken files, concurrent writers."""

import hashlib
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from numba import config
from source_copy import copy_sources

from ludoteca.envs import code_cache
from ludoteca.envs.code_cache import CHECKSUM_BYTES, private_folder
from ludoteca.envs.jit import compiled


@pytest.fixture(autouse=True)
def warned(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Reset the warnings that this process has already given."""
    topics: set[str] = set()
    monkeypatch.setattr(code_cache, "_warned", topics)
    return topics


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that caches the functions made now."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make_adder(constant: int) -> Any:
    """Return a compiled function that adds a constant."""

    def add(x: int) -> int:
        return x + constant

    return compiled(add)


def hits(function: Any) -> int:
    """Return how often a function was loaded from the cache."""
    return sum(function.stats.cache_hits.values())


def only_file(folder: Path) -> Path:
    """Return the path of the only file in a folder and its subfolders."""
    (file,) = (path for path in folder.rglob("*") if path.is_file())
    return file


def test_broken_files_are_deleted_and_written_anew(folder: Path) -> None:
    assert make_adder(5)(1) == 6
    file = only_file(folder)
    whole = file.read_bytes()
    noise = bytes(range(256)) * 40  # longer than a digest
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    no_pickle = hashlib.sha256(noise).digest() + noise  # its digest is right
    lengths = (
        0,
        1,
        CHECKSUM_BYTES - 1,
        CHECKSUM_BYTES,
        CHECKSUM_BYTES + 1,
        len(whole) // 2,
        len(whole) - 1,
    )
    for broken in [*(whole[:n] for n in lengths), noise, bytes(flipped), no_pickle, whole + b"0"]:
        file.write_bytes(broken)
        code_cache._warned.clear()
        add = make_adder(5)
        with pytest.warns(RuntimeWarning, match=f"{file.name} is broken .* compiled again"):
            assert add(1) == 6
        assert hits(add) == 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = make_adder(5)
            assert (again(1), hits(again)) == (6, 1)
        assert only_file(folder) == file


def test_a_full_disk_gives_one_warning_and_the_code_runs(folder: Path) -> None:
    resource = pytest.importorskip("resource")
    add, other = make_adder(6), make_adder(7)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # files grow no larger
    try:
        with pytest.warns(RuntimeWarning, match="cannot be cached .* set NUMBA_CACHE_DIR") as seen:
            assert (add(1), other(1)) == (7, 8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(seen) == 1
    assert not [path for path in folder.rglob("*") if path.is_file()], "nothing half written stays"
    assert (make_adder(6)(1), only_file(folder).exists()) == (7, True)


def test_a_deleted_folder_is_created_again(folder: Path) -> None:
    add = make_adder(8)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir()
    assert add(1) == 9
    assert only_file(folder).exists()


def test_flushing_deletes_the_files_of_a_function(folder: Path) -> None:
    add = make_adder(9)
    assert (add(1), add(1.0)) == (10, 10.0)
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 2
    add._cache.flush()
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_the_private_folder_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = private_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder() == folder
    folder.chmod(0o770)
    with pytest.raises(PermissionError, match="only its owner can use"):
        private_folder()
    folder.rmdir()
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    folder.symlink_to(target)
    with pytest.raises(PermissionError, match="only its owner can use"):
        private_folder()


# Module in a folder that cannot be written to: two functions, for which one warning is expected.
ADDERS = """
from ludoteca.envs.jit import compiled

def make_adder(constant):
    @compiled
    def add(x):
        return x + constant
    return add

adders = make_adder(1), make_adder(3)
results = [add(2) for add in adders]
print(results + [sum(sum(add.stats.cache_hits.values()) for add in adders)])
"""


def test_an_installation_that_cannot_be_written_to(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The package and the home directory are read-only: a file is where a folder should be."""
    tree = copy_sources(tmp_path)
    (tree.folder / "__pycache__").write_text("")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    changes = {
        "NUMBA_CACHE_DIR": None,
        "HOME": None,
        "XDG_CACHE_HOME": os.devnull,
        "TMPDIR": str(temporary),
    }
    (tree.folder / "adders.py").write_text(ADDERS)
    play = "import adders"
    first, again = (tree.run(play, **changes) for _ in range(2))
    # Two results and the number of cache hits: the second run loads from a private folder.
    assert (first, again) == ([3, 5, 0], [3, 5, 2])
    (private,) = temporary.iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    errors = capfd.readouterr().err
    assert errors.count("RuntimeWarning: neither the installed package nor") == 2
    assert errors.count("set NUMBA_CACHE_DIR") == 2

    private.chmod(0o777)  # others could write to it, so nothing there is trusted
    assert tree.run(play, **changes) == first
    errors = capfd.readouterr().err
    assert errors.count("RuntimeWarning: compiled code cannot be cached") == 1
