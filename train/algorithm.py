"""Base class of reinforcement learning algorithms.

An algorithm collects rollouts, makes training examples from them, and computes the loss of a
minibatch. The loop (`ludoteca.train.loop`) does the rest: replay, pending updates, data
augmentation, metrics, evaluation, checkpoints, and exact resume. A new algorithm is a file with a
subclass, and one line in `ludoteca.train.algorithms`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.monitor import Monitor
from ludoteca.train.optimizer import Optimization, learning_rate
from ludoteca.train.rollout_games import RolloutGames
from ludoteca.train.settings import AutoLimits, RLConfig

# Forward pass of the self-play network: planes, one observation per row, int8 `[K, *shape]` ->
# outputs, as of the network's `forward`, float32 `[K, outputs]`.
Inference = Callable[[NDArray[np.int8]], NDArray[np.float32]]
Tensors = dict[str, Tensor]
ConfigType = TypeVar("ConfigType", bound=RLConfig)
MOMENTUM = 0.9  # of SGD
NOBODY = "nobody"  # in place of an opponent, in one-player games
SELF_PLAY_RETURN = "self_play_return"  # metric: mean return of all players in self-play


class ReportText(NamedTuple):
    """Description of a run in its report.

    Attributes:
        partner: training opponent, such as `"mixed:epsilon=0.2"`, `"itself"`, or `NOBODY`.
        seat: training seat: `"first"`, `"second"`, `"both"` or `"any"`.
        plays: sentence on how the selected network plays.
    """

    partner: str
    seat: str
    plays: str


class Model(Protocol):
    """Trainable network, with its forward pass on its device and in its precision.

    Attributes:
        network: the network, a PyTorch module.
    """

    network: Any

    def outputs(self, planes: Tensor) -> Tensor:
        """Return outputs of `network.forward`, with gradients, for planes, its input.

        Args:
            planes: int8, shape `[N, *shape]`: usually one observation per row. Networks of neural
                fictitious self-play also accept two, joined along axis 1.

        Returns:
            Outputs, shape `[N, outputs]`.
        """

    def evaluate(self, network: nn.Module, planes: Tensor) -> Tensor:
        """Return the outputs of another network with the same input, such as a target network."""


class Algorithm(ABC, Generic[ConfigType]):
    """Algorithm of a run. `collect` may be called in another thread than the other methods.

    Attributes:
        title: display name.
        module: module that `python -m` runs.
        config_class: class of its settings; without arguments, the default settings.
        encoder_class: encoder of positions, made from a game.
        make_network: makes a network with random weights, given its configuration and a game.
        load_network: loads a network and its metadata, given a game and a file.
        agent_name: name of the agent that plays its networks, such as `"dqn"`.
        agent_class: class of that agent, made from a game, a file and options.
        limits: maxima of settings that scale with the length of a run.
        rollout_class: class of rollouts, a dataclass of arrays; its field `lengths` holds the
            number of plies of each game.
        learns_chance: whether it learns games with chance.
        learns_one_player: whether it learns games for one player.
        on_policy: whether updates use only the last rollout, instead of a replay buffer.
        reservoir: whether updates also use a reservoir buffer, see
            `ludoteca.train.minibatches.ReservoirMinibatches`.
        rollout_metrics: names of the metrics of rollouts; those that begin with `training__` are
            fractions of games, such as `training__first`: won in the first seat.
        summed_metrics: rollout metrics that are summed instead of averaged.
        loss_metrics: names of the metrics among the losses, as `loss` returns them.
        plotted_losses: names of the losses in the plot of the learning curve.
        config: settings; `precision` is not auto.
        game: the game.
        encoder: encoder of positions.
        network: the network; `model` trains it in place.
        layout: columns of the training examples.
        model: the network in updates; set by `begin_learning`.
        monitor: receives the progress of `collect`, and may stop the run.
        progress: fraction of the training completed so far.
    """

    title: ClassVar[str]
    module: ClassVar[str]
    config_class: ClassVar[type[Any]]
    encoder_class: ClassVar[type[Any]]
    make_network: ClassVar[Callable[[Any, Game], Any]]
    load_network: ClassVar[Callable[[Game, Path], tuple[Any, dict[str, Any]]]]
    agent_name: ClassVar[str]
    agent_class: ClassVar[Callable[..., Any]]
    limits: ClassVar[AutoLimits]
    rollout_class: ClassVar[type[Any]]
    learns_chance: ClassVar[bool] = True
    learns_one_player: ClassVar[bool] = True
    on_policy: ClassVar[bool] = False
    reservoir: ClassVar[bool] = False
    rollout_metrics: ClassVar[tuple[str, ...]]
    summed_metrics: ClassVar[tuple[str, ...]] = ()
    loss_metrics: ClassVar[tuple[str, ...]]
    plotted_losses: ClassVar[tuple[str, ...]]
    encoder: Any
    layout: ExampleLayout
    model: Model
    progress = 0.0

    def __init__(self, config: ConfigType, game: Game, network: Any):
        """Make the algorithm of a run; subclasses set `encoder` and `layout`.

        Raises:
            ValueError: if the algorithm does not support the game, or a setting is invalid for it.
        """
        self.config, self.game, self.network = config, game, network
        self.monitor = Monitor()

    @cached_property
    def rollout_games(self) -> RolloutGames:
        """Batch of the games of a rollout."""
        return RolloutGames(self.encoder, self.config.games_per_iteration, self.monitor)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that the algorithm learns a game.

        Raises:
            ValueError: if it does not.
        """
        cls.encoder_class(game)
        if game.has_chance and not cls.learns_chance:
            raise ValueError(f"expected a game without chance, and {game.spec} has chance")
        if game.num_players == 1 and not cls.learns_one_player:
            raise ValueError(f"expected a game for two players or more, and {game.spec} is for one")

    @abstractmethod
    def collect(self, infer: Inference, rng: np.random.Generator, games: int) -> Any:
        """Play the games of a rollout.

        Args:
            infer: forward pass of the self-play network.
            rng: random stream of the rollout.
            games: number of games played earlier in the run.

        Raises:
            Stopped: if the run is to stop.
        """

    @abstractmethod
    def targets(self, rollout: Any, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the training examples of a rollout, records of `layout`."""

    @abstractmethod
    def loss(self, batch: Tensors) -> Tensors:
        """Compute the loss of a minibatch.

        Args:
            batch: columns of `layout`, and `weight` if sampling is prioritized.

        Returns:
            `loss`, which is minimized, and scalars for the metrics; where sampling is prioritized,
            also `td_error`. Shape `[N]`.
        """

    @abstractmethod
    def measure(self, rollout: Any) -> Mapping[str, tuple[float, float]]:
        """Return sum and count of each of `rollout_metrics`, whose mean or sum is logged."""

    @abstractmethod
    def agent(self) -> Agent:
        """Return an agent with the current network, for evaluation."""

    def trained_agent(self, file: Path) -> Any:
        """Return an agent with the network in a file, for the report."""
        return self.agent_class(self.game, file, device=self.config.device)

    def score(self, matches: list[Any]) -> float:
        """Return the evaluation score, 0 to 1: by default the mean score over all matches.

        In games that are not zero-sum, the score of a match is (1 + mean return) / 2.

        Args:
            matches: results of the matches against `opponents()`, of class `MatchResult`.
        """
        records = [match.totals[0] for match in matches]
        if self.game.zero_sum:
            return float(np.mean([record.score for record in records]))
        return float(np.mean([(1 + record.mean_return) / 2 for record in records]))

    @abstractmethod
    def report_text(self) -> ReportText:
        """Return the description of the run in its report."""

    def opponents(self) -> tuple[str, ...]:
        """Return the spec strings of the evaluation opponents."""
        return self.config.eval_opponents

    def optimization(self) -> Optimization:
        """Return the settings of the optimizer."""
        config = self.config
        return Optimization(
            config.optimizer,
            config.learning_rate,
            MOMENTUM,
            config.weight_decay,
            config.max_grad_norm,
        )

    def optimized(self) -> tuple[nn.Module, ...]:
        """Return the networks that the optimizer updates, each with a separate learning rate."""
        return (self.network,)

    def learning_rates(self, progress: float) -> tuple[float, ...]:
        """Return the learning rates of `optimized`, after a fraction `progress` of the training."""
        config = self.config
        return (learning_rate(config.learning_rate, config.final_learning_rate, progress),)

    def networks(self) -> dict[str, nn.Module]:
        """Return the networks of a checkpoint, by name."""
        return {"network": self.network}

    def begin_learning(self, model: Model) -> None:
        """Set `model`. Hook, called before the first update, with the network on its device."""
        self.model = model

    def after_update(self, updates: int) -> None:
        """Hook, called after update number `updates`, from 1."""

    def num_updates(self, games: int, examples: int, started: bool) -> float:
        """Return the number of updates that a rollout makes pending.

        Args:
            games: games of the rollout.
            examples: its training examples.
            started: whether there are enough examples for updates.
        """
        config = self.config
        return examples * config.replay_ratio / config.batch_size if started else 0.0

    def begin_rollout(self, learner: Any) -> None:
        """Hook, called before the updates from a rollout, after `targets`.

        Args:
            learner: the `NetworkLearner` of the run.
        """

    def finish_rollout(self, learner: Any) -> None:
        """Hook, called after the last update from a rollout.

        Args:
            learner: the `NetworkLearner` of the run.

        Raises:
            Stopped: if the run is to stop; when it resumes, this method is called again.
        """

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state of the algorithm as numbers and arrays, for `restore`."""
        return {}, {}

    def restore(self, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Resume from `state`."""

    def order(self, records: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the order in which on-policy updates use the examples: `replay_ratio` passes.

        Args:
            records: the training examples of a rollout.
            rng: random stream of the order.

        Returns:
            Indices into `records`, each about `replay_ratio` times. Shape `[N]`.
        """
        total, ratio = len(records), self.config.replay_ratio
        passes = [rng.permutation(total) for _ in range(int(np.ceil(ratio)))]
        indices: NDArray[np.int64] = np.concatenate(passes)[: round(total * ratio)]
        return indices

    def make_inference(self, runner: Any) -> Any:
        """Return the forward pass of the self-play network: an `Inference` with a method `load`.

        Args:
            runner: `Runner` of the network, or a `RemoteRunner`.
        """
        return runner

    def wrap_actor(self, actor: Any) -> Any:
        """Return the self-play actor of the run: the given actor, or a wrapper of it."""
        return actor

    def load_past(self, weights: list[dict[str, Tensor]]) -> None:
        """Load the weights of past networks, if the opponent pool has some."""

    def metrics(self, games: int) -> dict[str, float | int | None]:
        """Return further metrics of the algorithm after `games` games of the run."""
        return {}
