"""The steps of an algorithm that the training loop calls."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ludoteca.agents.agent import Agent
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.actors import MultiprocessActor
from ludoteca.train.run_directory import Arrays


class TrainingSteps(ABC):
    """The steps of an algorithm: play a round, learn from it, and what is measured and saved.

    A round is a dataclass of arrays, among them `lengths`, the plies of each of its games.

    Attributes:
        round: the class of rounds.
        kind: name of the agent that plays the network, such as `"dqn"`.
        player: plays rounds with a copy of the network, which `load` takes in.
        actors: the same if other processes play, else None.
    """

    round: ClassVar[type[Any]]
    kind: ClassVar[str]
    player: Any
    actors: MultiprocessActor[Any] | None = None

    @abstractmethod
    def play(self, games: int) -> Any:
        """Play a round, which begins after `games` games; draws from `playing` only.

        Raises:
            Stopped: if the run is to stop.
        """

    @abstractmethod
    def keep(self, played: Any) -> None:
        """Take in a round: from now on, updates are due. Draws from `learning` only."""

    @property
    @abstractmethod
    def due(self) -> int:
        """The number of updates that are due."""

    @abstractmethod
    def update(self) -> None:
        """Make one of the updates that are due; draws from `learning` only."""

    def conclude(self, played: Any) -> None:
        """Finish learning from a round after its last update; by default nothing is left to do.

        Raises:
            Stopped: if the run is to stop; it is called again then.
        """
        return

    def learn(self, played: Any) -> None:
        """Learn from a round, from its first update to its last."""
        self.keep(played)
        while self.due > 0:
            self.update()
        self.conclude(played)

    def reload(self, network: Any) -> None:
        """Give the player weights that it has had before, for a round that was dropped."""
        self.player.load(network)

    @abstractmethod
    def summary(self) -> dict[str, float | int | None]:
        """Return what was seen since the last summary, for the metrics."""

    @abstractmethod
    def opponents(self) -> tuple[str, ...]:
        """Return the spec strings of those it is evaluated against."""

    @abstractmethod
    def candidate(self) -> Agent:
        """Return the network as it is now as the agent that is evaluated."""

    @abstractmethod
    def strength(self, matches: list[MatchResult]) -> float:
        """Return how good that was, from 0 to 1, by its matches against `opponents()`."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return numbers and arrays that `restore` needs."""

    @abstractmethod
    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from where `state` was taken; `in_learning` is the round that is learned from."""
