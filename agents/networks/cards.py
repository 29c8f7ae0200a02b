"""Cards of the networks that come with the package: how each was trained, and how well it plays.

A card is a JSON document beside the network's file, `agents/weights/KIND/NAME.json`:

- `"agent"`: the spec string of the network as an agent.
- `"command"`, `"seed"`, `"date"`, `"versions"`: of the training run that wrote the file.
- `"trained_by"`: the training in a sentence, earlier runs included.
- `"trained_against"`: spec strings of the opponents in its training, itself left out.
- `"strength"`: measured matches. Each holds `"game"`, `"agents"` (the first one is the network),
  `"games"`, `"seed"`, `"command"`, `"date"`, `"versions"`, and by seat of the network, or `"any"`,
  `"games"`, `"wins"`, `"draws"`, `"losses"`, `"distinct"` (different games among them), `"low"` and
  `"high"`, the ends of the 95 % Wilson interval of the share of wins.
"""

import json
from typing import Any

from ludoteca.agents.networks.weights import shipped_weights

SAME, KIND, NONE = "yes", "its kind", "no"


def load_card(kind: str, name: str) -> dict[str, Any]:
    """Return the card of a network that comes with the package.

    Args:
        kind: the agent that plays it, such as `"dqn"`.
        name: of the network, such as `"hex5"`.

    Raises:
        FileNotFoundError: if there is no such network, or it has no card.
    """
    known = shipped_weights(kind)
    if name not in known:
        raise FileNotFoundError(
            f"the package comes with no network {kind}:{name}; of this kind there are "
            f"{', '.join(known) or 'none'}"
        )
    path = known[name].with_name(f"{name}.json")
    card: dict[str, Any] = json.loads(path.read_text())
    return card


def trained_against(card: dict[str, Any], rival: str) -> str:
    """Return whether a network was trained against an agent.

    Args:
        card: of the network.
        rival: spec string of the agent.

    Returns:
        `"yes"`, `"its kind"` if only against the same agent with other parameters or another
        network, or `"no"`.
    """
    if rival in card["trained_against"]:
        return SAME
    kinds = {spec.partition(":")[0] for spec in card["trained_against"]}
    return KIND if rival.partition(":")[0] in kinds else NONE
