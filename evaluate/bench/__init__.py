"""Benchmarks of speed, compared with other packages on the same machine."""
