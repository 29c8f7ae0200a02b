"""The folder of a training run: its settings, and all that is needed to go on exactly."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.files import write_whole

Arrays = dict[str, NDArray[Any]]
NUMBERS = "numbers"  # the entry of a state that holds its JSON document


class RunFolder:
    """A folder that belongs to one run, with one set of settings.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path, settings: dict[str, Any], free: tuple[str, ...] = ()):
        """Open the folder of a run, or one for a run that is to begin; nothing is written yet.

        Args:
            path: the folder.
            settings: of the run, as JSON can hold them.
            free: settings that may differ when a run goes on.

        Raises:
            ValueError: if a run with other settings is in there.
        """
        self.path, self._settings = path, settings
        file = path / "config.json"
        if file.exists():
            begun = json.loads(file.read_text())
            wanted = json.loads(json.dumps(settings))
            differing = [
                f"{key}: {begun.get(key)!r} there, {wanted.get(key)!r} here"
                for key in sorted({*begun, *wanted} - set(free))
                if begun.get(key) != wanted.get(key)
            ]
            if differing:
                raise ValueError(
                    f"{path} holds a run with other settings; use another folder, or remove it. "
                    + "; ".join(differing)
                )

    def claim(self) -> None:
        """Write the settings: from now on the folder belongs to this run.

        To be called when it is sure that the run can begin: settings that are wrong must not stand
        in the way of those that are right.
        """
        write_whole(self.path / "config.json", json.dumps(self._settings, indent=2) + "\n")

    def save_state(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Write where the run is, instead of what was written before.

        Args:
            numbers: anything that JSON can hold.
            arrays: of numbers or records, by name.
        """
        content = io.BytesIO()
        text = np.frombuffer(json.dumps(numbers).encode(), np.uint8)
        np.savez(content, allow_pickle=False, **{NUMBERS: text}, **arrays)
        write_whole(self.path / "state.npz", content.getvalue())

    def load_state(self) -> tuple[dict[str, Any], Arrays] | None:
        """Return what `save_state` wrote last, or None if it never did.

        Raises:
            ValueError: if the file is damaged.
        """
        file = self.path / "state.npz"
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files}
            return json.loads(arrays.pop(NUMBERS).tobytes()), arrays
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise ValueError(f"{file} is damaged ({error}): remove it to begin anew") from None


def under(prefix: str, arrays: Arrays) -> Arrays:
    """Put a prefix before each name."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def below(prefix: str, arrays: Arrays) -> Arrays:
    """Return what `under` put together with this prefix."""
    start = f"{prefix}/"
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }
