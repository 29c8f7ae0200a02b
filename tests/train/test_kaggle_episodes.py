"""Recorded simultaneous games: Kaggle's episodes, generated games, files, replay.

The episodes of `tests/golden/geese_episodes.zip` are kaggle-environments' own; two of them were
recorded by `tests/oracles/record_episodes.py`. In `faults.json` the agents of the seats 1, 3 and 0
fail at the steps 4, 7 and 9.
"""

import csv
import io
import json
import zipfile
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.train.data import collect
from ludoteca.train.data import generate as generation
from ludoteca.train.data.__main__ import main
from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.dataset import concatenate
from ludoteca.train.data.generate import GenerationConfig, generate, play_games
from ludoteca.train.data.kaggle import read_record
from ludoteca.train.data.kaggle_verify import verify_episode
from ludoteca.train.data.positions import iterate_positions, replay_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset, save_dataset

pytestmark = pytest.mark.interpreted

GOLDEN = Path(__file__).parents[1] / "golden" / "geese_episodes.zip"
NAMES = ("NORTH", "EAST", "SOUTH", "WEST")
SMALL = (
    "hungry_geese:num_players=2,rows=5,columns=6,hunger_rate=7,min_food=1,max_length=3,"
    "episode_steps=30"
)
GEESE = GenerationConfig(game="hungry_geese", agents=("random_safe",), num_workers=1)
STANDARD = ("700041", "700326", "700350", "faults")  # in the order in which they are read


@cache
def golden(name):
    with zipfile.ZipFile(GOLDEN) as archive:
        return archive.read(f"{name}.json")


def read(content, game="hungry_geese"):
    game = make_game(game)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return verify_episode(game, read_record(data, game), "name")


def samples_of(games, *chunk):
    return replay_positions(games, *chunk).samples()


def converted(tmp_path, *sources, **settings):
    return convert(ConversionConfig(tuple(sources), tmp_path / "out.npz", **settings))


def board(s):
    """Return the geese and the food, as in a file."""
    return geese(s), s.food[: s.num_food].tolist()


@pytest.mark.parametrize(
    ("name", "game"), [*((name, "hungry_geese") for name in STANDARD), ("small", SMALL)]
)
def test_samples_equal_the_file(name, game):
    """Compared state by state, player by player."""
    steps = json.loads(golden(name))["steps"]
    samples = samples_of(read(golden(name), game))
    states = samples.states.view(np.recarray)
    assert len(states) == len(steps)
    expected, last = [], [-1] * len(steps[0])
    for t, (s, before, after) in enumerate(zip(states, steps, steps[1:], strict=False)):
        observation = before[0]["observation"]
        assert board(s) == (observation["geese"], observation["food"])
        assert s.steps == t
        for p, goose in enumerate(observation["geese"]):
            if goose:
                assert s.last_action[p] == last[p]
            if goose and after[p]["status"] in ("ACTIVE", "DONE"):
                last[p] = NAMES.index(after[p]["action"])
                expected.append((t, p, last[p]))
    columns = zip(samples.rows, samples.players, samples.actions, strict=True)
    assert [tuple(map(int, sample)) for sample in columns] == expected
    assert (samples.actions.dtype, samples.players.dtype) == (np.int16, np.int8)
    rewards = np.array([agent["reward"] or 0 for agent in steps[-1]])
    signs = np.sign(rewards[:, None] - rewards).sum(1) / (len(rewards) - 1)
    if name != "faults":
        np.testing.assert_allclose(samples.returns, signs[samples.players], rtol=1e-6)


def test_failed_agents_forfeit_and_have_no_samples():
    episode = read(golden("faults"))
    assert np.argwhere(episode.actions == FORFEIT).tolist() == [[3, 1], [6, 3], [8, 0]]
    moves = Counter(samples_of(episode).players.tolist())
    assert moves == {0: 8, 1: 3, 2: 9, 3: 6}
    # Who forfeits has no reward: 2 wins, and the others are equally last.
    np.testing.assert_allclose(episode.returns, [[-1 / 3, -1 / 3, 1, -1 / 3]], rtol=1e-6)


