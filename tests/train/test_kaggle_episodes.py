"""Tests of recorded simultaneous games: reading, validation and conversion of Kaggle's episodes.

The episodes of `tests/golden/geese_episodes.zip` are kaggle-environments' own; two of them were
recorded by `tests/oracles/record_episodes.py`. In `faults.json` the agents of the seats 1, 3 and 0
fail at the steps 4, 7 and 9.
"""

import json
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from episodes import GOLDEN, STANDARD, converted, golden, read, samples_of

from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.train.data.__main__ import main
from ludoteca.train.data.convert import ConversionConfig
from ludoteca.train.data.storage import load_dataset

pytestmark = pytest.mark.interpreted
NAMES = ("NORTH", "EAST", "SOUTH", "WEST")
SMALL = (
    "hungry_geese:num_players=2,rows=5,columns=6,hunger_rate=7,min_food=1,max_length=3,"
    "episode_steps=30"
)


def board(s):
    """Return the bodies of the geese and the food, as lists of cells."""
    return geese(s), s.food[: s.num_food].tolist()


@pytest.mark.parametrize(
    ("name", "game"), [*((name, "hungry_geese") for name in STANDARD), ("small", SMALL)]
)
def test_samples_equal_the_file(name, game):
    """Compare every state and every player's sample with the file."""
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
    # The fraction of rivals with less reward, minus that of those with more.
    signs = np.sign(rewards[:, None] - rewards).sum(1) / (len(rewards) - 1)
    if name != "faults":
        np.testing.assert_allclose(samples.returns, signs[samples.players], rtol=1e-6)


def test_failed_agents_forfeit_and_have_no_samples():
    episode = read(golden("faults"))
    assert np.argwhere(episode.actions == FORFEIT).tolist() == [[3, 1], [6, 3], [8, 0]]
    moves = Counter(samples_of(episode).players.tolist())
    assert moves == {0: 8, 1: 3, 2: 9, 3: 6}
    # Forfeiting seats have no reward: seat 2 wins, and the others share the last place.
    np.testing.assert_allclose(episode.returns, [[-1 / 3, -1 / 3, 1, -1 / 3]], rtol=1e-6)


def test_reads_older_files_with_fewer_fields():
    """Read a file as older versions wrote it: without module_version, dead agents INACTIVE."""
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
    """Return an episode whose value at a path of keys is `to`, or removed if `to` is None."""
    episode = json.loads(golden(name))
    place = episode
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return episode


def with_steps(change, name="700350"):
    """Return an episode with its steps replaced by `change(steps)`."""
    episode = json.loads(golden(name))
    episode["steps"] = change(episode["steps"])
    return episode


# Invalid episodes, and the error message of each.
BROKEN = {
    "empty": (b"", "not JSON, or truncated"),
    "cut off": (golden("700350")[:12_000], "not JSON, or truncated"),
    "not UTF-8": (b"\xff" + golden("700350"), "not JSON, or truncated"),
    "a list": (b"[1]", "not an episode: expected JSON with a name"),
    "deep": (b"[" * 100_000, "not JSON, or truncated"),
    "other game": (changed("name", to="connectx"), "'hungry_geese', got one of 'connectx'"),
    "no steps": (changed("steps", to=None), "steps must be of type list, got None"),
    "one state": (with_steps(lambda s: s[:1]), "steps must be two or more lists"),
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
        r"cells must be from 0 to 76, got cells from \d to 77",
    ),
    "not a cell": (
        changed("steps", 6, 0, "observation", "food", 0, to="a"),
        "cells must be integers",
    ),
    "step": (
        changed("steps", 6, 0, "observation", "step", to=7),
        "state 6 .*: expected step 6, got 7",
    ),
    "gap": (with_steps(lambda s: s[:6] + s[7:]), "state 6 .*: expected step 6, got 7"),
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
        r"state 2: food lies on \[76, 46\], by the rules on \[19\] and on 1 more free cells",
    ),
    "food on a goose": (
        changed("steps", 0, 0, "observation", "food", to=[19, 11]),
        "state 0: geese of length 1 and food must lie on distinct cells",
    ),
    "long at first": (
        changed("steps", 0, 0, "observation", "geese", 0, to=[42, 43]),
        "state 0: geese of length 1",
    ),
    "cut short": (with_steps(lambda s: s[:-1]), "state 39 is the last, but the game is not over"),
    "too long": (
        with_steps(
            lambda s: [*s, json.loads(json.dumps(s[-1]).replace('"step": 40', '"step": 41'))]
        ),
        "state 41: the game had already ended",
    ),
    "failure that did not kill": (
        changed("steps", 2, 1, "status", to="ERROR"),
        r"state 2: goose 1 lies on \[6, 17\], by the rules on \[\]",
    ),
    "ranking": (
        changed("steps", -1, 0, "reward", to=9_999),
        r"the rewards \[9999.0, 4103.0, .* by which the scores are \[4001, 4103,",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_invalid_episode_raises_with_state(case):
    content, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        read(content)


def test_new_food_must_be_on_free_cell():
    """Check that food which appears on a goose is an error."""
    episode = json.loads(golden("700350"))
    boards = [step[0]["observation"] for step in episode["steps"]]
    t = next(t for t in range(1, 40) if boards[t]["food"][-1] not in boards[t - 1]["food"])
    boards[t]["food"][-1] = boards[t]["geese"][2][0]
    with pytest.raises(ValueError, match=f"state {t}: food lies on .* and on 1 more free cells"):
        read(episode)


def as_episode(game, s, players):
    """Return a game of random moves from state s in the format of kaggle-environments."""
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
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder '.*nowhere'"):
        converted(tmp_path, tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(FileNotFoundError, match=r"there is no table of ratings '.*none\.csv'"):
        converted(tmp_path, GOLDEN, ratings_csv=tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"expected a folder, or one of .*got '.*a\.txt'"):
        converted(tmp_path, tmp_path / "a.txt")
    (tmp_path / "a.json").write_text("a")
    with pytest.raises(ValueError, match=r"none of 1 files can be used: .*a\.json: not JSON"):
        converted(tmp_path, tmp_path / "a.json")
    assert "not JSON" in json.loads((tmp_path / "out.json").read_text())["skipped"][0][1]
    assert not (tmp_path / "out.npz").exists()
    with pytest.raises(ValueError, match="expected a file of games of tron"):
        converted(tmp_path, GOLDEN, game="tron")
    with pytest.raises(ValueError, match="expected a file of games of hex"):
        converted(tmp_path, GOLDEN, game="hex")
    with pytest.raises(ValueError, match=r"must be \(lowest, highest\)"):
        ConversionConfig((GOLDEN,), rating_range=(2, 1))
    with pytest.raises(ValueError, match="sources must name"):
        ConversionConfig(())
