"""Answers, processes, modules and folders of Kaggle submissions harm no more than their goose.

A submission runs in a process of its own, and answers each request by a message in JSON.
"""

import io
import json
import os
import re
import signal
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from submissions import ask

from ludoteca.agents.external.failure import CRASH, TIMEOUT, FailureError, printable
from ludoteca.agents.external.kaggle import KaggleAgent, archive, worker
from ludoteca.agents.external.kaggle.process import Process, read_answer
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.hungry_geese import hungry_geese

GAME = hungry_geese()
NORTH, EAST, SOUTH, WEST = range(4)
ENV_INDEX = np.zeros(1, np.int64)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"5", b"null", b'"NORTH"', b"{}", b'{"number": 7}', b"\xff\xfe", b"{" * 60000,
        b"[" * 60000, b'{"number": 7, "action": []}', b'{"number": 7, "action": null}',
        b'{"number": 7, "error": 5}', b'{"number": 7, "invalid": {"a": 1}}',
        b'{"number": 7, "other": "NORTH"}', b'{"number": 6, "action": "NORTH"}',
        b'{"number": true, "action": "NORTH"}', b'{"action": "NORTH"}', b'{"number": NaN}',
        b'{"number": 7, "action": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_invalid_answers_are_crashes_with_an_excerpt(body):
    with pytest.raises(FailureError, match="wrote an invalid answer: b") as caught:
        read_answer(body, 7)
    assert caught.value.kind == CRASH
    assert len(str(caught.value)) < 150


def test_valid_answers_are_parsed():
    assert read_answer(b'{"number": 7, "action": "NORTH"}', 7) == {"action": "NORTH"}


def test_texts_of_a_submission_can_be_written_anywhere():
    text = printable("a\x1b[2Jb\ud800c\nd\té")
    assert text == r"a\x1b[2Jb\ud800c\nd\té"
    text.encode()
    assert read_answer(json.dumps({"number": 1, "error": "\ud800"}).encode(), 1) == {
        "error": r"\ud800"
    }


# Submission that writes bytes to all of its pipes.
RAW = """
    import os, struct
    def agent(obs):
        for pipe in range(3, 20):
            try: os.write(pipe, {data})
            except OSError: pass
        return "EAST"
"""


@pytest.mark.parametrize(
    "data",
    [
        "struct.pack('!I', 2) + b'[]'",
        "struct.pack('!I', 60000) + b'[' * 60000",
        "struct.pack('!I', 2**32 - 1)",
        "struct.pack('!I', 0)",
    ],
)
def test_writing_to_the_pipe_forfeits_the_goose(write, data):
    agent = KaggleAgent(GAME, write(RAW.format(data=data)))
    start = time.monotonic()
    assert ask(agent) == FORFEIT
    assert agent.forfeit_reason(0, 0)[0] == CRASH
    assert time.monotonic() - start < 20


# Sources of submissions, and the kind and the message of the forfeit.
ANSWERS = {
    "a string with a wrong length": (
        "class S(str):\n    def __len__(self): return 1\ndef a(o): return S('x' * 10**6)",
        "crash",
        "bytes, more than",
    ),
    "a value that cannot be shown": (
        "class V:\n    def __repr__(self): raise KeyboardInterrupt\ndef a(o): return V()",
        "crash",
        "KeyboardInterrupt",
    ),
    "an error without a text": (
        "class E(Exception):\n    def __str__(self): 1 / 0\ndef a(o): raise E",
        "crash",
        "E: ",
    ),
    "NaN": ("def a(o): return float('nan')", "invalid", "returned nan"),
    "a list": ("def a(o): return ['NORTH']", "invalid", r"returned \['NORTH'\]"),
    "bytes": ("def a(o): return b'NORTH'", "invalid", "returned b'NORTH'"),
    "nested deeply": (
        "def a(o):\n x = []\n for _ in range(10**5): x = [x]\n return x",
        "crash",
        "RecursionError",
    ),
    "a recursion without an end": ("def a(o): return a(o)", "crash", "RecursionError"),
    "control characters": (
        "def a(o): raise ValueError('\\x1b[2J\\ud800')",
        "crash",
        r"ValueError: \\x1b\[2J\\ud800",
    ),
    "json is broken": (
        "import json\ndef a(o):\n json.dumps = None\n return 'EAST'",
        "crash",
        "ended with exit code 1",
    ),
    "killed": (
        "import os, signal\ndef a(o): os.kill(os.getpid(), signal.SIGSEGV)",
        "crash",
        "ended with exit code -11",
    ),
}


@pytest.mark.parametrize(("source", "kind", "message"), ANSWERS.values(), ids=ANSWERS)
def test_invalid_answers_forfeit_only_the_goose(write, source, kind, message):
    agent = KaggleAgent(GAME, write(source))
    for _ in range(2):
        agent.reset(ENV_INDEX)
        assert ask(agent) == FORFEIT
        reason = agent.forfeit_reason(0, 0)
        assert reason[0] == kind
        assert re.search(message, reason[1]), reason


