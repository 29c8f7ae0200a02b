"""Tests of the study of Hex: tasks that repeat Tanaka (2018), tasks beyond it, and the report.

A task is a command that writes the results of a training, from which a record for the report is
made.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ludoteca.agents.dqn import QNetworkAgent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.hex.study import make_study, reached, result_text
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.runner import run_tasks
from ludoteca.evaluate.studies.study import Task, make_record, read_records
from ludoteca.train.command import parse
from ludoteca.train.dqn import DQNConfig
from tests.helpers.hex_runs import write_fake_run

pytestmark = pytest.mark.interpreted

STUDY = make_study()
PARTS = STUDY.parts
PAPER_TASKS, OUR_TASKS = PARTS["tanaka2018"], PARTS["beyond"]
FLOAT32_TASKS = PARTS["float32"]
SEED_TASKS = PARTS["seeds"]
CONDUCTANCE_TASKS = PARTS["conductance"]
AC_TASKS = PARTS["actor-critic"]
NAMES = STUDY.template_names
SEEDS = NAMES["seeds"]
DIVERGED = "the loss of update 12 is nan: learning_rate=0.01 is too high"
WINS_BY_SEED = (760, 780, 800, 820, 840)  # of 1,000 games, in invented runs of an ablation
GRID = read_data("hex/tanaka2018.toml")["grid"]


def record_of(folder: Path) -> dict:
    """Return the record of the task whose results are in a folder."""
    return make_record(STUDY.tasks[folder.name], folder.parent)


def valid_records(out: Path, parts=PARTS) -> dict:
    """Return the records in a report's folder that belong to the tasks of some parts."""
    return read_records(out, parts, STUDY.is_valid_record)


def parsed(run: Task) -> DQNConfig:
    """Return the settings that the command of a task has."""
    arguments = run.arguments(Path("there"))
    assert arguments[:3] == ["-P", "-m", "ludoteca.train.dqn"]
    return parsed_arguments(*arguments[3:])


@cache
def parsed_arguments(*arguments: str) -> DQNConfig:
    """Return the settings of a command, which is parsed once for all tests."""
    return parse("dqn", list(arguments))


def training_task(name: str, options: dict) -> Task:
    """Return a training run with the paper's preset."""
    options = options | {"run_dir": f"{{folder}}/{name}"}
    return Task(name, "ludoteca.train.dqn", options, positional_arguments=("tanaka2018",))


def test_runs_are_those_of_the_paper():
    grid = [name for name in PAPER_TASKS if name.startswith("grid")]
    assert len(grid) == 36
    assert {f"grid-{point}" for point in GRID} < set(grid)
    first = parsed(PAPER_TASKS["grid-0.1-0.9-0.25-1"])
    # The name of a run has its learning rate, gamma, epsilon and number of layers.
    assert (first.learning_rate, first.gamma) == (0.1, 0.9)
    assert (first.exploration_initial_eps, first.network.filters) == (0.25, (48,))
    assert (first.final_learning_rate, first.exploration_final_eps) == (0.1, 0.25)
    assert (first.games, first.experience, first.opponent, first.agent_seat) == (
        150_000, "mirrored", "mixed:epsilon=0.2", "first",
    )  # fmt: skip
    games = [parsed(PAPER_TASKS[name]).games for name in grid]
    assert set(games) == {150_000, 50_000}
    assert games.count(150_000) == len(GRID)
    best = parsed(PAPER_TASKS["best"])
    assert (best.games, best.gamma, best.network.filters) == (300_000, 0.8, (48, 384))
    assert (best.network.init, best.win_reward, best.loss_reward) == ("zero_head", 1.0, -1.0)
    # Table 4.3: "simple" and "mirrored".
    assert parsed(PAPER_TASKS["simple"]).experience == "simple"
    assert parsed(PAPER_TASKS["mirrored"]).opponent == "heuristic"
    assert parsed(PAPER_TASKS["board-8"]).game == "hex:board_size=8,first=white"
    assert parsed(PAPER_TASKS["second"]).agent_seat == "second"
    # The settings exactly as the paper states them.
    literal = parsed(PAPER_TASKS["ablation-literal-0"])
    assert (literal.network, literal.win_reward, literal.loss_reward) == (
        parse("dqn", ["tanaka2018"]).network,
        100.0,
        -100.0,
    )