def test_reads_older_files_with_fewer_fields():
    """No module_version, keys in another order, more in info, dead agents may be INACTIVE."""
    episode = json.loads(golden("700350"))
    del episode["module_version"]
    episode["info"] |= {"LiveVideoPath": None}
    for step in episode["steps"][:-1]:
        for agent in step:
            agent["status"] = {"DONE": "INACTIVE"}.get(agent["status"], agent["status"])
            agent["observation"]["remainingOverageTime"] = 51.5
    again = read(json.dumps(episode, sort_keys=True, indent=2).encode())
    expected = read(golden("700350"))
    assert (
        again.agent_names
        == expected.agent_names
        == ("thesis-deterministic", "crazy-goose", "league-net")
    )
    assert again.ids == expected.ids == ["700350"]
    for name in ("actions", "chance_outcomes", "returns", "agents"):
        np.testing.assert_array_equal(getattr(again, name), getattr(expected, name))


def test_agent_names_are_optional():
    assert read(golden("small"), SMALL).agent_names == ("red", "blue")
    episode = json.loads(golden("700326"))
    episode["info"] = {}
    game = read(episode)
    assert (game.agent_names, game.ids.tolist()) == (("",), ["name"])


def changed(*path, to, name="700350"):
    """Return an episode with a changed value."""
    episode = json.loads(golden(name))
    place = episode
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return episode


def steps(change, name="700350"):
    """Return an episode with other steps."""
    episode = json.loads(golden(name))
    episode["steps"] = change(episode["steps"])
    return episode


