"""Servers of this package, which replace the processes of engines in tests."""

from collections.abc import Callable
from typing import Any

import pytest

from ludoteca.agents.external.engines import agent as engine_agent


class ServerProcess:
    """Server of this package with the interface of an `EngineProcess`."""

    def __init__(self, server: Any):
        self.server, self.lines, self.alive = server, list[str](), True

    def set_time_limit(self, seconds: float) -> None:
        pass

    def write_line(self, line: str) -> None:
        self.lines += "".join(self.server.respond(line)).split("\n")[:-1]

    def read_line(self) -> str:
        return self.lines.pop(0)

    def close(self) -> None:
        self.alive = False

    def failure(self, kind: str, message: str) -> Exception:
        raise AssertionError(f"{kind}: {message}")


def replace_engines(monkeypatch: pytest.MonkeyPatch, make_server: Callable[[], Any]) -> None:
    """Let engine agents use a new server in place of each process that they would start."""
    monkeypatch.setattr(engine_agent, "EngineProcess", lambda command: ServerProcess(make_server()))
