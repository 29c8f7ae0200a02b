"""Files of a collection of rule sheets, and of the recorded games of GGP-Base for each sheet."""

from pathlib import Path

from ludoteca.envs.gdl.own_sheets import FOLDER


def select_sheets(sheets: Path | None, names: tuple[str, ...]) -> dict[str, Path]:
    """Return the files of sheets by name.

    Args:
        sheets: folder of sheets, or one sheet; None: the folder of those of this package.
        names: exact names of sheets, in the order of the result; by default all of the folder.

    Raises:
        ValueError: if the folder or a sheet does not exist.
    """
    folder = sheets or FOLDER
    if not folder.exists():
        raise ValueError(f"there is no file or folder {folder}")
    files = dict(sheet_files(folder))
    for name in names:
        if name not in files:
            raise ValueError(f"{folder} has no sheet {name}")
    return {name: files[name] for name in names or files}


def sheet_files(folder: Path) -> list[tuple[str, Path]]:
    """Return the name and file of each sheet in a folder, the newest version of each game.

    In the repository of GGP-Base, the folder of a game has a file METADATA and the first version,
    and subfolders `v1`, `v2` have later versions. Only the last of them is returned, with the name
    that the first version would have.

    Raises:
        ValueError: if there are no sheets.
    """
    if folder.is_file():
        return [(folder.stem, folder)]
    sheets, newest = sorted(folder.rglob("*.kif")), dict[Path, int]()
    for path in sheets:
        newest[_game(path)] = max(newest.get(_game(path), 0), _version(path))
    files = [path for path in sheets if _version(path) == newest[_game(path)]]
    if not files:
        raise ValueError(f"{folder} has no rule sheets (*.kif)")
    stems = [path.stem for path in files]
    return [
        (path.stem if stems.count(path.stem) == 1 else _long_name(path, folder), path)
        for path in files
    ]


def _version(path: Path) -> int:
    """Return the number of a sheet's version, 0 for the first one or if it has no versions."""
    name = path.parent.name
    is_later = name[:1] == "v" and name[1:].isdecimal()
    return int(name[1:]) if is_later and (path.parent.parent / "METADATA").exists() else 0


def _game(path: Path) -> Path:
    """Return the folder of a sheet's game, which has all versions."""
    return path.parent.parent if _version(path) else path.parent


def _long_name(path: Path, folder: Path) -> str:
    """Return the path of a sheet in its folder, without suffix and folder of a version."""
    parts = path.relative_to(folder).with_suffix("").parts
    return "/".join((*parts[:-2], parts[-1]) if _version(path) else parts)


def trace_file(traces: Path, folder: Path, path: Path) -> Path:
    """Return the file of a sheet's trace, as tests/oracles/record_gdl.py names it."""
    if folder.is_file():
        return traces / f"{path.stem}.jsonl"
    return traces / f"{'+'.join(path.relative_to(folder).with_suffix('').parts)}.jsonl"