def test_a_fork_of_a_submission_does_not_answer_too(write):
    agent = KaggleAgent(GAME, write("""
        import os
        def agent(obs):
            return "SOUTH" if os.fork() == 0 else "EAST"
    """))  # fmt: skip
    assert [ask(agent) for _ in range(5)] == [EAST] * 5, agent.forfeit_reason(0, 0)


def test_threads_that_a_submission_leaves_do_not_matter(write):
    agent = KaggleAgent(GAME, write("""
        import threading, time
        def fail(): 1 / 0
        def agent(obs):
            threading.Thread(target=time.sleep, args=(600,)).start()
            threading.Thread(target=fail).start()
            return "EAST"
    """))  # fmt: skip
    assert [ask(agent) for _ in range(3)] == [EAST] * 3
    agent.close()


def test_closed_pipes_end_the_wait(write):
    """The submission closes the pipe of its requests, and keeps the pipe of its answers."""
    agent = KaggleAgent(GAME, write("""
        import os
        def agent(obs):
            for pipe in range(3, 20):
                try: os.write(pipe, b"")
                except OSError:
                    try: os.close(pipe)
                    except OSError: pass
            return "EAST"
    """))  # fmt: skip
    start = time.monotonic()
    assert FORFEIT in [ask(agent) for _ in range(3)]
    assert agent.forfeit_reason(0, 0)[0] == CRASH
    assert time.monotonic() - start < 20


def test_writing_to_a_stalled_process_times_out(write):
    path = write("import os, signal\ndef a(o): os.kill(os.getpid(), signal.SIGSTOP)")
    process = Process(path, sys.executable)
    guard = process._process.pid  # its only child is the submission
    os.kill(int(Path(f"/proc/{guard}/task/{guard}/children").read_text()), signal.SIGSTOP)
    with pytest.raises(FailureError, match=r"the request was not read within 0.3 s") as caught:
        process.ask({"observation": "x" * 10**7}, 0.3)
    assert caught.value.kind == TIMEOUT
    assert not process.alive


# Modules that stay imported in all games of a process.


def test_a_submission_with_torch_plays_many_games_in_one_process(write, tmp_path):
    """Torch is imported once; `main.py` is run for each game and loads weights by Kaggle's path."""
    import torch

    write("seen = []", "bot/beside.py")
    torch.save(torch.tensor([0.0, 1.0, 0.0, 0.0]), tmp_path / "bot" / "w.pt")
    write(
        """
        import sys
        sys.path.append("/kaggle_simulations/agent")
        import torch
        import beside

        torch.games = getattr(torch, "games", 0) + 1
        weights = torch.load("/kaggle_simulations/agent/w.pt", weights_only=True)

        def agent(obs, conf):
            beside.seen.append(1)
            assert len(beside.seen) == 1
            return "NORTH" if torch.games == 1 else ["", "EAST"][int(weights.argmax())]
        """,
        "bot/main.py",
    )
    agent = KaggleAgent(GAME, tmp_path / "bot", games=1)
    answers = []
    for _ in range(10):
        agent.reset(ENV_INDEX)
        answers.append(ask(agent))
    # `main.py` was also run once before the first game, to check that it can be loaded.
    assert answers == [EAST] * 10, agent.forfeit_reason(0, 0)


def test_modules_with_dynamic_attributes_are_not_inspected(write):
    """Such a module is `torch.classes`, whose `__path__` cannot be iterated."""
    agent = KaggleAgent(GAME, write("""
        import sys, types

        class Any(types.ModuleType):
            __file__ = "_any.py"
            def __getattr__(self, name):
                return 5 if name == "__path__" else Any(name)

        class Fails(types.ModuleType):
            def __getattribute__(self, name):
                raise RuntimeError(name)

        sys.modules["anything"], sys.modules["fails"] = Any("anything"), Fails("fails")
        sys.modules["number"], sys.modules["nothing"] = 5, None
        def agent(obs): return "EAST"
    """))  # fmt: skip
    for _ in range(3):
        agent.reset(ENV_INDEX)
        assert ask(agent) == EAST, agent.forfeit_reason(0, 0)


# Lines of submissions of competitors that open files of their folder by Kaggle's path, `F`.

