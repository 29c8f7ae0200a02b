"""Observations of games with hidden information: percepts of the observing player, not the state.

Percepts are the terms of `sees`, a relation of GDL-II: Thielscher, "A general game description
language for incomplete information games" (AAAI 2010). A player receives percepts after each joint
move, also of moves by others.

Planes of one cell, with T different percepts, A actions and N players:

    0 to T - 1          percepts since the observer's last action, those of that action included
    T to 2 T - 1        percepts since the start of the game
    2 T + a             1 if action a was the observer's last one
    2 T + A + p         1 if player p observes
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.bits import test_bit
from ludoteca.envs.gdl.network import Network, natural_key
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.jit import kernel


def percept_words(network: Network) -> int:
    """Return the number of 64-bit words for the percepts of all players, at least 1."""
    return max(1, (len(network.percepts) + 63) // 64)


def make_percept_masks(network: Network) -> NDArray[np.uint64]:
    """Return the percepts of each player as bits. Shape `[N, percept_words]`."""
    players = np.array(network.players)
    bits = np.zeros((len(players), 64 * percept_words(network)), np.bool_)
    bits[:, : len(network.percepts)] = network.percept_roles == players[:, np.newaxis]
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def percept_names(network: Network) -> tuple[str, ...]:
    """Return the different percepts of all players, sorted. Length T."""
    return tuple(sorted(set(network.percepts), key=lambda text: natural_key(parse(text)[0].term)))


def make_observe_percepts(network: Network, num_actions: int) -> tuple[int, Any]:
    """Return the number of planes, and the kernel `observe` of `Game`."""
    names, players = percept_names(network), len(network.players)
    num_percepts, num_names = len(network.percepts), len(names)
    # At least one element each, as compiled code needs a type; no more than `num_percepts` is read.
    number_of_name = {name: i for i, name in enumerate(names)}
    name_of = np.array([number_of_name[text] for text in network.percepts] or [0], np.int32)
    player_of = np.array(
        [network.players.index(int(role)) for role in network.percept_roles] or [0], np.int32
    )

    @kernel
    def observe(s: Any, player: int, out: Any) -> None:
        for i in range(2 * num_names + num_actions + players):
            out[i, 0, 0] = 0
        for i in range(num_percepts):
            if player_of[i] == player:
                out[name_of[i], 0, 0] = test_bit(s.turn_percepts, i)
                out[num_names + name_of[i], 0, 0] = test_bit(s.game_percepts, i)
        if s.last_action[player] >= 0:
            out[2 * num_names + s.last_action[player], 0, 0] = 1
        out[2 * num_names + num_actions + player, 0, 0] = 1

    return 2 * num_names + num_actions + players, observe


def validate_percepts(network: Network, num_actions: int, s: Any) -> str:
    """Return the reason why the percepts or last actions of a record are invalid, or `""`."""
    words, count = percept_words(network), len(network.percepts)
    valid = np.zeros(64 * words, np.bool_)
    valid[:count] = True
    padding = ~np.packbits(valid, bitorder="little").view("<u8").astype(np.uint64)
    for name in ("percepts", "turn_percepts", "game_percepts"):
        if (np.asarray(s[name]) & padding).any():
            return f"{name} has bits beyond its {count} percepts"
    if (s["last_action"] < -1).any() or (s["last_action"] >= num_actions).any():
        return f"last_action is {s['last_action'].tolist()}, expected -1 to {num_actions - 1}"
    return ""
