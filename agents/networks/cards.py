"""Model cards of the shipped networks: training and strength.

A card is a JSON document beside the network's file, `agents/weights/AGENT/NAME.json`, written by
`python -m ludoteca.evaluate.cards`:

- `"agent"`, `"game"`: spec strings of the network as an agent and of its game.
- `"command"`, `"seed"`, `"date"`, `"versions"` of packages: those of the training run.
- `"trained_by"`: description of the training, including earlier runs.
- `"trained_against"`: spec strings of the training opponents other than itself.
- `"strength"`: matches. Each has `"agents"`, the network first, `"games"`, `"seed"`, `"command"`,
  `"date"`, `"versions"`, and `"seats"`: for each seat of the network, or for `"any"`, the numbers
  of games, wins, draws, losses and distinct games, and the 95 % Wilson interval of the win rate,
  `"low"` and `"high"`.
"""

import json
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import find_weights, shipped_weights

TRAINED, SAME_KIND, NOT_TRAINED = "yes", "its kind", "no"


def card_path(kind: str, name: str) -> Path:
    """Return the path of a shipped network's card.

    Args:
        kind: name of its agent, such as `"dqn"`.
        name: name of the network, such as `"hex5"`.

    Raises:
        FileNotFoundError: if there is no such network.
    """
    networks = shipped_weights(kind)
    if name not in networks:
        find_weights(name, kind)  # raises and lists the known names, unless `name` is a file
        raise FileNotFoundError(f"there is no shipped network {kind}:{name}")
    return networks[name].with_name(f"{name}.json")


def load_card(kind: str, name: str) -> dict[str, Any]:
    """Return the card of a shipped network; the arguments are those of `card_path`.

    Raises:
        FileNotFoundError: if there is no such network, or it has no card.
    """
    card: dict[str, Any] = json.loads(card_path(kind, name).read_text())
    return card


def trained_against(card: dict[str, Any], opponent: str) -> str:
    """Return whether a network was trained against an agent, or against one of its kind.

    Args:
        card: the network's card.
        opponent: spec string of the agent.

    Returns:
        `"yes"`; `"its kind"`: only against the same agent with other parameters or another network;
        or `"no"`.
    """
    if opponent in card["trained_against"]:
        return TRAINED
    kinds = {spec.partition(":")[0] for spec in card["trained_against"]}
    return SAME_KIND if opponent.partition(":")[0] in kinds else NOT_TRAINED
