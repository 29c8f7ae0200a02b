"""Plan of a tournament: games, agents, and matches with their seeds.

"Games" of a tournament are both the kinds of games, such as Hex 7x7 (`Tournament.games`), and the
single games that are played (`games_per_pair`).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from ludoteca.agents.registry import find_maker, split_agent_spec
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.match_clock import validate_time_control

DRAW_VALUES = ("half", "loss")  # see `Tournament.draws`


@dataclass(frozen=True)
class Match:
    """Match of two agents in one kind of game: one of the `repeats` that share the pair's games.

    Attributes:
        game: index of the kind of game in the tournament.
        pair: indices of the two agents in the tournament.
        repeat: index of the match among those of the pair in the game, from 0.
    """

    game: int
    pair: tuple[int, int]
    repeat: int


@dataclass(frozen=True)
class Tournament:
    """Round robin: every two agents play each other in every game.

    Two agents alternate in moving first. In a game of four players, each agent plays every other
    seat, and the agent with the highest return in one of its seats wins.

    Attributes:
        games: spec strings of the games.
        agents: spec strings of the agents.
        games_per_pair: number of games of every two agents in every game.
        repeats: number of matches of equal length into which these games are divided.
        seed: seed of the tournament, which makes it reproducible if the agents draw random numbers
            only from the streams passed to them.
        draws: value of a draw in the tables: `"half"` (half a win for both agents) or `"loss"` (a
            loss for both).
        names: names of the agents; by default see `short_names`.
        time_control: time control of the games, or None.

    Raises:
        ValueError: if a value is out of range or unknown, or a game, agent or name is repeated.
    """

    games: tuple[str, ...]
    agents: tuple[str, ...]
    games_per_pair: int = 300
    repeats: int = 3
    seed: int = 0
    draws: str = "half"
    names: tuple[str, ...] = ()
    time_control: TimeControl | None = None

    def __post_init__(self) -> None:
        game_objects = tuple(make_game(game) for game in self.games)
        object.__setattr__(self, "games", tuple(game.spec for game in game_objects))
        object.__setattr__(self, "names", tuple(self.names) or short_names(self.agents))
        if not self.games:
            raise ValueError("a tournament needs a game or more, got none")
        if len(self.agents) < 2:
            raise ValueError(f"a tournament needs two agents or more, got {len(self.agents)}")
        for kind, values in (("game", self.games), ("agent", self.agents), ("name", self.names)):
            for value in values:
                if values.count(value) > 1:
                    raise ValueError(f"{kind}s must be distinct, but {kind} {value!r} comes twice")
        if len(self.names) != len(self.agents):
            raise ValueError(
                f"expected a name for each of {len(self.agents)} agents, got {len(self.names)}"
            )
        for game in game_objects:
            if game.num_players % 2:
                raise ValueError(
                    f"expected games with an even number of players, which two agents can share, "
                    f"got {game.short_spec} with {game.num_players}"
                )
            if self.time_control is not None:
                validate_time_control(game, self.time_control)
        for agent in self.agents:
            find_maker(agent)
        check_integer("repeats", self.repeats, 1, 10**6)
        check_integer("games_per_pair", self.games_per_pair, 2, 10**9)
        if self.games_per_pair % (2 * self.repeats):
            raise ValueError(
                "games_per_pair must be a multiple of twice the repeats, so that both agents move "
                f"first equally often in each repeat; got {self.games_per_pair} games and "
                f"{self.repeats} repeats"
            )
        check_seed(self.seed)
        check_choice("draws", self.draws, DRAW_VALUES)

    @property
    def games_per_match(self) -> int:
        """Number of games of a match."""
        return self.games_per_pair // self.repeats

    @property
    def total_games(self) -> int:
        """Number of games of the tournament."""
        return len(self.games) * len(self.pairs) * self.games_per_pair

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Indices of all pairs of agents, `(a, b)` with a < b."""
        return tuple(combinations(range(len(self.agents)), 2))

    def matches(self) -> list[Match]:
        """Return all matches of the tournament."""
        return [
            Match(game, pair, repeat)
            for game in range(len(self.games))
            for pair in self.pairs
            for repeat in range(self.repeats)
        ]

    def match_seed(self, match: Match) -> int:
        """Return the seed of a match; it does not depend on other matches of the tournament."""
        first, second = (self.agents[a] for a in match.pair)
        text = repr((self.seed, self.games[match.game], first, second, match.repeat))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1  # below 2^63

    def identity(self) -> dict[str, Any]:
        """Return the settings that determine the games, as JSON values."""
        return {
            "games": list(self.games),
            "agents": list(self.agents),
            "games_per_pair": self.games_per_pair,
            "repeats": self.repeats,
            "seed": self.seed,
        } | ({} if self.time_control is None else {"time_control": self.time_control.to_json()})


def short_names(agents: Sequence[str]) -> tuple[str, ...]:
    """Return short names for agents: their spec strings without the parameters that all share.

    `mcts:policy=etc,simulations=9` and `mcts:policy=ucb1,simulations=9` become `etc` and `ucb1`.
    If the spec strings differ in more than one parameter, the names of the parameters are kept. If
    two short names are equal, all names are the whole spec strings.
    """
    if len(agents) < 2:
        return tuple(agents)
    parsed = [(name, _params_of(text)) for name, text in map(split_agent_spec, agents)]
    common = set.intersection(*({*items} for _, items in parsed))
    differing = [[item for item in items if item not in common] for _, items in parsed]
    same_name = len({name for name, _ in parsed}) == 1
    keys = {key for items in differing for key, _ in items}
    if same_name and len(keys) == 1 and all(differing):
        names = [items[0][1] for items in differing]
    else:
        names = [
            ("" if same_name and items else name)
            + (":" if items and not same_name else "")
            + ",".join(f"{key}={value}" if key else value for key, value in items)
            for (name, _), items in zip(parsed, differing, strict=True)
        ]
    return tuple(names) if len(set(names)) == len(names) else tuple(agents)


def split_specs(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the single spec strings of texts in which they are joined by commas.

    `"hex:board_size=7,swap=True,connect4"` becomes `hex:board_size=7,swap=True` and `connect4`: a
    part `NAME=VALUE` after a comma is a parameter of the spec string before it.
    """
    specs: list[str] = []
    for text in texts:
        for k, part in enumerate(text.split(",")):
            if k > 0 and re.match(r"\s*\w+=", part):
                specs[-1] += f",{part}"
            else:
                specs.append(part.strip())
    return tuple(specs)


def _params_of(text: str) -> list[tuple[str, str]]:
    """Return the parameters of a spec string as pairs `(key, value)`.

    The key is empty for a parameter without a name, such as the network in `az:othello`.
    """
    parts = [part.partition("=") for part in text.split(",") if part]
    return [(key, value) if equals else ("", key) for key, equals, value in parts]
