"""Tables for terminals of any width, which show every heading, number and name in full.

The first layout that fits is used: a line for each row; the same with headings of several lines;
the first cell of each row, which is a name, on a line of its own; a line for each cell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.console import Console, ConsoleOptions
from rich.text import Text

from ludoteca.html_table import html_table

GAP, INDENT = 2, 2  # spaces between columns, and before the cells below a name
MIN_SENTENCE_WIDTH = 30  # characters, of a column of sentences


@dataclass(frozen=True)
class TableRow:
    """Row of a table.

    Attributes:
        cells: one text per heading.
        style: rich style, such as `"bold"`.
        below: text below the row, wrapped.
        space_below: whether an empty line follows.
    """

    cells: tuple[str, ...]
    style: str = ""
    below: str = ""
    space_below: bool = False


class TerminalTable:
    """Table that `rich` prints.

    Attributes:
        headings: headings of the columns.
        title: line above the table.
        caption: text below the table.
        rows: rows from top to bottom.
    """

    def __init__(
        self,
        headings: Sequence[str],
        *,
        title: str = "",
        caption: str = "",
        text_columns: int = 1,
        sentences: bool = False,
    ):
        """Make a table without rows.

        Args:
            headings: headings of the columns.
            title: line above the table.
            caption: text below the table, wrapped.
            text_columns: number of leading columns with text, aligned left; the others have
                numbers, aligned right.
            sentences: whether the last column holds sentences, which are aligned left and wrapped
                to the width of the terminal.
        """
        self.headings, self.title, self.caption = tuple(headings), title, caption
        self._text_columns, self._sentences = text_columns, sentences
        self.rows: list[TableRow] = []

    def add(self, *cells: str, style: str = "", below: str = "", space_below: bool = False) -> None:
        """Add a row; see `TableRow` for the arguments.

        Raises:
            ValueError: if there are not as many cells as headings.
        """
        if len(cells) != len(self.headings):
            raise ValueError(f"expected {len(self.headings)} cells, got {len(cells)}: {cells}")
        self.rows.append(TableRow(cells, style, below, space_below))

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        rows: list[tuple[str, ...]] = []
        for row in self.rows:
            rows.append(row.cells)
            if row.below:
                rows.append((row.below, *[""] * (len(self.headings) - 1)))
        return html_table(
            self.headings,
            rows,
            title=self.title,
            notes=[self.caption] if self.caption else [],
            text_columns=len(self.headings) if self._sentences else self._text_columns,
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for text, style in self.lines(options.max_width):
            yield Text(text, style, no_wrap=True, overflow="ignore")

    def lines(self, width: int) -> Iterator[tuple[str, str]]:
        """Yield lines and their styles for a terminal of `width` characters."""
        if self.title:
            yield from ((line, "italic") for line in break_name(self.title, width))
        # The first three layouts of the module's docstring, then the last one.
        for first, wrap_headings in ((0, False), (0, True), (1, True)):
            widths = self._column_widths(first, wrap_headings, width - INDENT * first)
            if widths is not None:
                yield from self._grid(first, widths, width)
                break
        else:
            yield from self._records(width)
        for line in wrap(self.caption, width):
            yield line, "dim"

    def _column_widths(self, first: int, wrap_headings: bool, width: int) -> list[int] | None:
        """Return the widths of the columns from number `first` on, or None if they do not fit.

        Args:
            first: 0, or 1 if the first cell of each row is on a line of its own.
            wrap_headings: whether headings are broken between words.
            width: characters that the columns have together.
        """
        widths = []
        for k in range(first, len(self.headings)):
            words = self.headings[k].split() if wrap_headings else [self.headings[k]]
            widths.append(max(map(len, [*words, "", *(row.cells[k] for row in self.rows)])))
        # Negative: characters that are missing, which the column of sentences may give up.
        free = width - sum(widths) - GAP * (len(widths) - 1)
        if (
            self._sentences
            and free < 0
            and len(widths) > 1
            and widths[-1] + free >= MIN_SENTENCE_WIDTH
        ):
            widths[-1] += free
            free = 0
        return widths if free >= 0 else None

    def _grid(self, first: int, widths: list[int], width: int) -> Iterator[tuple[str, str]]:
        """Yield the lines of all rows in columns, and their styles.

        Args:
            first: as for `_column_widths`.
            widths: widths of the columns from number `first` on, in characters.
            width: width of the terminal, in characters.
        """
        if any(self.headings):
            yield from (
                (line, "bold") for line in self._row_lines(self.headings, first, widths, True)
            )
            yield "─" * min(width, INDENT * first + sum(widths) + GAP * (len(widths) - 1)), "dim"
        for row in self.rows:
            if first and row.cells[0]:
                yield from ((line, row.style) for line in break_name(row.cells[0], width))
            yield from (
                (line, row.style) for line in self._row_lines(row.cells, first, widths, False)
            )
            yield from self._below(row, width)

    def _row_lines(
        self, cells: Sequence[str], first: int, widths: list[int], heading: bool
    ) -> Iterator[str]:
        """Yield the lines of a row, or of the headings; a cell may have several.

        Args:
            cells: all cells of the row; those before `first` are not written.
            first: as for `_column_widths`.
            widths: widths of the columns from number `first` on, in characters.
            heading: whether the row is that of the headings, which are aligned at the bottom.
        """
        blocks = []
        for k, width in enumerate(widths, first):
            lines = wrap_text(cells[k], width) if self._wraps(k) or heading else [cells[k]]
            is_text = k < self._text_columns or self._wraps(k)
            blocks.append(
                [line.ljust(width) if is_text else line.rjust(width) for line in lines or [""]]
            )
        height = max(map(len, blocks))
        for k, block in enumerate(blocks):
            blank = [" " * widths[k]] * (height - len(block))
            blocks[k] = blank + block if heading else block + blank
        for parts in zip(*blocks, strict=True):
            yield (" " * INDENT * first + (" " * GAP).join(parts)).rstrip()

    def _records(self, width: int) -> Iterator[tuple[str, str]]:
        """Yield the name of each row, and a line for each other cell, with its heading."""
        heading_width = max(map(len, self.headings[1:]), default=0)
        for row in self.rows:
            yield from ((line, row.style or "bold") for line in break_name(row.cells[0], width))
            for k, (heading, cell) in enumerate(zip(self.headings, row.cells, strict=True)):
                label = f"  {heading.ljust(heading_width)}  "
                if k > 0 and cell and len(label) + len(cell) <= width:
                    yield label + cell, ""
                elif k > 0 and cell:
                    if heading:
                        yield f"  {heading}", ""
                    cell_lines = wrap_text(cell, width - 4) if self._wraps(k) else [cell]
                    yield from ((f"    {line}", "") for line in cell_lines)
            yield from self._below(row, width)

    def _below(self, row: TableRow, width: int) -> Iterator[tuple[str, str]]:
        """Yield the text below a row, and the empty line."""
        for line in wrap(row.below, max(width - 2 * INDENT, 1), break_long_words=False):
            yield " " * 2 * INDENT + line, "dim"
        if row.space_below:
            yield "", ""

    def _wraps(self, k: int) -> bool:
        """Return whether column k holds sentences, which are wrapped."""
        return self._sentences and k == len(self.headings) - 1


def wrap_text(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` characters, broken at spaces and hyphens.

    Words longer than a line, such as spec strings, are broken by `break_name`.
    """
    width = max(width, 1)
    lines = wrap(text, width, break_long_words=False)
    return [part for line in lines for part in break_name(line, width)]


def break_name(name: str, width: int) -> list[str]:
    """Return a name in lines of at most `width` characters, broken between its parts.

    Parts end at spaces and after commas, colons and slashes; only parts longer than a line are
    cut.
    """
    lines = [""]
    for part in re.findall(r"[^ ,:/]*[ ,:/]*", name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
        while len(lines[-1].rstrip()) > width:
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return [line.rstrip() for line in lines]
