"""The document's table of positions, `datos_otelo.csv`: Othello only, read and written exactly.

A line is a position: its cells row by row (0 empty, 1 white, 2 black), then how its game ended for
the agent that played it (-1 lost, 0 drawn, 1 won). A game is all its positions in order, the first
and the last included; a player who must pass adds the same position once more. There is no line of
headings.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import othello
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.files import opening, writing
from ludoteca.train.data.sequential import UNKNOWN, Positions, SequentialGames

SIDES = {4 * 4: 4, 6 * 6: 6, 8 * 8: 8}  # board size by number of cells
BLOCK = 1 << 22  # bytes that are read at once
LONGEST_LINE = 1 << 12  # bytes
ZERO, COMMA, MINUS, END = b"0,-\n"
BEGINS = -1  # instead of an action: a game begins with this line
NOT_BEGUN, GOES_ON, OVER = range(3)

# What can be wrong with a line, by what `follow` says about it.
PASSED = 1
COMPLAINTS = {
    PASSED: "the player to move must pass, but the position before is not repeated",
    2: "the file does not begin with a starting position",
    3: "a game begins before the last one is over",
    4: "the game is over, but goes on",
    5: "no legal move leads here from the position before",
    6: "the label is not that of the lines before, which are of the same game",
    7: "the game does not end as the label says",
}


def write_table(path: str | Path, games: SequentialGames) -> None:
    """Write games of Othello as the document's table; the file is there whole or not at all.

    Raises:
        ValueError: if they are games of something else, or cannot have gone so.
    """
    if games.game.name != "othello":
        raise ValueError(f"tables are of Othello, not of {games.game.spec}")
    with writing(path) as file:
        for part, positions in games.chunks():
            file.write(_lines(positions, part.labels()[positions.games].astype(np.int8)))


def read_table(path: str | Path) -> SequentialGames:
    """Read games of Othello from the document's table.

    Where one game ends and the next begins follows from the positions, and so do the moves. Of a
    drawn game it does not follow whose the label is; its side is `UNKNOWN`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no such table; the message names the line.
    """
    found = _Walk(path, auto_pass=False)
    if found.wrong == PASSED:  # some programs do not repeat a position when a player passes
        found = _Walk(path, auto_pass=True)
    if found.wrong:
        raise ValueError(f"{path}, line {found.line}: {COMPLAINTS[found.wrong]}")
    return found.games()


class _Walk:
    """Goes through a table as far as it is right.

    Attributes:
        wrong: what is wrong with it, one of `COMPLAINTS`, or 0.
        line: where, counted from 1.
    """

    def __init__(self, path: str | Path, auto_pass: bool):
        self.path, self.wrong, self.line = path, 0, 0
        self._game: Game | None = None
        self._states: NDArray[np.void]
        self._stage, self._label = np.zeros(1, np.int8), np.zeros(1, np.int8)
        self._scores = np.zeros(2)
        self._actions: list[NDArray[np.int16]] = []
        self._labels: list[NDArray[np.int8]] = []
        self._results: list[NDArray[np.int8]] = []
        with opening(path) as file:
            for cells, labels in _blocks(path, file):
                if self._game is None:
                    size = SIDES[cells.shape[1]]
                    self._game = othello(board_size=size, auto_pass=auto_pass)
                    self._states = self._game.empty(2)
                actions, results = np.zeros(len(cells), np.int16), np.zeros(len(cells), np.int8)
                lines, self.wrong = follow(self._game)(
                    _bits(cells == 1), _bits(cells == 2), labels, self._states, self._stage,
                    self._label, self._scores, actions, results,
                )  # fmt: skip
                self.line += int(lines)
                if self.wrong:
                    self.line += 1
                    return
                self._actions.append(actions)
                self._labels.append(labels)
                self._results.append(results)
        if self._game is None:
            raise ValueError(f"{path} is empty")
        if self._stage[0] == GOES_ON:
            raise ValueError(f"{path}, line {self.line}: the file ends, but the game goes on")

    def games(self) -> SequentialGames:
        """Return the games, once the table has been gone through."""
        assert self._game is not None
        actions = np.concatenate(self._actions)
        begins = np.flatnonzero(actions == BEGINS)
        lengths = np.diff(np.append(begins, len(actions))) - 1
        labels = np.concatenate(self._labels)[begins]
        results = np.concatenate(self._results)[begins + lengths]
        sides = np.where(labels == 0, UNKNOWN, np.where(labels == results, 0, 1))
        return SequentialGames(
            self._game,
            actions[actions >= 0],
            lengths.astype(np.int32),
            results.astype(np.float32),
            sides.astype(np.int8),
            {"table": Path(self.path).name},
        )


class _Block(NamedTuple):
    """Cells, uint8 `[P, cells]`, and labels, int8 `[P]`, of some lines."""

    cells: NDArray[np.uint8]
    labels: NDArray[np.int8]


def _blocks(path: str | Path, file: BinaryIO) -> Iterator[_Block]:
    """Read a table, some lines at a time.

    Raises:
        ValueError: at the first line that has another form.
    """
    rest, line, cells = b"", 0, 0
    while True:
        read = file.read(BLOCK)
        text = (rest + read).replace(b"\r\n", b"\n")
        if read:
            cut = text.rfind(b"\n") + 1
            text, rest = text[:cut], text[cut:]
            if len(rest) > LONGEST_LINE:
                raise ValueError(f"{path}: a line is longer than {LONGEST_LINE} characters")
        elif text and not text.endswith(b"\n"):
            text += b"\n"
        if text:
            if not cells:
                cells = _cells_of(path, text[: text.index(b"\n")])
            block = _parse(path, np.frombuffer(text, np.uint8), cells, line)
            line += len(block.labels)
            yield block
        if not read:
            return


def _cells_of(path: str | Path, line: bytes) -> int:
    """Return how many cells a line has."""
    cells = line.count(b",")
    if cells not in SIDES:
        raise ValueError(
            f"{path}, line 1: expected 65 columns (or 17, 37, on smaller boards), got {cells + 1}: "
            f"{_shown(line)}"
        )
    return cells


def _parse(path: str | Path, text: NDArray[np.uint8], cells: int, before: int) -> _Block:
    """Read lines, each with its end; `before` are the lines before them."""
    ends = np.flatnonzero(text == END)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    wide = (lengths == 2 * cells + 1) | (lengths == 2 * cells + 2)
    wrong = ~wide
    rows = text[np.minimum(starts[:, None] + np.arange(2 * cells), len(text) - 1)]
    seen = rows[:, ::2] - ZERO
    wrong |= (seen > 2).any(1) | (rows[:, 1::2] != COMMA).any(1)
    last = text[np.maximum(ends - 1, 0)]
    negative = lengths == 2 * cells + 2
    wrong |= np.where(
        negative,
        (text[np.maximum(ends - 2, 0)] != MINUS) | (last != ZERO + 1),
        (last != ZERO) & (last != ZERO + 1),
    )
    if wrong.any():
        k = int(wrong.argmax())
        shown = _shown(text[starts[k] : ends[k]].tobytes())
        raise ValueError(
            f"{path}, line {before + k + 1}: expected {cells} cells, 0, 1 or 2, and a label, -1, 0 "
            f"or 1, with commas in between, got {shown}"
        )
    labels = (last - ZERO).astype(np.int8)
    return _Block(seen, np.where(negative, -labels, labels).astype(np.int8))


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace")
    return repr(text if len(text) <= 160 else f"{text[:140]}...")


def _bits(cells: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return bitboards, as Othello has them, of cells `[P, n * n]`."""
    size = SIDES[cells.shape[1]]
    board = np.zeros((len(cells), 8, 8), np.bool_)
    board[:, :size, :size] = cells.reshape(-1, size, size)
    packed = np.packbits(board.reshape(len(cells), 64), axis=1, bitorder="little")
    return packed.view("<u8")[:, 0].astype(np.uint64)


