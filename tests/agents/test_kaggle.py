"""Tests of Kaggle submissions as agents: observations, loading, failures and output."""

import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from submissions import BOARDS, ask, positions_of

from ludoteca.agents.external.kaggle import KaggleAgent
from ludoteca.agents.external.kaggle.observation import configuration, observation, position
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import FOOD, NONE, geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = hungry_geese()
GOLDEN = Path(__file__).parents[1] / "golden" / "hungry_geese.npz"
NORTH, EAST, SOUTH, WEST = range(4)
ENV_INDEX = np.zeros(1, np.int64)


# Observations.


@pytest.mark.parametrize("spec", BOARDS)
def test_observation_of_a_position_converts_back_to_it(spec):
    game = make_game(spec)
    for seed in range(2):
        before = None
        for t, s in enumerate(positions_of(game, seed=seed)):
            seat = (t + seed) % game.num_players
            seen = json.loads(json.dumps(observation(s, seat, 12.5)))
            assert list(seen) == ["remainingOverageTime", "step", "geese", "food", "index"]
            assert (seen["remainingOverageTime"], seen["step"], seen["index"]) == (12.5, t, seat)
            read = position(game, seen, before)
            assert observation(read, seat, 12.5) == seen
            alive = s.length > 0
            for name in ("score", "length", "occupied", "last_head", "food", "num_food", "steps"):
                assert np.array_equal(read[name], s[name]), (t, name)
            assert np.array_equal(read.last_action[alive], s.last_action[alive])
            assert geese(read) == geese(s)
            for p in range(game.num_players):
                views = np.zeros((2, *game.observation_shape), np.int8)
                game.observe(s, p, views[0])
                game.observe(read, p, views[1])
                assert np.array_equal(*views)
            before = read


def test_observation_from_mid_game_is_converted_as_far_as_possible():
    s = max(positions_of(GAME, seed=4), key=lambda s: s.length.max())
    read = position(GAME, observation(s, 0))
    long = s.length > 1
    assert long.any()
    assert geese(read) == geese(s)
    assert np.array_equal(read.last_action[long], s.last_action[long])
    assert np.array_equal(read.last_head[long], s.last_head[long])
    assert (read.last_head[~long] == NONE).all()
    assert np.array_equal(read.score[s.length > 0], s.score[s.length > 0])


def test_observations_match_recorded_kaggle_environments():
    """The games were recorded by `tests/oracles/record_geese.py`; food is placed as recorded."""
    with np.load(GOLDEN) as file:
        golden = {name: file[name] for name in file.files}
    # Where the next game begins in arrays by step, by goose, by step and goose, and of food.
    at = goose = entry = food = 0
    for k in range(40):
        players, *_, steps = *golden["config"][k].tolist(), int(golden["steps"][k])
        game = hungry_geese(*golden["config"][k].tolist())
        s = game.new()
        s.occupied[:] = 0
        s.body[:, 0] = golden["heads"][goose : goose + players]
        s.occupied.ravel()[s.body[:, 0]] = 1
        for t in range(steps + 1):
            if t > 0:
                joint = golden["actions"][entry : entry + players]
                with np.errstate(over="ignore"):
                    game.step(s, joint)
                entry += players
                s.occupied.ravel()[s.food[: s.num_food]] = 0
            count = int(golden["food_counts"][at + t + k])
            s.num_food, s.food[:count] = count, golden["food"][food : food + count]
            s.occupied.ravel()[s.food[:count]] = FOOD
            seen = observation(s, t % players)
            assert (seen["step"], seen["index"]) == (t, t % players)
            assert seen["food"] == golden["food"][food : food + count].tolist()
            if t > 0:
                # The checksums of record_geese.py: cells, with 0xFFFF after each goose, and scores.
                cells = [cell for body in seen["geese"] for cell in (*body, 0xFFFF)]
                checksum = zlib.crc32(np.array(cells, "<u2"))
                checksum = zlib.crc32(s.score.astype("<i4").tobytes(), checksum)
                assert checksum == golden["checksums"][at + t - 1]
            food += count
        at, goose = at + steps, goose + players
    assert at > 1000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"geese": [[1], [2]]}, "it shows 2 geese"),
        ({"food": [3, 4, 5]}, "it shows 3 cells with food, more than 2"),
        ({"food": [77, 4]}, "expected cells from 0 to 76, got 77"),
        ({"geese": [[1], [-1], [2], [3]]}, "expected cells from 0 to 76, got -1"),
        ({"geese": [[1] * 78, [2], [4], [3]]}, "a goose has length 78, more than 77"),
        ({"geese": [[1, 1], [2], [4], [3]]}, "two segments share a cell"),
        ({"geese": [[1], [2], [4], [3]], "food": [1, 9]}, "must lie on distinct free cells"),
        ({"step": 200}, "steps 200 must be from 0 to 199"),
    ],
)
def test_invalid_observations_raise(change, message):
    with pytest.raises(ValueError, match=message):
        position(GAME, observation(GAME.new(), 0) | change)


