"""Steps of an algorithm that the training loop calls."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ludoteca.agents.agent import Agent
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.actors import MultiprocessActor
from ludoteca.train.run_directory import Arrays


class TrainingSteps(ABC):
    """Steps of an algorithm: collect a rollout, update from it, summarize, save.

    A rollout is a dataclass of arrays, among them `lengths`, the number of plies of each game.

    Attributes:
        rollout_class: class of the rollouts.
        kind: name of the agent that plays the network, such as `"dqn"`.
        player: self-play actor with a copy of the network, which `load` replaces.
        actors: the same if self-play runs in other processes, else None.
    """

    rollout_class: ClassVar[type[Any]]
    kind: ClassVar[str]
    player: Any
    actors: MultiprocessActor[Any] | None = None

    @abstractmethod
    def play(self, games: int) -> Any:
        """Collect a rollout after `games` games; draws only from the generator `playing`.

        Raises:
            Stopped: if the run is to stop.
        """

    @abstractmethod
    def add_rollout(self, rollout: Any) -> None:
        """Add a rollout to the data; updates become pending. Draws only from `learning`."""

    @property
    @abstractmethod
    def due(self) -> int:
        """Number of pending updates."""

    @abstractmethod
    def update(self) -> None:
        """Make one pending update; draws only from the generator `learning`."""

    def finish_rollout(self, rollout: Any) -> None:
        """Finish learning from a rollout after its last update; by default a no-op.

        Raises:
            Stopped: if the run is to stop; it is called again then.
        """
        return

    def learn(self, rollout: Any) -> None:
        """Learn from a rollout, from its first to its last update."""
        self.add_rollout(rollout)
        while self.due > 0:
            self.update()
        self.finish_rollout(rollout)

    def reload(self, network: Any) -> None:
        """Load earlier weights into the player, to repeat a rollout that was dropped."""
        self.player.load(network)

    @abstractmethod
    def summary(self) -> dict[str, float | int | None]:
        """Return the metrics since the last summary."""

    @abstractmethod
    def opponents(self) -> tuple[str, ...]:
        """Return the spec strings of the evaluation opponents."""

    @abstractmethod
    def candidate(self) -> Agent:
        """Return an agent with the current network, for evaluation."""

    @abstractmethod
    def strength(self, matches: list[MatchResult]) -> float:
        """Return the evaluation score, 0 to 1, of matches against `opponents()`."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state as numbers and arrays, for `restore`."""

    @abstractmethod
    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Restore a state; `learning_rollout` is the rollout with pending updates, if any."""
