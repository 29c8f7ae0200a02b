"""Table of Othello positions, in the format of `datos_otelo.csv`.

That table is from Sancho Cebrero and Fernández Limárquez, a report on Othello (University of
Seville, 2019).

A line is a position: its cells row by row (0 empty, 1 white, 2 black), then the game's result for
the labeled agent (-1, 0, 1). A game is all its positions in order, initial and terminal ones
included; a pass repeats the position. There is no header.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import othello
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.files import atomic_writer, open_regular_file
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.positions import Positions, iterate_positions

BOARD_SIZES = {4 * 4: 4, 6 * 6: 6, 8 * 8: 8}  # by number of cells
BLOCK_BYTES = 1 << 22  # bytes per read
MAX_LINE_BYTES = 1 << 12  # a longer line is an error
ZERO, COMMA, MINUS, NEWLINE = b"0,-\n"  # codes of these characters
INITIAL = -1  # in place of an action: the line is an initial position
LABELS = np.array([0, 1, -1], np.int8)  # by digit in a line, where 2 stands for -1
NO_GAME, RUNNING, OVER = range(3)  # stages of reading a game

# Errors of a line, by error code.
PASS_OMITTED, NO_START, UNFINISHED, ENDED, NO_MOVE, OTHER_LABEL, WRONG_LABEL = range(1, 8)
ERRORS = {
    PASS_OMITTED: "the player to move must pass, but the previous position is not repeated",
    NO_START: "the file does not begin with an initial position",
    UNFINISHED: "a game begins before the previous one has ended",
    ENDED: "the game has already ended",
    NO_MOVE: "no legal move leads to this position from the previous one",
    OTHER_LABEL: "the label differs from the earlier labels of this game",
    WRONG_LABEL: "the label differs from the result of the game",
}


def write_table(path: str | Path, dataset: GameDataset) -> None:
    """Write games of Othello as a table, atomically.

    Raises:
        ValueError: if the games are of another game, or invalid.
    """
    if dataset.game.name != "othello":
        raise ValueError(f"tables are of Othello, not of {dataset.game.spec}")
    labels = dataset.labels().astype(np.int8)
    with atomic_writer(path) as file:
        for positions in iterate_positions(dataset):
            file.write(_format_lines(positions, labels[positions.games]))


def read_table(path: str | Path) -> GameDataset:
    """Read games of Othello from a table.

    The positions determine the boundaries of games, and the actions. The selected player is the
    labeled one; in a draw it is unknown, and both are selected.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is not such a table; the message names the line.
    """
    table = _TableReader(path, auto_pass=False)
    if table.error == PASS_OMITTED:  # some programs do not repeat the position
        table = _TableReader(path, auto_pass=True)
    if table.error:
        raise ValueError(f"{path}, line {table.line}: {ERRORS[table.error]}")
    return table.dataset()


class _TableReader:
    """Reader of a table, up to its first invalid line.

    Attributes:
        error: error code, see `ERRORS`, or 0.
        line: number of the last line read or of the invalid line, counted from 1.
    """

    def __init__(self, path: str | Path, auto_pass: bool):
        """Read a table; `auto_pass` as for the game: passes are not lines of their own."""
        self.path, self.error, self.line = path, 0, 0
        self._game: Game | None = None
        self._states: NDArray[np.void]
        self._stage, self._label = np.zeros(1, np.int8), np.zeros(1, np.int8)
        self._scores = np.zeros(2)
        self._actions: list[NDArray[np.int16]] = []
        self._labels: list[NDArray[np.int8]] = []
        self._results: list[NDArray[np.int8]] = []
        with open_regular_file(path) as file:
            for cells, labels in _read_blocks(path, file):
                if self._game is None:
                    size = BOARD_SIZES[cells.shape[1]]
                    self._game = othello(board_size=size, auto_pass=auto_pass)
                    self._states = self._game.empty(2)
                actions, results = np.zeros(len(cells), np.int16), np.zeros(len(cells), np.int8)
                lines, self.error = make_decoder(self._game)(
                    _bitboards(cells == 1), _bitboards(cells == 2), labels, self._states,
                    self._stage, self._label, self._scores, actions, results,
                )  # fmt: skip
                self.line += int(lines)
                if self.error:
                    self.line += 1
                    return
                self._actions.append(actions)
                self._labels.append(labels)
                self._results.append(results)
        if self._game is None:
            raise ValueError(f"{path} is empty")
        if self._stage[0] == RUNNING:
            raise ValueError(f"{path}, line {self.line}: the file ends during a game")

    def dataset(self) -> GameDataset:
        """Return the games of a valid table."""
        assert self._game is not None
        actions = np.concatenate(self._actions)
        starts = np.flatnonzero(actions == INITIAL)
        lengths = np.diff(np.append(starts, len(actions))) - 1
        labels = np.concatenate(self._labels)[starts]
        returns = np.concatenate(self._results)[starts + lengths][:, None] * np.array([1, -1])
        return GameDataset.create(
            self._game,
            actions[actions >= 0][:, None],
            lengths,
            returns,
            selected=returns == labels[:, None],
            metadata={"table": Path(self.path).name},
        )


class _Block(NamedTuple):
    """Cells, uint8 `[L, cells]`, and labels, int8 `[L]`, of L lines."""

    cells: NDArray[np.uint8]
    labels: NDArray[np.int8]


def _read_blocks(path: str | Path, file: BinaryIO) -> Iterator[_Block]:
    """Yield the lines of a table in blocks.

    Args:
        path: the file, for messages.
        file: the open file.

    Raises:
        ValueError: at the first malformed line.
    """
    remainder, line, cells = b"", 1, 0
    while True:
        content = file.read(BLOCK_BYTES)
        text = (remainder + content).replace(b"\r\n", b"\n")
        if content:
            cut = text.rfind(b"\n") + 1
            text, remainder = text[:cut], text[cut:]
            if len(remainder) > MAX_LINE_BYTES:
                raise ValueError(f"{path}: a line is longer than {MAX_LINE_BYTES} characters")
        elif text and not text.endswith(b"\n"):
            text += b"\n"
        if text:
            if not cells:
                cells = _count_cells(path, text[: text.index(b"\n")])
            block = _parse(path, text, cells, line)
            line += len(block.labels)
            yield block
        if not content:
            return


def _count_cells(path: str | Path, line: bytes) -> int:
    """Return the number of cells of a line."""
    cells = line.count(b",")
    if cells not in BOARD_SIZES:
        raise ValueError(
            f"{path}, line 1: expected 65 columns (or 17, 37, on smaller boards), got {cells + 1}: "
            f"{_shortened(line)}"
        )
    return cells


def _parse(path: str | Path, text: bytes, cells: int, first: int) -> _Block:
    """Parse whole lines.

    Args:
        path: the file, for messages.
        text: the lines.
        cells: number of cells of a position.
        first: number of the first line, from 1.

    Raises:
        ValueError: at the first malformed line.
    """
    width = 2 * cells + 2  # characters of a line, with 2 in place of the label -1
    characters = np.frombuffer(text.replace(b"-1\n", b"2\n"), np.uint8)
    if len(characters) % width == 0:
        lines = characters.reshape(-1, width)
        digits = lines[:, ::2] - ZERO
        labels = digits[:, -1]
        if (
            (digits <= 2).all()
            and (lines[:, 1:-1:2] == COMMA).all()
            and (lines[:, -1] == NEWLINE).all()
            and np.count_nonzero(labels == 2) == text.count(b"-1\n")
        ):
            return _Block(digits[:, :-1], LABELS[labels])
    valid = re.compile(rb"(?:[012],){%d}(?:-1|0|1)" % cells)
    k, line = next(
        (k, line) for k, line in enumerate(text.split(b"\n")) if not valid.fullmatch(line)
    )
    raise ValueError(
        f"{path}, line {first + k}: expected {cells} cells, 0, 1 or 2, and a label, -1, 0 or 1, "
        f"with commas in between, got {_shortened(line)}"
    )


def _shortened(line: bytes) -> str:
    """Return a line as text, cut if it is long, for messages."""
    text = line.decode(errors="replace")
    return repr(text if len(text) <= 160 else f"{text[:140]}...")


def _bitboards(cells: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the bitboards `[L]` of boards `[L, n * n]`; bit 8 r + c is the cell (r, c)."""
    size = BOARD_SIZES[cells.shape[1]]
    board = np.zeros((len(cells), 8, 8), np.bool_)
    board[:, :size, :size] = cells.reshape(-1, size, size)
    packed = np.packbits(board.reshape(len(cells), 64), axis=1, bitorder="little")
    return packed.view("<u8")[:, 0].astype(np.uint64)


