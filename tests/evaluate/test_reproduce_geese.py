"""Tests of the Hungry Geese study: lives of geese, tasks and report.

The study repeats a thesis (`uib2021`) and extends it. Its parts have tasks: commands that write an
artifact (results of a match, a network), from which a record for the report is made.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tyro

from ludoteca.agents.games.hungry_geese.lives import ALIVE, CAUSES, Lives
from ludoteca.agents.networks import ac_network
from ludoteca.agents.registry import AGENTS, make_agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.spec import parse_name
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.outcomes import (
    count_outcomes,
    difference,
    orders,
    rate_all,
    read_outcomes,
)
from ludoteca.evaluate.studies import declaration, runner
from ludoteca.evaluate.studies import study as studies
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.geese import study
from ludoteca.evaluate.studies.geese.agents import agent_title
from ludoteca.evaluate.studies.geese.conclusions import (
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    conclusions,
)
from ludoteca.evaluate.studies.geese.match import geese_match
from ludoteca.evaluate.studies.geese.study import BANDS, make_study
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import make_record, read_records
from ludoteca.evaluate.studies.verdicts import target_verdict
from ludoteca.train.command import parse as parse_training
from ludoteca.train.data.__main__ import Command
from ludoteca.train.imitation import parse

EPISODES = (Path("some episodes.zip"), Path("more"))
STUDY = make_study(EPISODES)
PARTS, TASKS = STUDY.parts, STUDY.tasks
MATCHES = {name: task for name, task in TASKS.items() if task.kind == "match"}
NETWORKS = {name: task for name, task in TASKS.items() if task.kind == "network"}
THESIS = read_data("geese/uib2021.toml")
NAMES = STUDY.template_names
SECONDS = NAMES["seconds"]


def write_study(records, out):
    """Write the report of records, without its figures, to a folder."""
    write_report(replace(STUDY, draw=None), records, out, out / "no runs")


# Two games of four geese. In the first, seats 1 and 2 survive with equal lengths; in the second all
# geese die. Arrays are `[games, seats]`.
LIVES = Lives(
    causes=np.array([[3, ALIVE, ALIVE, 3], [1, 2, 1, 2]], np.int8),
    forced=np.array([[False, False, False, True], [True, True, False, True]]),
    steps=np.array([[8, 199, 199, 8], [50, 60, 40, 60]], np.int16),
    lengths=np.array([[0, 7, 7, 0], [0, 0, 0, 0]], np.int16),
    scores=np.array([[801, 20007, 20007, 801], [5001, 6001, 4001, 6002]], np.int32),
)
# Index of the agent in each seat.
SEAT_AGENTS = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])


def test_fates_of_geese_by_hand():
    # Agent 1: seat 1 of the first game, seat 0 of the second.
    fates = LIVES.counts(SEAT_AGENTS == 1)
    assert (fates["geese"], fates["wins"], fates["deaths"]) == (2, 1, 1)
    assert (fates["mean_length"], fates["length_deviation"]) == (7.0, None)
    assert fates["mean_steps"] == (199 + 50) / 2
    assert fates["causes"] == dict.fromkeys(CAUSES, 0) | {"own body": 1}
    assert fates["forced"] == dict.fromkeys(CAUSES, 0) | {"own body": 1}
    # Agent 0: seat 0 of the first, seat 3 of the second, where it has the highest score but died.
    assert LIVES.counts(SEAT_AGENTS == 0)["wins"] == 0
    assert LIVES.counts(SEAT_AGENTS == 0)["mean_length"] is None


def test_outcomes_by_hand():
    # Places of the agents, shared by ties; a star marks a goose that survived.
    assert count_outcomes(LIVES.scores, LIVES.alive, SEAT_AGENTS) == {
        "3.5 1.5* 1.5* 3.5": 1,
        "1 3 2 4": 1,
    }
    read = read_outcomes({"3.5 1.5* 1.5* 3.5": 3, "1 3 2 4": 1})
    assert read.alive.tolist() == [[False, True, True, False], [False] * 4]
    # (Rivals behind the agent - rivals ahead of it) / 3.
    np.testing.assert_allclose(
        read.scores, [[-2 / 3, 2 / 3, 2 / 3, -2 / 3], [1, -1 / 3, 1 / 3, -1]]
    )
    assert orders(read, [5, 2, 7, 0]) == {((2, 7), (5, 0)): 3, ((5,), (7,), (2,), (0,)): 1}


def test_differences_by_hand():
    # Differences 1, 1, 1, -2 in four games: mean 1/4, variance 9/4, standard error 1.5 / 2.
    values, games = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3, 1])
    interval = difference(values, games, (1, -1))
    assert interval.mean == 0.25
    assert interval.high - interval.mean == pytest.approx(1.959964 * 1.5 / 2)
    assert interval.mean - interval.low == pytest.approx(1.959964 * 1.5 / 2)


def test_only_agents_that_games_connect_are_rated():
    lines = read_outcomes({"1* 2": 30, "2 1*": 10})
    alone = read_outcomes({"1* 2": 5})
    rated = rate_all({"a": (("x", "y"), lines), "b": (("u", "v"), alone), "c": (("y", "z"), lines)})
    assert rated.keys() == {"x", "y", "z"}
    # 30.5 of 41 points in both pairs, a virtual draw included.
    step = 400 * np.log10(30.5 / 10.5)
    assert [float(rated[name].elo) for name in "xyz"] == pytest.approx([step, 0, -step], abs=1e-3)
    assert rate_all({}) == {}


@pytest.mark.slow
def test_match_results_of_geese_are_consistent(tmp_path):
    agents = ("flat:simulations=20,playout_depth=4", "random_safe", "greedy", "random")
    geese_match(agents, tmp_path / "m.json", games=40, first=12, seed=3)
    geese_match(agents, tmp_path / "f.json", games=12, first=12, seed=3)
    results, first_games = (
        json.loads((tmp_path / name).read_text()) for name in ("m.json", "f.json")
    )
    assert sum(results["outcomes"].values()) == 40
    read = read_outcomes(results["outcomes"])
    for a, agent in enumerate(results["agents"]):
        lives = agent["lives"]
        assert (lives["geese"], agent["first"]["geese"]) == (40, 12)
        assert agent["first"] == first_games["agents"][a]["lives"]
        assert lives["deaths"] == sum(lives["causes"].values())
        assert lives["deaths"] == 40 - read.games @ read.alive[:, a]
        assert agent["moves"] == round(40 * lives["mean_steps"])
        assert agent["total"]["mean_return"] == pytest.approx(
            float(read.games @ read.scores[:, a]) / 40
        )
    # With two agents, each has two geese in every game.
    geese_match(agents[:2], tmp_path / "two.json", games=4)
    two_agents = json.loads((tmp_path / "two.json").read_text())
    assert [agent["lives"]["geese"] for agent in two_agents["agents"]] == [8, 8]
    assert "outcomes" not in two_agents
    with pytest.raises(ValueError, match="game must be hungry_geese, got 'tron'"):
        geese_match(agents[:2], tmp_path / "no.json", game="tron")


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


def test_all_agents_exist_and_winners_replace_placeholders(tmp_path):
    for name in ("simulated", "real"):
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
    assert make_study().skipped_tasks == {*PARTS["real"], "ours-real"}
    assert STUDY.skipped_tasks == set()
    assert list(make_study(EPISODES, fast=True).tasks) == list(TASKS)


ABOUT = {"command": "x", "date": "2026-01-02T03:04:05", "cpu": "fast", "cores": 2}
# Files metrics.csv of the self-play trainings, by preset.
METRICS = {
    "uib2021": """step,deterministic__any,candidates_tested,candidates_accepted
