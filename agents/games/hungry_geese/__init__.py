"""Hungry Geese: the deterministic agent, and hand-crafted features for networks."""
