"""Hungry Geese: deterministic agent, policies, hand-crafted features, and causes of death."""
