"""Record of a state of a game from a rule sheet: its fluents, and fields computed from them."""

from typing import Any

import numpy as np

from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.percepts import percept_words

# Values of the field `over`. A game ends by the rules, at `max_plies`, in a state in which a role
# has no legal move, in a state of a sequential game in which two players have a choice, or by
# forfeits.
RUNNING, TERMINAL, LIMIT, STUCK, CONFLICT, FORFEITED = range(6)


def state_dtype(network: Network) -> np.dtype[np.void]:
    """Return the dtype of the record of a state."""
    roles, players = len(network.roles), len(network.players)
    fields: list[Any] = [("rng", np.uint64, (1,))] if network.random_role >= 0 else []
    if network.has_hidden_information:
        percepts = (percept_words(network),)
        fields += [
            # Percepts of the last joint move, of those since the player's last action (with that
            # action), and of the game.
            ("percepts", np.uint64, percepts),
            ("turn_percepts", np.uint64, percepts),
            ("game_percepts", np.uint64, percepts),
            ("last_action", np.int32, (players,)),  # of each player; NONE before the first
        ]
    return np.dtype(
        [
            *fields,
            ("fluents", np.uint64, ((len(network.fluents) + 63) // 64,)),
            ("outputs", np.uint64, ((len(network.phase1.outputs) + 63) // 64,)),
            # Last move of each role, an index of `Network.moves`; NONE before the first.
            ("joint", np.int32, (roles,)),
            ("plies", np.int32),  # joint moves since the first action could be made
            ("to_move", np.int8),  # 0 in simultaneous games
            ("over", np.int8),  # RUNNING, TERMINAL, ...
            ("forfeited", np.int8, (players,)),  # whether each player has forfeited
        ],
        align=True,
    )
