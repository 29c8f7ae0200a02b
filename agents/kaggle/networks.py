"""Networks for one seat as policies in NumPy: what `cnn` and `ac` agents are exported as."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.actor_critic import NetworkAgent
from ludoteca.agents.kaggle.layers import Layers, run
from ludoteca.agents.kaggle.torch_layers import Weights, keep, layers_of
from ludoteca.agents.networks.ac_network import ACNetwork, DocumentBody, ResidualBody
from ludoteca.agents.networks.layers import Block, Trunk
from ludoteca.agents.networks.seats import find_rich


def network_choose(agent: NetworkAgent) -> Callable[..., int]:
    """Return what chooses as an agent does that plays the action its network thinks best.

    Raises:
        ValueError: if it draws its moves, or searches.
    """
    if not agent.plain:
        raise ValueError(
            "a network is exported as a policy without search: needs simulations=0, temperature=0"
        )
    weights: Weights = {}
    layers = network_layers(agent.network, weights)
    scale = np.float32(agent.encoder.scale)
    planes = agent.encoder.shape[0]
    if agent.encoder.view == "plain":
        see = agent.game.observe

        def choose(s, player, legal, n, rng):
            out = np.zeros((planes, *s.occupied.shape), np.int8)
            see(s, player, out)
            return int(np.argmax(run(layers, weights, scale * out[None])[0, :n]))

        return choose
    rich = find_rich(agent.game)
    observe, safe_actions = rich.observe, rich.safe_actions

    def choose_safely(s, player, legal, n, rng):
        stay, queue, reach = np.zeros((3, s.occupied.size), np.int16)
        out = np.zeros((planes, *s.occupied.shape), np.int8)
        safe = np.zeros(n, np.int8)
        observe(s, player, stay, queue, reach, out)
        found = safe_actions(s, player, stay, safe)
        logits = run(layers, weights, scale * out[None])[0, :n]
        return int(np.argmax(np.where(safe > 0, logits, -np.inf) if found else logits))

    return choose_safely


def network_layers(network: ACNetwork, weights: Weights) -> Layers:
    """Return the layers from planes to logits; what comes after them is no action's."""
    body: Any = network.body
    return BODIES[type(body)](body, weights)


def document(body: DocumentBody, weights: Weights) -> Layers:
    """Return the layers of the document's network."""
    parts = (body.convolutions, body.dense, body.policy)
    convolutions, dense, policy = (layers_of(part, weights) for part in parts)
    return (*convolutions, ("mean",), *dense, *policy)


def residual(body: ResidualBody, weights: Weights) -> Layers:
    """Return the layers of residual blocks and the heads on them."""
    seen: list[Layers] = [(("mean",),), (("max",),)]
    if body.middle is not None:
        seen.append((("cell", *divmod(body.middle, body.columns)),))
    if body.flat is not None:
        seen.append((*layers_of(body.flat, weights), ("relu",), ("flatten",)))
    head = layers_of(body.head, weights)
    return (*trunk(body.trunk, weights), ("concat", tuple(seen)), *head)


def trunk(module: Trunk, weights: Weights) -> Layers:
    """Return a convolution and residual blocks."""
    padding = "circular" if module.torus else "zeros"
    layers: list[tuple[Any, ...]] = [*convolution(module.enter, padding, weights), ("relu",)]
    for block in module.blocks:
        assert isinstance(block, Block)
        layers.append(("add", residues(block, padding, weights)))
    return (*layers, ("relu",))


def residues(block: Block, padding: str, weights: Weights) -> Layers:
    """Return what a block adds."""
    first = convolution(block.first, padding, weights)
    if block.pool is not None:
        overview = ("concat", ((("mean",),), (("max",),)))
        pooled = (overview, *layers_of(block.pool, weights))
        # On a torus it is what the block is given that is pooled.
        first = (("sum", (first, pooled)),) if block.torus else (*first, ("add", pooled))
    second = convolution(block.second, padding, weights)
    return (("relu",), *first, ("relu",), *second)


def convolution(module: Any, padding: str, weights: Weights) -> Layers:
    """Return a convolution and its bias; on a torus, the module's board is continued before."""
    return (
        ("conv", keep(weights, module.weight), padding),
        ("bias", keep(weights, module.bias)),
    )


BODIES: dict[type[Any], Callable[[Any, Weights], Layers]] = {
    DocumentBody: document,
    ResidualBody: residual,
}
