"""Multi-armed bandits: the selection policies on their own, and the study of alpha(K)."""

from ludoteca.evaluate.studies.bandits.play import play_bandits, random_problems

__all__ = ["play_bandits", "random_problems"]
