"""Solution of an endgame, and the interface of endgame solvers."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Protocol

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.html_table import html_table


class EndgameLimitError(RuntimeError):
    """Error of a search that reached its node or time limit."""


@dataclass(frozen=True)
class EndgameSolution:
    """Exact solution of a position.

    Attributes:
        action: a best action of the player to move; `name` is its name.
        score: score of that player with optimal play: in Othello the final disc difference, where
            empty squares count for the winner; in Connect Four 1, 0 or -1.
        principal_variation: names of optimal moves of both players to the end of the game.
        scores: the score of every legal move by its name, best first; None without `all_moves`.
        empty: number of empty squares.
        nodes: number of searched positions.
        seconds: duration of the search.
    """

    action: int
    name: str
    score: int
    principal_variation: tuple[str, ...]
    scores: dict[str, int] | None
    empty: int
    nodes: int
    seconds: float

    @property
    def outcome(self) -> str:
        """Result for the player to move: `"win"`, `"draw"` or `"loss"`."""
        return "win" if self.score > 0 else "loss" if self.score < 0 else "draw"

    def __str__(self) -> str:
        """Return the score, the principal variation, and the scores of moves if there are any."""
        rate = self.nodes / max(self.seconds, 1e-9)
        lines = [
            f"{self.name}, solved exactly: {self.score:+d} with {self.empty} empty squares",
            f"{self.seconds:.3f} s, {self.nodes:,} nodes ({rate:,.0f}/s)",
            *_wrapped("principal variation: " + " ".join(self.principal_variation)),
        ]
        if self.scores is not None:
            scores = (f"{name} {score:+d}" for name, score in self.scores.items())
            lines += _wrapped("scores of all moves: " + ", ".join(scores))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the scores of the moves as HTML, for notebooks."""
        scores = {self.name: self.score} if self.scores is None else self.scores
        return html_table(
            ["move", "score"],
            [[name, f"{score:+d}"] for name, score in scores.items()],
            title=f"{self.name}, solved exactly: {self.score:+d} with {self.empty} empty squares",
            notes=[
                f"{self.seconds:.3f} s, {self.nodes:,} nodes",
                "principal variation: " + " ".join(self.principal_variation),
            ],
        )


def _wrapped(text: str) -> list[str]:
    """Return a text in lines of at most 80 columns."""
    return wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)


def validate_position(
    game: Game, s: Any, *, all_moves: bool, nodes: int | None, seconds: float | None
) -> Any:
    """Validate the arguments of a solver; return a copy of the position, a record.

    Raises:
        ValueError: if it is not an unfinished position of the game, or another argument of
            `ludoteca.agents.games.endgame.solve_endgame` is wrong.
    """
    check_choice("all_moves", all_moves, (False, True))
    if nodes is not None:
        check_integer("nodes", nodes, 1, 10**15)
    if seconds is not None:
        check_real("seconds", seconds, 1e-4, 1e6)
    s = batch_of_one(game, s).view(np.recarray)[0]
    problem = game.validate(s)
    if problem:
        raise ValueError(f"not a position of {game.spec}: {problem}")
    if game.is_terminal(s):
        raise ValueError(f"expected an unfinished position, but the game is over: {s}")
    return s


class EndgameSolver(Protocol):
    """Endgame solver of one game."""

    def empty(self, s: Any) -> int:
        """Return the number of empty squares of a position, roughly the remaining moves."""

    def prepare(self) -> None:
        """Compile or load the search, so that the first position is as fast as the others."""

    def solve(
        self, s: Any, *, all_moves: bool, nodes: int | None, seconds: float | None
    ) -> EndgameSolution:
        """Solve a position, see `ludoteca.agents.games.endgame.solve_endgame`."""


class OptimalLine:
    """Optimal line of both players from a position to the end of the game.

    Attributes:
        mover: player to move in the initial position.
        value: result for that player: 1, 0 or -1.
    """

    def __init__(self, game: Game, solver: EndgameSolver, s: Any):
        """Solve position `s`, without limits."""
        assert game.player is not None
        solution = solver.solve(s, all_moves=False, nodes=None, seconds=None)
        names = {name: action for action, name in enumerate(game.action_names)}
        self._actions = [names[name] for name in reversed(solution.principal_variation)]
        self.mover = int(game.player(batch_of_one(game, s).view(np.recarray)[0]))
        self.value = {"win": 1, "draw": 0, "loss": -1}[solution.outcome]

    def next(self) -> int:
        """Return the next action of the line, and remove it.

        Raises:
            IndexError: if the line has ended.
        """
        return self._actions.pop()
