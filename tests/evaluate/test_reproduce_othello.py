"""Tests of the Othello study: tasks that repeat a paper (`seville2019`), tasks beyond it, report.

A task is a command that writes an artifact, from which a record for the report is made.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.studies import declaration
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.othello.study import make_study, strength_of_seeds
from ludoteca.evaluate.studies.report import strength, write_report
from ludoteca.evaluate.studies.runner import run_tasks
from ludoteca.evaluate.studies.study import make_record, read_records
from ludoteca.evaluate.timed_match import simulation_speed, timed_match
from ludoteca.train.data.__main__ import Command
from ludoteca.train.value_regression import ValueRegressionConfig
from tests.helpers.othello_artifacts import example_artifact, match_record

pytestmark = pytest.mark.interpreted

STUDY = make_study()
PARTS = STUDY.parts
TASKS = PARTS["seville2019"]
NAMES = STUDY.template_names
UCT = NAMES["uct"]


def write_study(records, out):
    """Write the report of records to a folder."""
    write_report(STUDY, records, out, out / "no runs")


def options(task, folder: str = "there") -> dict[str, list[str]]:
    """Return the options of a task's command, by name."""
    by_name: dict[str, list[str]] = {}
    for word in task.arguments(Path(folder))[3:]:
        if word.startswith("--"):
            by_name[word[2:]] = []
        elif by_name:
            by_name[list(by_name)[-1]].append(word)
    return by_name


def test_games_are_those_of_the_paper():
    from tyro import cli

    for opponents, games in ((("random",), 100_000), ((), 10_000)):
        task = TASKS[f"data-{'random' if opponents else 'self'}"]
        config = cli(Command, args=task.arguments(Path("there"))[3:])
        assert config.agents == (f"{UCT},simulations=50", *opponents)
        assert (config.game, config.games) == ("othello", games)
        assert (config.seats, config.learn_from, config.seed) == ("rotating", (0,), 0)


def test_networks_are_those_of_the_paper_but_for_the_view():
    from tyro import cli

    for net in NAMES["networks"]:
        name, opponent, games, view = (net[k] for k in ("name", "opponent", "games", "view"))
        task = TASKS[f"net-{name}"]
        assert task.requires == (f"data-{opponent}",)
        config = cli(ValueRegressionConfig, args=task.arguments(Path("there"))[3:])
        assert (config.games, config.network.view) == (games, view)
        assert config.data == (Path(f"there/data-{opponent}/games.npz"),)
        assert (config.learning_rate, config.network) == (
            1e-3, replace(ValueRegressionConfig((Path(),)).network, view=view),
        )  # fmt: skip
    assert {net["games"] for net in NAMES["networks"] if net["view"] == "second"} == {
        1_000, 10_000, 100_000,
    }  # fmt: skip


def test_matches_are_at_equal_iterations_and_at_equal_time():
    matches = {name: task for name, task in TASKS.items() if task.kind == "match"}
    for size in ("1k", "10k", "100k"):
        for iterations in (50, 200, 800):
            ours, theirs = options(matches[f"random-{size}-{iterations}"])["agents"]
            assert ours == (
                f"uctnet:there/net-random-{size},simulations={iterations},precision=auto"
            )
            assert theirs == f"{UCT},simulations={iterations}"
        ours, theirs = options(matches[f"random-{size}-time"])["agents"]
        assert "seconds=0.02" in ours
        assert theirs == f"{UCT},seconds=0.02"
    for name in ("random-10k-mover", "self-10k", "self-10k-mover"):
        assert {f"{name}-50", f"{name}-200"} < matches.keys()
    assert all(match.options["games"] >= 400 for match in matches.values())
    agent = make_agent(f"{UCT},simulations=50", make_game("othello"))
    assert agent.config.policy == "uct"
    assert agent.action_selection == ACTION_SELECTIONS.index("mean")


