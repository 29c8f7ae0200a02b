"""Kaggle submissions as agents: `kaggle:path/to/submission.py`."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.failure import INVALID, TIMEOUT, FailureError
from ludoteca.agents.external.kaggle.archive import SUFFIXES, is_archive, unpack
from ludoteca.agents.external.kaggle.observation import configuration, observation
from ludoteca.agents.external.kaggle.process import Process, find_python
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.rng import next_u64

ACTIONS = ("NORTH", "EAST", "SOUTH", "WEST")  # the competition's names of the game's actions
MAIN_FILE = "main.py"  # file of a submission that is a folder
Seat = tuple[int, int]  # (env_index, seat): one goose of one game


class KaggleAgent(Agent):
    """Agent with a submission to Kaggle's Hungry Geese competition: a Python file, or a folder.

    The submission runs in one process per goose, with the competition's time limits: one second per
    move, and 60 seconds of overage time per game. A submission that crashes, times out or returns
    anything but a direction forfeits for that goose. See docs/kaggle.md.

    A process is not a sandbox: a submission has all permissions of the user.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        python: str | Path | None = None,
        act_timeout: float = 1.0,
        overage: float = 60.0,
        games: int = 1,
        restart_processes: bool = False,
        memory_mib: int | None = None,
        forward_output: bool = False,
    ):
        """Load a submission.

        Args:
            game: the game it plays.
            path: a Python file, whose last callable is the agent; a folder with a `main.py`; or
                that folder as an archive, such as `submission.tar.gz`.
            python: the Python interpreter, such as `.venv-kaggle/bin/python`; by default the
                current one.
            act_timeout: seconds per move.
            overage: overage time of each goose: seconds per game for exceeding `act_timeout`, over
                all moves (Kaggle's `remainingOverageTime`).
            games: maximum number of games in parallel, with a process per goose; the processes run
                one after the other.
            restart_processes: whether every game starts new processes. Otherwise processes are
                reused: the file is run again for each game, but modules outside its folder stay
                loaded.
            memory_mib: memory limit of each process in MiB; None: no limit.
            forward_output: whether to forward the submission's output to standard error, or discard
                it.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it cannot be loaded, a parameter is out of range, or the game is not
                Hungry Geese.
        """
        self.check_game(game)
        super().__init__(game)
        self.path = find_submission(path, self)
        self.python = find_python(python, sys.executable)
        self.act_timeout = check_real("act_timeout", act_timeout, 1e-3, 1e6)
        self.overage = check_real("overage", overage, 0, 1e6)
        self.max_games = check_integer("games", games, 1, 1024)
        self.restart_processes = check_choice("restart_processes", restart_processes, (False, True))
        self._max_bytes = (
            0 if memory_mib is None else check_integer("memory_mib", memory_mib, 1, 2**22) << 20
        )
        self.forward_output = check_choice("forward_output", forward_output, (False, True))
        self._start_seconds = 0.0
        self._configuration = configuration(game, act_timeout)
        self._processes: dict[Seat, Process] = {}
        self._overage_left: dict[Seat, float] = {}  # seconds left, in unfinished games
        self._forfeit_reasons: dict[Seat, tuple[str, str]] = {}
        # Process in which the submission is loaded, for the first goose.
        self._spare: Process | None = self._load()

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings; a copy starts its own processes.

        Raises:
            TypeError: during a game, since the state of the submission is in its process.
        """
        if self._overage_left:
            raise TypeError(
                f"{self.path.name} is playing, and its state is in its process: copy or "
                "pickle the agent before its first game, or call reset for all its games first"
            )
        return vars(self) | {"_processes": {}, "_spare": None}

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Validate that a game is Hungry Geese."""
        if game.name != "hungry_geese":
            raise ValueError(f"submissions to Kaggle need the game hungry_geese, got {game.name}")

    def set_time_control(self, time_control: TimeControl) -> None:
        """Set `act_timeout` to the play clock, and the overage time to the bank.

        The start clock is added to the time limit of the first move, which includes running the
        file.
        """
        self.act_timeout, self.overage = time_control.move_seconds, time_control.bank_seconds
        self._start_seconds = time_control.start_seconds
        self._configuration = configuration(self.game, self.act_timeout)

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the games at `env_indices`."""
        new_games = set(env_indices.tolist())
        for seat in [seat for seat in self._overage_left if seat[0] in new_games]:
            del self._overage_left[seat]
            if self.restart_processes:
                self._close(seat)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the actions of the submissions, one call per goose.

        Raises:
            ValueError: if there are more games than `games`.
        """
        actions = np.zeros(len(states), np.int64)
        records = states.view(np.recarray)
        for k, (env_index, seat) in enumerate(
            zip(env_indices.tolist(), seats.tolist(), strict=True)
        ):
            if env_index >= (self.max_games or 0):
                raise ValueError(
                    f"{self.path.name} plays at most {self.max_games} games in parallel, got index "
                    f"{env_index}: set games={env_index + 1} or more"
                )
            try:
                actions[k] = self._move(records[k], (env_index, seat), rngs[k])
            except FailureError as failure:
                self._forfeit_reasons[env_index, seat] = failure.kind, failure.message
                actions[k] = FORFEIT
        return actions

    def forfeit_reason(self, env_index: int, seat: int) -> tuple[str, str]:
        """Return the reason of a forfeit: `crash`, `timeout` or `invalid`, and a message."""
        return self._forfeit_reasons.get((env_index, seat), ("forfeit", ""))

    def close(self) -> None:
        """End all processes; the agent remains usable."""
        for seat in list(self._processes):
            self._close(seat)

    def _move(self, s: Any, seat: Seat, rng: NDArray[np.uint64]) -> int:
        """Return the move of a goose; subtract the time beyond `act_timeout` from its overage time.

        Raises:
            FailureError: if the goose forfeits.
        """
        process = self._process(seat)
        overage_left = self._overage_left.get(seat, self.overage)
        request: dict[str, Any] = {
            "observation": observation(s, seat[1], overage_left),
            "configuration": self._configuration,
        }
        limit = self.act_timeout
        if seat not in self._overage_left:
            limit += self._start_seconds
            with np.errstate(over="ignore"):  # the arithmetic of random streams wraps around
                request["seed"] = int(next_u64(rng)) >> 32  # 32 bits, as NumPy's seeds
        self._overage_left[seat] = 0.0  # remains so if there is no answer in time
        answer, seconds = process.ask(request, limit + overage_left)
        left = overage_left - max(0.0, seconds - limit)
        self._overage_left[seat] = max(left, 0.0)
        if left < 0:
            raise FailureError(TIMEOUT, f"took {seconds:.3g} s")
        if answer.get("action") not in ACTIONS:
            returned = answer.get("invalid", repr(answer.get("action")))
            raise FailureError(
                INVALID, f"returned {returned}, expected one of {', '.join(ACTIONS)}"
            )
        return ACTIONS.index(answer["action"])

    def _process(self, seat: Seat) -> Process:
        """Return the process of a goose; start it if necessary."""
        process = self._processes.get(seat)
        if process is None or not process.alive:
            process = self._spare or self._new_process()
            self._spare, self._processes[seat] = None, process
        return process

    def _new_process(self) -> Process:
        """Start a process for the submission, which is loaded by its first request."""
        return Process(self.path, self.python, self._max_bytes, self.forward_output)

    def _load(self) -> Process:
        """Return a process in which the submission has been loaded."""
        try:
            process = self._new_process()
            # Without an observation, the request only loads the file.
            process.ask({"seed": 0}, self.act_timeout + self.overage)
        except FailureError as failure:
            raise ValueError(f"{self.path} is not a submission: {failure.message}") from None
        return process

    def _close(self, seat: Seat) -> None:
        """End the process of a goose, if it has one."""
        process = self._processes.pop(seat, None)
        if process is not None:
            process.close()


def find_submission(path: str | Path, owner: object) -> Path:
    """Return the absolute path of the Python file of a submission.

    Args:
        path: a file, or a folder or an archive with a `main.py`.
        owner: object whose deletion removes the files that were unpacked from an archive.

    Raises:
        FileNotFoundError: if there is no submission.
        ValueError: if it is an archive that cannot be unpacked.
    """
    location = Path(path).absolute()
    if location.is_file() and is_archive(location):
        location = unpack(location, owner)
    if location.is_dir():
        location = _find_main(location)
    if not location.is_file():
        raise FileNotFoundError(
            f"there is no submission {str(path)!r}: expected a Python file, or a folder with a "
            f"{MAIN_FILE}, or one as an archive ({', '.join(SUFFIXES)})"
        )
    return location


def _find_main(folder: Path) -> Path:
    """Return the `main.py` of a folder, or of its only subfolder, as in some archives."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "__"))]
    if not (folder / MAIN_FILE).exists() and len(entries) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder / MAIN_FILE
