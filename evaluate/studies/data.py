"""Data files of the studies: the results of the reproduced documents, and settings, in TOML.

A table of a document is a TOML table with `columns`, their names, and `rows`, a list of cells each.
"""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent  # folder of all studies
Row = dict[str, Any]  # cells of a row of a table, by column


def read_data(file: str) -> dict[str, Any]:
    """Return the content of a data file; its tables are lists of `Row`.

    Args:
        file: path of the file in the folder of all studies, such as `"hex/tanaka2018.toml"`.

    Raises:
        ValueError: if the file is not TOML, or a table is invalid; see `rows_of`.
    """
    try:
        content = tomllib.loads((FOLDER / file).read_text("utf-8"))
        return {name: _with_rows(value) for name, value in content.items()}
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _with_rows(value: Any) -> Any:
    """Return a value of a data file with each table in it replaced by a list of its rows."""
    if isinstance(value, list):
        return [_with_rows(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"columns", "rows"}:
        return rows_of(value["columns"], value["rows"])
    return {name: _with_rows(each) for name, each in value.items()}


def rows_of(columns: list[str], cells: list[list[Any]]) -> list[Row]:
    """Return the rows of a table, each with its cells by column.

    Raises:
        ValueError: if two columns have the same name, a row has more or fewer cells than there are
            columns, or a column has both numbers and other values.
    """
    if len(set(columns)) < len(columns):
        raise ValueError(f"columns must have different names, got {columns}")
    for number, row in enumerate(cells):
        if len(row) != len(columns):
            raise ValueError(
                f"row {number} must have {len(columns)} cells, one for each of {columns}, got {row}"
            )
    for name, column in zip(columns, zip(*cells, strict=True), strict=bool(cells)):
        if len({float if type(cell) is int else type(cell) for cell in column}) > 1:
            raise ValueError(f"column {name!r} must have cells of one type, got {list(column)}")
    return [dict(zip(columns, row, strict=True)) for row in cells]


# Selection policies of tree search that the studies compare.
PUBLISHED_POLICIES: tuple[str, ...] = tuple(read_data("policies.toml")["published"])
