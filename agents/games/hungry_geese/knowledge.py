"""Knowledge of Hungry Geese: policies, playouts, evaluation, reward and features."""

from ludoteca.agents.games.hungry_geese.policies import (
    length_to_the_fifth,
    nearest_food,
    safe_goose,
    standing,
    valid_goose,
)
from ludoteca.agents.games.knowledge import Knowledge

HUNGRY_GEESE = Knowledge(
    greedy=nearest_food,
    playouts={"valid": valid_goose, "safe": safe_goose},
    default_playout=("safe", 6),  # uniformly random geese die within a few plies
    evaluations={"standing": standing},
    playout_reward=length_to_the_fifth,
    features="ludoteca.agents.games.hungry_geese.features:FEATURES",
)
