"""Multi-armed Bernoulli bandits: the selection policies of tree search on their own."""

from ludoteca.evaluate.bandits.play import play_bandits, random_problems

__all__ = ["play_bandits", "random_problems"]