FILE_ACCESSES = {
    "open": "assert open(F + '/w.txt').read() == 'w'",
    "open in a module": "import sys; sys.path.append(F); import inner; inner.helper()",
    "sys.path first": "import sys; sys.path.insert(0, F + '/'); import inner; inner.helper()",
    "os": "import os; assert os.path.exists(F) and os.path.isdir(F) and 'w.txt' in os.listdir(F)",
    "bytes": "import os; assert os.path.getsize(F.encode() + b'/w.txt') == 1",
    "pathlib": "import pathlib; assert (pathlib.Path(F) / 'w.txt').read_text() == 'w'",
    "glob": "import glob; assert len(glob.glob(F + '/*.txt')) == 1",
    "walk": "import os; assert any('w.txt' in files for _, _, files in os.walk(F))",
    "chdir": "import os; os.chdir(F); assert open('w.txt').read() == 'w'",
    "NumPy": "import numpy as np; assert np.loadtxt(F + '/w.txt', dtype=str) == 'w'",
    "not others": "import os; assert not os.path.exists('/kaggle_simulations/agents')",
    "keyword": "assert open(file=F + '/w.txt').read() == 'w'",
}


def folder_with(write, line):
    """Write a folder of a submission whose main file has a line; return the path of that file."""
    write("w", "bot/w.txt")
    write("def helper(): return open('/kaggle_simulations/agent/w.txt').read()", "bot/inner.py")
    main = f"F = '/kaggle_simulations/agent'\n{line}\ndef agent(o): return 'EAST'\n"
    return write(main, "bot/main.py")


@pytest.mark.parametrize("line", FILE_ACCESSES.values(), ids=FILE_ACCESSES)
def test_kaggle_folder_is_redirected_to_the_submission(write, line):
    main = folder_with(write, line)
    agent = KaggleAgent(GAME, main.parent)
    for _ in range(2):
        agent.reset(ENV_INDEX)
        assert ask(agent) == EAST, agent.forfeit_reason(0, 0)


def test_files_that_compiled_code_cannot_find_are_explained(write):
    main = folder_with(write, "import ctypes; ctypes.CDLL(F + '/w.txt')")
    with pytest.raises(
        ValueError, match=r"OSError.*is redirected to .*ln -s .*bot /kaggle_simulations"
    ):
        KaggleAgent(GAME, main.parent)


def as_tar(folder, file, prefix=""):
    """Pack a folder into a tar archive; return its path."""
    with tarfile.open(file, "w:gz") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, f"{prefix}{path.name}")
    return file


@pytest.mark.parametrize("prefix", ["", "my_bot/"])
def test_archives_stay_unpacked_while_the_agent_lives(write, tmp_path, prefix):
    main = folder_with(write, FILE_ACCESSES["open in a module"])
    agent = KaggleAgent(GAME, as_tar(main.parent, tmp_path / "submission.tar.gz", prefix))
    assert ask(agent) == EAST, agent.forfeit_reason(0, 0)
    folder = agent.path.parent
    assert folder.exists()
    del agent
    assert not folder.exists()


def test_zip_archives_are_supported(write, tmp_path):
    main = folder_with(write, FILE_ACCESSES["open"])
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as zipped:
        for file in main.parent.iterdir():
            zipped.write(file, file.name)
    assert ask(KaggleAgent(GAME, tmp_path / "bot.zip")) == EAST


def test_archives_that_are_too_large_or_leave_their_folder_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 2 << 20)
    for name, size, message in (
        ("main.py", 3 << 20, "must contain at most 2 MiB"),
        ("../main.py", 5, "outside the destination"),
    ):
        member = tarfile.TarInfo(name)
        member.size = size
        with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as tar:
            tar.addfile(member, io.BytesIO(bytes(size)))
        with pytest.raises(ValueError, match=message):
            KaggleAgent(GAME, tmp_path / "bad.tar.gz")
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("main.py", bytes(3 << 20))
    with pytest.raises(ValueError, match="unpacks to 3,145,728 bytes in 1 files; expected at most"):
        KaggleAgent(GAME, tmp_path / "bad.zip")


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"\x1f\x8b\x08rest", b"x" * 1000])
@pytest.mark.parametrize("name", ["bot.tar.gz", "bot.zip"])
def test_damaged_archives_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="is not an archive of a submission"):
        KaggleAgent(GAME, tmp_path / name)


def test_an_archive_with_a_file_without_a_name_is_refused(tmp_path):
    """Python's zipfile raises IndexError: a case that `tests/fuzz` discovered."""
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as zipped:
        zipped.writestr("/main.py", "")
    content = (tmp_path / "bot.zip").read_bytes()
    (tmp_path / "bot.zip").write_bytes(content.replace(b"/main.py", b"\0main.py"))
    with pytest.raises(ValueError, match="is not an archive of a submission"):
        KaggleAgent(GAME, tmp_path / "bot.zip")


def test_an_archive_without_a_main_file_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as zipped:
        zipped.writestr("bot.py", "")
    with pytest.raises(FileNotFoundError, match=r"a folder with a main.py, or one as an archive"):
        KaggleAgent(GAME, tmp_path / "bot.zip")


def test_worker_messages_round_trip():
    data = worker.pack({"a": "é"})
    (length,) = worker.LENGTH.unpack(data[:4])
    assert json.loads(data[4:]) == {"a": "é"}
    assert length == len(data) - 4
