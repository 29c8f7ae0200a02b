"""Tests of the Hungry Geese study: its tasks, options and command.

The study repeats a thesis (`uib2021`) and extends it. Its parts have tasks: commands that write an
artifact (results of a match, a network), from which a record for the report is made.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tyro
from geese_study import EPISODES, MATCHES, NETWORKS, PARTS, SECONDS, STUDY, TASKS, THESIS

from ludoteca.agents.networks import ac_network
from ludoteca.agents.registry import AGENTS, make_agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.spec import parse_name
from ludoteca.evaluate.studies import declaration, runner
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.geese import study
from ludoteca.evaluate.studies.geese.study import BANDS, make_study
from ludoteca.train.command import parse as parse_training
from ludoteca.train.data.__main__ import Command
from ludoteca.train.imitation import parse


def options(task, folder="there"):
    """Return the options of a task's command, by name."""
    by_name = {}
    for word in task.arguments(Path(folder))[3:]:
        if word.startswith("--"):
            by_name[word[2:]] = []
        elif by_name:
            by_name[list(by_name)[-1]].append(word)
    return by_name


def test_competitions_of_flat_monte_carlo_are_those_of_the_thesis():
    counts, depths = (125, 250, 500, 1000), (4, 4, 6, 6)
    for name, settings in {
        "depth-4": [(count, 4) for count in counts],
        "depth-6": [(count, 6) for count in counts],
        "mixed": zip(counts, depths, strict=True),
        "factors": zip((125, 1000) * 2, depths, strict=True),
    }.items():
        assert options(MATCHES[name])["agents"] == [
            f"flat:simulations={count},playout_depth={depth}" for count, depth in settings
        ]
        assert options(MATCHES[name])["games"] == ["2000"]
    assert {name: len(seconds) for name, seconds in THESIS["seconds"].items()} == {
        "depth-4": 4,
        "depth-6": 4,
    }
    agent = make_agent("flat:simulations=500,playout_depth=6", make_game("hungry_geese"))
    assert (agent.simulations, agent.playout_depth) == (500, 6)


def test_tables_of_the_thesis_add_up():
    # Rows are percentages of wins and deaths, and the mean length. A goose that has died does not
    # win; in figure 9 every goose has either won or died.
    for rows in THESIS["results"].values():
        assert all(wins <= 100 - deaths for wins, deaths, _ in rows[:3])
    assert all(wins + deaths == 100 for wins, deaths, _ in THESIS["results"]["simulated"])
    assert sum(wins for wins, _, _ in THESIS["results"]["depth-6"]) == 105


def test_networks_are_those_of_the_thesis_and_imitate_the_intended_agents():
    for name, task in NETWORKS.items():
        config = parse(task.arguments(Path("there"))[3:])
        assert config.network == replace(ac_network.UIB2021, value=False), name
        assert (config.optimizer, config.learning_rate, config.validation_fraction) == (
            "sgd",
            0.01,
            0.2,
        )
        assert config.run_dir == Path("there") / name
        assert config.data == (TASKS[task.requires[0]].artifact(Path("there")),)
    wanted = {name: parse(task.arguments(Path("x"))[3:]).agents for name, task in NETWORKS.items()}
    assert wanted["net-real-1"] == ("thesis-deterministic", "boilergoose")
    assert wanted["net-real-3"] == ("league-net",)
    assert wanted["net-real-all"] == wanted["net-1000"] == ()
    bands = ("900-1000", "1001-1100", "1101-1200.5", "1201-inf")
    by_rating = make_study(EPISODES, bands).parts["real"]
    for k, ends in enumerate(((900, 1000), (1001, 1100), (1101, 1200.5), (1201, float("inf")))):
        config = parse(by_rating[f"net-real-{k}"].arguments(Path("x"))[3:])
        assert (config.rating_range, config.agents) == (ends, ())


def test_self_play_has_the_settings_of_the_presets():
    loops = {name: task for name, task in TASKS.items() if task.kind == "self-play"}
    assert [task.positional_arguments[0] for task in loops.values()] == ["uib2021", "default"]
    presets = (parse_training("ppo", ["uib2021"]), parse_training("ppo", []))
    for (name, task), preset in zip(loops.items(), presets, strict=True):
        config = parse_training("ppo", task.arguments(Path("there"))[3:])
        assert config.run_dir == Path("there") / name
        assert config.games == task.options["games"] > 10_000
        assert (config.start_from, config.seed) == (None, 0)
        same = (
            "algorithm",
            "network",
            "games_per_iteration",
            "learning_rate",
            "opponent_pool",
            *(("gating_threshold",) if preset.algorithm == "uib2021" else ()),
        )
        assert all(getattr(config, key) == getattr(preset, key) for key in same)


def test_recorded_games_have_the_intended_agents():
    def read(task):
        return tyro.cli(Command, args=task.arguments(Path("there"))[3:])

    for count in (125, 250, 500, 1000):
        config = read(TASKS[f"games-{count}"])
        assert config.agents == (f"flat:simulations={count},playout_depth=6",)
        assert (config.game, config.games, config.num_workers) == ("hungry_geese", 1_000, 1)
        assert config.out == Path(f"there/games-{count}/games.npz")
    assert read(TASKS["games-deterministic"]).agents == ("deterministic",)
    assert read(TASKS["games-real"]).sources == EPISODES


BEST_OF = ("simulated", "real")  # competitions whose best agents play in others


