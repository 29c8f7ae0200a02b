"""The C library's memory: kept between updates instead of being given back to the system."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
LARGEST_BLOCK = 1 << 30  # bytes


def keep_memory() -> bool:
    """Let freed memory stay with the process; return whether that could be done.

    Otherwise each update of a network gets fresh pages, which the system clears one by one: much of
    the time of a small network's update. Only glibc is known to need it.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
