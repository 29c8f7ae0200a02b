"""Models of Stable-Baselines3 and sb3-contrib as agents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.agents.sampling import sample_by_logits, sample_legal
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_real
from ludoteca.envs.rng import uniform

try:
    import torch
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy

    from ludoteca.agents.external.sb3_file import read_policy
except ImportError as error:
    raise ImportError(
        'the agent sb3 needs Stable-Baselines3: pip install "ludoteca[train]"'
    ) from error

Scores = Callable[[Any, Any], torch.Tensor]  # (policy, observations) -> scores [K, num_actions]


class SB3Agent(Agent):
    """Agent with an SB3 policy: it plays the best legal action by logits or values.

    Supported are algorithms with discrete actions and without recurrence: `PPO`, `A2C`, `TRPO`,
    `MaskablePPO`, `DQN`, `QRDQN`, `ARS`. Illegal actions are masked whether or not the model was
    trained with masks. The observation space of the model determines the format: channels first,
    channels last or flattened, the dtype, and whether it is a dictionary with the mask.
    """

    def __init__(
        self,
        game: Game,
        policy: BasePolicy,
        deterministic: bool = True,
        channels_last: bool | None = None,
        epsilon: float = 0.0,
    ):
        """Make an agent with a policy in memory, which may continue to learn.

        Args:
            game: the game it plays.
            policy: policy of an SB3 model.
            deterministic: whether to play the best action. Otherwise actions are sampled from the
                policy, with the random streams `rngs` of `act`.
            channels_last: whether planes come last; None: inferred from the shape. Only needed if
                both shapes are the same.
            epsilon: probability of a random legal move instead.

        Raises:
            ValueError: if the policy does not fit the game, or has no probabilities to sample from
                and `deterministic` is False.
            TypeError: if the kind of policy is not supported.
        """
        super().__init__(game)
        self._policy, self._deterministic = policy, deterministic
        self._channels_last = channels_last
        self._epsilon = check_real("epsilon", epsilon, 0, 1)
        self._scores, is_distribution = find_scores(policy)
        if not (deterministic or is_distribution):
            raise ValueError(
                f"{type(policy).__name__} has no probabilities to sample from: "
                "expected deterministic=True"
            )
        actions = policy.action_space
        if not isinstance(actions, spaces.Discrete) or actions.n != game.num_actions:
            raise ValueError(
                f"the model's actions are {actions}, but {game.spec} has {game.num_actions}"
            )
        self._observer, self._format = fit_observations(
            game, policy.observation_space, channels_last
        )

    @classmethod
    def from_model(
        cls,
        game: Game,
        model: BaseAlgorithm,
        deterministic: bool = True,
        channels_last: bool | None = None,
        epsilon: float = 0.0,
    ) -> Self:
        """Return an agent that plays the policy of a model in memory; see the constructor."""
        return cls(game, model.policy, deterministic, channels_last, epsilon)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one forward pass of the network."""
        planes, masks = self._observer.observe(states, seats)
        observations = self._format(planes, masks)
        self._policy.set_training_mode(False)
        with torch.no_grad():
            tensors, _ = self._policy.obs_to_tensor(observations)
            scores = self._scores(self._policy, tensors).cpu().numpy().astype(np.float64)
        scores = np.where(masks == 1, scores, -np.inf)
        actions = scores.argmax(1) if self._deterministic else sample_by_logits(scores, rngs)
        if self._epsilon > 0:
            explores, uniforms = uniform(rngs.T) < self._epsilon, uniform(rngs.T)
            actions = np.where(explores, sample_legal(masks, uniforms), actions)
        return actions

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the class and its arguments."""
        return type(self), (
            self.game,
            self._policy,
            self._deterministic,
            self._channels_last,
            self._epsilon,
        )


def load_sb3_agent(
    game: Game,
    path: str | Path,
    deterministic: bool = True,
    trust: bool = False,
    channels_last: bool | None = None,
    device: str = "cpu",
    epsilon: float = 0.0,
) -> SB3Agent:
    """Load an SB3 model as an agent.

    Model files contain pickles, which can run any code when they are read. They are not read, and
    weights are read by `torch.load(weights_only=True)`, so untrusted files are about as safe as
    with that function. Policies and networks must be SB3's own; others need `trust=True`, which
    unpickles parts of the file, or `SB3Agent.from_model`.

    Args:
        game: the game it plays.
        path: the file that `model.save` wrote.
        deterministic: whether to play the best action. Otherwise actions are sampled from the
            policy, with the random streams `rngs` of `act`.
        trust: whether to unpickle parts of the file. Only for files whose authors you trust.
        channels_last: whether planes come last; None: inferred from the shape. Only needed if both
            shapes are the same.
        device: device of the network.
        epsilon: probability of a random legal move instead.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a model file, or the model does not fit the game.
        TypeError: if its kind of policy is not supported.
    """
    policy = read_policy(path, trust=trust, device=device)
    return SB3Agent(game, policy, deterministic, channels_last, epsilon)


def find_scores(policy: BasePolicy) -> tuple[Scores, bool]:
    """Return the function that scores all actions, and whether its scores are logits.

    Raises:
        TypeError: if the kind of policy is not supported.
    """
    # By name, since sb3-contrib may not be installed.
    class_names = {base.__name__ for base in type(policy).__mro__}
    if "RecurrentActorCriticPolicy" in class_names:
        raise TypeError("RecurrentPPO is recurrent, which SB3Agent does not support")
    if isinstance(policy, ActorCriticPolicy) or "MaskableActorCriticPolicy" in class_names:
        return _logits, True
    if "DQNPolicy" in class_names:
        return lambda policy, observations: policy.q_net(observations), False
    if "QRDQNPolicy" in class_names:
        return lambda policy, observations: policy.quantile_net(observations).mean(1), False
    if "ARSPolicy" in class_names:
        return _linear, False
    raise TypeError(
        f"expected a policy of PPO, A2C, TRPO, MaskablePPO, DQN, QRDQN or ARS, got "
        f"{type(policy).__name__}"
    )


def fit_observations(
    game: Game, space: spaces.Space[Any], channels_last: bool | None = None
) -> tuple[Observer, Callable[[NDArray[Any], NDArray[np.int8]], Any]]:
    """Return an observer for a model's observation space.

    Args:
        game: the game.
        space: planes, or a dictionary of planes and mask under any names; planes may be flattened.
        channels_last: whether planes come last; None: inferred from the shape.

    Returns:
        An observer, and a function from its planes and masks to the model's input.

    Raises:
        ValueError: if the game's observations do not fit.
    """
    keys = _keys(game, space)
    box: Any = space[keys[0]] if keys else space  # type: ignore[index]
    size = int(np.prod(game.observation_shape))
    for last in (False, True) if channels_last is None else (channels_last,):
        planes, rows, columns = game.observation_shape
        shape = (rows, columns, planes) if last else game.observation_shape
        if isinstance(box, spaces.Box) and box.shape in (shape, (size,)):
            break
    else:
        raise ValueError(
            f"the model observes {space}, but {game.spec} has observations of shape "
            f"{game.observation_shape}, or that in channels last or flattened"
        )

    mask_dtype = space[keys[1]].dtype if keys else None  # type: ignore[index]

    def to_observations(planes: NDArray[Any], masks: NDArray[np.int8]) -> Any:
        """Return planes and masks as observations of the model's space."""
        observations = planes.reshape(-1, *box.shape)
        if not keys:
            return observations
        return {keys[0]: observations, keys[1]: masks.astype(mask_dtype, copy=False)}

    return Observer(game, box.dtype, last), to_observations


def _keys(game: Game, space: spaces.Space[Any]) -> tuple[str, str] | None:
    """Return the keys of the planes and the mask in a dictionary; None if there is no such pair.

    If the shapes of both fit a mask, the key that contains "mask" is that of the mask.
    """
    if not isinstance(space, spaces.Dict) or len(space) != 2:
        return None
    first, second = space
    pairs = [(first, second), (second, first)]
    fitting = [pair for pair in pairs if space[pair[1]].shape == (game.num_actions,)]
    return max(fitting, key=lambda pair: "mask" in pair[1], default=None)


def _logits(policy: Any, observations: Any) -> torch.Tensor:
    """Return the logits of an actor-critic policy."""
    logits: torch.Tensor = policy.get_distribution(observations).distribution.logits
    return logits


def _linear(policy: Any, observations: Any) -> torch.Tensor:
    """Return the action scores of a policy of ARS."""
    features = policy.extract_features(observations, policy.features_extractor)
    scores: torch.Tensor = policy.action_net(features)
    return scores
