"""Endgame solver of Othello, by principal variation search."""

from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.limits import SearchLimits, next_position
from ludoteca.agents.games.endgame.othello_bitboards import make_board
from ludoteca.agents.games.endgame.othello_search import WORK, make_frames, make_search
from ludoteca.agents.games.endgame.solution import EndgameSolution, validate_position
from ludoteca.agents.games.endgame.transposition_table import make_table
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game


class OthelloEndgameSolver:
    """Endgame solver of Othello, see `ludoteca.agents.games.endgame.solution.EndgameSolver`."""

    def __init__(self, game: Game):
        self.game = game

    def empty(self, s: Any) -> int:
        """Return the number of empty squares of a position."""
        return (self.game.num_actions - 1) - sum(int(discs).bit_count() for discs in s["discs"])

    def prepare(self) -> None:
        """Compile or load the search."""
        OthelloSearch(self.game, 0, None, None)

    def solve(
        self,
        s: Any,
        *,
        all_moves: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> EndgameSolution:
        """Solve a position, see `ludoteca.agents.games.endgame.solve_endgame`."""
        game = self.game
        s = validate_position(game, s, all_moves=all_moves, nodes=nodes, seconds=seconds)
        search = OthelloSearch(game, self.empty(s), nodes, seconds)
        score, action = search.run(s)
        scores = search.score_moves(s) if all_moves else None
        names = search.principal_variation(s, action, score)
        return EndgameSolution(
            action=action,
            name=game.action_names[action],
            score=score,
            principal_variation=tuple(names),
            scores=scores,
            empty=self.empty(s),
            nodes=int(search.works["nodes"][0]),
            seconds=clock() - search.limits.start,
        )


class OthelloSearch:
    """Searches of a position and its successors that share a table and limits."""

    def __init__(self, game: Game, empty: int, nodes: int | None, seconds: float | None):
        """Make the workspace.

        Args:
            game: the game.
            empty: number of empty squares of the position.
            nodes: maximum number of nodes; None: no limit.
            seconds: time limit; None: no limit.
        """
        size = int(game.params["board_size"])
        self.game, self.size = game, size
        self.board, self.table = make_board(size), make_table(empty)
        self.frames, self.works = make_frames(), np.zeros(1, WORK)
        self._search = make_search()
        self._run_slice(0)  # compiles, before the clock starts; searches no node
        self.limits = SearchLimits(nodes, seconds)

    def run(self, s: Any, alpha: int | None = None, beta: int | None = None) -> tuple[int, int]:
        """Return the score of a position for the player to move, and a best action.

        Args:
            s: the position.
            alpha: lower end of the window, by default the lowest score; a score outside of the
                window is a bound.
            beta: upper end of the window, by default the highest score.

        Raises:
            EndgameLimitError: if a limit is reached.
        """
        squares, mover = self.size * self.size, int(s.to_move)
        frame = self.frames[0]
        frame["own"], frame["other"] = own, other = s.discs[mover], s.discs[1 - mover]
        frame["empty"] = squares - int(own).bit_count() - int(other).bit_count()
        frame["alpha"] = -squares if alpha is None else alpha
        frame["beta"] = squares if beta is None else beta
        self.works["level"] = 0
        score = self.limits.run(self._run_slice, self.works["nodes"], self._describe)
        # The flips of a move include its own square, the only empty one of them.
        return score, self._action(int(frame["best_flips"]) & ~int(own | other))

    def score_moves(self, s: Any) -> dict[str, int]:
        """Return the score of every legal move by its name, best first."""
        scores = {}
        for action in self.game.legal(s):
            child = next_position(self.game, s, action)
            score, _ = self.run(child)
            # With auto_pass the same player may be to move again.
            scores[self.game.action_names[action]] = score if child.to_move == s.to_move else -score
        return dict(sorted(scores.items(), key=lambda item: -item[1]))

    def principal_variation(self, s: Any, action: int, score: int) -> list[str]:
        """Return the names of best moves to the end of the game, `action` being the first.

        `score` is the exact score of `s` for the player to move.
        """
        first, names = int(s.to_move), [self.game.action_names[action]]
        s = next_position(self.game, s, action)
        while legal := self.game.legal(s):
            action = legal[0]
            if len(legal) > 1:
                value = score if int(s.to_move) == first else -score
                _, action = self.run(s, value - 1, value + 1)
            names.append(self.game.action_names[action])
            s = next_position(self.game, s, action)
        return names

    def _run_slice(self, limit: int) -> int:
        """Continue the search up to `limit` nodes in total; return the score or `STOPPED`."""
        return int(self._search(self.frames, self.table, self.board, self.works, limit))

    def _action(self, square: int) -> int:
        """Return the action that places a disc on a square, a bitboard; 0 is a pass."""
        if square == 0:
            return self.size * self.size
        row, column = divmod(square.bit_length() - 1, 8)  # bitboards have rows of 8 on all sizes
        return row * self.size + column

    def _describe(self) -> str:
        """Return a description of the position in the first frame, for errors."""
        frame = self.frames[0]
        return (
            f"{frame['empty']} empty squares, own discs {int(frame['own']):#x}, "
            f"the opponent's {int(frame['other']):#x}"
        )
