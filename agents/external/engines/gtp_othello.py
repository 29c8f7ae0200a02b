"""Client of an engine for Othello in GTP.

Passes are not sent, and not asked for: engines pass over a player without a move, as GRhino does.
Engines are given moves and not positions, so moves to a position are searched for.
"""

from collections.abc import Iterator
from typing import Any

from ludoteca.agents.external.engines.gtp_client import GTPEngine, Move
from ludoteca.envs.game import Game

COLORS = ("black", "white")  # by player
MAX_POSITIONS = 100_000  # positions of a search for the moves of an opening


class OthelloEngine(GTPEngine):
    """Client of a GTP engine for Othello."""

    def color(self, player: int) -> str:
        """Return the color of a player."""
        return COLORS[player]

    def move(self, s: Any) -> int:
        """Return the engine's move in a position; forced passes are returned without a request.

        Raises:
            FailureError: if the engine fails, resigns, or its move is illegal.
            ValueError: if no moves lead to the position.
        """
        legal = self.game.legal(s)
        return legal[0] if legal == [_pass(self.game)] else super().move(s)

    def moves_to(self, s: Any) -> list[Move]:
        """See `GTPEngine`.

        Raises:
            ValueError: if no moves are found.
        """
        moves = continued(self.game, self.moves or [], s)
        return opening_moves(self.game, s) if moves is None else moves

    def name_of(self, move: str) -> str:
        """Return the name of the action that a move stands for."""
        return move


def continued(game: Game, moves: list[Move], s: Any) -> list[Move] | None:
    """Return moves to a position that at most one move separates from known ones.

    Args:
        game: Othello.
        moves: known moves from the start.
        s: the position, in which the player to move can place a disc.

    Returns:
        A beginning of the known moves, or all of them, and at most one more move; None if these do
        not lead to the position.
    """
    position = game.new()
    positions = [position]
    for _, name in moves:
        position = _after(game, position, game.action_names.index(name))
        positions.append(position)
    for k in range(len(moves), -1, -1):
        if _key(positions[k]) == _key(s):
            return moves[:k]
        for move, child in _children(game, positions[k]):
            if _key(child) == _key(s):
                return [*moves[:k], move]
    return None


def opening_moves(game: Game, s: Any) -> list[Move]:
    """Return moves that lead from the start to a position, found by a depth-first search.

    Only squares with a disc in the position are played. The search takes time that grows quickly
    with the number of discs: it is for openings.

    Raises:
        ValueError: if no such moves are found within `MAX_POSITIONS` positions.
    """
    goal, occupied = _key(s), int(s.discs[0] | s.discs[1])
    seen = {_key(game.new())}
    stack: list[tuple[Any, list[Move]]] = [(game.new(), [])]
    while stack and len(seen) < MAX_POSITIONS:
        position, moves = stack.pop()
        if _key(position) == goal:
            return moves
        for move, child in _children(game, position):
            key = _key(child)
            if key not in seen and not (key[0] | key[1]) & ~occupied:
                seen.add(key)
                stack.append((child, [*moves, move]))
    raise ValueError(
        f"engines in GTP are given moves, and no moves to the position with {occupied.bit_count()} "
        "discs were found: expected a position of the game so far, or of an opening"
    )


def _children(game: Game, s: Any) -> Iterator[tuple[Move, Any]]:
    """Yield the moves that place a disc, and the positions after them."""
    if game.is_terminal(s):
        return
    for action in game.legal(s):
        if action != _pass(game):
            yield (COLORS[int(s.to_move)], game.action_names[action]), _after(game, s, action)


def _after(game: Game, s: Any, action: int) -> Any:
    """Return the position after a move and a forced pass."""
    after = s.copy()
    game.step(after, action)
    if not game.is_terminal(after) and game.legal(after) == [_pass(game)]:
        game.step(after, _pass(game))
    return after


def _key(s: Any) -> tuple[int, int, int]:
    """Return the parts of a position that identify it: discs of both players, player to move."""
    return int(s.discs[0]), int(s.discs[1]), int(s.to_move)


def _pass(game: Game) -> int:
    """Return the action that passes."""
    return game.num_actions - 1
