"""Worker process that runs a submission, started by `process.py`.

This is a plain script: its interpreter needs neither this package nor NumPy. Files are read and
agents are called as in `agent.py` of kaggle-environments 1.33.2.

Requests and answers are JSON objects with a length prefix (4 bytes, big-endian).
"""

from __future__ import annotations

import json
import os
import queue
import random
import runpy
import struct
import sys
import threading
import traceback
from typing import Any

LENGTH = struct.Struct("!I")
MAX_TEXT = 300  # characters of an error message or an agent's result
DEFAULT_ACTION = "NORTH"  # action of agents that return None, as in kaggle-environments


def main() -> None:
    """Answer requests until the pipe of requests is closed."""
    path, max_bytes = sys.argv[1], int(sys.argv[2])
    inbox, outbox = redirect_standard_streams()
    if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        del sys.path[0]  # submissions must not find our modules
    if max_bytes > 0:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=receive_all, args=(inbox, requests), daemon=True).start()
    folder = runpy.run_path(os.path.join(os.path.dirname(__file__), "simulated_folder.py"))
    folder["install"](os.path.dirname(path))
    submission, process_id = Submission(path, folder["FOLDER"], folder["hint"]), os.getpid()
    answer, number = {"ready": sys.version}, 0
    while True:
        if os.getpid() != process_id:  # a fork by the submission must not answer
            os._exit(0)
        send(outbox, {**answer, "number": number})
        request = requests.get()
        number = request["number"]
        answer = submission.answer(request)


def redirect_standard_streams() -> tuple[int, int]:
    """Return the pipes of requests and answers, which were standard input and output.

    The submission's standard input is empty, and its output goes to standard error.
    """
    inbox, outbox = os.dup(0), os.dup(1)
    empty_input = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty_input, 0)
    os.dup2(2, 1)
    return inbox, outbox


def receive_all(inbox: int, requests: Any) -> None:
    """Put requests from the pipe `inbox` into the queue; end the process when it is closed."""
    try:
        while True:
            header = read(inbox, LENGTH.size)
            body = read(inbox, LENGTH.unpack(header)[0]) if header else b""
            if not body:
                os._exit(0)
            requests.put(json.loads(body))
    finally:  # the submission closed the pipe
        os._exit(1)


def read(pipe: int, count: int) -> bytes:
    """Read `count` bytes, or none if the pipe has been closed."""
    data = b""
    while len(data) < count:
        part = os.read(pipe, count - len(data))
        if not part:
            return b""
        data += part
    return data


def send(pipe: int, message: dict[str, Any]) -> None:
    """Write a message.

    Raises:
        OSError: if the pipe is closed.
    """
    data = pack(message)
    while data:
        data = data[os.write(pipe, data) :]


def pack(message: dict[str, Any]) -> bytes:
    """Encode a message, with its length prefix."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


class Submission:
    """Submission and its agent for the current game.

    Attributes:
        path: Python file of the submission.
        simulated_folder: Kaggle's folder whose paths are redirected, see `simulated_folder.py`.
        hint: `ludoteca.agents.external.kaggle.simulated_folder.hint`, whose result is added
            to errors that name this folder.
        agent: the last callable of the file, None before it is loaded.
        paths: `sys.path` before the first game.
    """

    def __init__(self, path: str, simulated_folder: str = "", hint: Any = None):
        self.path, self.simulated_folder, self.hint = path, simulated_folder, hint
        self.agent: Any = None
        self.paths = list(sys.path)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request, with one of the following entries.

        Args:
            request: Kaggle's `observation` and `configuration`; `seed` in the first request of a
                game; and `number`, which `main` adds to the answer.

        Returns:
            `action`, the direction; `invalid`, the representation of any other result; `error`, the
            message of an exception; or `found`, the representation of the agent, for requests
            without an observation, which only load the file.
        """
        try:
            if "seed" in request:  # a new game
                self.agent = None
                sys.path[:] = self.paths
                forget_modules(os.path.dirname(self.path))
                seed_all(request["seed"], set())
            if self.agent is None:
                known = set(sys.modules)
                self.agent = last_callable(self.path)
                seed_all(request.get("seed", 0), known)
            if "observation" not in request:
                return {"found": short_repr(self.agent)}
            configuration = structify(request["configuration"])
            configuration["__raw_path__"] = self.path
            action = call(self.agent, structify(request["observation"]), configuration)
            if action is None:
                action = DEFAULT_ACTION
            if isinstance(action, str) and len(action) < MAX_TEXT:
                return {"action": str.__str__(action)}  # plain, if it is of a subclass of str
            return {"invalid": short_repr(action)}
        except BaseException as error:  # any exception forfeits this goose only
            text = describe(error, self.path)
            if self.simulated_folder and self.simulated_folder in text:
                text += self.hint(os.path.dirname(self.path))
            return {"error": text}


