"""All lines of play between an agent and whatever an opponent may do."""

from collections import Counter
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.envs.batch import root
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.params import integer
from ludoteca.evaluate.solve import meaningful_bytes

GOING = 2  # instead of a result, which is 1, 0 or -1
ANY = -1  # instead of an action


@dataclass(frozen=True)
class Lines:
    """All games between an agent and anyone.

    Attributes:
        decisions: different positions in which the agent had to move.
        wins: different final positions in which it has won.
        draws: in which nobody has.
        losses: in which it has lost.
        example: names of the moves of a game with the worst result.
    """

    decisions: int
    wins: int
    draws: int
    losses: int
    example: tuple[str, ...]

    def __str__(self) -> str:
        """Return the counts and one of the worst games, in lines of at most 80 columns."""
        game = "one of the worst games: " + " ".join(self.example)
        return "\n".join(
            [
                f"{self.decisions:,} decisions of the agent against every reply",
                f"different ends: {self.wins:,} won, {self.draws:,} drawn, {self.losses:,} lost",
                *wrap(game, 80, subsequent_indent="  ", break_on_hyphens=False),
            ]
        )


@dataclass(frozen=True)
class _Level:
    """Different positions after the same number of plies.

    Attributes:
        states: the positions. Shape `[K]`.
        moves: the move that has led to each. Shape `[K]`.
        parents: the position before it, on the level before. Shape `[K]`.
        results: for the agent, or `GOING`. Shape `[K]`.
    """

    states: NDArray[np.void]
    moves: NDArray[np.int64]
    parents: NDArray[np.int64]
    results: NDArray[np.int64]


def all_lines(game: Game, agent: Agent, seat: int, most: int = 5_000_000) -> Lines:
    """Let an agent answer everything that an opponent may do.

    Args:
        game: for two players who move in turn, without chance.
        agent: an agent; its first answer to a position counts, with a random stream of zeros.
        seat: where it sits, 0 or 1.
        most: different positions after the same number of plies, at most.

    Raises:
        ValueError: if there are more, or the game is another one.
    """
    if game.simultaneous or game.num_players != 2 or "rng" in (game.state.names or ()):
        raise ValueError(f"only games in turn for two players without chance: not {game.spec}")
    integer("seat", seat, 0, 1)
    agent.prepare()
    decisions, ended = 0, Counter[int]()
    none = np.zeros(1, np.int64)
    levels = [_Level(root(game), none, none, np.full(1, GOING))]
    worst = (GOING, 0, 0)  # result, level, place
    while len(going := np.flatnonzero(levels[-1].results == GOING)) > 0:
        count, level = _next_level(game, agent, seat, levels[-1].states, going)
        decisions += count
        levels.append(level)
        over = np.flatnonzero(level.results != GOING)
        ended.update(level.results[over].tolist())
        if len(over) > 0 and level.results[over].min() < worst[0]:
            place = over[level.results[over].argmin()]
            worst = (int(level.results[place]), len(levels) - 1, int(place))
        if len(level.states) > most:
            raise ValueError(f"more than {most:,} positions after {len(levels) - 1} plies")
    moves, place = [], worst[2]
    for level in levels[worst[1] : 0 : -1]:
        moves.append(game.action_names[level.moves[place]])
        place = int(level.parents[place])
    return Lines(decisions, ended[1], ended[0], ended[-1], tuple(reversed(moves)))


def _next_level(
    game: Game, agent: Agent, seat: int, states: NDArray[np.void], going: NDArray[np.int64]
) -> tuple[int, _Level]:
    """Return in how many positions the agent has moved, and the positions a ply later."""
    look, play = make_replies(game)
    legal = np.zeros(game.num_actions, np.int16)
    movers, counts = np.zeros((2, len(going)), np.int64)
    before = states[going]
    look(before, legal, movers, counts)
    own, chosen = np.flatnonzero(movers == seat), np.full(len(going), ANY)
    if len(own) > 0:
        streams = np.zeros((len(own), 1), np.uint64)
        chosen[own] = agent.act(before[own], movers[own], streams, own)
        counts[own] = 1
    after = game.empty(int(counts.sum()))
    moves, results = np.zeros((2, len(after)), np.int64)
    play(before, chosen, legal, seat, after, moves, results, np.zeros(2))
    distinct, _ = distinct_positions(game, after)
    parents = np.repeat(going, counts)
    return len(own), _Level(after[distinct], moves[distinct], parents[distinct], results[distinct])


def distinct_positions(
    game: Game, states: NDArray[np.void]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each different position comes first, and which of these each position equals.

    Args:
        game: the game.
        states: positions. Shape `[K]`.

    Returns:
        Indices into `states`, `[D]`, and indices into those, `[K]`.
    """
    seen = states.view(np.uint8).reshape(len(states), -1)[:, meaningful_bytes(game.state)]
    seen = np.ascontiguousarray(seen)
    rows = seen.view(np.dtype((np.void, seen.shape[1])))[:, 0]
    _, distinct, which = np.unique(rows, return_index=True, return_inverse=True)
    return distinct, which


@factory()
def make_replies(game: Game) -> tuple[Any, Any]:
    """Return two compiled functions over positions in which the game goes on.

    `look(states, legal, movers, counts)` tells who moves in each, and how many actions he has;
    `play(states, chosen, legal, seat, after, moves, results, scores)` writes the positions after
    the chosen actions, or after all where that is `ANY`, one after the other.
    """
    player, legal_actions, step = game.player, game.legal_actions, game.step
    is_terminal, returns = game.is_terminal, game.returns
    assert player is not None

    @compiled
    def look(states: Any, legal: Any, movers: Any, counts: Any) -> None:
        for k in range(len(states)):
            movers[k] = player(states[k])
            counts[k] = legal_actions(states[k], legal)

    @compiled
    def play(
        states: Any, chosen: Any, legal: Any, seat: int, after: Any, moves: Any, results: Any,
        scores: Any,
    ) -> None:  # fmt: skip
        row = 0
        for k in range(len(states)):
            count = 1
            if chosen[k] == ANY:
                count = legal_actions(states[k], legal)
            for i in range(count):
                moves[row] = legal[i] if chosen[k] == ANY else chosen[k]
                after[row] = states[k]
                s = after[row]
                step(s, moves[row])
                results[row] = GOING
                if is_terminal(s):
                    returns(s, scores)
                    results[row] = int(np.sign(scores[seat]))
                row += 1

    return look, play
