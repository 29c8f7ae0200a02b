"""Processes of Kaggle submissions, and their time banks.

A move that takes longer than `act_timeout` seconds uses up the time bank, `overage` seconds per
goose and game.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from ends import are_gone, is_running, start
from submissions import ask, positions_of

from ludoteca.agents.external.kaggle import KaggleAgent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.hungry_geese import hungry_geese

GAME = hungry_geese()
NORTH, EAST, SOUTH, WEST = range(4)
ENV_INDEX = np.zeros(1, np.int64)


# Time limits: a submission that takes a number of seconds for each move.

SLOW = "import time\ndef agent(obs):\n    time.sleep({})\n    return 'EAST'"


def test_overtime_is_taken_from_the_time_bank_of_the_game(write):
    """Each move exceeds its limit by 0.5 s, and the overage of 0.9 s is enough for one move."""
    agent = KaggleAgent(GAME, write(SLOW.format(0.6)), act_timeout=0.1, overage=0.9)
    for _ in range(2):
        agent.reset(ENV_INDEX)
        assert [ask(agent) for _ in range(2)] == [EAST, FORFEIT]
        assert agent.forfeit_reason(0, 0)[0] == "timeout"


def test_seats_and_games_have_banks_of_their_own(write):
    agent = KaggleAgent(GAME, write(SLOW.format(0.6)), act_timeout=0.1, overage=0.9, games=2)
    for env_index, seat in ((0, 0), (0, 1), (1, 0)):
        assert ask(agent, seat=seat, env_index=env_index) == EAST
    assert ask(agent, seat=0, env_index=0) == FORFEIT


def test_moves_in_time_leave_the_time_bank(write, tmp_path):
    source = "def agent(obs):\n    assert obs.remainingOverageTime == 0.25\n    return 'EAST'"
    agent = KaggleAgent(GAME, write(source), act_timeout=20, overage=0.25)
    assert [ask(agent) for _ in range(5)] == [EAST] * 5


def test_remaining_overage_time_is_observed(write):
    source = """
        import time
        def agent(obs):
            if obs.step == 0: time.sleep(1.5)
            return "EAST" if 57.5 < obs.remainingOverageTime < 59 else "WEST"
    """
    agent = KaggleAgent(GAME, write(source), act_timeout=0.2)
    first, second = positions_of(GAME)[:2]
    assert [ask(agent, first), ask(agent, second)] == [WEST, EAST]


@pytest.mark.parametrize(("seconds", "action"), [(0.0, EAST), (0.6, FORFEIT)])
def test_loading_is_part_of_the_first_move(write, seconds, action):
    path = write(f"import time\ntime.sleep(0.6)\n{SLOW.format(seconds)}")
    assert ask(KaggleAgent(GAME, path, act_timeout=0.1, overage=0.9)) == action


# Processes: a submission that writes its process id, its seat and its number of calls to a file.

COUNTING = """
    import os
    calls = 0
    def agent(obs):
        global calls
        calls += 1
        with open({file!r}, "a") as file:
            print(os.getpid(), obs.index, calls, file=file)
        return "EAST"
"""


@pytest.mark.parametrize("restart_processes", [False, True])
def test_every_goose_has_its_own_process_state_per_game(write, tmp_path, restart_processes):
    file = tmp_path / "calls.txt"
    agent = KaggleAgent(
        GAME, write(COUNTING.format(file=str(file))), games=2, restart_processes=restart_processes
    )
    env_indices = np.array([0, 0, 1])
    states, seats, rngs = GAME.empty(3), np.array([0, 3, 0]), np.zeros((3, 1), np.uint64)
    states[:] = GAME.new()
    for is_new_game in (True, False, True):
        if is_new_game:
            agent.reset(np.array([0, 1]))
        agent.act(states, seats, rngs, env_indices)
    rows = [line.split() for line in file.read_text().splitlines()]
    assert [row[1:] for row in rows] == [
        [seat, calls] for calls in "121" for seat in ("0", "3", "0")
    ]
    pids = [row[0] for row in rows]
    assert len(set(pids[:3])) == 3
    assert pids[3:6] == pids[:3]
    if restart_processes:
        assert not set(pids[6:]) & set(pids[:3])
    else:
        assert pids[6:] == pids[:3]


def test_processes_end_with_the_agent(write, tmp_path):
    file = tmp_path / "calls.txt"
    agent = KaggleAgent(GAME, write(COUNTING.format(file=str(file))))
    ask(agent)
    pid = file.read_text().split()[0]
    assert is_running(pid)
    del agent
    assert are_gone([pid])


@pytest.mark.slow
def test_processes_end_with_a_killed_parent(write, tmp_path):
    file = tmp_path / "pid.txt"
    path = write(f"""
        import os
        def agent(obs):
            open({str(file)!r}, "w").write(str(os.getpid()))
            while True: pass
    """)  # fmt: skip
    code = (
        "from ludoteca.evaluate.match import play_match;"
        f"play_match('hungry_geese', ['kaggle:{path}', 'random'], 1)"
    )
    run = subprocess.Popen([sys.executable, "-P", "-c", code])
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.kill()
    run.wait()
    assert are_gone([file.read_text()])


def test_children_of_a_submission_end_with_the_parent(write, tmp_path):
    """This holds even if the parent is killed and the submission never releases the GIL."""
    file = tmp_path / "pids.txt"
    path = write(f"""
        import os, re, subprocess, sys
        def agent(obs):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open({str(file)!r}, "w").write(f"{{os.getpid()}} {{child.pid}} .")
            re.match("(a+)+$", "a" * 60 + "b")
    """)  # fmt: skip
    code = (
        "import sys; from pathlib import Path;"
        "from ludoteca.agents.external.kaggle.process import Process;"
        f"process = Process(Path({str(path)!r}), sys.executable);"
        "process.ask({'observation': {}, 'configuration': {}}, 600)"
    )
    with start(code) as run:
        deadline = time.monotonic() + 60
        while (
            not (file.exists() and file.read_text().endswith(".")) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        run.kill()
        assert are_gone(file.read_text().split()[:2])


def test_children_of_a_submission_are_ended_with_it(write, tmp_path):
    file = tmp_path / "pid.txt"
    agent = KaggleAgent(GAME, write(f"""
        import subprocess, sys
        def agent(obs):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open({str(file)!r}, "w").write(str(child.pid))
            while True: pass
    """), act_timeout=1, overage=1)  # fmt: skip
    assert ask(agent) == FORFEIT
    assert are_gone([file.read_text()])


def test_another_interpreter_can_run_a_submission(write):
    path = write("import sys\ndef a(o): return sys.executable.endswith('python') and 'EAST'")
    agent = make_agent(f"kaggle:{path},python={sys.executable}", GAME)
    assert Path(agent.python).is_absolute()
    assert ask(agent) == EAST


def test_modules_of_this_package_do_not_shadow_those_of_a_submission(write):
    """A submission cannot import the modules of the folder `agents/external/kaggle`."""
    path = write(
        "import importlib.util as u\ndef a(o): return 'UP' if u.find_spec('bundle') else 'EAST'"
    )
    assert ask(KaggleAgent(GAME, path)) == EAST


def test_too_many_games_for_the_processes_raise(write):
    agent = KaggleAgent(GAME, write("def a(o): return 'EAST'"), games=2)
    assert ask(agent, env_index=1) == EAST
    with pytest.raises(
        ValueError, match=r"plays at most 2 games in parallel, got index 2: set games=3"
    ):
        ask(agent, env_index=2)
