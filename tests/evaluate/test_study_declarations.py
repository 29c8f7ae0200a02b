"""Tests of the declarations of studies in TOML: tables, placeholders, repeated tasks, fast runs."""

from pathlib import Path

import pytest

from ludoteca.evaluate.studies import data
from ludoteca.evaluate.studies import study as studies
from ludoteca.evaluate.studies.data import read_data, rows_of
from ludoteca.evaluate.studies.declaration import Declaration

pytestmark = pytest.mark.interpreted

STUDY = """
parts = ["all"]
placeholders = ["best", "seconds"]
needs = { all = "ac:geese" }

[constants]
search = "mcts:simulations={count}"
count = 50
fast_count = 5
twice = ["{search}", "random"]

[tables.networks]
columns = ["name", "games", "fast_games", "start"]
rows = [["small", 10, 1, ""], ["large", 1000, 2, "small"]]

[kinds.network]
module = "train"
settings = { epochs = 3 }
options = { run_dir = "{folder}/{name}" }

[[tasks]]
part = "all"
name = "data"
module = "generate"
settings = { games = 1_000 }
artifact = "games.npz"
record = false

[[tasks]]
part = "all"
each = { net = "networks", seed = [0, 1] }
name = "net-{net.name}-{seed}"
kind = "network"
data = "data"
longest_first = true
settings = [{ games = "{net.games}", fast_epochs = 1 }, { seed = "{seed}" }]
options = { start_from = "{net.start}" }

[[tasks]]
part = "all"
name = "match"
module = "match"
requires = ["net-small-0", ""]
winners = { best = "final" }
pace = { match = "final", factor = 2 }
shipped = ["ac:geese", "ac:none"]
settings = { agents = ["{twice}", "{best},{folder}/x"], precision = "{precision}" }
options = { out = "{artifact}" }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of all studies, with the study `x`."""
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "x/study.toml").write_text(STUDY)
    return tmp_path


def tasks_of(fast):
    """Return the tasks of the study `x`."""
    return Declaration("x", fast, {"precision": "float32"}).make_study().tasks


def test_tasks_are_repeated_for_rows_and_lists(folder):
    tasks = tasks_of(fast=False)
    assert list(tasks) == [
        "data", "net-large-0", "net-large-1", "net-small-0", "net-small-1", "match",
    ]  # fmt: skip
    large, small = tasks["net-large-1"], tasks["net-small-0"]
    assert large.module == "train"
    assert large.settings == {"epochs": 3, "games": 1000, "seed": 1, "data": {"games": 1000}}
    assert large.options["run_dir"] == "{folder}/net-large-1"
    assert large.options["data"] == "{folder}/data/games.npz"
    assert large.options["start_from"] == "small"
    assert "start_from" not in small.options
    assert small.requires == ("data",)
    assert (tasks["data"].has_record, small.has_record) == (False, True)


def test_fast_runs_have_other_values(folder):
    tasks = tasks_of(fast=True)
    assert tasks["net-small-0"].settings == {
        "epochs": 1, "games": 1, "seed": 0, "data": {"games": 1000},
    }  # fmt: skip
    assert tasks["match"].options["agents"][0] == "mcts:simulations=5"


def test_matches_have_placeholders_and_fingerprints(folder, monkeypatch):
    file = folder / "weights"
    file.write_bytes(b"weights")
    monkeypatch.setattr(studies, "shipped_weights", lambda kind: {"geese": file})
    match = tasks_of(fast=False)["match"]
    agents = ("mcts:simulations=50", "random", "{best},{folder}/x")
    assert match.options == {"agents": agents, "precision": "float32", "out": "{artifact}"}
    (fingerprint,) = match.settings["networks"].values()
    assert match.settings["networks"].keys() == {"ac:geese"}
    assert match.artifact(Path("f")) == Path(f"f/match-{fingerprint}/results.json")
    assert (match.settings["winners"], match.settings["pace"]) == ({"best": "final"}, "final")
    assert match.settings["times"] == match.placeholders["seconds"].factor == 2
    assert match.requires == ("net-small-0",)


def test_parts_without_their_network_are_unavailable(folder, monkeypatch):
    monkeypatch.setattr(studies, "shipped_weights", lambda kind: {})
    study = Declaration("x", options={"precision": "float32"}).make_study()
    assert "needs the network ac:geese, which this package lacks" in study.unavailable["all"]
    assert study.tasks["match"].artifact(Path("f")) == Path("f/match/results.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('module = "match"', 'modul = "match"', r"unknown fields \['modul'\]"),
        ('part = "all"\nname = "data"', 'part = "some"\nname = "data"', r"'some' is not one of"),
        ("{net.games}", "{net.count}", r"unknown placeholder in '\{net.count\}'"),
        ("{precision}", "{accuracy}", r"unknown placeholder in '\{accuracy\}'"),
    ],
)
def test_invalid_declarations_are_refused(folder, old, new, message):
    assert old in STUDY
    (folder / "x/study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        tasks_of(fast=False)


def test_tables_are_lists_of_rows(folder):
    assert read_data("x/study.toml")["tables"]["networks"][1] == {
        "name": "large", "games": 1000, "fast_games": 2, "start": "small",
    }  # fmt: skip
    assert rows_of(["a", "b"], [[1, "x"], [2.5, "y"]]) == [{"a": 1, "b": "x"}, {"a": 2.5, "b": "y"}]
    assert rows_of(["a"], []) == []


@pytest.mark.parametrize(
    ("columns", "cells", "message"),
    [
        (["a", "a"], [], "columns must have different names"),
        (["a", "b"], [[1, 2], [3]], "row 1 must have 2 cells"),
        (["a"], [[1], ["x"]], "column 'a' must have cells of one type"),
    ],
)
def test_invalid_tables_are_refused(folder, columns, cells, message):
    with pytest.raises(ValueError, match=message):
        rows_of(columns, cells)
    (folder / "broken.toml").write_text(f"[t]\ncolumns = {columns}\nrows = {cells}\n")
    with pytest.raises(ValueError, match=f"broken.toml: {message}"):
        read_data("broken.toml")


def test_files_that_are_not_toml_are_refused(folder):
    (folder / "broken.toml").write_text("a = [")
    with pytest.raises(ValueError, match=r"^broken.toml: "):
        read_data("broken.toml")
