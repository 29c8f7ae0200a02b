"""Report of the Hungry Geese study, from records of its tasks."""

import json
from dataclasses import replace

import numpy as np
import pytest
from geese_study import EPISODES, PARTS, SECONDS, STUDY, TASKS, THESIS

from ludoteca.agents.games.hungry_geese.lives import CAUSES
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.verdicts import FAILS, HOLDS, INCONCLUSIVE, target_verdict
from ludoteca.evaluate.studies import declaration
from ludoteca.evaluate.studies import study as studies
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.geese.agents import agent_title, total_lives
from ludoteca.evaluate.studies.geese.conclusions import conclusions
from ludoteca.evaluate.studies.geese.dead_ends import DEPENDS, DeadEnds, count_verdicts
from ludoteca.evaluate.studies.geese.seeds import ONE_RUN, mean_contrast
from ludoteca.evaluate.studies.geese.study import make_study
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.seeds import by_seed, of_first_seed
from ludoteca.evaluate.studies.study import make_record, read_records


def write_study(records, out):
    """Write the report of records, without its figures, to a folder."""
    write_report(replace(STUDY, draw=None), records, out, out / "no runs")


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
    # In training the network has met the first rival, and agents of the types of the other two.
    met = "deterministic; flat 200, depth 6; another imitation network"
    assert f"| self-play | {rivals} | {met} {ours}" in text
    assert f"| self-play, 32 simulations | {rivals} | {met} {ours}" in text
    assert f"| decoupled UCT 1000 | {rivals} | - {ours}" in text
    assert f"| self-play | three decoupled UCT 500 | no agent of this type {ours}" in text
    assert f"| self-play | three random_safe | no agent of this type {ours}" in text
    assert "so that it is trained against the same agent that it is evaluated against" in text
    assert "for at most 15 epochs and in bfloat16" in " ".join(text.split())
    # The final has the thesis' version of the deterministic agent.
    assert "| deterministic (thesis) | 20 | 60 |" in text
    assert f"| deterministic (thesis, tail) | {share(600, 1000)} |" in text
    low, high = wilson(400, 3000)  # 1,600 of 12,000 deaths, if the four geese of a game die alike
    forced = f"13.3 ({100 * low:.1f} to {100 * high:.1f})"
    assert f"| its own type, 4 competitions | 12,000 | {forced} | {FAILS} |" in text
    flat = "| flat 1000, depth 6 | deterministic; network of flat 125, depth 6; greedy"
    assert f"{flat} | 1,000 | {share(100, 1000)} | {FAILS} |" in text
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
    network = "network of group 4: league-net"
    wins, deaths = (
        "40.0, 40.0, 40.0 | 40.0 (40.0 to 40.0)",
        "60.0, 60.0, 60.0 | 60.0 (60.0 to 60.0)",
    )
    assert f"| {network} | 25 | {wins} | 76 | {deaths} |" in text
    assert f"| {network} | 77.5 (above 1200) | 62.5, 62.5, 62.5 | 62.5 (62.5 to 62.5) |" in text
    assert "in % of the points: 57.5, 57.5, 57.5; mean 57.5 (57.5 to 57.5)." in text
    chosen = "network of flat 125, depth 6 and network of group 3: smart-geese-rl"
    assert f"These networks are, by seed: {chosen}" in text
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
    claim = "flat Monte Carlo dies because it does not see dead ends: against "
    dead_ends = by_claim[claim + "its own type"]
    assert dead_ends.verdict == FAILS
    low, high = wilson(400, 3000)  # 1,600 of 12,000, if the four geese of a game die alike
    forced = f"13.3 % ({100 * low:.1f} to {100 * high:.1f})"
    assert f"of 12,000 deaths, {forced} are forced" in dead_ends.evidence
    assert "86.7 % (85.4 to 87.8) are collisions of heads" in dead_ends.evidence
    others = by_claim[claim + "agents of other types"]
    assert others.verdict == FAILS
    assert "more than half in 0, less than half in 10, and the interval contains" in others.evidence
    assert "the smallest share is 10.0 % (8.3 to 12.0)" in others.evidence
    # In the final the thesis' goose is ahead by 2/3 in 600 games, and behind by that in 400.
    rules = by_claim["flat Monte Carlo plays better than the deterministic agent"]
    assert rules.verdict == FAILS
    assert "the thesis' rules: -0.133 (" in rules.evidence
    assert "wins 0 of 1,000 games, the deterministic agent 600" in rules.evidence
    assert "deterministic (thesis, tail): -0.133 (" in rules.evidence
    # All seeds have the same outcomes here.
    claim = "a network that imitates flat Monte Carlo plays badly"
    assert by_claim[claim].verdict == HOLDS
    assert by_claim[claim].evidence.startswith("3 training seeds; score of flat Monte Carlo")
    noisy = next(one for name, one in by_claim.items() if "labels are noisy" in name)
    assert noisy.verdict == INCONCLUSIVE
    assert "87.5 %, 87.5 %, 87.5 %, 87.5 % are predictable" in noisy.evidence
    weak = "a network that imitates weak players plays better than one that imitates strong players"
    assert by_claim[weak].verdict == HOLDS
    records["seed-1-real"]["outcomes"] = {"1* 2 3 4": 500, "4 3 2 1*": 500}
    records["seed-2-real"]["outcomes"] = {"1* 2 3 4": 700, "4 3 2 1*": 300}
    # The first agent's score less the last one's is 0.4, 0 and 0.8: the mean is 0.4, the standard
    # error is 0.4 / sqrt(3), and Student's quantile for three seeds is 4.3027.
    assert list(by_seed(records, "real")) == [0, 1, 2]
    mean = mean_contrast(records, "real", (1, 0, 0, -1))
    assert mean == pytest.approx((0.4, 0.4 - 0.99366, 0.4 + 0.99366, 3), abs=1e-5)
    assert mean.verdict == INCONCLUSIVE
    again = {conclusion.claim: conclusion for conclusion in conclusions(records)}
    assert again[weak].verdict == INCONCLUSIVE
    assert "the strongest group: +0.400 (-0.594 to +1.394)" in again[weak].evidence
    del records["seed-2-real"]
    again = {conclusion.claim: conclusion for conclusion in conclusions(records)}
    assert again[weak].verdict == ONE_RUN
    assert len(by_claim) == 9
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


