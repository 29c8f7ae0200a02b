"""Values of the leaves of the alpha-beta search, by a game's own evaluation or by mobility."""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.agents.search.alphabeta.table import WIN
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel

MOBILITY = "mobility"  # the evaluation of every game, and the default of those without their own


def check_evaluation(name: str, game: Game) -> None:
    """Check that the search has an evaluation of this name for a game.

    Raises:
        ValueError: if there is none.
    """
    if not is_mobility(name, game):
        find_evaluation(name, game, others=(MOBILITY,))


def is_mobility(name: str, game: Game) -> bool:
    """Return whether an evaluation is `MOBILITY`, by its name or as the default."""
    own = find_knowledge(game).evaluations
    return name not in own and (name == MOBILITY or (name == "" and not own))


@factory()
def make_evaluators(game: Game, evaluation: str) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return two kernels: the value of finished positions, and of unfinished ones.

    Values are integers, in units of `1 / table.WIN`.

    `result(s, player, work)` is half the difference of the returns, which in zero-sum games is the
    return of `player`. `evaluate(frames, level, s, work)` is the value of the position `s` of
    `frames[level]` for the player to move; it lies strictly between `-WIN` and `WIN`.
    """
    returns = game.returns

    @kernel
    def difference(player: int, work: Any) -> int:
        """Return half the difference of the players' `work.returns`, in units of 1 / WIN."""
        return int(WIN * (work.returns[player] - work.returns[1 - player]) / 2)

    @kernel
    def result(s: Any, player: int, work: Any) -> int:
        returns(s, work.returns)
        return int(difference(player, work))

    if is_mobility(evaluation, game):
        return result, make_mobility(game)
    estimate = find_evaluation(evaluation, game)

    @kernel
    def evaluate(frames: Any, level: int, s: Any, work: Any) -> int:
        estimate(s, work.returns)
        return int(min(max(difference(frames[level].player, work), 1 - WIN), WIN - 1))

    return result, evaluate


@factory()
def make_mobility(game: Game) -> Callable[..., int]:
    """Return the kernel `evaluate` of `make_evaluators` by mobility.

    With n legal actions of the player to move, and m of its opponent one ply earlier, the value is
    `(n - m) / (n + m + 1)`; it is 0 if the same player moved one ply earlier. The leaf's parent
    determines m, so the value of the parent depends on its position only, as the transposition
    table requires. Mobility is a standard feature in General Game Playing (Clune, "Heuristic
    evaluation functions for general game playing", 2007).
    """
    legal_actions = game.legal_actions

    @kernel
    def evaluate(frames: Any, level: int, s: Any, work: Any) -> int:
        frame, parent = frames[level], frames[level - 1]
        if frame.player == parent.player:
            return 0
        own, other = int(legal_actions(s, frame.legal)), int(parent.num_legal)
        return int((WIN - 1) * (own - other) / (own + other + 1))

    return evaluate