def test_competitors_are_given_times_that_were_measured(tmp_path):
    tasks = PARTS["alphazero"]
    (tmp_path / "az-pace").mkdir()
    pace = {"agents": [{"seconds_per_move": 0.0125}, {"seconds_per_move": 9}]}
    (tmp_path / "az-pace/results.json").write_text(json.dumps(pace))
    for task in tasks.values():  # games are timed one by one, not in a batch
        assert options(task, str(tmp_path))["batch"] == ["1"]
    spec, other = options(tasks["az-mcts"], str(tmp_path))["agents"]
    assert spec == NAMES["competitors"][0]["agent"]
    assert other == "mcts:seconds=0.12500"
    _, other = options(tasks["az-uctnet"], str(tmp_path))["agents"]
    assert other.startswith(f"uctnet:{tmp_path}/net-random-100k,seconds=0.01250,leaf_batch=16")
    assert tasks["az-uctnet"].requires == ("az-pace", "net-random-100k")
    assert tasks["az-mcts"].options["games"] == 400


def test_fast_study_has_the_same_tasks():
    fast = make_study(fast=True).parts
    assert {part: list(tasks) for part, tasks in fast.items()} == {
        part: list(tasks) for part, tasks in PARTS.items()
    }


def test_readings_differ_from_their_opponents_in_one_option():
    matches = {name: task for name, task in PARTS["readings"].items() if task.kind == "match"}
    for name, option in (("playout", ",playout="), ("level", ",max_depth=1")):
        chosen = [task for key, task in matches.items() if key.startswith(name)]
        assert len(chosen) == 4
        for task in chosen:
            first, second = options(task)["agents"]
            rest, has_option, _ = first.partition(option)
            assert has_option
            assert rest == second or task.name == "playout-uct"


def test_seeds_differ_from_the_other_tasks_in_their_seed_only():
    others = {**PARTS["seville2019"], **PARTS["readings"]}
    for name, task in PARTS["seeds"].items():
        prefix, _, other = name.partition("-")
        expected = dict(others[other].options)
        if task.kind == "network":
            expected |= {"seed": int(prefix[-1]), "run_dir": f"{{folder}}/{name}"}
        else:
            agents = [
                agent.replace("/net-", f"/{prefix}-net-").replace("/small-", f"/{prefix}-small-")
                for agent in expected["agents"]
            ]
            expected |= {"agents": tuple(agents)}
        assert dict(task.options) == expected
        assert (task.module, task.artifact_name) == (
            others[other].module,
            others[other].artifact_name,
        )
    networks = [name for name, task in PARTS["seeds"].items() if task.kind == "network"]
    assert len(networks) == 2 * 7


