"""Settings of the C library's memory allocator for training."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
MAX_KEPT_BLOCK = 1 << 30  # size in bytes of the largest blocks that are kept
NEVER_TRIM = 2**31 - 1  # bytes of free memory above which it is returned: the largest C int


def disable_memory_trimming() -> bool:
    """Keep freed memory in the process, and return whether the allocator supports it.

    By default glibc returns large freed blocks to the system, so each update of a network gets new
    pages, which the system has to clear: much of the time of an update of a small network.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, MAX_KEPT_BLOCK) and mallopt(M_TRIM_THRESHOLD, NEVER_TRIM))
