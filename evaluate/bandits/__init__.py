"""Multi-armed Bernoulli bandits: regret of the selection policies of tree search."""

from ludoteca.evaluate.bandits.play import (
    BanditCurves,
    bandit_curves,
    play_bandits,
    random_problems,
)

__all__ = ["BanditCurves", "bandit_curves", "play_bandits", "random_problems"]