def test_verdict_over_seeds_is_that_of_the_interval():
    # By hand: the mean of 55, 60, 65 has the interval 60 +- 4.303 * 5 / sqrt(3).
    assert strength_of_seeds([55, 60, 65]) == "inconclusive"
    assert strength_of_seeds([58, 60, 62]) == "stronger"
    assert strength_of_seeds([42, 40, 38]) == "weaker"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with example artifacts of all tasks."""
    for tasks in PARTS.values():
        for name, task in tasks.items():
            if task.has_record:
                (tmp_path / "runs" / name).mkdir(parents=True)
                task.artifact(tmp_path / "runs").write_text(json.dumps(example_artifact(task)))
    return tmp_path / "runs"


def all_records(folder: Path) -> dict:
    """Return the records of all tasks that have one, by part and name."""
    records = {
        part: {name: make_record(task, folder) for name, task in tasks.items()}
        for part, tasks in PARTS.items()
    }
    return {
        part: {name: record for name, record in of_part.items() if record}
        for part, of_part in records.items()
    }


def test_report_has_the_figures_of_the_records(folder, tmp_path):
    records = all_records(folder)
    write_study(records, tmp_path / "report")
    text = (tmp_path / "report/report.md").read_text()
    # By hand: 220 of 400 games won, 120 of 200 as black, 100 of 200 as white.
    won = {}
    for wins, games in ((220, 400), (120, 200), (100, 200)):
        low, high = (100 * end for end in wilson(wins, games))
        won[wins] = f"{100 * wins / games:.1f} ({low:.1f} to {high:.1f})"
    cells = f"| 400 | 220, 20, 160 | {won[220]} | {won[120]} | {won[100]} | stronger |"
    assert won[220].startswith("55.0 (50.1 to 59.8")
    # By hand: (220 + 10) of 400 points with each seed.
    points = "57.5, 57.5, 57.5 | 57.5 (57.5 to 57.5) | stronger |"
    assert f"| random moves | white | 1,000 | 50 | {points}" in text
    assert f"| playouts with the network, greedy | its value instead | {points}" in text
    assert text.count(points) == 6 * 2 + 5
    # Rows of the tables: iterations, time, noise, AlphaZero, readings.
    assert text.count(cells) == 9 + 3 + 8 + 2 + 9
    assert f"| 10,000 | 200 {cells}" in text
    assert f"| 100,000 | 20.0 | 21.5 | 12,345 | 400,000 {cells}" in text
    assert f"| itself | player to move | 50 {cells}" in text
    assert "| random-1k | 1,000 | 55,000 | 2 of 3 | 0.500 | 0.500 | 75.0 | 1.5 |" in text
    assert text.count(f"| 0 to 9{' | 0.875, 50.0 %' * 6} |") == 2
    assert f"| all{' | 0.750, 60.0 %' * 6} |" in text
    assert "| random moves | white | 0.625 | 0.750 | 70.0 | 60.0 |" in text
    assert "UCT wins 97 % of its games against random moves" in text
    assert f"| az | our own UCT, 10 x its time | 20.0 | 21.5 | 12,345 | 400,000 {cells}" in text
    # Seven trainings of 90 seconds with each of 3 seeds. Of a minute each: 18 matches, 3 of
    # AlphaZero, 9 readings, and 17 matches for each of the further seeds.
    assert "32 minutes of training, 64 minutes of matches" in text
    parts = "30 of 30 of part seville2019, 3 of 3 of part alphazero, 10 of 10 of part readings, "
    parts += "48 of 48 of part seeds"
    assert f"Tasks: {parts}" in text
    for name in ("learning_curves.png", "strength.png"):
        assert (tmp_path / "report" / name).read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "report/results.json").read_text()).keys() == {
        "about", "versions", "seville2019", "alphazero", "readings", "seeds",
    }  # fmt: skip


def test_draws_count_as_half_in_the_verdict():
    assert wilson(200, 400)[0] < 0.5 < score_interval(200, 60, 400)[0]
    assert strength(match_record(230, 0, 170)) == "stronger"
    assert strength(match_record(200, 60, 140)) == "stronger"
    assert strength(match_record(210, 0, 190)) == "no significant difference"
    assert strength(match_record(140, 60, 200)) == "weaker"


@pytest.mark.usefixtures("unrendered_figures")
def test_sections_need_all_their_tasks_and_earlier_records_are_kept(folder, tmp_path):
    out, records = tmp_path / "report", all_records(folder)
    del records["seville2019"]["random-1k-time"]
    records["alphazero"] = {}
    write_study(records, out)
    text = (out / "report.md").read_text()
    assert "## Equal iterations" in text
    assert "## Cost of the labels' noise" in text
    assert not any(f"## {title}" in text for title in ("Equal time", "Summary", "AlphaZero"))
    assert "29 of 30 of part seville2019" in text
    assert read_records(out, PARTS) == records
    assert read_records(tmp_path / "none", PARTS) == {part: {} for part in PARTS}
    # If the settings of a network change, its record and those of its matches are not kept.
    name = "net-self-10k"
    changed = replace(TASKS[name], settings={"games": 9_999})
    kept = read_records(out, {**PARTS, "seville2019": TASKS | {name: changed}})["seville2019"]
    gone = {"net-self-10k", "test-self-10k", "self-10k-50", "self-10k-200"}
    assert records["seville2019"].keys() - kept.keys() == gone


@pytest.mark.usefixtures("unrendered_figures")
def test_tasks_with_records_are_not_run_again(folder, tmp_path, capsys):
    out, empty = tmp_path / "report", tmp_path / "empty"
    write_study(all_records(folder) | {"alphazero": {}}, out)
    arguments = [
        "othello",
        "--part",
        "seville2019",
        "--keep",
        "--out",
        str(out),
        "--runs",
        str(empty),
    ]
    assert main(arguments) == 0
    assert not empty.exists()
    assert "seville2019: 0 of 30 tasks" in capsys.readouterr().err


def test_options_are_checked(capsys, monkeypatch):
    assert main(["othello", "--part", "half"]) == 2
    assert "part must be one of 'all', 'seville2019', 'alphazero'" in capsys.readouterr().err
    assert main(["othello", "--precision", "float8"]) == 2
    assert "precision must be one of 'auto'" in capsys.readouterr().err
    assert main(["othello", "--processes", "0"]) == 2
    assert "processes must be an integer from 1" in capsys.readouterr().err
    monkeypatch.setattr(declaration, "is_shipped", lambda spec: False)
    assert main(["othello", "--part", "alphazero"]) == 2
    assert "needs the network az:othello, which this package lacks" in capsys.readouterr().err


class WritingTask:
    """Task whose artifact lists the files in the folder when it was run."""

    def __init__(self, name, after=(), **settings):
        self.name, self.requires, self.settings = name, after, settings

    def arguments(self, folder):
        program = "import os, sys; open(sys.argv[2], 'w').write(str(os.listdir(sys.argv[1])))"
        return ["-c", program, str(folder), str(self.artifact(folder))]

    def artifact(self, folder):
        return folder / self.name


def test_tasks_wait_for_those_they_require(tmp_path):
    finished = []
    tasks = [
        WritingTask("a", ("c",)),
        WritingTask("b", ("a",)),
        WritingTask("c", ("of another part",)),
    ]
    run_tasks({task.name: task for task in tasks}, tmp_path, 2, False, finished.append)
    assert finished == ["c", "a", "b"]
    assert "a" in (tmp_path / "b").read_text()
    run_tasks({task.name: task for task in tasks}, tmp_path, 2, False, finished.append)
    assert sorted(finished[3:]) == ["a", "b", "c"]
    with pytest.raises(RuntimeError, match="these tasks require each other: x"):
        run_tasks({"x": WritingTask("x", ("x",))}, tmp_path, 1, False)


def test_artifacts_of_other_settings_are_refused(tmp_path):
    def make(games, folder=tmp_path):
        run_tasks({"a": WritingTask("a", games=games, agents=("x", "y"))}, folder, 1, False)

    make(5)
    make(5)
    with pytest.raises(
        ValueError, match=r'results of the task a with other settings: .*"games": 5'
    ):
        make(6)
    (tmp_path / "a").unlink()
    make(6)
    (tmp_path / "settings.json").unlink()  # earlier versions did not write this file
    make(5)


def test_timed_match_reports_moves_time_and_elo(tmp_path, capsys):
    agents = ("mcts:simulations=8", "random")
    timed_match(agents, tmp_path / "m.json", "tictactoe", games=10, seed=3, probe=True)
    results = json.loads((tmp_path / "m.json").read_text())
    search, chance = results["agents"]
    assert [search["agent"], chance["agent"]] == list(agents)
    assert search["moves"] + chance["moves"] == round(10 * results["mean_plies"])
    assert search["simulations"] == 8
    assert search["seconds_per_move"] > 0
    assert "simulations" not in chance
    assert sum(seat["games"] for seat in search["seats"]) == 10
    assert -chance["elo"] == pytest.approx(search["elo"])
    score, (low, high) = search["total"]["score"], search["elo_interval"]
    assert score == pytest.approx(1 / (1 + 10 ** (-search["elo"] / 400)))
    assert low < search["elo"] < (high or math.inf)
    assert [elo_difference(score) for score in (0.0, 0.5, 1.0)] == [None, 0, None]
    printed = capsys.readouterr().out
    assert f"score {score:.3f} (" in printed
    assert f", Elo {search['elo']:+.0f} (" in printed
    game = make_game("tictactoe")
    assert simulation_speed(make_agent(agents[0], game), [game.new()] * 3)["simulations"] == 8