def last_callable(path: str) -> Any:
    """Run a file and return the last callable that it defines.

    Like `get_last_callable` of kaggle-environments: names are in order of first definition, classes
    and imported callables count, and the file's folder is on `sys.path` while it runs.

    Raises:
        ValueError: if it defines no callable.
    """
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names: dict[str, Any] = {}
    sys.path.append(os.path.dirname(path))
    try:
        exec(code, names)
    finally:
        del sys.path[-1:]
    callables = [value for value in names.values() if callable(value)]
    if not callables:
        raise ValueError("it defines no callable")
    return callables[-1]


def call(agent: Any, *arguments: Any) -> Any:
    """Call an agent with as many arguments as its signature has; callable objects get all."""
    if hasattr(agent, "__code__") and hasattr(agent.__code__, "co_argcount"):
        arguments = arguments[: agent.__code__.co_argcount]
    return agent(*arguments)


class Struct(dict):  # type: ignore[type-arg]  # subscripts need Python 3.9
    """Dictionary with attribute access, as in kaggle-environments, except for the key `items`."""

    def __init__(self, **entries: Any):
        entries = {key: value for key, value in entries.items() if key != "items"}
        dict.__init__(self, entries)
        self.__dict__.update(entries)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        self[name] = value


def structify(value: Any) -> Any:
    """Return a copy with `Struct` in place of dictionaries."""
    if isinstance(value, list):
        return [structify(item) for item in value]
    if isinstance(value, dict):
        return Struct(**{key: structify(item) for key, item in value.items()})
    return value


def forget_modules(folder: str) -> None:
    """Unload the modules in the folder of the submission, which may have state."""
    own_modules = set()
    for name, module in list(sys.modules.items()):
        if "." not in name and name != "__main__":
            folders = {os.path.dirname(os.path.abspath(path)) for path in paths_of(module)}
            if folder in folders or os.path.join(folder, name) in folders:
                own_modules.add(name)
    for name in list(sys.modules):
        if name.partition(".")[0] in own_modules:
            del sys.modules[name]


def paths_of(module: Any) -> list[str]:
    """Return the file of a module, or the folders of a package.

    Attributes are read without `__getattr__`: some modules, such as `torch.classes` and
    `torch.ops`, return an object for any name.
    """
    try:
        names = object.__getattribute__(module, "__dict__")
    except AttributeError:  # sys.modules can hold any object
        return []
    folders = names.get("__path__")
    # A list, or the path of a namespace package, but no object of another module.
    if type(folders).__module__ not in ("builtins", "_frozen_importlib_external"):
        folders = []
    paths = [names.get("__file__"), *(folders if hasattr(folders, "__iter__") else [])]
    return [path for path in paths if isinstance(path, str) and path]


def seed_all(seed: int, known: set[str]) -> None:
    """Seed the random generators of Python, NumPy and PyTorch, as far as they are imported.

    Args:
        seed: the seed.
        known: modules that had been imported and seeded before; they are not seeded again.
    """
    if not known:
        random.seed(seed)
    if "numpy" in sys.modules and "numpy" not in known:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules and "torch" not in known:
        sys.modules["torch"].manual_seed(seed)


def describe(error: BaseException, path: str) -> str:
    """Return an error message of one line, with the line number in the file."""
    text = traceback.format_exception_only(type(error), error)[-1].strip()[:MAX_TEXT]
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path
    ]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines = [error.lineno]
    return f"{text} ({os.path.basename(path)}, line {lines[-1]})" if lines else text


def short_repr(value: Any) -> str:
    """Return the representation of a value, truncated."""
    return repr(value)[:MAX_TEXT]


if __name__ == "__main__":
    main()