def test_configuration_matches_kaggle_environments():
    # An observation of kaggle-environments 1.33.2.
    assert configuration(GAME) == {
        "episodeSteps": 200,
        "actTimeout": 1,
        "runTimeout": 1200,
        "columns": 11,
        "rows": 7,
        "hunger_rate": 40,
        "min_food": 2,
        "max_length": 99,
    }
    other = hungry_geese(rows=5, columns=6, hunger_rate=7, min_food=3, max_length=8)
    assert configuration(other, 0.5) | {"actTimeout": 1} != configuration(GAME)
    assert [configuration(other)[key] for key in other.params if key in configuration(other)] == [
        5, 6, 7, 3, 8
    ]  # fmt: skip


def test_a_submission_gets_the_observations_of_kaggle(write, tmp_path):
    agent = KaggleAgent(GAME, write(f"""
        import json, os

        def agent(obs, conf):
            with open({str(tmp_path / "seen.txt")!r}, "a") as file:
                print(json.dumps([obs, conf]), file=file)
            assert obs.geese == obs["geese"] and conf.rows == conf["rows"] == 7
            assert obs.index == 2
            return "WEST"
    """))  # fmt: skip
    positions = positions_of(GAME)
    for s in positions[:3]:
        assert ask(agent, s, seat=2) == WEST
    lines = [json.loads(line) for line in (tmp_path / "seen.txt").read_text().splitlines()]
    assert [seen for seen, _ in lines] == [observation(s, 2) for s in positions[:3]]
    raw = {"__raw_path__": str(tmp_path / "submission.py")}
    assert [settings for _, settings in lines] == [configuration(GAME) | raw] * 3


# Objects of a submission that are its agent: sources, and the action of the agent.

AGENTS = {
    "the last function": ("def a(o): return 'EAST'\ndef b(o, c): return 'SOUTH'", SOUTH),
    "in the order of first definition": (
        "def b(o): return 'EAST'\ndef a(o): return 'SOUTH'\ndef b(o): return 'WEST'",
        SOUTH,
    ),
    "one argument": ("def a(o): return o.geese and 'EAST'", EAST),
    "no argument": ("def a(): return 'SOUTH'", SOUTH),
    "a lambda": ("a = lambda o, c: 'WEST'\nb = 3", WEST),
    "an object": (
        "class A:\n def __call__(self, o, c): return 'EAST' if c.columns == 11 else ''\na = A()",
        EAST,
    ),
    "None is north": ("def a(o, c): pass", NORTH),
    "a kind of str": ("class S(str): pass\ndef a(o, c): return S('EAST')", EAST),
    "a class, which makes objects": ("class A:\n def __init__(self, o, c): pass", FORFEIT),
    "an imported one": ("def a(o, c): return 'EAST'\nfrom os import getcwd", FORFEIT),
}


@pytest.mark.parametrize(("source", "action"), AGENTS.values(), ids=AGENTS)
def test_last_callable_of_a_submission_is_the_agent(write, source, action):
    assert ask(KaggleAgent(GAME, write(source))) == action


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 3", r"submission.py is not a submission: ValueError: it defines no callable"),
        ("def a(o:\n pass", r"SyntaxError: .*\(submission.py, line 1\)"),
        ("import math\n\nmath.sqrt(-1)", r"ValueError: .* \(submission.py, line 3\)"),
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_fou"),
        ("import os\nos._exit(3)", "the process ended with exit code 3"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("while True: pass", "no answer within 0.3 s"),
    ],
)
def test_submissions_that_cannot_be_loaded_raise(write, source, message):
    path = write(source)
    with pytest.raises(ValueError, match=message):
        make_agent(
            f"kaggle:{path},act_timeout={0.1 if 'while' in source else 20},overage=0.2", GAME
        )


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("kaggle:nowhere.py", FileNotFoundError, "there is no submission 'nowhere.py': expected a"),
        ("kaggle", ValueError, "agent kaggle needs path=..."),
        ("kaggle:{good},python=no_python", ValueError, "python must be an interpreter, such as"),
        ("kaggle:{good},act_timeout=0", ValueError, "act_timeout must be a number from 0.001"),
        ("kaggle:{good},overage=-1", ValueError, "overage must be a number from 0"),
        ("kaggle:{good},games=0", ValueError, "games must be an integer from 1"),
        ("kaggle:{good},memory_mib=0", ValueError, "memory_mib must be an integer from 1"),
        (
            "kaggle:{good},restart_processes=3",
            ValueError,
            "restart_processes must be one of False, True, got 3",
        ),
        (
            "kaggle:{good},forward_output=3",
            ValueError,
            "forward_output must be one of False, True, got 3",
        ),
    ],
)
def test_invalid_parameters_raise(write, spec, error, message):
    path = write("def a(o): return 'EAST'")
    with pytest.raises(error, match=message):
        make_agent(spec.format(good=path), GAME)


