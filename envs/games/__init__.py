"""Rules: one file per game."""
