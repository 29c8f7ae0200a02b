"""Throughput of self-play actors and their learner: measured on this machine, or simulated."""
