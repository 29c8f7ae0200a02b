"""Imitation learning (behavioral cloning) of recorded moves in simultaneous games."""
