"""Positions of played games with their results, to learn values from."""
