"""Tests of tasks of a study on other machines: artifacts sent and returned."""

import json
from dataclasses import dataclass

import pytest

from ludoteca.evaluate.studies.execution import run_on_workers
from ludoteca.files import pack, unpack
from ludoteca.local_executor import InlineExecutor

# Program of a task: it writes its name, and the names in the artifacts that it requires.
CODE = """
import json, sys
from pathlib import Path
folder, name, *after = sys.argv[1:]
found = [json.loads((Path(folder) / task / "results.json").read_text())["name"] for task in after]
if name == "bad":
    sys.exit("no such agent")
made = Path(folder) / name
made.mkdir()
(made / "results.json").write_text(json.dumps({"name": name, "after": found, "place": str(made)}))
"""


@dataclass(frozen=True)
class NamingTask:
    """Task that runs `CODE`."""

    name: str
    requires: tuple[str, ...] = ()
    settings = {"seed": 0}  # noqa: RUF012

    def arguments(self, folder):
        """Return the arguments of `python`."""
        return ["-I", "-S", "-c", CODE, str(folder), self.name, *self.requires]

    def artifact(self, folder):
        """Return the file that the task writes."""
        return folder / self.name / "results.json"


def make(tmp_path, *tasks, waiting=None):
    """Run tasks, or those in `waiting`; return their names in the order in which they finish."""
    by_name = {task.name: task for task in tasks}
    waiting = [*by_name] if waiting is None else waiting
    return list(run_on_workers(by_name, waiting, tmp_path, InlineExecutor(), {}))


def test_tasks_run_after_those_they_require(tmp_path):
    tasks = NamingTask("c", ("a", "b")), NamingTask("b", ("a",)), NamingTask("a")
    assert make(tmp_path, *tasks) == ["a", "b", "c"]
    for task in tasks:
        made = json.loads(task.artifact(tmp_path).read_text())
        assert made["after"] == [*task.requires]
        assert made["place"] == str(tmp_path / task.name)  # not the temporary folder
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_earlier_artifacts_are_sent_to_the_worker(tmp_path):
    a, b = NamingTask("a"), NamingTask("b", ("a",))
    make(tmp_path, a)
    (tmp_path / "b").mkdir()  # begun, but not finished
    (tmp_path / "b" / "half").touch()
    assert make(tmp_path, a, b, waiting=["b"]) == ["b"]
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["results.json"]


def test_a_task_that_fails_is_named(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)bad failed: .*no such agent"):
        make(tmp_path, NamingTask("bad"))
    with pytest.raises(RuntimeError, match="these tasks require each other: x, y"):
        make(tmp_path, NamingTask("x", ("y",)), NamingTask("y", ("x",)))
    assert list(tmp_path.iterdir()) == []


def test_an_archive_cannot_write_elsewhere(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "folder" / "inside"
    inside.mkdir(parents=True)
    (inside / "link").symlink_to("/etc")
    content = pack(tmp_path / "folder", inside)
    outside.mkdir()
    with pytest.raises(Exception, match="link"):
        unpack(content, outside)
    assert list(outside.iterdir()) == []
