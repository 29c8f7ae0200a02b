"""Disk cache of machine code: one file with a checksum per function and signature.

Numba's own cache has an index per function, which two processes can overwrite, and does not verify
its files. Here a file's name contains a digest of everything that its code depends on, and its
first bytes are a checksum: no index is needed, and damaged files are detected.
"""

import contextlib
import hashlib
import os
import pickle
import stat
import tempfile
import warnings
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import (
    Cache,
    CompileResultCacheImpl,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.serialize import dumps

from ludoteca.files import write_atomically

CHECKSUM_BYTES = 32  # of SHA-256
ADVICE = "set NUMBA_CACHE_DIR to a folder that can be written to"
_warned: set[str] = set()  # topics of `warn_once`


class PrivateFolderLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Locator of code in the system's temporary folder, in a subfolder private to the user.

    Used only if neither the installed package nor the home directory can be written to.
    """

    def __init__(self, py_func: Any, py_file: str):
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        subpath: Any = self.get_suitable_cache_subpath(py_file)  # type: ignore[no-untyped-call]
        self._cache_path = str(private_folder() / subpath)

    def get_cache_path(self) -> str:
        """Return the folder of the cached code."""
        return self._cache_path

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return a locator, or None if the folder cannot be made or there is no source file."""
        if not os.path.exists(py_file):
            return None
        try:
            locator = cls(py_func, py_file)
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        warn_once(
            "private folder",
            "neither the installed package nor the home directory can be written to: compiled code "
            f"is kept in {private_folder()} until the system clears it; to keep it, {ADVICE}",
        )
        return locator


class _CacheImplementation(CompileResultCacheImpl):
    _locator_classes: Any = (*CompileResultCacheImpl._locator_classes, PrivateFolderLocator)

    def check_cachable(self, cres: Any) -> bool:
        """Return whether compiled code can be cached, without Numba's warning if it cannot.

        Code that uses arrays of more than 1 MB, such as the gates of a large rule sheet, contains
        their addresses in this process.
        """
        return not cres.library.has_dynamic_globals


class CodeCache(Cache):
    """Disk cache of the machine code of one function, by signature.

    If no folder can be written to, every process compiles the function, after one warning. Files
    that cannot be loaded are deleted and written anew.
    """

    _impl_class: Any = _CacheImplementation

    def __init__(self, function: Any, digest: str):
        """Find the folder of the function's code.

        Args:
            function: the Python function.
            digest: digest of all that its machine code depends on, except the versions of Numba and
                llvmlite, the signature and the processor.
        """
        self._digest = digest
        self._folder: Path | None = None
        self._enabled = True
        try:
            self._impl: Any = self._impl_class(function)
            self._folder = Path(self._impl.locator.get_cache_path())
        # RuntimeError: Numba finds no folder for the cache; OSError: no current directory.
        except (RuntimeError, OSError) as error:
            if os.path.exists(function.__code__.co_filename):
                warn_once("no folder", f"compiled code cannot be cached: {error}; {ADVICE}")

    @property
    def cache_path(self) -> str | None:
        """Folder of the cached code, or None."""
        return None if self._folder is None else str(self._folder)

    def flush(self) -> None:
        """Delete the cached code of the function."""
        for path in self._folder.glob(f"{self._file_stem}.*.nbc") if self._folder else ():
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code of a signature, or None."""
        target_context.refresh()  # as Numba's `load_overload` does
        if self._folder is None or not self._enabled:
            return None
        path = self._path(sig, target_context.codegen())
        try:
            content = path.read_bytes()
        except OSError:
            return None
        try:
            if hashlib.sha256(content[CHECKSUM_BYTES:]).digest() != content[:CHECKSUM_BYTES]:
                raise ValueError("its checksum does not match")
            return self._impl.rebuild(target_context, pickle.loads(content[CHECKSUM_BYTES:]))
        except Exception as error:  # unpickling and rebuilding damaged data may raise anything
            warn_once(
                "broken", f"{path} is broken ({error}): it is deleted, and its code compiled again"
            )
            _delete(path)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code of a signature, if possible."""
        if self._folder is None or not self._enabled or not self._impl.check_cachable(data):
            return
        content: bytes = dumps(self._impl.reduce(data))  # type: ignore[no-untyped-call]
        path = self._path(sig, data.codegen)
        try:
            write_atomically(path, hashlib.sha256(content).digest() + content)
        except OSError as error:
            self._enabled = False
            warn_once(
                "write error",
                f"compiled code cannot be cached in {self._folder}: {error}. The next process will "
                f"compile it again; free some space, or {ADVICE}",
            )

    @property
    def _file_stem(self) -> str:
        return str(self._impl.filename_base)

    def _path(self, sig: Any, codegen: Any) -> Path:
        """Return the path of a signature's file; a digest of all that its code depends on names it.

        `codegen` is Numba's code generator, which identifies the processor.
        """
        versions = (numba.__version__, llvmlite.__version__)
        depends_on = repr((versions, self._digest, str(sig), codegen.magic_tuple()))
        key = hashlib.sha256(depends_on.encode()).hexdigest()[:24]
        assert self._folder is not None
        return self._folder / f"{self._file_stem}.{key}.nbc"


def private_folder() -> Path:
    """Return the user's private folder in the system's temporary folder, created if missing.

    Raises:
        OSError: if it cannot be made, or if other users have access to it: they could plant code.
    """
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"ludoteca-code-{user}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if hasattr(os, "getuid") and (
        not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077
    ):
        raise PermissionError(f"{folder} is not a folder that only its owner can use")
    return folder


def warn_once(topic: str, message: str) -> None:
    """Issue a `RuntimeWarning`, at most once per topic and process."""
    if topic not in _warned:
        _warned.add(topic)
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
