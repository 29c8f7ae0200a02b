"""NumPy policies of networks, for the export of `cnn` and `ac` agents."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.actor_critic import NetworkAgent
from ludoteca.agents.external.kaggle.layers import Layers, run_layers
from ludoteca.agents.external.kaggle.torch_layers import Weights, add_array, layers_of
from ludoteca.agents.external.kaggle.tree_search import SeatEvaluator, search
from ludoteca.agents.networks.ac_network import ACNetwork, MLPBody, ResidualBody, UIB2021Body
from ludoteca.agents.networks.layers import Block, Trunk
from ludoteca.agents.networks.seats import find_hand_crafted_features
from ludoteca.agents.search.network.policy_improvement import improved_policies
from ludoteca.agents.seat_network import masked_softmax
from ludoteca.envs.game import Game


def network_choose(agent: NetworkAgent) -> Callable[..., int]:
    """Return the policy of an agent with a network, with or without search.

    Raises:
        ValueError: if the agent samples its moves.
    """
    if agent.temperature > 0:
        raise ValueError(f"the export needs temperature=0, got {agent.temperature}")
    if agent.simulations == 0:
        evaluate = network_evaluator(agent, value=False)

        def choose(s, player, legal, n, rng):
            policies, _ = evaluate([s], [player])
            return int(np.argmax(policies[0]))

        return choose
    evaluate = network_evaluator(agent, value=True)
    simulations, leaf_batch, c_puct, fpu_reduction = (
        agent.simulations,
        agent.leaf_batch,
        agent.c_puct,
        agent.fpu_reduction,
    )
    value_scale = agent.value_scale
    seconds = math.inf if agent.seconds is None else agent.seconds

    def choose_by_search(s, player, legal, n, rng):
        root = search(s, rng, evaluate, simulations, leaf_batch, c_puct, fpu_reduction, seconds)
        arms = root.arms[player]
        priors = np.maximum(np.array([arm.prior for arm in arms], np.float32), 0)
        visits = np.array([arm.visits for arm in arms])
        totals = np.array([arm.value for arm in arms])
        values = 2 * totals / np.maximum(visits, 1) - 1  # from [0, 1] to [-1, 1]
        policies, *_ = improved_policies(priors, visits, values.astype(np.float32), value_scale)
        return int(np.argmax(policies))

    return choose_by_search


def network_evaluator(agent: NetworkAgent, value: bool) -> SeatEvaluator:
    """Return the evaluator of an agent's network.

    Args:
        agent: the agent.
        value: whether to compute the value head; otherwise the values are meaningless.
    """
    weights: Weights = {}
    layers = network_layers(agent.network, weights, value)
    scale, planes = np.float32(agent.encoder.scale), agent.encoder.shape[0]
    actions = agent.game.num_actions
    encode = (
        plain_encoder(agent.game)
        if agent.encoder.view == "plain"
        else hand_crafted_encoder(agent.game)
    )

    def evaluate(positions, seats):
        board = positions[0].occupied.shape
        out = np.zeros((len(seats), planes, *board), np.int8)
        masks = np.ones((len(seats), actions), np.int8)
        encode(positions, seats, out, masks)
        outputs = run_layers(layers, weights, scale * out)
        return masked_softmax(outputs[:, :actions], masks), np.tanh(outputs[:, -1])

    return evaluate


def plain_encoder(game: Game) -> Callable[..., None]:
    """Return `encode(positions, seats, out, masks)` of the view `plain`: it only writes `out`."""
    observe = game.observe

    def encode(positions, seats, out, masks):
        for i in range(len(seats)):
            observe(positions[i], seats[i], out[i])

    return encode


def hand_crafted_encoder(game: Game) -> Callable[..., None]:
    """Return `encode(positions, seats, out, masks)` of hand-crafted features.

    It writes planes to `out`, int8 `[K, planes, rows, columns]`, and safe actions to `masks`, int8
    `[K, num_actions]`.
    """
    features = find_hand_crafted_features(game)
    rows = features.workspace_rows(game.num_players)
    prepare, observe = features.prepare, features.observe
    safe_actions = features.safe_actions

    def encode(positions, seats, out, masks):
        for i in range(len(seats)):
            s, player = positions[i], seats[i]
            if i == 0 or s is not positions[i - 1]:
                workspace = np.zeros((rows, s.occupied.size), np.int32)
                prepare(s, workspace)
            observe(s, player, workspace, out[i])
            if safe_actions(s, player, workspace, masks[i]) == 0:  # all certainly lose
                masks[i] = 1

    return encode


def network_layers(network: ACNetwork, weights: Weights, value: bool) -> Layers:
    """Return the layers from planes to logits and, if `value`, to the value before tanh."""
    body: Any = network.body
    return BODIES[type(body)](body, weights, value)


def uib2021_layers(body: UIB2021Body, weights: Weights, value: bool) -> Layers:
    """Return the layers of a `UIB2021Body`.

    `value`: see `network_layers`; `weights`: see `layers_of`.
    """
    parts = (body.convolutions, body.dense, body.policy)
    convolutions, dense, policy = (layers_of(part, weights) for part in parts)
    heads = policy
    if value:
        assert body.value is not None
        heads = (("concat", (policy, layers_of(body.value, weights))),)
    return (*convolutions, ("mean",), *dense, *heads)


def residual_layers(body: ResidualBody, weights: Weights, value: bool) -> Layers:
    """Return the layers of the residual network; the value is one more output of its head."""
    pooled: list[Layers] = [(("mean",),), (("max",),)]
    if body.middle is not None:
        pooled.append((("cell", *divmod(body.middle, body.columns)),))
    if body.flat is not None:
        pooled.append((*layers_of(body.flat, weights), ("relu",), ("flatten",)))
    head = layers_of(body.head, weights)
    return (*trunk_layers(body.trunk, weights), ("concat", tuple(pooled)), *head)


def mlp_layers(body: MLPBody, weights: Weights, value: bool) -> Layers:
    """Return the layers of a multilayer perceptron; the value is one more output."""
    return (("flatten",), *layers_of(body.layers, weights))


def trunk_layers(module: Trunk, weights: Weights) -> Layers:
    """Return the layers of a convolution and residual blocks."""
    padding = "circular" if module.torus else "zeros"
    layers: list[tuple[Any, ...]] = [*convolution_layers(module.enter, padding, weights), ("relu",)]
    for block in module.blocks:
        assert isinstance(block, Block)
        layers.append(("add", residual_branch(block, padding, weights)))
    return (*layers, ("relu",))


def residual_branch(block: Block, padding: str, weights: Weights) -> Layers:
    """Return the layers of the residual branch of a block."""
    first = convolution_layers(block.first, padding, weights)
    if block.pool is not None:
        global_pooling = ("concat", ((("mean",),), (("max",),)))
        pooled = (global_pooling, *layers_of(block.pool, weights))
        # On a torus the input of the block is pooled.
        first = (("sum", (first, pooled)),) if block.torus else (*first, ("add", pooled))
    second = convolution_layers(block.second, padding, weights)
    return (("relu",), *first, ("relu",), *second)


def convolution_layers(module: Any, padding: str, weights: Weights) -> Layers:
    """Return the layers of a convolution and its bias, with a kind of padding."""
    return (
        ("conv", add_array(weights, module.weight), padding),
        ("bias", add_array(weights, module.bias)),
    )


# Functions `(body, weights, value) -> layers` by the class of the network's body.
BODIES: dict[type[Any], Callable[[Any, Weights, bool], Layers]] = {
    UIB2021Body: uib2021_layers,
    ResidualBody: residual_layers,
    MLPBody: mlp_layers,
}