def test_further_runs_differ_from_the_first_in_their_seeds_only():
    repeated = {name.split("-", 2)[2]: name for name in PARTS["seeds"]}
    assert repeated.keys() < TASKS.keys()
    networks = {name for name in NETWORKS if not name.startswith("seed-")}
    assert repeated.keys() == networks | {"simulated", "teachers", "real", "all-or-best", "final"}
    assert {name.split("-")[1] for name in PARTS["seeds"]} == {"1", "2"}
    for name, task in PARTS["seeds"].items():
        _, seed, first = name.split("-", 2)
        other = TASKS[first]
        if task.kind == "network":
            assert (task.settings["seed"], other.settings["seed"]) == (int(seed), 0)
            assert {**task.settings, "seed": 0} == other.settings
            assert task.requires == other.requires
            assert task.label == f"{other.label}, seed {seed}"
        else:
            agents = " ".join(task.options["agents"]).replace(f"seed-{seed}-", "")
            assert agents == " ".join(other.options["agents"])
            assert task.options["games"] == other.options["games"]


def test_all_agents_exist_and_winners_replace_placeholders(tmp_path):
    repeated = [f"{start}{name}" for start in ("", "seed-1-", "seed-2-") for name in BEST_OF]
    for name in repeated:
        agents = [
            {"agent": f"cnn:{name}-{k}", "total": {"points": points}}
            for k, points in enumerate((20.5, 31.0, 30.5))
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps({"agents": agents}))
    for task in MATCHES.values():
        specs = options(task, str(tmp_path))["agents"]
        assert len(specs) in (2, 4)
        assert all(parse_name(spec) in AGENTS for spec in specs)
        assert "{" not in " ".join(specs)
    assert options(MATCHES["final"], str(tmp_path))["agents"] == [
        "deterministic:variant=thesis", "flat:simulations=1000,playout_depth=6", "cnn:simulated-1",
        "cnn:real-1",
    ]  # fmt: skip
    default = options(MATCHES["final-default"], str(tmp_path))["agents"]
    assert default[0] == "deterministic"
    assert default[1:] == options(MATCHES["final-tail"], str(tmp_path))["agents"][1:]
    ours = options(MATCHES["ours-timed"], str(tmp_path))["agents"][0]
    assert f"seconds={SECONDS}" in ours
    assert SECONDS < 1


def test_tasks_come_after_those_they_require():
    seen = set()
    for name, task in TASKS.items():
        assert seen.issuperset(task.requires), name
        seen.add(name)
        for network in NETWORKS:  # a match requires the networks that play in it
            if task.kind == "match" and f"/{network}," in " ".join(task.options["agents"]):
                assert network in task.requires
    without = make_study().skipped_tasks
    imitate_flat = ("net-125", "net-1000", "net-deterministic", "simulated", "teachers")
    assert without.isdisjoint(f"seed-2-{name}" for name in imitate_flat)
    assert without - PARTS["seeds"].keys() == {*PARTS["real"], "ours-real"}
    assert without >= {"seed-2-net-real-all", "seed-1-real", "seed-2-final"}
    assert STUDY.skipped_tasks == set()
    assert list(make_study(EPISODES, fast=True).tasks) == list(TASKS)


def test_options_are_checked(capsys, monkeypatch, tmp_path):
    assert main(["geese", "--part", "half"]) == 2
    assert "part must be one of 'all', 'uib2021', 'real', 'seeds'" in capsys.readouterr().err
    assert main(["geese", "--processes", "0"]) == 2
    assert "processes must be an integer from 1" in capsys.readouterr().err
    assert main(["geese", "--part", "real"]) == 2
    assert "part real needs recorded games: --episodes FILE ..." in capsys.readouterr().err
    assert main(["geese", "--episodes", str(tmp_path / "none.zip")]) == 2
    assert "none.zip" in capsys.readouterr().err
    monkeypatch.setattr(declaration, "is_shipped", lambda spec: False)
    assert main(["geese", "--part", "beyond"]) == 2
    assert "needs the network ac:geese, which this package lacks" in capsys.readouterr().err


def test_other_episodes_are_not_taken_for_those_that_were_learned_from(tmp_path):
    sources = tmp_path / "sources.json"
    study.check_sources(sources, EPISODES, BANDS)
    study.check_sources(sources, EPISODES[::-1], BANDS)
    with pytest.raises(ValueError, match=r"learn from .*more.*, not from .*other\.zip"):
        study.check_sources(sources, (Path("other.zip"),), BANDS)
    with pytest.raises(ValueError, match="give another folder with --runs"):
        study.check_sources(sources, EPISODES, ("a", "b", "c", "d"))


def test_tasks_that_need_episodes_are_left_out_without_them(monkeypatch, tmp_path, capsys):
    run_names = []

    def run_part(part, tasks, *rest, **more):
        run_names.extend(tasks)

    monkeypatch.setattr(runner, "run_part", run_part)
    monkeypatch.setattr(declaration, "is_shipped", lambda spec: True)
    assert main(["geese", "--out", str(tmp_path)]) == 0
    left_out = {name for name, task in TASKS.items() if task.has_record} - set(run_names)
    assert left_out == {name for name in make_study().skipped_tasks if TASKS[name].has_record}
    assert "`--episodes FILE ...`" in (tmp_path / "report.md").read_text()
    file = tmp_path / "games.zip"
    file.touch()
    run_names.clear()
    assert main(["geese", "--out", str(tmp_path), "--runs", str(tmp_path), "--episodes",
                 str(file)]) == 0  # fmt: skip
    assert set(run_names) == {name for name, task in TASKS.items() if task.has_record}
    capsys.readouterr()


@pytest.mark.slow
def test_the_fast_study_runs(tmp_path):
    assert main(["geese", "--fast", "--part", "uib2021", "--runs", str(tmp_path)]) == 0
    text = (tmp_path / "geese_fast/report/report.md").read_text()
    for title in ("Which of", "Flat Monte Carlo", "Time", "Networks that imitate flat", "Ratings"):
        assert f"## {title}" in text
