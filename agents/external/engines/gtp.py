"""Agents `gtp` and `htp`: engines for Hex with the Go Text Protocol (GTP), or its variant HTP."""

from typing import Any

from ludoteca.agents.external.engines.agent import RESIGN, EngineAgent
from ludoteca.agents.external.engines.process import EngineProcess
from ludoteca.agents.external.failure import INVALID, FailureError
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import BLACK

SWAP_NAMES = ("swap-pieces", "swap")
Move = tuple[str, str]  # color, name of the cell or of the swap


class GTPAgent(EngineAgent):
    """Engine for Hex in the Go Text Protocol.

    Attributes:
        sends_two_sizes: whether `boardsize` is sent with columns and rows, or one number.
    """

    sends_two_sizes = False

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Validate that a game is Hex."""
        if game.name != "hex":
            raise ValueError(f"engines in GTP and HTP play hex, not {game.name}")

    def reset(self, env_indices: Any) -> None:
        """Reset the games at `env_indices`: their engines clear the board."""
        for (env_index, _), engine in self._engines.items():
            if env_index in env_indices:
                engine.moves = None

    def make_engine(self, process: EngineProcess) -> "HexEngine":
        """Return an engine that has been given the size of the board, and the play clock."""
        engine = HexEngine(process, self.game)
        engine.ask("protocol_version")
        size = self.game.params["board_size"]
        engine.ask(f"boardsize {size} {size}" if self.sends_two_sizes else f"boardsize {size}")
        seconds = 0 if self._time_control is None else int(self._time_control.move_seconds)
        if seconds > 0 and engine.ask("known_command time_settings") == "true":
            # No main time, and byo-yomi: `seconds` for every move.
            engine.ask(f"time_settings 0 {seconds} 1")
        return engine


class HTPAgent(GTPAgent):
    """Engine for Hex in the Hex Text Protocol, whose `boardsize` has columns and rows."""

    sends_two_sizes = True


class HexEngine:
    """Client of a GTP engine for Hex, which keeps track of the engine's board.

    Attributes:
        process: process of the engine.
        moves: the moves on the engine's board, or None if they are not known.
    """

    def __init__(self, process: EngineProcess, game: Game):
        self.process, self._game = process, game
        self.moves: list[Move] | None = None

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

    def move(self, s: Any) -> int:
        """Return the engine's move in a position, after sending it the opponent's moves up to it.

        Raises:
            FailureError: if the engine fails, resigns, or its move is illegal.
        """
        color = _color(self._game, int(s.to_move))
        moves = moves_between(self._game, s, self.moves)
        if moves is None:
            self.ask("clear_board")
            self.moves, moves = [], moves_to(self._game, s)
        assert self.moves is not None
        for move in moves:
            self.ask(f"play {' '.join(move)}")
            self.moves.append(move)
        answer = self.ask(f"genmove {color}").lower()
        if answer == "resign":
            self.moves = None
            raise FailureError(RESIGN, "it resigned")
        name = "swap" if answer in SWAP_NAMES else answer
        names, legal = self._game.action_names, self._game.legal(s)
        if name not in names or names.index(name) not in legal:
            raise self.process.failure(INVALID, f"its move {answer:.80} is illegal")
        self.moves.append((color, SWAP_NAMES[0] if name == "swap" else name))
        return names.index(name)


def moves_between(game: Game, s: Any, known: list[Move] | None) -> list[Move] | None:
    """Return the opponent's moves between the position after known moves and another position.

    Args:
        game: Hex.
        s: the other position.
        known: moves from the empty board, or None.

    Returns:
        No move or one move; None if more moves are between them, or `known` is None.
    """
    if known is None:
        return None
    before, now = stones_after(known), stones_of(game, s)
    opponent = _color(game, 1 - int(s.to_move))
    added = [(color, cell) for cell, color in now.items() if before.get(cell) != color]
    if before == now and len(known) % 2 == int(s.to_move):
        return []
    if len(known) % 2 == int(s.to_move):
        return None
    swap = (opponent, SWAP_NAMES[0])
    for moves in ([swap], added):
        if len(moves) == 1 and moves[0][0] == opponent and stones_after([*known, *moves]) == now:
            return moves
    return None


def moves_to(game: Game, s: Any) -> list[Move]:
    """Return moves of alternating colors that lead from the empty board to a position."""
    by_color: dict[str, list[str]] = {"black": [], "white": []}
    for cell, color in stones_of(game, s).items():
        by_color[color].append(cell)
    first, second = _color(game, 0), _color(game, 1)
    moves: list[Move] = []
    if s.swapped:
        moves = [(first, _mirrored(by_color[second].pop())), (second, SWAP_NAMES[0])]
    count = len(by_color["black"]) + len(by_color["white"])
    for k in range(count):
        color = second if k % 2 else first
        moves.append((color, by_color[color].pop()))
    return moves


def stones_after(moves: list[Move]) -> dict[str, str]:
    """Return the colors of the stones by cell after moves from the empty board."""
    stones: dict[str, str] = {}
    for color, name in moves:
        if name in SWAP_NAMES:
            stones = {_mirrored(cell): color for cell in stones}
        else:
            stones[name] = color
    return stones


def stones_of(game: Game, s: Any) -> dict[str, str]:
    """Return the colors of the stones of a position by cell."""
    codes = game.layout.cells(s).reshape(-1).tolist()
    names = zip(game.action_names, codes, strict=False)
    return {cell: "black" if code == BLACK else "white" for cell, code in names if code}


def _color(game: Game, player: int) -> str:
    return "black" if (game.params["first"] == "black") == (player == 0) else "white"


def _mirrored(cell: str) -> str:
    """Return the name of the cell that is mirrored at the main diagonal: row and column swapped."""
    column, row = ord(cell[0]) - ord("a"), int(cell[1:]) - 1
    return f"{chr(ord('a') + row)}{column + 1}"