BROKEN = {
    "empty": (b"", "not JSON, or truncated"),
    "cut off": (golden("700350")[:12_000], "not JSON, or truncated"),
    "not UTF-8": (b"\xff" + golden("700350"), "not JSON, or truncated"),
    "a list": (b"[1]", "not an episode: expected JSON with a name"),
    "deep": (b"[" * 100_000, "not JSON, or truncated"),
    "other game": (changed("name", to="connectx"), "an episode of 'connectx', expected one of"),
    "no steps": (changed("steps", to=None), "steps must be of type list, got None"),
    "one state": (steps(lambda s: s[:1]), "steps must be two or more lists"),
    "no configuration": (changed("configuration", to=7), "configuration must be of type dict"),
    "no rows": (changed("configuration", "rows", to=None), "rows must be of type int, got None"),
    "other board": (
        changed("configuration", "rows", to=9),
        "another configuration: expected rows=7, got rows=9",
    ),
    "other steps": (changed("configuration", "episodeSteps", to=100), "got episode_steps=100"),
    "no agents": (changed("steps", 0, to=[]), "expected num_players=4, got num_players=0"),
    "fewer agents": (
        changed("steps", 5, to=[{}] * 3),
        "state 5 is not as kaggle.*: expected 4 agents, got 3",
    ),
    "no status": (changed("steps", 6, 2, "status", to=None), "state 6 is not .*'status'"),
    "status": (changed("steps", 6, 2, "status", to="ASLEEP"), "state 6 is not .*'ASLEEP'"),
    "no action": (changed("steps", 6, 2, "action", to=None), "state 6 is not .*'action'"),
    "an action": (
        changed("steps", 6, 2, "action", to="UP"),
        "state 6 .*: goose 2 played 'UP', expected one of NORTH, EAST, SOUTH, WEST",
    ),
    "no geese": (changed("steps", 6, 0, "observation", "geese", to=None), "state 6 is.*'geese'"),
    "few geese": (
        changed("steps", 6, 0, "observation", "geese", to=[[1]]),
        "state 6 is not .*expected 4 geese, got 1",
    ),
    "no cell": (
        changed("steps", 6, 0, "observation", "food", 0, to=77),
        r"cells must be from 0 to 76, got some from \d to 77",
    ),
    "not a cell": (
        changed("steps", 6, 0, "observation", "food", 0, to="a"),
        "cells must be integers",
    ),
    "step": (
        changed("steps", 6, 0, "observation", "step", to=7),
        "state 6 .*: its step is 7",
    ),
    "gap": (steps(lambda s: s[:6] + s[7:]), "state 6 .*: its step is 7"),
    "names": (changed("info", "TeamNames", to=["a"]), "info names 1 agents, but 4 play"),
    "reward": (changed("steps", -1, 1, "reward", to="much"), "not as kaggle-environments"),
    "edited action": (
        changed("steps", 2, 0, "action", to="SOUTH"),
        r"state 2: goose 0 lies on \[21\], by the rules on \[\]",
    ),
    "edited goose": (
        changed("steps", 2, 0, "observation", "geese", 3, to=[1, 2]),
        r"state 2: goose 3 lies on \[1, 2\], by the rules on",
    ),
    "edited food": (
        changed("steps", 2, 0, "observation", "food", 0, to=76),
        r"state 2: food lies on \[76, 46\], by the rules on \[19\] and on 1 free cells more",
    ),
    "food on a goose": (
        changed("steps", 0, 0, "observation", "food", to=[19, 11]),
        "state 0: geese of length 1 and food must lie on distinct cells",
    ),
    "long at first": (
        changed("steps", 0, 0, "observation", "geese", 0, to=[42, 43]),
        "state 0: geese of length 1",
    ),
    "cut short": (steps(lambda s: s[:-1]), "state 39 is the last, but the game is not over"),
    "too long": (
        steps(lambda s: [*s, json.loads(json.dumps(s[-1]).replace('"step": 40', '"step": 41'))]),
        "state 41: the game was over before",
    ),
    "failure that did not kill": (
        changed("steps", 2, 1, "status", to="ERROR"),
        r"state 2: goose 1 lies on \[6, 17\], by the rules on \[\]",
    ),
    "ranking": (
        changed("steps", -1, 0, "reward", to=9_999),
        r"its rewards \[9999.0, 4103.0, .* by which they score \[4001, 4103,",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_invalid_episode_raises_with_state(case):
    content, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        read(content)


def test_new_food_must_be_on_free_cell():
    """Wherever food appears in the file, it must be on a free cell."""
    episode = json.loads(golden("700350"))
    boards = [step[0]["observation"] for step in episode["steps"]]
    t = next(t for t in range(1, 40) if boards[t]["food"][-1] not in boards[t - 1]["food"])
    boards[t]["food"][-1] = boards[t]["geese"][2][0]
    with pytest.raises(ValueError, match=f"state {t}: food lies on .* and on 1 free cells more"):
        read(episode)


def as_episode(game, s, players):
    """Write down a game of random moves as kaggle-environments would, in plain Python."""
    rng, states = np.random.default_rng(0), []
    actions = [0] * players
    while True:
        alive = [bool(length) for length in s.length]
        over = bool(game.is_terminal(s))
        states.append(
            [
                {
                    "action": NAMES[actions[p]],
                    "reward": int(s.score[p]),
                    "observation": {"index": p, "remainingOverageTime": 60},
                    "status": "ACTIVE" if alive[p] and not over else "DONE",
                }
                for p in range(players)
            ]
        )
        states[-1][0]["observation"] |= dict(zip(("geese", "food"), board(s), strict=True))
        if over:
            break
        actions = [
            int(rng.choice([a for a in range(4) if (a + 2) % 4 != s.last_action[p]]))
            if alive[p]
            else 0
            for p in range(players)
        ]
        with np.errstate(over="ignore"):
            game.step(s, np.array(actions))
    names = {"episode_steps": "episodeSteps"}
    configuration = {names.get(key, key): value for key, value in game.params.items()}
    return {"name": "hungry_geese", "configuration": configuration, "steps": states}


@pytest.mark.parametrize(
    "params",
    [
        {"num_players": 1, "rows": 3, "columns": 4},
        {"num_players": 8, "rows": 4, "columns": 4, "min_food": 500, "hunger_rate": 2},
        {"num_players": 5, "rows": 9, "columns": 8, "min_food": 30, "max_length": 2},
    ],
)
def test_reads_boards_of_all_sizes(params):
    game = hungry_geese(**params)
    for seed in range(5):
        episode = as_episode(game, game.new(seed), params["num_players"])
        dataset = read(episode, game.spec)
        boards = [step[0]["observation"] for step in episode["steps"]]
        states = samples_of(dataset).states.view(np.recarray)
        assert [board(s) for s in states] == [(b["geese"], b["food"]) for b in boards]


def test_converts_valid_files_and_lists_others(tmp_path, capsys):
    folder = tmp_path / "episodes"
    folder.mkdir()
    (folder / "700326.json").write_bytes(golden("700326"))
    (folder / "half.json").write_bytes(golden("700350")[:9_999])
    (folder / "notes.txt").write_text("not looked at")
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("a/700350.json", golden("700350"))
        archive.writestr("a/copy.json", golden("700326"))
        archive.writestr("a/small.json", golden("small"))
    (folder / "torn.zip").write_bytes((folder / "more.zip").read_bytes()[:2_000])
    (folder / "1_info.json").write_text('{"agents": 3}')
    main(ConversionConfig((folder, tmp_path / "episodes"), tmp_path / "out.npz"))
    output = capsys.readouterr().out
    report = json.loads((tmp_path / "out.json").read_text())
    games = load_dataset(tmp_path / "out.npz")
    assert sorted(games.ids) == ["700326", "700350"]
    reasons = {Path(path).name: reason for path, reason in report["skipped"]}
    assert reasons.keys() == {
        "half.json", "copy.json", "small.json", "torn.zip", "1_info.json",
        "700326.json", "700350.json",
    }  # fmt: skip
    assert "not JSON, or truncated" in reasons["half.json"]
    assert reasons["copy.json"].startswith("the same game as ")
    assert reasons["copy.json"].endswith("700326.json")
    assert "another configuration" in reasons["small.json"]
    assert "cannot be read" in reasons["torn.zip"]
    assert "id and agents" in reasons["1_info.json"]
    assert (report["used"], report["unselected"]) == (2, 0)
    assert report["found"] == 2 + len(report["skipped"])
    assert report["agents"]["league-net"] == {"seats": 4, "actions": 2 * 9 + 2 * 39}
    for path, reason in report["skipped"]:
        assert f"{path}: {reason}" in output
    assert "out.npz: 2 games" in output


def test_unusable_sources_raise(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no '.*nowhere'"):
        converted(tmp_path, tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(FileNotFoundError, match=r"there is no '.*none\.csv'"):
        converted(tmp_path, GOLDEN, ratings_csv=tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"expected a folder, or one of .*got '.*a\.txt'"):
        converted(tmp_path, tmp_path / "a.txt")
    (tmp_path / "a.json").write_text("a")
    with pytest.raises(ValueError, match=r"none of 1 files can be used: .*a\.json: not JSON"):
        converted(tmp_path, tmp_path / "a.json")
    assert "not JSON" in json.loads((tmp_path / "out.json").read_text())["skipped"][0][1]
    assert not (tmp_path / "out.npz").exists()
    with pytest.raises(ValueError, match="of tron there are only files of games"):
        converted(tmp_path, GOLDEN, game="tron")
    with pytest.raises(ValueError, match="of hex there are only files of games"):
        converted(tmp_path, GOLDEN, game="hex")
    with pytest.raises(ValueError, match="from a lower to a higher one"):
        ConversionConfig((GOLDEN,), rating_range=(2, 1))
    with pytest.raises(ValueError, match="sources must name"):
        ConversionConfig(())


def save_as(path, games):
    save_dataset(path, games)
    return path


def seats_wanted(games):
    return {
        id_: np.flatnonzero(wanted).tolist()
        for id_, wanted in zip(games.ids.tolist(), games.selected, strict=True)
    }


def test_selects_agents_by_name(tmp_path):
    games, report = converted(tmp_path, GOLDEN, agents=("league-net", "smart-geese-rl"))
    assert seats_wanted(games) == {"700041": [0, 2], "700326": [1, 2], "700350": [2, 3]}
    assert (report.used, report.unselected) == (3, 1)  # faults.json has none of them
    assert report.agents.keys() == {"league-net", "smart-geese-rl"}
    samples = samples_of(games)
    learned = samples[samples.selected]
    who = np.array(games.agent_names)[games.agents[learned.games, learned.players]]
    assert Counter(who) == {name: counts["actions"] for name, counts in report.agents.items()}
    assert not samples.selected.all()
    with pytest.raises(
        ValueError, match=r"no agent is called 'nobody'.*; there are 'smart-geese-rl'"
    ):
        converted(tmp_path, GOLDEN, agents=("nobody",))
    again, _ = converted(tmp_path, save_as(tmp_path / "a.npz", games))
    assert seats_wanted(again) == seats_wanted(games)
    everyone, _ = converted(tmp_path, GOLDEN)
    assert everyone.selected.all()


def sidecar(episode, scores):
    """Return Kaggle's metadata of an episode, which omits the index 0."""
    agents = [
        {"index": p, "submissionId": 7, "initialScore": 600.0, "updatedScore": score}
        for p, score in enumerate(scores)
    ]
    del agents[0]["index"]
    return json.dumps({"id": episode, "competitionId": 25401, "agents": agents})


RATED = {700041: [950, 1050, 1100, 1201.5], 700326: [1101, None, 1099.9, 1000]}


@pytest.fixture(params=["folder", "archive", "table"])
def rated(request, tmp_path):
    """Return the settings of a conversion of three episodes, two of which are rated."""
    names = STANDARD[:3]
    if request.param == "table":
        text = io.StringIO()
        table = csv.writer(text)
        table.writerow(["Id", "EpisodeId", "Index", "Reward", "InitialScore", "UpdatedScore"])
        table.writerow([1, 5, 0, 0, 0, 1050])  # another episode
        for episode, scores in RATED.items():
            for p, score in enumerate(scores):
                table.writerow([1, episode, p, "", 600, "" if score is None else score])
        (tmp_path / "EpisodeAgents.csv").write_text(text.getvalue())
        return {"sources": (GOLDEN,), "ratings_csv": tmp_path / "EpisodeAgents.csv"}
    files = {f"{name}.json": golden(name).decode() for name in names}
    files |= {f"{episode}_info.json": sidecar(episode, RATED[episode]) for episode in RATED}
    if request.param == "archive":
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(f"episodes/{name}", content)
        return {"sources": (tmp_path / "all.zip",)}
    (tmp_path / "all").mkdir()
    for name, content in files.items():
        (tmp_path / "all" / name).write_text(content)
    return {"sources": (tmp_path / "all",)}


def test_selects_agents_by_rating(tmp_path, rated):
    def wanted(**settings):
        return seats_wanted(
            convert(ConversionConfig(**rated, out=tmp_path / "o.npz", **settings))[0]
        )

    assert wanted(rating_range=(1000, 1100)) == {"700041": [1, 2], "700326": [2, 3]}
    assert wanted(rating_range=(1101, float("inf"))) == {"700041": [3], "700326": [0]}
    assert wanted(rating_range=(900, 999)) == {"700041": [0]}
    assert wanted(rating_range=(1000, 1100), agents=("league-net",)) == {
        "700041": [2],
        "700326": [2],
    }
    initial = wanted(rating_range=(600, 600), rating="initial")
    assert initial == {"700041": [0, 1, 2, 3], "700326": [0, 1, 2, 3]}
    with pytest.raises(ValueError, match=r"rating in \(1, 2\); ratings are from 950 to 1201.5"):
        wanted(rating_range=(1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EpisodeId,Index\n", "expected the columns EpisodeId, Index, UpdatedScore, got"),
        ("", r"expected the columns .* got \[\]"),
        ("EpisodeId,Index,UpdatedScore\n1,2,3\n700041,0,many\n", "line 3: expected numbers in"),
        ("EpisodeId,Index,UpdatedScore\n700041\n", "line 2: expected numbers in"),
    ],
)
def test_invalid_rating_table_raises(tmp_path, text, message):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, GOLDEN, ratings_csv=tmp_path / "table.csv")


def test_unrated_agents_are_not_selected_by_rating(tmp_path):
    with pytest.raises(ValueError, match="ratings are unknown"):
        converted(tmp_path, GOLDEN, rating_range=(0, 3000))


def assert_same(games, others):
    assert (games.game, games.agent_names) == (others.game, others.agent_names)
    for name in (
        "actions",
        "lengths",
        "seeds",
        "chance_outcomes",
        "chance_lengths",
        "returns",
        "agents",
        "selected",
    ):
        np.testing.assert_array_equal(getattr(games, name), getattr(others, name), name)
    assert games.ids.tolist() == others.ids.tolist()
    np.testing.assert_array_equal(games.ratings, others.ratings)


def test_file_round_trip(tmp_path, rated):
    games, _ = convert(ConversionConfig(**rated, out=tmp_path / "a.npz"))
    assert not np.isnan(games.ratings).all()
    assert_same(load_dataset(tmp_path / "a.npz"), games)
    convert(ConversionConfig((tmp_path / "a.npz",), tmp_path / "b.npz"))
    assert_same(load_dataset(tmp_path / "b.npz"), games)


def test_slices_masks_and_chunks(tmp_path):
    games, _ = converted(tmp_path, GOLDEN)
    whole = samples_of(games)
    assert_same(concatenate([games[0:1], games[1:3], games[3:4]]), games)
    assert_same(games[np.array([False, True, True, True])], games[1:4])
    assert len(games[2:2]) == len(samples_of(games, 2, 2)) == 0
    for low, high in ((0, 2), (1, 3), (3, 4)):
        part = samples_of(games, low, high)
        some = whole[(whole.games >= low) & (whole.games < high)]
        for name in ("players", "actions", "games", "returns", "selected"):
            np.testing.assert_array_equal(getattr(part, name), getattr(some, name))
        np.testing.assert_array_equal(part.states[part.rows], whole.states[some.rows])
    assert sum(len(positions.samples()) for positions in iterate_positions(games)) == len(whole)


def test_concatenates_recorded_and_generated_games(tmp_path):
    mine = play_games(replace(GEESE, games=3))
    games, _ = converted(tmp_path, GOLDEN)
    both = concatenate([mine, games])
    assert set(both.agent_names) == {"random_safe", *games.agent_names}
    counts = [len(samples_of(mine)), len(samples_of(games))]
    assert np.bincount(samples_of(both).games >= 3).tolist() == counts
    assert both.agent_names[both.agents[3, 0]] == games.agent_names[games.agents[0, 0]]
    with pytest.raises(ValueError, match="are different games"):
        concatenate([mine, play_games(GenerationConfig(game="tron", agents=("random",), games=1))])


def test_invalid_games_raise():
    games = concatenate([read(golden(name)) for name in STANDARD])

    def refused(message, **arrays):
        with pytest.raises(ValueError, match=message):
            samples_of(replace(games, **arrays))

    def edited(name, place, value):
        array = getattr(games, name).copy()
        array[place] = value
        return {name: array}

    second = games.offsets[1]
    refused(
        "game 1 .*'700326'.* step 2 of 9: an action is illegal",
        **edited("actions", (second + 2, 1), 4),
    )
    refused("game 0 .*step 3 of 15: an action is illegal", **edited("actions", (3, 1), -2))
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible",
        **edited("chance_outcomes", 1, games.chance_outcomes[0]),
    )
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible", **edited("chance_outcomes", 1, 77)
    )
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible", **edited("chance_outcomes", 1, -1)
    )
    refused("the game does not end with these returns", **edited("returns", (1, 0), 0.5))
    refused("the game is over before", **edited("actions", (3, slice(None)), FORFEIT))
    lengths = games.lengths + np.array([-1, 1, 0, 0], np.int32)
    refused("game 0 .*step 14 of 14: the game does not end there", lengths=lengths)
    chance_lengths = games.chance_lengths + np.array([1, -1, 0, 0], np.int32)
    refused("game 0 .*fewer chance outcomes occur than", chance_lengths=chance_lengths)
    with pytest.raises(ValueError, match=r"returns must have the shape \(4, 4\), got \(3, 4\)"):
        replace(games, returns=games.returns[1:])
    with pytest.raises(ValueError, match="agents must be from 0 to 0"):
        replace(games, agent_names=("one",))


