"""Client of an engine in GTP, which keeps track of the moves on the engine's board."""

from abc import ABC, abstractmethod
from typing import Any

from ludoteca.agents.external.engines.agent import RESIGN
from ludoteca.agents.external.engines.process import EngineProcess
from ludoteca.agents.external.failure import INVALID, FailureError
from ludoteca.envs.game import Game

Move = tuple[str, str]  # color, and name of the cell or of another move, such as a swap


class GTPEngine(ABC):
    """Client of a GTP engine for a game of two colors.

    Attributes:
        process: process of the engine.
        game: the game.
        moves: the moves that led to the position on the engine's board; None if they are not known.
    """

    def __init__(self, process: EngineProcess, game: Game, move_seconds: float | None):
        """Make the client; `set_up` starts the conversation.

        Args:
            process: process of the engine.
            game: the game.
            move_seconds: time limit of a move that is sent to the engine, or None.
        """
        self.process, self.game = process, game
        self.moves: list[Move] | None = None
        self._seconds = 0 if move_seconds is None else int(move_seconds)
        self._sends_time_left = False

    @abstractmethod
    def color(self, player: int) -> str:
        """Return the color of a player."""

    @abstractmethod
    def moves_to(self, s: Any) -> list[Move]:
        """Return moves from the empty board to a position.

        They begin with the attribute `moves`, if the position can follow these.
        """

    @abstractmethod
    def name_of(self, move: str) -> str:
        """Return the name of the action that an engine's move, in lower case, stands for."""

    def ask(self, command: str) -> str:
        """Send a command, and return the text of its successful response.

        Raises:
            FailureError: if the engine fails, or answers with an error.
        """
        self.process.write_line(command)
        lines: list[str] = []
        while not lines or lines[-1].strip():
            line = self.process.read_line()
            if lines or line.strip():  # empty lines in front of a response are ignored
                lines.append(line)
        text = " ".join(line.strip() for line in lines[1:]).strip()
        first = lines[0]
        if first[0] not in "=?":
            raise self.process.failure(
                INVALID, f"expected = or ? in answer to {command!r}, got {first:.80}"
            )
        text = f"{first[1:].strip()} {text}".strip()
        if first[0] == "?":
            raise self.process.failure(INVALID, f"it refused {command!r}: {text:.200}")
        return text

    def knows(self, command: str) -> bool:
        """Return whether the engine knows a command."""
        return self.ask(f"known_command {command}") == "true"

    def set_up(self, board_size: str) -> None:
        """Send the size of the board, and the time limit of a move in whole seconds.

        Args:
            board_size: arguments of `boardsize`.

        Raises:
            FailureError: if the engine fails, or has no such board.
        """
        self.ask("protocol_version")
        self.ask(f"boardsize {board_size}")
        if self._seconds > 0 and self.knows("time_settings"):
            # No main time, and a byo-yomi period for every move.
            self.ask(f"time_settings 0 {self._seconds} 1")
            self._sends_time_left = self.knows("time_left")

    def move(self, s: Any) -> int:
        """Return the engine's move in a position, after sending it the moves that lead there.

        Raises:
            FailureError: if the engine fails, resigns, or its move is illegal.
        """
        color, moves = self.color(int(s.to_move)), self.moves_to(s)
        if self.moves is None or moves[: len(self.moves)] != self.moves:
            self.ask("clear_board")
            self.moves = []
        for move in moves[len(self.moves) :]:
            self.ask(f"play {' '.join(move)}")
            self.moves.append(move)
        if self._sends_time_left:
            self.ask(f"time_left {color} {self._seconds} 1")
        answer = self.ask(f"genmove {color}").lower()
        if answer == "resign":
            self.moves = None
            raise FailureError(RESIGN, "it resigned")
        name = self.name_of(answer)
        names, legal = self.game.action_names, self.game.legal(s)
        if name not in names or names.index(name) not in legal:
            raise self.process.failure(INVALID, f"its move {answer:.80} is illegal")
        self.moves.append((color, answer))
        return names.index(name)
