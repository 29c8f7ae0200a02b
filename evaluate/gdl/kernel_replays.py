"""Replays of GGP-Base's games of a rule sheet by the compiled kernels of its game."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.playouts import actions_per_ply
from ludoteca.envs.game import Game
from ludoteca.envs.gdl.actions import bare_term
from ludoteca.envs.gdl.game import rules
from ludoteca.evaluate.gdl.differences import TraceComparison, describe_difference
from ludoteca.evaluate.gdl.kernel_differences import bits, together_difference
from ludoteca.evaluate.gdl.kernel_games import ILLEGAL, KernelGames, play_by_kernels
from ludoteca.evaluate.gdl.machine import RuleMachine
from ludoteca.evaluate.gdl.traces import TracePosition, read_trace

# Games that are stepped at once, the recorded ones repeatedly: `Game.many` of rule sheets steps
# fewer than 32 games one by one.
NUM_GAMES = 64


class RecordMachine(RuleMachine):
    """State machine that shows a record of a game: its fluents, and the outputs of its kernels."""

    def show(self, record: Any) -> None:
        """Show the state of a record."""
        self._set(bits(record["fluents"])[: len(self.network.fluents)])
        self._phase1_outputs = bits(record["outputs"])[: len(self.network.phase1.outputs)]


def replay_trace(game: Game, lines: Iterable[str | bytes]) -> TraceComparison:
    """Replay a trace by single steps and by `Game.many`, and compare every position.

    States, legal moves, ends and goals are compared with the trace, and all fields of the records
    with those of `Game.many`. A game that is longer than `game.max_plies` is compared up to there.

    Args:
        game: a game that `gdl` has made, without chance.
        lines: the lines of the trace, see `traces`.

    Raises:
        ValueError: if a line is not a position.
    """
    groups = groupby(read_trace(lines), key=lambda position: position.game)
    recorded = [list(positions) for _, positions in groups]
    if not recorded:
        return TraceComparison(0, 0, 0, ())
    machine = RecordMachine(rules(game))
    rows = np.arange(max(NUM_GAMES, len(recorded))) % len(recorded)
    width, ply, compared, finished = actions_per_ply(game), 0, 0, 0
    action_of = {name: action for action, name in enumerate(game.action_names)}
    replay = play_by_kernels(game, len(rows), np.zeros((len(rows), 0, width), game.action_dtype))
    differences: list[str] = []
    open_games = set(range(len(recorded)))
    while open_games:
        actions = np.full((len(recorded), 1, width), ILLEGAL, game.action_dtype)
        for i in sorted(open_games):
            position = recorded[i][ply]
            machine.show(replay.last_positions[i])
            compared += 1
            is_over = replay.over[i, replay.plies[i]]
            problem = describe_difference(machine, position)
            if not problem and position.moves and is_over and ply < game.max_plies:
                problem = "the game is over"
            if problem:
                differences.append(f"game {position.game}, ply {ply}: {problem}")
            elif position.moves and not is_over and ply + 1 < len(recorded[i]):
                actions[i, 0] = _actions(game, replay, i, position, action_of)
                continue
            finished += not problem and not position.moves
            open_games.remove(i)
        replay = play_by_kernels(game, replay.last_positions, actions[rows], start=ply)
        if problem := together_difference(replay):
            return TraceComparison(len(recorded), finished, compared, (*differences, problem))
        for i in sorted(open_games):
            if replay.plies[i] == 0:
                moves = " ".join(recorded[i][ply].moves)
                differences.append(f"game {i}, ply {ply}: {moves} are not legal actions")
                open_games.remove(i)
        ply += 1
    return TraceComparison(len(recorded), finished, compared, tuple(differences))


def _actions(
    game: Game, replay: KernelGames, i: int, position: TracePosition, action_of: dict[str, int]
) -> NDArray[np.int64]:
    """Return the actions of a recorded joint move in game `i`, `ILLEGAL` for unknown ones."""
    moves = [position.moves[role] for role in rules(game).players]
    if not game.simultaneous:
        moves = [moves[replay.mover[i, replay.plies[i]]]]
    return np.array([action_of.get(bare_term(move), ILLEGAL) for move in moves])