def test_damaged_files_raise(tmp_path):
    converted(tmp_path, GOLDEN)
    path = tmp_path / "out.npz"
    content = path.read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"out\.npz holds no games, or is damaged"):
            load_dataset(path)
    np.savez(path, a=np.zeros(1))
    with pytest.raises(ValueError, match="holds no games"):
        load_dataset(path)
    path.write_bytes(golden("700326"))
    with pytest.raises(ValueError, match=r"out\.npz holds no games.*expected an \.npz archive"):
        load_dataset(path)
    with pytest.raises(FileNotFoundError):
        load_dataset(tmp_path / "nowhere.npz")
    path.write_bytes(content)
    wrong = load_dataset(path)
    wrong.returns[0] = 0
    save_dataset(tmp_path / "wrong.npz", wrong)
    # Listed, not half read, beside others that are good.
    path.write_bytes(content[:-5])
    _, report = convert(
        ConversionConfig((path, tmp_path / "wrong.npz", GOLDEN), tmp_path / "b.npz")
    )
    skipped = {Path(place).name: reason for place, reason in report.skipped}
    assert list(skipped) == ["out.npz", "wrong.npz", "small.json"]
    assert "does not end with these returns" in skipped["wrong.npz"]
    assert (report.found, report.used) == (7, 4)


