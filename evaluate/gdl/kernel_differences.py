"""Comparison of games by the compiled kernels of a rule sheet with an independent evaluation.

The independent evaluation is `machine.run_program`. It evaluates the same network of gates by a
function of its own, and was compared with GGP-Base on the sheets of a whole repository. Fluents and
moves are matched by their names, since a game with a board numbers its moves in another order.

Shapes: N positions, F fluents, M moves of all roles, G goals, O = M + G + 1 outputs of phase 1, P
players, A actions.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.gdl.actions import bare_term
from ludoteca.envs.gdl.game import rules
from ludoteca.envs.gdl.network import Network
from ludoteca.evaluate.gdl.kernel_games import KernelGames
from ludoteca.evaluate.gdl.machine import run_program

MAX_BYTES = 1 << 27  # of the largest array of a comparison: positions are compared in parts


class KernelComparison:
    """Comparison of a game's kernels with the network of its sheet.

    Args:
        game: a game that `gdl` has made from a compiled sheet.
        network: the network of the sheet as the compiler returns it.
    """

    def __init__(self, game: Game, network: Network):
        self._game, self._network = game, network
        own = rules(game)
        self._fluents = _order(own.fluents, network.fluents)
        self._moves = _order(_moves_with_roles(own), _moves_with_roles(network))
        num_moves, num_outputs = len(network.moves), len(network.phase1.outputs)
        self._outputs = np.concatenate([self._moves, np.arange(num_moves, num_outputs)])
        # Move of each player and action; M if the player has no such move.
        self._move_of = np.full((game.num_players, game.num_actions), num_moves)
        action_of = {name: action for action, name in enumerate(game.action_names)}
        for player, role in enumerate(network.players):
            for move in range(*network.move_start[role : role + 2]):
                action = action_of.get(bare_term(network.moves[move]))
                if action is not None:
                    self._move_of[player, action] = move
        # In sequential games with chance, joint moves in which only chance moves are made at once.
        self._skips_positions = network.random_role >= 0 and not game.simultaneous

    def difference(self, games: KernelGames) -> str:
        """Return the first difference found, or an empty string.

        In every position it compares fluents, legal moves, goals and the end of the game, the
        legal actions and returns that follow from them, and all fields with those of `Game.many`.
        """
        if problem := together_difference(games):
            return problem
        for rows in self._parts(games):
            if problem := self._part_difference(games, *rows):
                return problem
        return ""

    def _parts(self, games: KernelGames) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield games and plies of positions, as many as fit into memory."""
        network = self._network
        largest = max(
            network.phase1.num_slots,
            network.phase2.num_slots,
            self._game.num_players * self._game.num_actions,
        )
        count = max(1, MAX_BYTES // largest)
        exists = np.arange(games.positions.shape[1]) <= games.plies[:, np.newaxis]
        env_index, ply = np.nonzero(exists)
        for first in range(0, len(ply), count):
            yield env_index[first : first + count], ply[first : first + count]

    def _part_difference(
        self, games: KernelGames, env_index: NDArray[np.int64], ply: NDArray[np.int64]
    ) -> str:
        """Return the first difference in some positions."""
        network, num_moves = self._network, len(self._network.moves)
        records = games.positions[env_index, ply]
        fluents = bits(records["fluents"])[:, self._fluents]
        outputs = run_program(network.phase1, fluents.T).T
        legal, goals, terminal = np.split(outputs, [num_moves, outputs.shape[1] - 1], axis=1)
        counts = np.add.reduceat(legal, network.move_start[:-1], axis=1, dtype=np.int64)
        found = bits(records["outputs"])[:, self._outputs]
        for row, k in np.argwhere(found != outputs)[:1]:
            name = self._output_name(int(k))
            return f"{_where(games, env_index[row], ply[row])}: {name} is {found[row, k]}"
        started = (ply == 0) & (games.start == 0) & (not self._skips_positions)
        for row in np.flatnonzero(started & (fluents != network.initial).any(1))[:1]:
            return f"{_where(games, env_index[row], 0)}: not the initial state"
        plies = records["plies"] if self._skips_positions else games.start + ply
        is_over = self._is_over(terminal[:, 0], counts, plies)
        for row in np.flatnonzero(games.over[env_index, ply] != is_over)[:1]:
            return f"{_where(games, env_index[row], ply[row])}: over is {not is_over[row]}"
        returns = self._returns(goals, terminal[:, 0], is_over)
        for row in np.flatnonzero((games.returns[env_index, ply] != returns).any(1))[:1]:
            return (
                f"{_where(games, env_index[row], ply[row])}: the returns are "
                f"{games.returns[env_index[row], ply[row]]}, expected {returns[row]}"
            )
        running = np.flatnonzero(~is_over)
        rows = env_index[running], ply[running]
        if problem := self._action_difference(games, *rows, legal[running], counts[running]):
            return problem
        moved = np.flatnonzero(ply < games.plies[env_index])
        rows = env_index[moved], ply[moved]
        return self._step_difference(games, *rows, fluents[moved], legal[moved])

    def _output_name(self, k: int) -> str:
        """Return the name of an output of phase 1."""
        network, num_moves = self._network, len(self._network.moves)
        if k < num_moves:
            return f"(legal {network.roles[network.role_of(k)]} {network.moves[k]})"
        if k < num_moves + len(network.goal_roles):
            role = network.roles[network.goal_roles[k - num_moves]]
            return f"(goal {role} {network.goal_values[k - num_moves]})"
        return "terminal"

    def _is_over(
        self,
        terminal: NDArray[np.bool_],
        counts: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Return whether games should be over: also without legal moves, or at `max_plies`.

        Args:
            terminal: whether the rules end the game. Shape `[N]`.
            counts: number of legal moves of each role. Shape `[N, R]`.
            plies: number of plies before each position. Shape `[N]`.
        """
        is_stuck = (counts == 0).any(1)
        choosers = (counts[:, list(self._network.players)] > 1).sum(1)
        has_conflict = (choosers > 1) & (not self._game.simultaneous)
        at_limit = plies >= self._game.max_plies
        return np.asarray(terminal | is_stuck | has_conflict | at_limit)

    def _returns(
        self, goals: NDArray[np.bool_], terminal: NDArray[np.bool_], is_over: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the expected returns of all players, `[N, P]`, from the goals `[N, G]`."""
        network = self._network
        unfinished = -1.0 if len(network.players) == 1 else 0.0
        returns = np.zeros((len(goals), len(network.players)))
        returns[is_over] = unfinished
        for player, role in enumerate(network.players):
            columns = np.flatnonzero(network.goal_roles == role)
            values = (network.goal_values[columns] - 50) / 50
            # Of several goals the lowest counts; without a goal the return is 0.
            lowest = np.where(goals[:, columns], values, np.inf).min(1)
            returns[terminal, player] = np.where(np.isinf(lowest), 0.0, lowest)[terminal]
        return returns

    def _action_difference(
        self,
        games: KernelGames,
        env_index: NDArray[np.int64],
        ply: NDArray[np.int64],
        legal: NDArray[np.bool_],
        counts: NDArray[np.int64],
    ) -> str:
        """Return the first difference of legal actions in positions of running games.

        Legal actions are all legal moves of a player. In sequential games only one player has
        actions, and each of the others has one legal move.

        Args:
            games: the games.
            env_index: games of the positions. Shape `[N]`.
            ply: plies of the positions. Shape `[N]`.
            legal: whether each move is legal. Shape `[N, M]`.
            counts: number of legal moves of each role. Shape `[N, R]`.
        """
        found = bits(games.legal[env_index, ply])[:, :, : self._game.num_actions]
        mover, simultaneous = games.mover[env_index, ply], self._game.simultaneous
        for player, role in enumerate(self._network.players):
            rows = np.flatnonzero(simultaneous | (mover == player))
            actions = found[rows, player if simultaneous else 0]
            is_wrong = (actions != _with_missing(legal[rows])[:, self._move_of[player]]).any(1)
            is_wrong |= actions.sum(1) != counts[rows, role]
            for row in rows[is_wrong][:1]:
                name = self._network.roles[role]
                return f"{_where(games, env_index[row], ply[row])}: legal actions of {name} differ"
            waits = ~simultaneous & (mover != player) & (counts[:, role] != 1)
            for row in np.flatnonzero(waits)[:1]:
                return f"{_where(games, env_index[row], ply[row])}: player {mover[row]} is to move"
        return ""

    def _step_difference(
        self,
        games: KernelGames,
        env_index: NDArray[np.int64],
        ply: NDArray[np.int64],
        fluents: NDArray[np.bool_],
        legal: NDArray[np.bool_],
    ) -> str:
        """Return the first difference of the fluents after a ply.

        It is not compared in games that skip positions.

        Args:
            games: the games.
            env_index: games of the plies. Shape `[N]`.
            ply: the plies. Shape `[N]`.
            fluents: whether each fluent is true before the ply. Shape `[N, F]`.
            legal: whether each move is legal before the ply. Shape `[N, M]`.
        """
        network, simultaneous = self._network, self._game.simultaneous
        if self._skips_positions:
            return ""
        actions, mover = games.actions[env_index, ply], games.mover[env_index, ply]
        after = games.positions[env_index, ply + 1]
        is_played = np.zeros((len(ply), len(network.moves) + 1), np.bool_)
        for player, role in enumerate(network.players):
            begin, end = network.move_start[role : role + 2]
            is_played[:, begin:end] = legal[:, begin:end]  # a player that waits has one move
            rows = np.flatnonzero(simultaneous | (mover == player))
            is_played[rows, begin:end] = False
            played = actions[rows, player if simultaneous else 0]
            is_played[rows, self._move_of[player, played]] = True
        if (chance := network.random_role) >= 0:  # the move that was drawn
            number = np.argsort(self._moves)  # in `network`, by number in the game
            is_played[np.arange(len(ply)), number[after["joint"][:, chance]]] = True
        inputs = np.concatenate([fluents, is_played[:, :-1]], axis=1)
        expected = run_program(network.phase2, inputs.T).T
        found = bits(after["fluents"])[:, self._fluents]
        for row, k in np.argwhere(found != expected)[:1]:
            where = _where(games, env_index[row], ply[row] + 1)
            return f"{where}: {network.fluents[k]} is {found[row, k]}"
        return ""


def together_difference(games: KernelGames) -> str:
    """Return the first difference of `Game.many` from single steps, or an empty string."""
    if not len(games.together):
        return ""
    exists = np.arange(games.positions.shape[1]) <= games.plies[:, np.newaxis]
    together = games.together.T
    for name in games.positions.dtype.names or ():
        differs = games.positions[name] != together[name]
        differs = differs.reshape(*exists.shape, -1).any(2) & exists
        for env_index, ply in np.argwhere(differs)[:1]:
            where = _where(games, env_index, ply)
            return f"{where}: the field {name} differs in games that are stepped together"
    return ""


def _moves_with_roles(network: Network) -> list[tuple[str, str]]:
    """Return the name of the role and the term of each move."""
    return [
        (role, network.moves[move])
        for role, begin, end in zip(
            network.roles, network.move_start, network.move_start[1:], strict=False
        )
        for move in range(begin, end)
    ]


def _order(names: Any, order: Any) -> NDArray[np.int64]:
    """Return the index in `names` of each name in `order`.

    Raises:
        ValueError: if they are not the same names.
    """
    index = {name: i for i, name in enumerate(names)}
    if index.keys() != set(order) or len(names) != len(order):
        raise ValueError("the game has other fluents or moves than its sheet")
    return np.array([index[name] for name in order], np.int64)


def bits(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return the bits of words, the lowest first. Shape `[..., W]` becomes `[..., 64 * W]`."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little").view(np.bool_)


def _with_missing(legal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return legal moves with a last column for the moves that a player does not have: False."""
    return np.pad(legal, ((0, 0), (0, 1)))


def _where(games: KernelGames, env_index: int, ply: int) -> str:
    """Return the game and ply of a position."""
    return f"game {env_index}, ply {games.start + ply}"