def test_every_ablation_has_a_label():
    labels = {name: run.label for name, run in PAPER_TASKS.items() if name.startswith("ablation")}
    assert labels == {
        f"ablation-{row['name']}-{seed}": row["label"]
        for row in NAMES["ablations"]
        for seed in NAMES["ablation_seeds"]
    }
    assert all(labels.values())
    assert len(set(labels.values())) == len(NAMES["ablations"])


def test_runs_of_an_ablation_differ_in_their_seeds_only():
    configs = [parsed(PAPER_TASKS[f"ablation-both-{seed}"]) for seed in range(5)]
    assert [config.seed for config in configs] == list(range(5))
    assert len({replace(config, seed=0, run_dir=Path("x")) for config in configs}) == 1


def test_float32_runs_differ_from_the_others_in_their_precision_only():
    runs = {name: name.removeprefix("float32-") for name in FLOAT32_TASKS}
    runs |= {f"float32-{seed}": f"ablation-both-{seed}" for seed in range(5)}
    assert set(runs.values()) >= {"best", "simple", "mirrored", "second", "board-8"}
    for name, other in runs.items():
        half, single = parsed(PAPER_TASKS[other]), parsed(FLOAT32_TASKS[name])
        assert (half.precision, single.precision) == ("auto", "float32")
        assert replace(half, precision="float32", run_dir=single.run_dir) == single


def test_further_runs_differ_from_the_first_in_their_seeds_only():
    names = {row["name"] for row in NAMES["other_runs"]}
    assert SEED_TASKS.keys() == {f"seed-{seed}-{name}" for seed in (1, 2) for name in names}
    for name, task in SEED_TASKS.items():
        _, seed, first = name.split("-", 2)
        config, other = parsed(task), parsed(PAPER_TASKS[first])
        assert (config.seed, other.seed) == (int(seed), 0)
        assert replace(config, seed=0, run_dir=other.run_dir) == other


def test_conductance_runs_differ_from_the_others_in_opponent_seed_and_length_only():
    others = {"mixed": "best", "mirrored": "mirrored", "simple": "simple"}
    for name, task in CONDUCTANCE_TASKS.items():
        run, seed = name.split("-")[1:]
        config, other = parsed(task), parsed(PAPER_TASKS[others[run]])
        opponent = "conductance:epsilon=0.2" if run == "mixed" else "conductance"
        assert (config.opponent, config.seed, config.games) == (opponent, int(seed), 150_000)
        assert config == replace(
            other, opponent=opponent, seed=int(seed), games=150_000, eval_interval=150_000,
            run_dir=config.run_dir,
        )  # fmt: skip


def test_only_ablations_with_rewards_of_100_may_diverge():
    names = {name.rpartition("-")[0] for name, run in STUDY.tasks.items() if run.may_diverge}
    assert names == {"ablation-weights", "ablation-head"}


def test_ours_use_no_more_games_than_the_paper():
    for size in (5, 6, 7, 8):
        run = OUR_TASKS[f"hex{size}"]
        assert parsed(run).games <= 150_000
        assert parsed(run).game == f"hex:board_size={size}"
        assert parsed(run).final_eval_games >= 1000
    assert parsed(OUR_TASKS["hex11"]).start_from == Path("there/hex7")
    for target in NAMES["targets"]:
        assert target["opponent"] in parsed(OUR_TASKS["hex5"]).eval_opponents


@pytest.fixture
def fake_runs(tmp_path):
    """Return a folder with invented runs of all tasks."""
    folder = tmp_path / "runs"
    for name, run in {**PAPER_TASKS, **FLOAT32_TASKS}.items():
        seat = "second" if name.endswith("second") else "first"
        rates = [0.0] * 10 + [0.5] * 9 + [0.9]
        wins = WINS_BY_SEED[int(name[-1])] if name.startswith("ablation-memory") else 700
        write_fake_run(folder, name, dict(run.settings), run.options["games"], rates, seat, wins)
    for name, run in SEED_TASKS.items():
        config, rate = dict(run.settings), 0.1 * int(name[5])
        seat = "second" if name.endswith("second") else "first"
        write_fake_run(folder, name, config, run.options["games"], [rate] * 20, seat, 600)
    for name, run in OUR_TASKS.items():
        write_fake_run(folder, name, dict(run.settings), run.options["games"], [0.5], "first", 970)
    for name, run in CONDUCTANCE_TASKS.items():
        rate = 0.1 * int(name[-1]) + 0.5 * ("mirrored" in name)
        config, games = dict(run.settings), run.options["games"]
        opponent = config["opponent"]
        write_fake_run(folder, name, config, games, [rate] * 20, "first", 1000, opponent)
    about = {"date": "2026-07-25T00:00", "cpu": "cpu", "cores": 2}
    diverged = {"diverged": f"ludoteca.train.dqn: {DIVERGED}", "about": about}
    (folder / "ablation-weights-1/results.json").write_text(json.dumps(diverged))
    return folder


