"""Tests of submissions in kaggle-environments itself.

`make kaggle` sets up the environment and runs these tests; without it they are skipped.
"""

import json
import random
import subprocess
import textwrap
from pathlib import Path

import numpy as np
import pytest

from ludoteca.agents.external.kaggle import KaggleAgent
from ludoteca.agents.external.kaggle.export import EXPORTERS, export_agent
from ludoteca.agents.external.kaggle.observation import configuration, observation, position
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import FOOD, geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-kaggle" / "bin" / "python"
SCRIPT = ROOT / "tests" / "oracles" / "play_submissions.py"
NAMES = ("NORTH", "EAST", "SOUTH", "WEST")
BOARDS = (
    "hungry_geese",
    "hungry_geese:num_players=2,rows=5,columns=6,hunger_rate=7,max_length=5,episode_steps=50",
    "hungry_geese:num_players=8,rows=12,columns=9,min_food=6,episode_steps=40",
)

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="kaggle-environments is not installed: make kaggle"
)


def kaggle(*games):
    """Return the games that kaggle-environments plays.

    Args:
        *games: tuples of a game, its agents (paths, or lists of actions), and options of
            `play_submissions.py`, if any.
    """
    requests = [
        {"configuration": configuration(game), "agents": [*map(as_json, agents)]}
        | {"seed": k, "bank": 60}
        | (options[0] if options else {})
        for k, (game, agents, *options) in enumerate(games)
    ]
    run = subprocess.run(
        [PYTHON, SCRIPT], input=json.dumps(requests), capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def as_json(agent):
    """Return an agent as a JSON value."""
    return str(agent) if isinstance(agent, Path) else agent


def positions(game, played):
    """Yield the positions of a game that kaggle-environments has played, read one by one."""
    s = None
    for board in played["boards"]:
        s = position(game, board | {"remainingOverageTime": 60, "index": 0}, s)
        yield s


@pytest.mark.parametrize("name", [name for name in EXPORTERS if name not in ("cnn", "ac")])
def test_exported_agents_play_the_same_games_in_kaggle_environments(name, tmp_path):
    file = tmp_path / "submission.py"
    export_agent(name, file)
    games = [make_game(spec) for spec in BOARDS]
    legal, num_determined = np.arange(4, dtype=np.int16), 0
    draws = 40 if name.startswith("random") else 6  # so many that every action is sampled
    for game, played in zip(
        games, kaggle(*((game, [file] * game.num_players) for game in games)), strict=True
    ):
        assert {status for status, *_ in played["geese"][-1]} == {"DONE"}
        own, last = make_agent(name, game), None
        for t, s in enumerate(positions(game, played)):
            last = s
            if t + 1 == len(played["boards"]):
                break
            for seat in np.flatnonzero(s.length):
                with np.errstate(over="ignore"):
                    expected = {
                        NAMES[own.choose(s, seat, legal, 4, np.array([k], np.uint64))]
                        for k in range(draws)
                    }
                assert played["geese"][t + 1][seat][1] in expected
                num_determined += len(expected) == 1
        assert last.score.tolist() == [reward for _, _, reward, _ in played["geese"][-1]]
    assert num_determined > 20 or name.startswith("random")


@pytest.mark.parametrize("more", ["", ",simulations=12"], ids=["policy", "search"])
def test_exported_networks_play_in_kaggle_environments(more, tmp_path):
    file = tmp_path / "submission.py"
    export_agent(f"ac:geese{more}", file)
    game = make_game(BOARDS[0])
    (played,) = kaggle((game, [file] * game.num_players))
    own, num_equal = make_agent("ac:geese", game), 0
    zero = np.zeros(1, np.int64)
    for t, s in enumerate(list(positions(game, played))[:-1]):
        state = np.asarray(s).reshape(1).astype(game.state)
        for seat in np.flatnonzero(s.length):
            status, action, _, bank = played["geese"][t + 1][seat]
            assert status in ("ACTIVE", "DONE")
            assert bank > 59  # seconds of 60 that are left: no move takes much more than one
            best = own.act(state, np.array([seat]), np.zeros((1, 1), np.uint64), zero)[0]
            num_equal += action == NAMES[best]
            assert action == NAMES[best] or more  # a search may choose other actions
    assert num_equal > 40


def test_failing_agents_forfeit_as_in_kaggle_environments():
    """Scripted games, step for step; Kaggle's reward None is the score -1 here."""
    rng, games = random.Random(0), []
    answers = (*NAMES, *NAMES, *NAMES, *NAMES, None, "UP", "raise", 3)
    for k in range(12):
        game = make_game(BOARDS[k % len(BOARDS)])
        agents = [rng.choices(answers, k=200) for _ in range(game.num_players)]
        for agent in agents:  # the first actions do not turn back, so that geese live for a while
            agent[:4] = rng.choice([["NORTH"] * 4, ["EAST", "SOUTH"] * 2])
        games.append((game, agents))
    num_forfeits, num_last = 0, 0
    for (game, agents), played in zip(games, kaggle(*games), strict=True):
        s = None
        for t, board in enumerate(played["boards"]):
            if s is None:
                s = position(game, board | {"index": 0})
                continue
            joint = [
                NAMES.index(answer) if (answer := agent[t - 1] or "NORTH") in NAMES else FORFEIT
                for agent in agents
            ]
            num_forfeits += sum(joint[p] == FORFEIT for p in np.flatnonzero(s.length))
            with np.errstate(over="ignore"):
                game.step(s, np.array(joint))
            assert geese(s) == board["geese"], t
            s.occupied.ravel()[s.food[: s.num_food]] = 0
            s.num_food, s.food[: len(board["food"])] = len(board["food"]), board["food"]
            s.occupied.ravel()[board["food"]] = FOOD
        assert game.is_terminal(s)
        rewards = [-1 if reward is None else reward for _, _, reward, _ in played["geese"][-1]]
        assert s.score.tolist() == rewards
        num_last += sum(reward == -1 for reward in rewards)
    assert num_forfeits == num_last > 10


SUBMISSIONS = {
    # The first one, because in kaggle-environments a failing file leaves its folder in sys.path.
    "late import": "def a(o):\n import beside\n return 'EAST'",
    "two functions": "def a(o): return 'EAST'\ndef b(o, c): return 'SOUTH'",
    "defined again": "def b(o): return 'EAST'\ndef a(o): return 'SOUTH'\ndef b(o): return 'WEST'",
    "no argument": "def a(): return 'SOUTH'",
    "three arguments": "def a(o, c, x=0): return 'SOUTH'",
    "any arguments": "def a(*x): return 'SOUTH' if len(x) == 0 else 'EAST'",
    "a lambda": "a = lambda o, c: 'WEST'",
    "an object": "class A:\n def __call__(self, o, c): return 'EAST'\na = A()",
    "an object for one": "class A:\n def __call__(self, o): return 'EAST'\na = A()",
    "a class": "class A:\n def __init__(self, o, c): pass",
    "an import": "def a(o, c): return 'EAST'\nfrom os import getcwd",
    "a text": "def a(o): return 'EAST'\nx = 'SOUTH'",
    "nothing": "x = 3",
    "None": "def a(o): pass",
    "lower case": "def a(o): return 'north'",
    "a number": "def a(o): return 2",
    "a kind of str": "class S(str): pass\ndef a(o): return S('EAST')",
    "an enumeration": "from enum import Enum\nclass A(Enum):\n EAST = 1\ndef a(o): return A.EAST",
    "an error": "def a(o): return 1 / 0",
    "an error at once": "1 / 0\ndef a(o): return 'EAST'",
    "bad syntax": "def a(o:",
    "attributes": "def a(o, c): return 'EAST' if o.geese[o.index] and c.rows == 7 else 'WEST'",
    "items": "def a(o, c): return 'EAST' if o['food'] and dict(c)['max_length'] == 99 else 'WEST'",
    "the path": "def a(o, c): return 'EAST' if open(c['__raw_path__']).read() else ''",
    "a name": "def a(o): return 'EAST' if __name__ == 'builtins' else 'WEST'",
    "changes": "def a(o):\n o.geese.clear()\n o.step = 7\n return 'EAST' if o['step'] == 7 else ''",
    "early import": "import beside\ndef a(o): return beside.ACTION",
}


def test_submissions_are_loaded_and_called_as_in_kaggle_environments(tmp_path):
    (tmp_path / "beside.py").write_text("ACTION = 'SOUTH'")
    game, files = hungry_geese(num_players=2, episode_steps=2), []
    for k, source in enumerate(SUBMISSIONS.values()):
        files.append(tmp_path / f"s{k}.py")
        files[-1].write_text(source)
    played = kaggle(*((game, [file, ["NORTH"]]) for file in files))
    statuses = set()
    for name, file, actions in zip(SUBMISSIONS, files, played, strict=True):
        status, action, *_ = actions["geese"][1][0]
        statuses.add(status)
        try:
            agent = KaggleAgent(game, file)
        except ValueError:
            assert status == "ERROR", name
            continue
        states = game.empty(1)
        states[0] = next(positions(game, actions))
        zero = np.zeros(1, np.int64)
        answer = int(agent.act(states, zero, np.zeros((1, 1), np.uint64), zero)[0])
        if status == "DONE":
            assert answer == NAMES.index(action), name
        else:
            assert answer == FORFEIT, name
            assert {"crash": "ERROR", "invalid": "INVALID"}[
                agent.forfeit_reason(0, 0)[0]
            ] == status, name
    assert statuses == {"DONE", "ERROR", "INVALID"}


def test_time_bank_matches_kaggle_environments(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text("import time\ndef agent(seen):\n    time.sleep(0.6)\n    return 'EAST'")
    game = hungry_geese(num_players=2)
    options = {"configuration": configuration(game, act_timeout=0.1), "bank": 0.9}
    (played,) = kaggle((game, [file, ["NORTH"] * 9], options))
    assert [goose[0][0] for goose in played["geese"]] == ["ACTIVE", "ACTIVE", "TIMEOUT"]
    assert 0 < played["geese"][1][0][3] < 0.4
    result = play_match(game, [f"kaggle:{file},act_timeout=0.1,overage=0.9", "random_valid"], 1)
    assert [(forfeit.ply, forfeit.kind) for forfeit in result.forfeits] == [(1, "timeout")]


def test_observations_match_kaggle_environments(tmp_path):
    """A submission compares its observations with the fields of kaggle-environments' classes."""
    file = tmp_path / "submission.py"
    file.write_text(
        textwrap.dedent("""
        from kaggle_environments.envs.hungry_geese.hungry_geese import (
            Action, Configuration, GreedyAgent, Observation
        )
        greedy = None

        def agent(obs, conf):
            global greedy
            seen, settings = Observation(obs), Configuration(conf)
            assert seen.geese == obs.geese and seen.food == obs["food"] and seen.index == obs.index
            assert seen.remaining_overage_time == 60 and seen.step == obs.step
            assert (settings.columns, settings.rows, settings.episode_steps) == (11, 7, 200)
            assert (settings.act_timeout, settings.max_length) == (1, 99)
            if obs.step == 0:
                assert greedy is None
                greedy = GreedyAgent(settings)
            return greedy(seen) if seen.food else Action.NORTH.name
    """)
    )
    specs = [f"kaggle:{file},python={PYTHON}", "random_safe"]
    result = play_match("hungry_geese", specs, 4, seed=1)
    assert result.forfeits == ()
    assert result.totals[0].games == 4
    game = hungry_geese()
    (played,) = kaggle((game, [["EAST"] * 9, ["NORTH"] * 9, ["SOUTH"] * 9, ["UP"]]))
    for board, s in zip(played["boards"], positions(game, played), strict=True):
        shown = observation(s, 0)
        assert {key: shown[key] for key in board} == board
