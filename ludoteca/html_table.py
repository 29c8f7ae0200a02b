"""HTML tables for notebooks, as text."""

from collections.abc import Sequence
from html import escape


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
    text_columns: int = 1,
    bold_rows: Sequence[int] = (),
) -> str:
    """Return a table as HTML without scripts and without references to other files.

    All texts are escaped. Colors are those of the notebook, light or dark.

    Args:
        headings: headings of the columns.
        rows: cells of each row, one per heading.
        title: line above the table.
        notes: lines below the table.
        text_columns: number of leading columns with text, aligned left; the others have numbers,
            aligned right.
        bold_rows: indices of the rows in bold.

    Raises:
        ValueError: if the number of cells in a row differs from that of headings.
    """
    lines = [f"<p><strong>{escape(title)}</strong></p>"] if title else []
    lines += ["<table>", "<thead>", _row("th", headings, text_columns), "</thead>", "<tbody>"]
    for k, row in enumerate(rows):
        if len(row) != len(headings):
            raise ValueError(f"expected {len(headings)} cells, got {len(row)}: {row}")
        lines.append(_row("td", row, text_columns, bold=k in bold_rows))
    lines += ["</tbody>", "</table>", *(f"<p>{escape(note)}</p>" for note in notes)]
    return "\n".join(["<div>", *lines, "</div>"]) + "\n"


def _row(tag: str, cells: Sequence[str], text_columns: int, bold: bool = False) -> str:
    """Return a row; `tag` is `"th"` for headings, `"td"` for other cells.

    The first `text_columns` cells are aligned left.
    """
    weight = ";font-weight:bold" if bold else ""
    return (
        "<tr>"
        + "".join(
            f'<{tag} style="text-align:{"left" if k < text_columns else "right"}{weight}">'
            f"{escape(cell)}</{tag}>"
            for k, cell in enumerate(cells)
        )
        + "</tr>"
    )