def test_report_has_the_figures_of_the_runs(fake_runs, tmp_path):
    out = tmp_path / "report"
    records = {
        "tanaka2018": {name: record_of(fake_runs / name) for name in PAPER_TASKS},
        "float32": {name: record_of(fake_runs / name) for name in FLOAT32_TASKS},
        "seeds": {name: record_of(fake_runs / name) for name in SEED_TASKS},
        "conductance": {name: record_of(fake_runs / name) for name in CONDUCTANCE_TASKS},
        "beyond": {name: record_of(fake_runs / name) for name in OUR_TASKS},
        "actor-critic": {},
    }
    write_report(STUDY, records, out, fake_runs)
    text = (out / "report.md").read_text()
    # By hand: (9 * 0.5 + 0.9) / 20 of the games, in the last twentieth 90 %.
    # Their mean with two further runs, which won 10 and 20 %: Student's quantile for 3 seeds is
    # 4.3027, and the standard error is 8.5440 / sqrt(3), or 43.589 / sqrt(3).
    assert "| all training games | 77 | 27.0, 10.0, 20.0 | 19.0 (-2.2 to 40.2) |" in text
    assert "| above 90 | 90.0, 10.0, 20.0 | 40.0 (-68.3 to 148.3) |" in text
    assert "rows have the results of training runs with the seeds\n0, 1, 2, or with" in text
    assert "| 0.01 | 0.8 | 0.1 | 2 | 2,000 | 69 | 27.0 | 90.0 | 70.0 (67.1 to 72.8) |" in text
    assert "| simple | 150,000 | 42 | 0.0, 10.0, 20.0 | 10.0 (-14.8 to 34.8) |  |" in text
    assert "| simple | 300,000 | 55 | 27.0, 10.0, 20.0 | 19.0 (-2.2 to 40.2) |" in text
    assert "mean difference over 300,000 games, `mirrored` less `simple`" in text
    assert "| 8x8, first player | 2,000 | 0.027 | 27.000, 10.000, 20.000 | 19.0 (" in text
    low, high = (f"{100 * x:.1f}" for x in wilson(970, 1000))
    first = "5x5, first player against mixed:epsilon=0.2 | 77 (in training games)"
    assert f"| {first} | 98 | 97.0 ({low} to {high})" in text
    # By hand: the standard error is 3.1623 / sqrt(5); Student's quantile for 5 seeds is 2.7764.
    row = "76.0, 78.0, 80.0, 82.0, 84.0 | 80.0 (76.1 to 83.9) | 10.0 (6.1 to 13.9) |"
    assert f"replay buffer of 30,000 instead of 300 | 27.0 (27.0 to 27.0) | {row}" in text
    assert "rewards 100 | - | 70.0, 70.0, 70.0, 70.0, 1 diverged | - | - | 0.05," in text
    assert f"- `ablation-weights-1`: {DIVERGED}." in text
    assert "float32 less bfloat16 with the same seed, is\n0.0 (0.0 to 0.0) points" in text
    greedy = "27.0 | 90.0 | 70.0 (67.1 to 72.8) |"
    assert f"| `second` | 9 | {greedy} {greedy}" in text
    assert f"| `simple` | 55 | {greedy} {greedy}" in text
    assert (
        "| `mirrored` | `conductance` | 72 | 50.0, 60.0, 70.0 | 60.0 (35.2 to 84.8) | "
        "60.0 (35.2 to 84.8) | won, won, won |"
    ) in text
    assert "| `mirrored` | `conductance:epsilon=0.2` | 69 | 0.0, 10.0, 20.0 | 10.0" in text
    assert "`mirrored` less `simple` with the same seed, is 50.0 (50.0 to 50.0) points" in text
    assert sum("**no**" in line for line in text.splitlines()) == 2  # targets of 98 % and 100 %
    for name in ("best.png", "second.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    # 87 runs of 36 s each, and one that diverged.
    assert "0.87 hours for 88 of 88 runs with the paper's settings (one core each)" in text
    content = json.loads((out / "results.json").read_text())
    assert content["tanaka2018"]["best"]["wins"]["all"] == pytest.approx(27.0)
    assert len(content["beyond"]) == 5


@pytest.mark.usefixtures("unrendered_figures")
def test_sections_need_all_their_tasks_and_earlier_records_are_kept(fake_runs, tmp_path):
    out = tmp_path / "report"
    some = [name for name in PAPER_TASKS if name.startswith(("grid", "ablation"))]
    records = {"tanaka2018": {name: record_of(fake_runs / name) for name in some[1:]}}
    others = ("float32", "seeds", "conductance", "beyond", "actor-critic")
    records |= {part: {} for part in others}
    write_report(STUDY, records, out, fake_runs)
    text = (out / "report.md").read_text()
    assert "## Ablation" in text
    assert "(table 4.1)" not in text
    assert "for 80 of 88 runs" in text
    assert "(table 4.2" not in text
    assert valid_records(out, PARTS) == records
    games = {"games": 10**9}
    longer = {k: replace(run, options=games, settings=games) for k, run in PAPER_TASKS.items()}
    empty = {name: {} for name in PARTS}
    assert valid_records(out, {**PARTS, "tanaka2018": longer}) == empty
    assert valid_records(tmp_path / "none", PARTS) == empty
    records["tanaka2018"][some[0]] = record_of(fake_runs / some[0])
    write_report(STUDY, records, out, fake_runs)
    assert "(table 4.1)" in (out / "report.md").read_text()


@pytest.mark.usefixtures("unrendered_figures")
def test_means_over_seeds_need_all_of_them(fake_runs, tmp_path):
    records = {part: {} for part in PARTS}
    records["tanaka2018"]["best"] = record_of(fake_runs / "best")
    records["seeds"]["seed-2-best"] = record_of(fake_runs / "seed-2-best")
    write_report(STUDY, records, tmp_path / "report", fake_runs)
    text = (tmp_path / "report" / "report.md").read_text()
    assert "| all training games | 77 | 27.0, 20.0 | - |" in text
    assert "70.0 (67.1 to 72.8), 60.0 (56.9 to 63.0) | - |" in text


@pytest.mark.usefixtures("unrendered_figures")
def test_tasks_with_records_are_not_run_again(fake_runs, tmp_path, capsys):
    out = tmp_path / "report"
    records = {
        "tanaka2018": {name: record_of(fake_runs / name) for name in PAPER_TASKS},
        "float32": {},
        "seeds": {},
        "conductance": {},
        "beyond": {},
        "actor-critic": {},
    }
    write_report(STUDY, records, out, fake_runs)
    empty = tmp_path / "empty"
    arguments = ["hex", "--part", "tanaka2018", "--keep", "--out", str(out), "--runs", str(empty)]
    assert main(arguments) == 0
    assert not empty.exists()
    assert "tanaka2018: 0 of 88 tasks" in capsys.readouterr().err


@pytest.mark.slow
def test_tasks_run_once_and_failures_are_reported(tmp_path, capsys):
    settings = {"games": 10, "games_per_iteration": 5, "opponent": "random"}
    settings |= {"network.filters": "4", "eval_games": 5, "final_eval_games": 5}
    run = training_task("tiny", settings | {"game": "hex:board_size=2"})
    run_tasks({"tiny": run}, tmp_path, 1, show_progress=False)
    written = (tmp_path / "tiny/results.json").stat().st_mtime_ns
    run_tasks({"tiny": run}, tmp_path, 1, show_progress=False)
    assert (tmp_path / "tiny/results.json").stat().st_mtime_ns == written
    wrong = training_task("wrong", {"games": 10, "game": "hex:board_size=99"})
    with pytest.raises(RuntimeError, match=r"(?s)wrong failed: .*board_size must be an integer"):
        run_tasks({"wrong": wrong}, tmp_path, 1, show_progress=False)
    diverging = training_task("diverging", settings | {"learning_rate": 1e9, "games": 100})
    with pytest.raises(RuntimeError, match=r"(?s)diverging failed: .*the loss of update"):
        run_tasks({"diverging": diverging}, tmp_path, 1, show_progress=False)
    run_tasks({"x": replace(diverging, may_diverge=True)}, tmp_path, 1, show_progress=False)
    record = make_record(diverging, tmp_path)
    assert record.keys() == {"settings", "diverged", "about", "versions"}
    assert record["diverged"].startswith("ludoteca.train.dqn: the loss of update")
    assert main(["hex", "--part", "half"]) == 2
    assert "part must be one of 'all', 'tanaka2018', 'float32', 'seeds'" in capsys.readouterr().err


def test_values_of_the_agent_can_be_drawn(tmp_path):
    from ludoteca.agents.networks.q_network import QConfig, make_q_network
    from ludoteca.envs.registry import make_game
    from ludoteca.envs.render import render

    game = make_game("hex:board_size=4")
    agent = QNetworkAgent(game, make_q_network(QConfig(filters=(8,), blocks=1), game))
    s = game.new()
    game.step(s, 5)
    assert render(game, s, "svg", values=agent.values(s)).count("0.") >= 15


def test_report_has_the_results_of_the_actor_critic_runs(tmp_path):
    wins = {0: 990, 1: 975, 2: 995}  # against every opponent, of 1,000 games in each seat
    records = {}
    for seed, count in wins.items():
        name = f"actor-critic-{seed}"
        options = dict(AC_TASKS[name].settings)
        write_fake_run(tmp_path, name, options, options["games"], [0.5], "first", count)
        records[name] = record_of(tmp_path / name)
        seats = [{"wins": won, "draws": 0, "losses": 500 - won, "games": 500} for won in (400, 75)]
        total = {"wins": 475, "draws": 0, "losses": 525, "games": 1_000}
        about = records[name]["about"]
        match = {"games": 1_000, "agents": [{"total": total, "seats": seats}], "about": about}
        records[f"duel-{seed}"] = {"settings": {}, **match}
    empty = {part: {} for part in PARTS}
    write_report(STUDY, empty | {"actor-critic": records}, tmp_path / "out", tmp_path)
    assert valid_records(tmp_path / "out")["actor-critic"] == records
    text = (tmp_path / "out" / "report.md").read_text()
    low, high = (f"{100 * x:.1f}" for x in wilson(975, 1000))
    assert f"| 1 | 100 | 0.6 | mixed:epsilon=0.2 | 97.5 ({low} to {high}) | 97.5" in text
    assert "against Mixed: 97.5 to 99.5 % as first player" in text
    low, high = (f"{100 * x:.1f}" for x in wilson(75, 500))
    assert f"| 15.0 ({low} to {high}) | 47.5 (" in text
    assert "no significant difference" in text
    assert "over the seeds: 47.5 (47.5 to 47.5) %" in text


def test_actor_critic_runs_differ_in_their_seeds_only():
    configs = [
        parse("ppo", AC_TASKS[f"actor-critic-{seed}"].arguments(Path("there"))[3:])
        for seed in SEEDS
    ]
    assert len({config.seed for config in configs}) == len(SEEDS) >= 3
    assert len({replace(config, seed=0, run_dir=Path("x")) for config in configs}) == 1
    assert set(configs[0].eval_opponents) == {"random", "mixed:epsilon=0.2", "heuristic"}
    assert AC_TASKS["duel-1"].options["agents"] == ("ac:{folder}/actor-critic-1", "dqn:hex5")
    assert AC_TASKS["duel-1"].requires == ("actor-critic-1",)


def test_target_verdicts_follow_from_the_intervals():
    def result(wins, games=1_000):
        low, high = wilson(wins, games)
        return {"wins": wins, "games": games, "win_rate": wins / games, "low": low, "high": high}

    assert reached(result(999), "mixed:epsilon=0.2", 98) == "yes"
    # From 97.5 to 99.1 %.
    assert reached(result(985), "mixed:epsilon=0.2", 98) == "inconclusive"
    assert reached(result(970), "mixed:epsilon=0.2", 98) == "**no**"
    # Against a deterministic opponent all games are the same: there is no interval.
    assert reached(result(1_000), "heuristic", 100) == "yes"
    assert reached(result(0), "heuristic", 80) == "**no**"
    assert (result_text(result(1_000), "heuristic"), result_text(result(0), "heuristic")) == (
        "won",
        "not won",
    )
    assert result_text(result(985), "mixed:epsilon=0.2") == "98.5 (97.5 to 99.1)"
