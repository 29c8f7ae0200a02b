"""Multi-armed Bernoulli bandits: regret of the selection policies of tree search."""

from ludoteca.evaluate.bandits.play import play_bandits, random_problems

__all__ = ["play_bandits", "random_problems"]
