"""Hungry Geese: deterministic agent, hand-crafted features for networks, and causes of death."""