@pytest.mark.usefixtures("unrendered_figures")
def test_tasks_with_records_are_not_run_again(folder, tmp_path, capsys):
    out, empty = tmp_path / "report", tmp_path / "empty"
    write_study(all_records(folder), out)
    arguments = ["geese", "--part", "uib2021", "--keep", "--out", str(out), "--runs", str(empty)]
    assert main(arguments) == 0
    assert not empty.exists()
    assert "uib2021: 0 of " in capsys.readouterr().err
    assert read_records(out, PARTS) == all_records(folder)


def test_target_verdicts_follow_from_the_intervals():
    def verdict(*counts):
        return target_verdict(0.6, *(wilson(count, 1_000) for count in counts))

    assert verdict(700, 650) == "yes"
    assert verdict(700, 610) == "inconclusive"  # 58.0 to 64.0 %; target 60 %
    assert verdict(590, 700) == "inconclusive"
    assert verdict(700, 500) == verdict(500, 610) == "**no**"


def test_verdicts_on_dead_ends_by_hand():
    many, few, half = DeadEnds(100, 80, 20), DeadEnds(100, 20, 80), DeadEnds(100, 50, 50)
    assert [row.verdict for row in (many, few, half)] == [HOLDS, FAILS, INCONCLUSIVE]
    # 55 to 95 of 100 deaths may be in dead ends: the smaller number decides.
    assert DeadEnds(100, 55, 5).verdict == INCONCLUSIVE
    # Of 100 deaths, 4 in each game, the interval is that of 15 of 25.
    grouped = DeadEnds(100, 60, 40, deaths_per_game=4)
    assert grouped.interval(60) == wilson(15, 25)
    assert (DeadEnds(100, 60, 40).verdict, grouped.verdict) == (HOLDS, INCONCLUSIVE)
    assert count_verdicts([many, few, half]) == (DEPENDS, {HOLDS: 1, FAILS: 1, INCONCLUSIVE: 1})
    assert count_verdicts([many, many])[0] == HOLDS
    assert count_verdicts([many, half])[0] == INCONCLUSIVE
    assert count_verdicts([few])[0] == FAILS


def test_networks_that_were_trained_again_have_titles_of_their_own(folder, tmp_path):
    records, labels = all_records(folder), {"net-125": "network of flat 125, depth 6"}
    again = "network of flat 125, depth 6 (4 epochs, float32)"
    records["real"]["final"]["titles"] = {"net-125": again}
    matches = {name: record for part in records.values() for name, record in part.items()}
    totals = total_lives(of_first_seed(matches), labels)
    # It is the third agent, which wins no game. The other network is in eight other competitions.
    assert totals[again]["geese"] == totals[again]["deaths"] == 1_000
    assert totals[labels["net-125"]]["geese"] == 8_000
    write_study(records, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert f"| {again} | 2 | 0 | {share(0, 1000)} | 98 |" in text
    assert f"| deterministic (thesis); {again}; network of group" in text


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