def _cells(positions: Positions) -> NDArray[np.uint8]:
    """Return the cells of positions: 0 empty, 1 white, 2 black. Shape `[P, n * n]`."""
    size = positions.states.dtype["board"].shape[1]
    discs = np.ascontiguousarray(positions.states["discs"][:, ::-1], "<u8")  # white, black
    bits = np.unpackbits(discs.view(np.uint8).reshape(-1, 2, 8), axis=2, bitorder="little")
    boards = bits.reshape(-1, 2, 8, 8)[:, :, :size, :size].reshape(-1, 2, size * size)
    return boards[:, 0] + 2 * boards[:, 1]


def _lines(positions: Positions, labels: NDArray[np.int8]) -> bytes:
    """Return positions as lines."""
    cells = _cells(positions)
    width = 2 * cells.shape[1]
    text = np.full((len(cells), width + 3), COMMA, np.uint8)
    text[:, :width:2] = cells + ZERO
    text[:, width] = MINUS
    text[:, width + 1] = np.abs(labels).astype(np.uint8) + ZERO
    text[:, width + 2] = END
    kept = np.ones(text.shape, np.bool_)
    kept[:, width] = labels < 0
    return text[kept].tobytes()


@factory()
def follow(game: Game) -> Any:
    """Return `follow(white, black, labels, states, stage, label, scores, actions, results)`.

    Goes through the lines of a table and writes to `actions` the move that leads to each position,
    or `BEGINS`, and to `results`, where a game ends, how it does for player 0. The rest is memory
    that goes on from block to block: `states[0]` is the position before, `stage[0]` tells where its
    game is, and `label[0]` is its label. Returns how many lines are right and what is wrong with
    the next one, see `COMPLAINTS`, or 0.
    """
    init, step, returns, size = game.init, game.step, game.returns, game.layout.rows

    @compiled_without_allocation
    def follow(
        white: Any,
        black: Any,
        labels: Any,
        states: Any,
        stage: Any,
        label: Any,
        scores: Any,
        actions: Any,
        results: Any,
    ) -> tuple[int, int]:
        s, begin = states[0], states[1]
        init(begin, 0)
        for k in range(len(white)):
            if white[k] == begin.discs[1] and black[k] == begin.discs[0]:
                if stage[0] == GOES_ON:
                    return k, 3
                init(s, 0)
                stage[0], label[0], actions[k] = GOES_ON, labels[k], BEGINS
                continue
            if stage[0] != GOES_ON:
                return k, 2 if stage[0] == NOT_BEGUN else 4
            if labels[k] != label[0]:
                return k, 6
            placed = (white[k] | black[k]) & ~(s.discs[0] | s.discs[1])
            actions[k] = size * size
            if placed == U0:
                if s.legal != U0:
                    return k, 5
            else:
                if s.legal == U0:
                    return k, PASSED
                if count(placed) != 1 or placed & s.legal == U0:
                    return k, 5
                square = count(placed - U1)
                actions[k] = square // 8 * size + square % 8
            step(s, np.int64(actions[k]))
            if s.discs[0] != black[k] or s.discs[1] != white[k]:
                return k, 5
            if s.over:
                stage[0] = OVER
                returns(s, scores)
                results[k] = np.int8(scores[0])
                if abs(results[k]) != abs(labels[k]):
                    return k, 7
        return len(white), 0

    return follow