def test_only_hungry_geese_is_played(write):
    with pytest.raises(
        ValueError, match="submissions to Kaggle need the game hungry_geese, got hex"
    ):
        make_agent(f"kaggle:{write('def a(o): pass')}", make_game("hex"))


def test_modules_of_a_submission_are_imported_anew_per_game(write):
    write("moves = []", "bot/memory.py")
    write("kept = []", "bot/parts/inner.py")
    write("", "bot/parts/__init__.py")
    path = write(
        """
        import memory
        from parts import inner

        def agent(obs):
            memory.moves.append(1)
            inner.kept.append(1)
            return ["NORTH", "EAST", "SOUTH"][len(memory.moves) + len(inner.kept) - 2 * 1]
        """,
        "bot/main.py",
    )
    agent = KaggleAgent(GAME, path.parent)
    for _ in range(2):
        agent.reset(ENV_INDEX)
        assert [ask(agent), ask(agent)] == [NORTH, SOUTH]


# Failures that forfeit a goose but do not end the match: a line of the agent, and the kind and the
# message of the forfeit.

FAILURES = {
    "crash": ("if obs.step == 3: 1 / 0", "crash", "ZeroDivisionError: division by zero"),
    "exit": ("if obs.step == 3: raise SystemExit", "crash", "SystemExit"),
    "process": ("if obs.step == 3: os._exit(5)", "crash", "the process ended with exit code 5"),
    "closed": ("if obs.step == 3: os.closerange(0, 64)", "crash", "the process ended with exit"),
    "hang": ("if obs.step == 3: time.sleep(60)", "timeout", "no answer within 1 s"),
    "busy": ("while obs.step == 3: pass", "timeout", "no answer within 1 s"),
    "nonsense": ("if obs.step == 3: return 'UP'", "invalid", "returned 'UP', expected one of N"),
    "number": ("if obs.step == 3: return 1", "invalid", "returned 1, expected one of NORTH"),
    "long": ("if obs.step == 3: return 'x' * 10**7", "invalid", "returned 'xxxx"),
    "object": ("if obs.step == 3: return agent", "invalid", "returned <function agent"),
}


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        pytest.param(*case, marks=pytest.mark.slow if name in ("hang", "busy") else (), id=name)
        for name, case in FAILURES.items()
    ],
)
def test_failures_forfeit_the_goose_but_not_the_match(write, line, kind, message):
    """Geese move north; two forfeit at their fourth move, and the game continues without them."""
    source = "import os, time\ndef agent(obs, conf):\n    {}\n    return 'NORTH'"
    bad = write(source.format(line), "bad.py")
    good = write(source.format("pass"), "good.py")
    seconds = 0.8 if kind == "timeout" else 30
    specs = [f"kaggle:{path},act_timeout={seconds},overage=0.2" for path in (bad, good)]
    game = "hungry_geese:min_food=1,episode_steps=9"
    result = play_match(game, specs, 1, num_replays=1, seed=9)
    assert [(forfeit.agent, forfeit.ply, forfeit.kind) for forfeit in result.forfeits] == [
        (0, 3, kind)
    ] * 2
    assert [(forfeit.game, forfeit.seat) for forfeit in result.forfeits] == [(0, 0), (0, 2)]
    assert all(forfeit.message.startswith(message) for forfeit in result.forfeits)
    assert len(result.replays[0].actions) > 4
    assert result.totals[0].losses == 1


def test_output_of_a_submission_does_not_disturb_the_protocol(write):
    source = """
        import os, sys
        print("loading" * 1000)

        def agent(obs):
            print("x" * 100_000)
            print("y" * 100_000, file=sys.stderr, flush=True)
            os.write(1, b"z" * 100_000)
            assert sys.stdin.read() == ""
            return "EAST"
    """
    agent = KaggleAgent(GAME, write(source))
    assert [ask(agent) for _ in range(3)] == [EAST] * 3, agent.forfeit_reason(0, 0)


def test_output_of_a_submission_can_be_shown(write):
    path = write("import sys\ndef a(o): print('hello', o.step, file=sys.stderr); print('there')")
    code = (
        "import numpy as np; from ludoteca.agents.external.kaggle import KaggleAgent;"
        "from ludoteca.envs.registry import make_game; game = make_game('hungry_geese');"
        f"agent = KaggleAgent(game, {str(path)!r}, forward_output=True); s = game.empty(1);"
        "s[0] = game.new(); zero = np.zeros(1, int);"
        "print(agent.act(s, zero, np.zeros((1, 1), np.uint64), zero)); agent.close()"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert run.stdout == "[0]\n"
    assert "hello 0" in run.stderr


def test_memory_can_be_limited(write):
    path = write("def a(o):\n    x = bytearray(10**9)\n    return 'EAST'")
    agent = KaggleAgent(GAME, path, memory_mib=500)
    assert ask(agent) == FORFEIT
    assert agent.forfeit_reason(0, 0) == ("crash", "MemoryError (submission.py, line 2)")
    assert ask(KaggleAgent(GAME, path, memory_mib=2000)) == EAST
