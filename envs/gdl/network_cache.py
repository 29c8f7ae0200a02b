"""Disk cache of compiled networks, by a digest of the sheet and of the compiler's sources.

A file is an NPZ archive of plain arrays; text is stored as UTF-8 bytes. Nothing is unpickled.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.envs.gdl.network import Network, Program
from ludoteca.files import BROKEN_ARCHIVE, read_bytes, write_atomically

# Fields of `Network` that are arrays, programs and texts, and fields of `Program` that are arrays.
ARRAYS = ("move_start", "initial", "persistent", "goal_roles", "goal_values", "percept_roles")
PHASES = ("phase1", "phase2", "phase3")
PROGRAM_ARRAYS = ("gates", "segments", "outputs")
TEXTS = ("roles", "fluents", "moves", "percepts", "problems")
# Modules that the network of a sheet depends on.
COMPILER = (
    "compile", "errors", "limits", "parse", "rules", "problems", "constants", "growth", "checks",
    "persistence", "estimates", "split", "free_arguments", "alternatives", "joins", "demand",
    "ground", "graph", "gates", "network", "network_cache",
)  # fmt: skip


def cache_folder() -> Path:
    """Return the folder of the cache: in `NUMBA_CACHE_DIR` if that is set, as for compiled code."""
    numba = os.environ.get("NUMBA_CACHE_DIR")
    if numba:
        return Path(numba) / "ludoteca-gdl"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ludoteca" / "gdl"


def network_digest(text: str) -> str:
    """Return the hex digest of a sheet and of the compiler's sources."""
    return hashlib.sha256(_compiler_digest() + text.encode(errors="replace")).hexdigest()[:32]


def load_network(digest: str) -> Network | None:
    """Return a network from the cache, or None if it is missing or broken."""
    try:
        with np.load(BytesIO(read_bytes(_path(digest))), allow_pickle=False) as archive:
            return _from_arrays(archive)
    except (OSError, *BROKEN_ARCHIVE):
        return None


def save_network(digest: str, network: Network) -> None:
    """Write a network to the cache; errors of the file system are ignored."""
    content = BytesIO()
    np.savez_compressed(content, **dict(_arrays(network)))
    try:
        write_atomically(_path(digest), content.getvalue())
    except OSError:
        return


def _path(digest: str) -> Path:
    return cache_folder() / f"{digest}.npz"


def _arrays(network: Network) -> Iterator[tuple[str, Any]]:
    """Yield the names and arrays of the archive of a network."""
    for name in ARRAYS:
        yield name, getattr(network, name)
    for phase in PHASES:
        program = getattr(network, phase)
        for name in PROGRAM_ARRAYS:
            yield f"{phase}_{name}", getattr(program, name)
        yield f"{phase}_num_slots", np.int64(program.num_slots)
    texts: dict[str, Any] = {name: list(getattr(network, name)) for name in TEXTS}
    texts["instances"] = network.instances
    texts["counted_instances"] = network.counted_instances
    texts["has_hidden_information"] = network.has_hidden_information
    yield "texts", np.frombuffer(json.dumps(texts).encode(), np.uint8)


def _from_arrays(archive: Any) -> Network:
    """Return the network in an archive; inverse of `_arrays`."""
    texts = json.loads(archive["texts"].tobytes())
    values: dict[str, Any] = {name: archive[name] for name in ARRAYS}
    values |= {name: tuple(texts[name]) for name in TEXTS}
    values |= {
        phase: Program(
            **{name: archive[f"{phase}_{name}"] for name in PROGRAM_ARRAYS},
            num_slots=int(archive[f"{phase}_num_slots"]),
        )
        for phase in PHASES
    }
    return Network(
        **values,
        has_hidden_information=bool(texts["has_hidden_information"]),
        instances=int(texts["instances"]),
        counted_instances=int(texts["counted_instances"]),
    )


@cache
def _compiler_digest() -> bytes:
    digest = hashlib.sha256()
    for name in COMPILER:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.digest()
