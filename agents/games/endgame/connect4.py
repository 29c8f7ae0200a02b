"""Endgame solver of Connect Four, by alpha-beta search."""

from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.connect4_search import make_search, make_workspace
from ludoteca.agents.games.endgame.limits import SearchLimits, next_position
from ludoteca.agents.games.endgame.solution import EndgameSolution, validate_position
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game


class Connect4EndgameSolver:
    """Endgame solver of Connect Four, see `ludoteca.agents.games.endgame.solution.EndgameSolver`.

    Scores are 1, 0 and -1, regardless of the number of moves to the win.
    """

    def __init__(self, game: Game):
        rows, columns = int(game.params["rows"]), int(game.params["columns"])
        if (rows + 1) * columns > 64:
            raise ValueError(
                f"{game.spec} cannot be solved: (rows + 1) * columns must be at most 64, "
                f"got {(rows + 1) * columns}"
            )
        self.game = game
        self._search = make_search(rows, columns, int(game.params["connect"]))

    def empty(self, s: Any) -> int:
        """Return the number of empty squares of a position."""
        return int(s["moves_left"])

    def prepare(self) -> None:
        """Compile or load the search."""
        frames, table, works = make_workspace(0)
        self._search(frames, table, works, 0)

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
        search = _Connect4Search(game, self._search, self.empty(s), nodes, seconds)
        score = search.score(s)
        scores = None
        if all_moves:
            scores = {game.action_names[a]: search.score_action(s, a)[0] for a in game.legal(s)}
            scores = dict(sorted(scores.items(), key=lambda item: -item[1]))
        line = search.line(s, score)
        return EndgameSolution(
            action=line[0],
            name=game.action_names[line[0]],
            score=score,
            principal_variation=tuple(game.action_names[action] for action in line),
            scores=scores,
            empty=self.empty(s),
            nodes=int(search.works["nodes"][0]),
            seconds=clock() - search.limits.start,
        )


class _Connect4Search:
    """Searches of a position and its successors that share a table and limits."""

    def __init__(self, game: Game, run: Any, empty: int, nodes: int | None, seconds: float | None):
        """Make the workspace.

        Args:
            game: the game.
            run: the function of `connect4_search.make_search`.
            empty: number of empty squares of the position.
            nodes: maximum number of nodes; None: no limit.
            seconds: time limit; None: no limit.
        """
        self.game, self.run = game, run
        self.frames, self.table, self.works = make_workspace(empty)
        run(self.frames, self.table, self.works, 0)  # compiles, before the clock starts
        self.limits = SearchLimits(nodes, seconds)

    def score(self, s: Any, alpha: int = -1, beta: int = 1) -> int:
        """Return 1, 0 or -1 for the player to move; only a bound outside of (`alpha`, `beta`)."""
        frame = self.frames[0]
        mover = int(s.to_move)
        frame["own"], frame["discs"] = s.discs[mover], s.discs[0] | s.discs[1]
        frame["alpha"], frame["beta"] = alpha, beta
        self.works["level"] = 0

        def search(limit: int) -> int:
            """Continue the search up to `limit` nodes in total; return the score or `STOPPED`."""
            return int(self.run(self.frames, self.table, self.works, limit))

        return self.limits.run(search, self.works["nodes"], lambda: str(s))

    def score_action(self, s: Any, action: int, alpha: int = -1, beta: int = 1) -> tuple[int, Any]:
        """Return the score of an action for its player, and the position after it; see `score`."""
        child = next_position(self.game, s, action)
        if not self.game.is_terminal(child):
            return -self.score(child, -beta, -alpha), child
        returns = np.zeros(2)
        self.game.returns(child, returns)
        return int(returns[int(s.to_move)]), child

    def line(self, s: Any, score: int) -> list[int]:
        """Return optimal actions of both players to the end of the game; ties go to the first.

        `score` is the exact score of `s` for the player to move.
        """
        line: list[int] = []
        while not self.game.is_terminal(s):
            for action in self.game.legal(s):
                # A window that is just wide enough to decide whether the action reaches `score`.
                value, child = self.score_action(s, action, max(score - 1, -1), score + (score < 1))
                if value >= score:
                    break
            line.append(action)
            s, score = child, -score
        return line
