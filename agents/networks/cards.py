"""Model cards of the shipped networks: training and strength.

A card is a JSON document beside the network's file, `agents/weights/KIND/NAME.json`, that
`python -m ludoteca.evaluate.cards` writes:

- `"agent"`, `"game"`: spec strings of the network as an agent and of its game.
- `"command"`, `"seed"`, `"date"`, `"versions"`: of the training run that wrote the file.
- `"trained_by"`: its training, including earlier runs.
- `"trained_against"`: spec strings of the opponents in its training, besides itself.
- `"strength"`: matches. Each has `"agents"`, the network first, `"games"`, `"seed"`, `"command"`,
  `"date"`, `"versions"`, and `"seats"`: for each seat of the network, or for `"any"`, the numbers
  of games, wins, draws, losses and different games (`"distinct"`), and the 95 % Wilson interval of
  the win rate from `"low"` to `"high"`.
"""

import json
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import find_weights, shipped_weights

TRAINED, SIMILAR, NOT_TRAINED = "yes", "its kind", "no"


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
        find_weights(name, kind)  # raises with the known names, if it is not a file either
        raise FileNotFoundError(f"the package comes with no network {kind}:{name}")
    return networks[name].with_name(f"{name}.json")


def load_card(kind: str, name: str) -> dict[str, Any]:
    """Return the card of a shipped network; the arguments are those of `card_path`.

    Raises:
        FileNotFoundError: if there is no such network, or it has no card.
    """
    card: dict[str, Any] = json.loads(card_path(kind, name).read_text())
    return card


def trained_against(card: dict[str, Any], rival: str) -> str:
    """Return whether a network was trained against an agent or a similar one.

    Args:
        card: the network's card.
        rival: spec string of the agent.

    Returns:
        `"yes"`, `"its kind"` if only against the same agent with other parameters or another
        network, or `"no"`.
    """
    if rival in card["trained_against"]:
        return TRAINED
    kinds = {spec.partition(":")[0] for spec in card["trained_against"]}
    return SIMILAR if rival.partition(":")[0] in kinds else NOT_TRAINED