def _cells_of(positions: Positions) -> NDArray[np.uint8]:
    """Return the cells of positions: 0 empty, 1 white, 2 black. Shape `[L, n * n]`."""
    size = positions.states.dtype["board"].shape[1]
    discs = np.ascontiguousarray(positions.states["discs"][:, ::-1], "<u8")  # white, black
    bits = np.unpackbits(discs.view(np.uint8).reshape(-1, 2, 8), axis=2, bitorder="little")
    boards = bits.reshape(-1, 2, 8, 8)[:, :, :size, :size].reshape(-1, 2, size * size)
    return boards[:, 0] + 2 * boards[:, 1]


def _format_lines(positions: Positions, labels: NDArray[np.int8]) -> bytes:
    """Return L positions, with labels `[L]`, as lines."""
    cells = _cells_of(positions)
    width = 2 * cells.shape[1]
    text = np.full((len(cells), width + 3), COMMA, np.uint8)
    text[:, :width:2] = cells + ZERO
    text[:, width] = MINUS
    text[:, width + 1] = np.abs(labels).astype(np.uint8) + ZERO
    text[:, width + 2] = NEWLINE
    written = np.ones(text.shape, np.bool_)
    written[:, width] = labels < 0  # the minus sign
    return text[written].tobytes()


@factory()
def make_decoder(game: Game) -> Any:
    """Return the kernel that decodes lines into actions.

    The kernel is `decode(white, black, labels, states, stage, label, scores, actions, results)`,
    for L lines with bitboards `white` and `black`, uint64 `[L]`, and `labels`, int8 `[L]`. It
    writes the action that leads to each position, or `INITIAL`, to `actions` `[L]`, and player 0's
    result to `results` `[L]` where a game ends. Three values are carried from block to block:
    `states[0]`, the previous position, `stage[0]`, and the game's label `label[0]`. `states[1]` and
    `scores` `[2]` are workspace. It returns the number of valid lines, and the error code of the
    next line or 0.
    """
    init, step, returns, size = game.init, game.step, game.returns, game.layout.rows

    @compiled_without_allocation
    def decode(
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
        s, initial = states[0], states[1]
        init(initial, 0)
        for k in range(len(white)):
            if white[k] == initial.discs[1] and black[k] == initial.discs[0]:
                if stage[0] == RUNNING:
                    return k, UNFINISHED
                init(s, 0)
                stage[0], label[0], actions[k] = RUNNING, labels[k], INITIAL
                continue
            if stage[0] != RUNNING:
                return k, NO_START if stage[0] == NO_GAME else ENDED
            if labels[k] != label[0]:
                return k, OTHER_LABEL
            placed = (white[k] | black[k]) & ~(s.discs[0] | s.discs[1])
            actions[k] = size * size
            if placed == U0:
                if s.legal != U0:
                    return k, NO_MOVE
            else:
                if s.legal == U0:
                    return k, PASS_OMITTED
                if count(placed) != 1 or placed & s.legal == U0:
                    return k, NO_MOVE
                square = count(placed - U1)  # index of the only bit
                actions[k] = square // 8 * size + square % 8
            step(s, np.int64(actions[k]))
            if s.discs[0] != black[k] or s.discs[1] != white[k]:
                return k, NO_MOVE
            if s.over:
                stage[0] = OVER
                returns(s, scores)
                results[k] = np.int8(scores[0])
                if abs(results[k]) != abs(labels[k]):
                    return k, WRONG_LABEL
        return len(white), 0

    return decode
