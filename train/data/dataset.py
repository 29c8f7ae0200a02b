"""Data set of recorded games, stored as seeds and actions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import ActionArray, Game
from ludoteca.envs.names import did_you_mean

# Types of the arrays of `GameDataset` that have one row per game.
PER_GAME: dict[str, Any] = {
    "lengths": np.int32,
    "seeds": np.uint64,
    "chance_lengths": np.int32,
    "returns": np.float32,
    "agents": np.int32,
    "ratings": np.float32,
    "selected": np.bool_,
    "ids": np.str_,
}
PER_PLAYER = ("returns", "agents", "ratings", "selected")  # arrays with one column per player
ARRAYS = ("actions", "chance_outcomes", *PER_GAME)  # names of all arrays
MAX_NAMES = 30  # maximum number of agents that an error message lists


@dataclass(frozen=True, eq=False)
class GameDataset:
    """G recorded games of P players, with M actions or joint actions in all.

    A sequential game has one column of actions, a simultaneous game one per player. Chance is
    sampled by `Game.init` from the game's seed, or recorded as a list of chance outcomes; see
    `ludoteca.train.data.chance`.

    Attributes:
        game: the game.
        actions: the games' actions, concatenated. In simultaneous games,
            `ludoteca.envs.game.FORFEIT` means that the player leaves the game, and eliminated
            players have 0. `game.action_dtype`, shape `[M, 1]` or `[M, P]`.
        lengths: number of steps of each game. int32, shape `[G]`.
        seeds: argument of `Game.init`; 0 in games without chance. uint64, shape `[G]`.
        chance_outcomes: the games' recorded chance outcomes, concatenated. int16, shape `[C]`.
        chance_lengths: number of recorded chance outcomes of each game; 0 if chance was sampled
            from the seed. int32, shape `[G]`.
        returns: returns of each player. float32, shape `[G, P]`.
        agents: agent of each player, as an index into `agent_names`. int32, shape `[G, P]`.
        ratings: rating of each player's agent; NaN if unknown. float32, shape `[G, P]`.
        selected: players whose actions are training samples. bool, shape `[G, P]`.
        ids: name of each game, or "". str, shape `[G]`.
        agent_names: names of the agents.
        metadata: origin of the games, JSON-serializable.
    """

    game: Game
    actions: ActionArray
    lengths: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    chance_outcomes: NDArray[np.int16]
    chance_lengths: NDArray[np.int32]
    returns: NDArray[np.float32]
    agents: NDArray[np.int32]
    ratings: NDArray[np.float32]
    selected: NDArray[np.bool_]
    ids: NDArray[np.str_]
    agent_names: tuple[str, ...] = ("",)
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def create(
        cls,
        game: Game,
        actions: NDArray[Any],
        lengths: NDArray[Any],
        returns: NDArray[Any],
        **arrays: Any,
    ) -> Self:
        """Return a data set, with defaults for missing arrays.

        By default, seeds are 0, chance is not recorded, agents and ratings are unknown, and all
        players are selected.

        Args:
            game: the game.
            actions: see `GameDataset`, as the other arrays; they are converted to its types.
            lengths: see `GameDataset`.
            returns: see `GameDataset`.
            arrays: other attributes of `GameDataset`, by name.
        """
        count, players = len(lengths), game.num_players
        defaults: dict[str, Any] = {
            "seeds": np.zeros(count, np.uint64),
            "chance_outcomes": np.zeros(0, np.int16),
            "chance_lengths": np.zeros(count, np.int32),
            "agents": np.zeros((count, players), np.int32),
            "ratings": np.full((count, players), np.nan, np.float32),
            "selected": np.ones((count, players), np.bool_),
            "ids": np.zeros(count, "U1"),
        }
        provided = {"actions": actions, "lengths": lengths, "returns": returns} | arrays
        types = array_types(game)
        typed = {name: provided[name].astype(types[name]) for name in types if name in provided}
        return cls(game, **defaults | provided | typed)

    def __post_init__(self) -> None:
        count, players = len(self.lengths), self.game.num_players
        columns = players if self.game.simultaneous else 1
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(PER_GAME, (count,))
        shapes |= dict.fromkeys(PER_PLAYER, (count, players))
        shapes["actions"] = (int(self.lengths.sum()), columns)
        shapes["chance_outcomes"] = (int(self.chance_lengths.sum()),)
        for name, shape in shapes.items():
            actual = getattr(self, name).shape
            if actual != shape:
                raise ValueError(f"{name} must have the shape {shape}, got {actual}")
        if (self.lengths < 0).any() or (self.chance_lengths < 0).any():
            raise ValueError("lengths and chance_lengths must not be negative")
        names = len(self.agent_names)
        if (self.agents < 0).any() or (self.agents >= names).any():
            raise ValueError(f"agents must be from 0 to {names - 1}, the last index of agent_names")

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: slice | NDArray[np.bool_]) -> Self:
        """Return some of the games, by a slice without a step or a mask of shape `[G]`."""
        actions: Any
        chance: Any
        if isinstance(index, slice):
            low, high, _ = index.indices(len(self))
            index = slice(low, max(low, high))
            actions, chance = (
                slice(offsets[index.start], offsets[index.stop])
                for offsets in (self.offsets, _offsets(self.chance_lengths))
            )
        else:
            actions = np.repeat(index, self.lengths)
            chance = np.repeat(index, self.chance_lengths)
        arrays: Any = {name: getattr(self, name)[index] for name in PER_GAME}
        arrays |= {"actions": self.actions[actions]}
        return replace(self, chance_outcomes=self.chance_outcomes[chance], **arrays)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """First action of each game, and the number of actions. Shape `[G + 1]`."""
        return _offsets(self.lengths)

    def labels(self) -> NDArray[np.float32]:
        """Return the return of the first selected player of each game. Shape `[G]`."""
        labels: NDArray[np.float32] = self.returns[np.arange(len(self)), self.selected.argmax(1)]
        return labels

    def select_agents(
        self, agents: Sequence[str] = (), rating_range: tuple[float, float] | None = None
    ) -> Self:
        """Return the data set with only some agents' players selected.

        Args:
            agents: names of the agents; by default all.
            rating_range: lowest and highest rating.

        Raises:
            ValueError: if there is no such agent, or no player is selected.
        """
        selected = np.ones(self.agents.shape, np.bool_)
        for name in agents:
            if name not in self.agent_names:
                hint, names = did_you_mean(name, self.agent_names), _listed(self.agent_names)
                raise ValueError(f"there is no agent {name!r}{hint}; there are {names}")
        if agents:
            selected &= np.isin(self.agents, [self.agent_names.index(name) for name in agents])
        if rating_range is not None:
            selected &= (self.ratings >= rating_range[0]) & (self.ratings <= rating_range[1])
        if len(self) > 0 and not selected.any():
            known_ratings = self.ratings[~np.isnan(self.ratings)]
            interval = (
                f"from {known_ratings.min():g} to {known_ratings.max():g}"
                if len(known_ratings) > 0
                else "unknown"
            )
            raise ValueError(
                f"no player is one of {_listed(agents or self.agent_names)} with a rating in "
                f"{rating_range}; ratings are {interval}"
            )
        return replace(self, selected=selected)


def array_types(game: Game) -> dict[str, Any]:
    """Return the types of the arrays of `GameDataset`, by name."""
    return {"actions": game.action_dtype, "chance_outcomes": np.int16} | PER_GAME


def concatenate(
    datasets: Sequence[GameDataset], metadata: dict[str, Any] | None = None
) -> GameDataset:
    """Return the games of one or more data sets, in their order.

    Args:
        datasets: data sets of one game.
        metadata: by default, that of the first data set.

    Raises:
        ValueError: if the data sets are of different games.
    """
    first = datasets[0]
    indices: dict[str, int] = {}  # by name of the agent
    agents = []
    for dataset in datasets:
        if dataset.game is not first.game:
            raise ValueError(f"{dataset.game.spec} and {first.game.spec} are different games")
        index = [indices.setdefault(name, len(indices)) for name in dataset.agent_names]
        agents.append(np.array(index, np.int32)[dataset.agents])
    arrays: Any = {name: np.concatenate([getattr(d, name) for d in datasets]) for name in ARRAYS}
    arrays |= {"agents": np.concatenate(agents), "agent_names": tuple(indices)}
    return GameDataset(first.game, metadata=metadata or first.metadata, **arrays)


def _offsets(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the start of each of G concatenated parts, and their total length. Shape `[G + 1]`."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _listed(names: Sequence[str]) -> str:
    """Return names as text, at most `MAX_NAMES` of them."""
    listed = ", ".join(map(repr, names[:MAX_NAMES]))
    num_others = len(names) - MAX_NAMES
    return listed if num_others <= 0 else f"{listed} and {num_others} others"