def test_split_is_by_whole_games():
    games = play_games(
        GenerationConfig(game="hungry_geese", agents=("random_safe",), games=40, seed=1)
    )
    apart, samples = validation_games(games, 0.25, seed=0), samples_of(games)
    assert apart.sum() == 10
    held_out = apart[samples.games]
    assert set(samples.games[held_out]) == set(np.flatnonzero(apart))
    assert not set(samples.games[held_out]) & set(samples.games[~held_out])
    assert (validation_games(games, 0.25, seed=1) != apart).any()


@pytest.mark.parametrize("game", ["hungry_geese:num_players=3,rows=5,columns=5", "tron:rows=6"])
def test_generated_games_equal_interpreted_replay(game):
    """Every game is played again in plain Python, from its seed."""
    games = play_games(
        GenerationConfig(game=game, agents=("random_safe", "random"), games=6, seed=3)
    )
    samples, seats = samples_of(games), games.game.num_players
    moves = list(zip(samples.rows, samples.players, samples.actions, strict=True))
    row = 0
    for k in range(len(games)):
        s = games.game.new(int(games.seeds[k]))
        expected = np.zeros(seats)
        for joint in games.actions[row - k : row - k + games.lengths[k]]:
            assert samples.states[row].tobytes() == s.tobytes()
            active = [p for p in range(seats) if games.game.is_active(s, p)]
            assert [(row, p, joint[p]) for p in active] == [m for m in moves if m[0] == row]
            with np.errstate(over="ignore"):
                games.game.step(s, joint.astype(np.int64))
            row += 1
        assert games.game.is_terminal(s)
        assert samples.states[row].tobytes() == s.tobytes()
        row += 1
        games.game.returns(s, expected)
        np.testing.assert_allclose(games.returns[k], expected, rtol=1e-6)
        assert games.agents[k].tolist() == [(k + p) % 2 for p in range(seats)]
        mine = samples.games == k
        np.testing.assert_array_equal(
            samples.returns[mine], games.returns[k, samples.players[mine]]
        )
    assert len(moves) == len(samples)
    assert samples.selected.all()


