"""Tests with a part of the fuzz program's inputs; `make fuzz` runs all of it."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz.py")
# Targets that need neither PyTorch nor compilation.
CHEAP = (
    "game_specs", "states_json", "states_bytes", "replays", "tournament_records", "ratings",
    "episodes", "kaggle_answers", "submission_archives", "game_records", "tournaments_in_progress",
    "edited_cells",
)  # fmt: skip


def fuzz(*arguments):
    """Run the fuzz program; return the finished process."""
    command = [sys.executable, "-P", FUZZ, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


SHEETS = ("rule_sheets", "gdl_traces")  # each input compiles a game


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("targets", "count"),
    [
        pytest.param(CHEAP, 3000, id="cheap"),
        pytest.param(SHEETS, 60, id="sheets"),
        pytest.param(SHEETS, 1000, id="more-sheets", marks=pytest.mark.slow),
    ],
)
def test_some_inputs_of_some_targets_find_nothing(targets, count):
    done = fuzz("--only", *targets, "--count", count, "--seed", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert [line[0] for line in lines] == list(targets)
    for name, inputs, accepted, refused, _, findings in lines:
        assert int(accepted) + int(refused) == int(inputs) > 10, name
        assert int(refused) > 0, name  # some inputs are indeed broken
        assert findings == "0"


@pytest.mark.slow
def test_all_targets_find_nothing():
    done = fuzz("--count", 20_000, "--seed", 2)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_finding_is_shown_and_can_be_made_again(tmp_path):
    """Run a copy of the program whose only target fails in ways that are findings."""
    helpers = FUZZ.parents[1] / "helpers"
    (tmp_path / "helpers").mkdir()
    (tmp_path / "fuzz").mkdir()
    for source in (*helpers.glob("*.py"), FUZZ):
        target = tmp_path / source.parent.name / source.name
        target.write_text(source.read_text())
    with (tmp_path / "helpers" / "fuzz_targets.py").open("a") as file:
        file.write(
            "from fuzz_inputs import keep\n"
            "def broken(folder):\n"
            "    import time\n"
            "    def attempt(rng):\n"
            "        number = keep(rng.randrange(10))\n"
            "        if number == 3: raise KeyError('three')\n"
            "        if number == 4: raise ValueError('')\n"
            "        if number == 5: time.sleep(60)\n"
            "        if number == 6: raise ValueError('refused')\n"
            "    return attempt\n"
            "TARGETS = {'broken': (broken, (ValueError,), 1.0)}\n"
        )
    command = [sys.executable, "-P", tmp_path / "fuzz" / "fuzz.py", "--seconds", "0.05"]
    done = subprocess.run([*command, "--count", "60"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "KeyError: 'three'" in done.stdout
    assert "ValueError with a message of 0 characters" in done.stdout
    assert "took more than 0.05 s" in done.stdout
    number = next(
        line.split("--first ")[1].split(":")[0]
        for line in done.stdout.splitlines()
        if line.endswith(": 3")
    )
    again = [*command, "--count", "1", "--exactly", "--first", number]
    done = subprocess.run(again, capture_output=True, text=True)
    assert done.returncode == 1
    assert "KeyError: 'three'" in done.stdout
