"""Base class of agents that are engines: external programs, in one process per seat."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.engines.process import EngineProcess, split_command
from ludoteca.agents.external.failure import FailureError
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.params import check_integer, check_real

RESIGN = "resign"  # kind of failure, besides `failure.CRASH`, `TIMEOUT` and `INVALID`
START_SECONDS = 60.0  # time limit of the start of an engine
Seat = tuple[int, int]  # (env_index, player): one player of one game


class EngineAgent(Agent):
    """Engine that plays by a text protocol, with a time limit per move."""

    def __init__(self, game: Game, command: str, seconds: float = 60.0, games: int = 4):
        """Make the agent; engines are started at their first moves.

        Args:
            game: the game to play.
            command: command line that starts the engine.
            seconds: time limit of a move.
            games: maximum number of games in parallel; each seat of each game has a process.

        Raises:
            ValueError: if there is no such program, or a parameter is out of range.
        """
        self.check_game(game)
        super().__init__(game)
        split_command(command)
        self.command = command
        self.seconds = check_real("seconds", seconds, 1e-3, 1e6)
        self.max_games = check_integer("games", games, 1, 1024)
        self._start_seconds = START_SECONDS
        self._time_control: TimeControl | None = None
        self._engines: dict[Seat, Any] = {}
        self._forfeit_reasons: dict[Seat, tuple[str, str]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings; a copy starts its own engines."""
        return super().__getstate__() | {"_engines": {}}

    def set_time_control(self, time_control: TimeControl) -> None:
        """Set the time limits of moves and of starts of engines.

        They are the play clock plus the bank for a move, and the start clock plus the play clock
        for a start.
        """
        self._time_control = time_control
        self.seconds = time_control.move_seconds + time_control.bank_seconds
        self._start_seconds = time_control.start_seconds + time_control.move_seconds

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the actions of the engines, `FORFEIT` for engines that fail or resign."""
        actions = np.zeros(len(states), np.int64)
        records = states.view(np.recarray)
        for k, seat in enumerate(zip(env_indices.tolist(), seats.tolist(), strict=True)):
            try:
                actions[k] = self._move(records[k], seat)
            except FailureError as failure:
                self._forfeit_reasons[seat] = failure.kind, failure.message
                actions[k] = FORFEIT
        return actions

    def forfeit_reason(self, env_index: int, seat: int) -> tuple[str, str]:
        """Return the reason: `crash`, `timeout`, `invalid` or `resign`, and a message."""
        return self._forfeit_reasons.get((env_index, seat), ("forfeit", ""))

    def close(self) -> None:
        """End all engines; the agent remains usable."""
        for engine in self._engines.values():
            engine.process.close()
        self._engines.clear()

    def _move(self, s: Any, seat: Seat) -> int:
        """Return the move of the seat's engine, which is started if it does not run."""
        engine = self._engines.get(seat)
        if engine is None or not engine.process.alive:
            process = EngineProcess(self.command)
            process.set_time_limit(self._start_seconds)
            engine = self._engines[seat] = self.make_engine(process)
        engine.process.set_time_limit(self.seconds)
        action: int = engine.move(s)
        return action

    @abstractmethod
    def make_engine(self, process: EngineProcess) -> Any:
        """Return the protocol's client of an engine.

        It has the attribute `process`, and the method `move(s)`, which returns a legal action.

        Raises:
            FailureError: if the engine does not answer.
        """