@pytest.mark.compiled
def test_generation_depends_on_neither_workers_nor_batches(tmp_path, monkeypatch):
    config = GenerationConfig(
        game="hungry_geese",
        agents=("flat:simulations=5,playout_depth=2", "random_safe"),
        games=40,
        num_workers=1,
    )
    games = generate(replace(config, out=tmp_path / "1.npz"))
    generate(replace(config, out=tmp_path / "2.npz", num_workers=2))
    content = (tmp_path / "1.npz").read_bytes()
    assert (tmp_path / "2.npz").read_bytes() == content
    monkeypatch.setattr(generation, "SIMULTANEOUS_GAMES", 7)
    generate(replace(config, out=tmp_path / "3.npz"))
    assert (tmp_path / "3.npz").read_bytes() == content
    generate(replace(config, out=tmp_path / "4.npz", seed=1))
    assert (tmp_path / "4.npz").read_bytes() != content
    assert_same(play_games(replace(config, games=5)), games[:5])


def test_conversion_depends_on_neither_workers_nor_batches(tmp_path, monkeypatch):
    folder = tmp_path / "episodes"
    folder.mkdir()
    for name in (*STANDARD, "small"):
        (folder / f"{name}.json").write_bytes(golden(name))
    _, report = convert(ConversionConfig((folder,), tmp_path / "1.npz"))
    monkeypatch.setattr(collect, "FILES_PER_TASK", 2)
    _, again = convert(ConversionConfig((folder,), tmp_path / "2.npz", num_workers=2))
    assert again == report
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_invalid_generation_settings_raise(tmp_path):
    for settings, message in (
        ({"agents": ("nobody",)}, "unknown agent 'nobody'"),
        ({"game": "tron", "agents": ("random",) * 3}, "between 2 agents, got 3"),
        ({"game": "hungry_geese:num_players=1", "agents": ("random",)}, "has one player"),
    ):
        with pytest.raises(ValueError, match=message):
            play_games(GenerationConfig(games=1, **settings))
    with pytest.raises(ValueError, match="agents must name"):
        GenerationConfig(agents=())
    with pytest.raises(ValueError, match=r"files of games end with \.npz or \.csv"):
        GenerationConfig(out=tmp_path / "a.txt")


def test_commands(tmp_path, capsys):
    path = tmp_path / "a.npz"
    main(
        GenerationConfig(
            game="hungry_geese", agents=("random_safe", "random"), games=4, out=path, num_workers=1
        )
    )
    output = capsys.readouterr().out
    assert "random_safe" in output
    assert "a.npz: 4 games" in output
    main(ConversionConfig((path,), tmp_path / "b.npz", agents=("random",)))
    assert "of 4 games found, 0 could not be used" in capsys.readouterr().out
    assert load_dataset(tmp_path / "b.npz").selected.sum() == 8