0,0.0,0,0
300,,1,1
500,0.25,40,7
""",
    "default": """step,deterministic__any
0,0.5
500,0.75
900,0.875
""",
}
# 1,000 games by their outcome: the first agent is the only survivor in 600, the last in 400.
COUNTS = {"1* 2 3 4": 600, "4 3 2 1*": 400}


def lives_record(geese, wins, deaths, forced=0):
    """Return the counts of an agent's geese; all deaths are collisions of heads."""
    causes = dict.fromkeys(CAUSES, 0)
    return {
        "geese": geese,
        "wins": wins,
        "deaths": deaths,
        "mean_length": 20.0 if deaths < geese else None,
        "length_deviation": 5.0 if deaths < geese else None,
        "mean_steps": 99.0,
        "causes": causes | {"head on": deaths},
        "forced": causes | {"head on": forced},
    }


def example_artifact(task):
    """Return an artifact of a task without running it."""
    if task.kind == "network":
        best = {"epoch": 4, "loss": 0.5, "accuracy": 0.625}
        return {
            "about": ABOUT,
            "data": {"games": 800, "training_positions": 12_345},
            "training": {"epochs": 9, "seconds": 90.0, "best": best, "precision": "bfloat16"},
            "metrics": [],
        }
    if task.kind == "self-play":
        seats = {"games": 1_000, "wins": 250}
        evaluation = [
            {"opponent": "deterministic", "seats": [seats | {"wins": 125}]},
            {"opponent": "random", "seats": [seats]},
        ]
        training = {"games": 50_000, "seconds": 120.0, "precision": "float32"}
        return {"about": ABOUT, "training": training, "evaluation": evaluation, "config": {}}
    if task.kind == "agreement":
        answers = {"moves": 2_000, "agreement": 0.75, "predictable": 0.875}
        return {
            "about": ABOUT,
            "agents": [{"agent": spec, **answers} for spec in task.options["agents"]],
        }
    if task.kind == "examples":
        return {"about": ABOUT, "games": 40, "agents": task.options["agents"], "examples": []}
    best = {"simulated": "net-125", "real": "net-real-2"}
    winners = {key: f"cnn:run/{best[key]},precision=auto" for key in task.placeholders}
    has_four_agents = len(task.options["agents"]) == 4
    agents = []
    for k, spec in enumerate(task.options["agents"]):
        wins = {0: 600, 3: 400}.get(k, 0) if has_four_agents else (550, 400)[k]
        total = {"games": 1_000, "wins": wins, "draws": 50, "losses": 950 - wins}
        agent = {
            "agent": spec.format(folder="run", **winners),
            "seconds_per_move": 0.002,
            "total": total,
            "first": lives_record(100, wins // 10, 100 - wins // 10),
            "lives": lives_record(1_000, wins, 1_000 - wins, forced=100),
        }
        agents.append(agent)
    results = {"about": ABOUT, "seconds": 60.0, "agents": agents}
    return results | ({"outcomes": COUNTS} if has_four_agents else {})


@pytest.fixture
def folder(tmp_path):
    """Return a folder with example artifacts of all tasks."""
    for name, task in TASKS.items():
        if task.has_record:
            product = task.artifact(tmp_path / "runs")
            product.parent.mkdir(parents=True)
            product.write_text(json.dumps(example_artifact(task)))
        if task.kind == "self-play":
            (tmp_path / "runs" / name / "metrics.csv").write_text(
                METRICS[task.positional_arguments[0]]
            )
    return tmp_path / "runs"


def all_records(folder):
    """Return the records of all tasks that have one, by part and name."""
    records = {
        part: {name: make_record(task, folder) for name, task in tasks.items()}
        for part, tasks in PARTS.items()
    }
    return {
        part: {name: record for name, record in of_part.items() if record}
        for part, of_part in records.items()
    }


def share(count, games):
    """Return a percentage with its Wilson interval, as the report has it."""
    low, high = wilson(count, games)
    return f"{100 * count / games:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def test_report_has_the_figures_of_the_records(folder, tmp_path):
    write_study(all_records(folder), tmp_path / "report")
    text = (tmp_path / "report/report.md").read_text()
    # The thesis' 22 wins, 69 deaths and length of 24, then 60 and 40 of our first 100 games.
    half_width = 1.959964 * 5 / np.sqrt(600)
    row = (
        f"| flat 125, depth 4 | 22 | 60 | {share(600, 1000)} | 69 | 40 | {share(400, 1000)} "
        f"| 24 | 20.0 | 20.0 ({20 - half_width:.1f} to {20 + half_width:.1f}) |"
    )
    assert row in text
    assert f"| flat 250, depth 4 | 33 | 0 | {share(0, 1000)} | 61 | 100 |" in text
    assert f"| flat 1000, depth 6 | {share(400, 1000)} | {share(600, 1000)} | 20.0 (" in text
    assert "| flat 125, depth 6 | 0.148 | 2.000 | 74 |" in text
    assert "| flat 250, depth 6 | 800 | 12,345 | 4 of 9 | 1.5 | 62.5 | 69.4 | 87.5 | 75.0 |" in text
    assert "| thesis-deterministic, boilergoose | 800 | 12,345 | 4 of 9 | 1.5 | 62.5 | " in text
    assert "75.2 (1001 to 1100) |" in text
    best = "network of group 4: league-net"
    assert f"| network of all | {best} | 1,000 | 550, 50, 400 | 57.5 (" in text
    assert "| network of flat 125, depth 6 | 2 | 0 |" in text  # in the final
    ours = f"| 1,000 | {share(600, 1000)} | {share(600, 1000)} | 2.0 | inconclusive |"
    rivals = "deterministic; flat 1000, depth 6; network of flat 125, depth 6"
    # In training the network has met the first rival, and agents of the kinds of the other two.
    assert f"| self-play | {rivals} | yes; its kind; its kind {ours}" in text
    assert f"| self-play, 32 simulations | {rivals} | yes; its kind; its kind {ours}" in text
    assert f"| decoupled UCT 1000 | {rivals} | - {ours}" in text
    assert f"| self-play | three decoupled UCT 500 | no {ours}" in text
    assert f"| self-play | three random_safe | no {ours}" in text
    assert "so that it is trained against the same agent that it is evaluated against" in text
    assert "for at most 15 epochs and in bfloat16" in " ".join(text.split())
    # The final has the thesis' version of the deterministic agent.
    assert "| deterministic (thesis) | 20 | 60 |" in text
    assert f"| deterministic (thesis, tail) | {share(600, 1000)} |" in text
    assert "it is\n10.0 % to 25.0 %, depending on the competition" in text
    assert f"| self-play, {SECONDS} s a move | self-play | 1,000 | 550, 50, 400 |" in text
    # All deaths are head on, and 100 of the 600 of this agent are forced.
    assert f"| {best} | 1,000 | 60.0 | 100.0 | {share(100, 600)} |" in text
    tenth, quarter = share(125, 1000), share(250, 1000)
    assert f"| `uib2021` | 50,000 | 2.0 | 7 of 40 | {quarter} | {tenth} |" in text
    assert f"| `default` | 50,000 | 2.0 | - | {quarter} | {tenth} |" in text
    assert "| 0 | 0 | 0 | 50 |\n| 500 | 25 | 500 | 75 |\n|  |  | 900 | 88 |" in text
    assert "Missing parts" not in text
    # The first of four networks wins 600 of 1,000 games, the last 400; the others none.
    assert "drawn with replacement" in text
    assert "| network of group 2: thesis-deterministic, ... | 0 to 0 | 100 to 100 | 0.0 |" in text
    assert "The first such positions in 40 games of 4 agents: `flat:simulations=1000" in text
    assert json.loads((tmp_path / "report/results.json").read_text()).keys() == {
        "about", "versions", *PARTS,
    }  # fmt: skip


def test_counts_that_differ_from_the_thesis_are_listed(folder, tmp_path):
    records = all_records(folder)
    # With 220 of 1,000 wins and 690 deaths the first agent of depth 4 is the thesis'.
    for name in ("depth-4", "depth-6", "mixed"):
        for agent, (wins, deaths, _) in zip(
            records["uib2021"][name]["agents"], THESIS["results"][name], strict=True
        ):
            agent["lives"] = lives_record(1_000, 10 * wins, 10 * deaths)
    # The last agent, with 80 % of wins, 30 % in the thesis.
    agent["lives"] = lives_record(1_000, 800, 570)
    write_study(records, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "Of the thesis' 24 counts of wins and deaths, 1 differs significantly from ours" in text
    assert "wins of flat 1000, depth 6 (30, 80.0)." in text


def test_conclusions_by_hand(folder):
    records = {
        name: record for part in all_records(folder).values() for name, record in part.items()
    }
    by_claim = {conclusion.claim: conclusion for conclusion in conclusions(records)}
    # The first agent scores 1 in 600 games and -1 in 400, the second 1/3 and -1/3, and so on.
    outcomes = read_outcomes(records["factors"]["outcomes"])
    assert outcomes.score_contrast((1, 0, 0, 0)).mean == pytest.approx(0.2)
    assert outcomes.score_contrast((-0.5, -0.5, 0.5, 0.5)).mean == pytest.approx(-0.2 * 4 / 3)
    assert outcomes.survival_contrast((1, 0, 0, -1)).mean == pytest.approx(0.2)
    # Depth: -4/15; simulations: -2/15. Their difference is -2/15, and in each game 2/3 or -2/3.
    depth = by_claim["depth matters more than the number of simulations"]
    assert depth.verdict == FAILS
    assert "depth 6 instead of 4: -0.267 (" in depth.evidence
    assert "difference -0.133 (" in depth.evidence
    # Of 3,000 deaths in each of four competitions 400 were forced; all are collisions of heads.
    dead_ends = by_claim["flat Monte Carlo dies because it does not see dead ends"]
    assert dead_ends.verdict == FAILS
    assert "of 12,000 deaths, 13.3 % are forced" in dead_ends.evidence
    assert "86.7 % are collisions of heads" in dead_ends.evidence
    assert "the share of forced deaths is 10.0 % to 25.0 %" in dead_ends.evidence
    # In the final the thesis' goose is ahead by 2/3 in 600 games, and behind by that in 400.
    rules = by_claim["flat Monte Carlo plays better than the deterministic agent"]
    assert rules.verdict == FAILS
    assert "the thesis' rules: -0.133 (" in rules.evidence
    assert "wins 0 of 1,000 games, the deterministic agent 600" in rules.evidence
    assert "deterministic (thesis, tail): -0.133 (" in rules.evidence
    assert by_claim["a network that imitates flat Monte Carlo plays badly"].verdict == HOLDS
    noisy = by_claim["... because its labels are noisy"]  # both fall behind by 2/3 or -2/3
    assert noisy.verdict == INCONCLUSIVE
    assert "87.5 %, 87.5 %, 87.5 %, 87.5 % are predictable" in noisy.evidence
    assert len(by_claim) == 8
    del records["factors"], records["final"]
    assert len(list(conclusions(records))) == 4


def test_sections_need_all_their_tasks_and_earlier_records_are_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(declaration, "is_shipped", lambda spec: False)
    out, records = tmp_path / "report", all_records(folder)
    records |= {"real": {}, "beyond": {}}
    del records["uib2021"]["agreement"]
    write_report(replace(make_study(EPISODES), draw=None), records, out, out / "no runs")
    text = (out / "report.md").read_text()
    assert "## Flat Monte Carlo (figures 7 and 8)" in text
    assert "## Time (table 1)" in text
    for title in (
        "Networks that imitate flat",
        "Networks that imitate recorded",
        "The final",
        "The self-play network",
    ):
        assert f"## {title}" not in text
    assert "they need files of recorded games,\n  `--episodes FILE ...`." in text
    assert "the package has no network `ac:geese`." in text
    assert f"{len(records['uib2021'])} of {len(records['uib2021']) + 1} of part uib2021" in text
    assert read_records(out, PARTS) == records
    # Another network means other matches, and other winners.
    changed = replace(TASKS["net-500"], settings={"epochs": 3})
    thesis = read_records(out, PARTS | {"uib2021": PARTS["uib2021"] | {"net-500": changed}})
    gone = {"net-500", "simulated", "without-real"}
    assert records["uib2021"].keys() - thesis["uib2021"].keys() == gone


def test_records_of_matches_with_another_shipped_network_are_not_kept(
    folder, tmp_path, monkeypatch
):
    records, other = all_records(folder), tmp_path / "geese.safetensors"
    write_study(records, tmp_path)
    other.write_bytes(b"another")
    monkeypatch.setattr(studies, "shipped_weights", lambda kind: {"geese": other})
    beyond = make_study(EPISODES).parts["beyond"]
    again = read_records(tmp_path, PARTS | {"beyond": beyond})
    assert again["beyond"].keys() == {"loop-uib2021", "loop-default", "tree"}
    assert again["beyond"].keys() < records["beyond"].keys()
    assert again | {"beyond": {}} == records | {"beyond": {}}
    assert "ac:geese" in TASKS["ours-search-or-not"].settings["networks"]
    # Each network has its own folder of results.
    places = {plan["ours"].artifact(tmp_path) for plan in (TASKS, beyond)}
    assert len(places) == 2


def test_tasks_with_records_are_not_run_again(folder, tmp_path, capsys):
    out, empty = tmp_path / "report", tmp_path / "empty"
    write_study(all_records(folder), out)
    arguments = ["geese", "--part", "uib2021", "--keep", "--out", str(out), "--runs", str(empty)]
    assert main(arguments) == 0
    assert not empty.exists()
    assert "uib2021: 0 of " in capsys.readouterr().err
    assert read_records(out, PARTS) == all_records(folder)


def test_options_are_checked(capsys, monkeypatch, tmp_path):
    assert main(["geese", "--part", "half"]) == 2
    assert "part must be one of 'all', 'uib2021', 'real', 'beyond'" in capsys.readouterr().err
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


def test_target_verdicts_follow_from_the_intervals():
    def verdict(*counts):
        return target_verdict(0.6, *(wilson(count, 1_000) for count in counts))

    assert verdict(700, 650) == "yes"
    assert verdict(700, 610) == "inconclusive"  # 58.0 to 64.0 %; target 60 %
    assert verdict(590, 700) == "inconclusive"
    assert verdict(700, 500) == verdict(500, 610) == "**no**"


def test_titles_of_agents():
    names = {"net-125": "network of flat 125, depth 6"}
    assert agent_title("flat:simulations=125,playout_depth=4") == "flat 125, depth 4"
    assert agent_title("cnn:/a/b/net-125,precision=auto", names) == names["net-125"]
    assert agent_title("cnn:other") == "other"
    assert agent_title("ac:geese,precision=auto") == "self-play"
    assert agent_title("ac:geese,simulations=32,precision=auto") == "self-play, 32 simulations"
    assert agent_title("mcts:simulations=1000") == "decoupled UCT 1000"
    assert agent_title("deterministic") == "deterministic"
    assert agent_title("deterministic:variant=thesis") == "deterministic (thesis)"
    assert TASKS["games-125"].positional_arguments == ("generate",)
    assert TASKS["games-real"].positional_arguments[0] == "convert"


@pytest.mark.slow
def test_the_fast_study_runs(tmp_path):
    assert main(["geese", "--fast", "--part", "uib2021", "--runs", str(tmp_path)]) == 0
    text = (tmp_path / "geese_fast/report/report.md").read_text()
    for title in ("Which of", "Flat Monte Carlo", "Time", "Networks that imitate flat", "Ratings"):
        assert f"## {title}" in text
