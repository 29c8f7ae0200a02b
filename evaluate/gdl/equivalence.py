"""Comparison of a rule sheet of this package with its game, move by move in random games.

Shapes: B concurrent games, W players that move at once (1 in sequential games), P players, A
actions of the game, M moves of all roles in the sheet, F fluents.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.own_sheets import GameSheet
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.machine import make_machine, run_program

NOOP = "noop"  # the only move of a player that waits


@dataclass(frozen=True)
class Equivalence:
    """Result of a comparison.

    Attributes:
        plies: number of plies that were compared.
        games: number of finished games.
        states: number of states whose fluents were compared.
        difference: description of the first difference, or an empty string.
    """

    plies: int
    games: int
    states: int
    difference: str


def compare_with_game(
    sheet: GameSheet, plies: int, seed: int = 0, max_states: int = 1000, num_envs: int = 256
) -> Equivalence:
    """Play the same random games by the sheet and by the game, and compare them in each ply.

    The comparison covers the legal moves of all players (translated by `GameSheet.term`), the ends
    of games, and goals with returns. In alternate plies, moves are sampled from those that are
    legal by the sheet and from those that are legal in the game.

    Args:
        sheet: the rule sheet.
        plies: minimum number of plies, summed over all games.
        seed: seed of the moves.
        max_states: number of states whose fluents are compared with those of `GameSheet.state`,
            rounded up to a multiple of `num_envs`.
        num_envs: number of concurrent games.
    """
    game = sheet.game
    network = make_machine(sheet.path).network
    batch = GameBatch(game, num_envs)
    batch.reset(list(range(seed, seed + num_envs)))
    moves = _MoveTable(sheet, network)
    rng = np.random.default_rng(seed)
    states = np.repeat(network.initial[:, np.newaxis], num_envs, axis=1)
    played = games = compared = rounds = 0
    while True:
        outputs = run_program(network.phase1, states)
        over = batch.episode_states["over"].copy()
        players = _players_to_move(batch)
        expected = moves.legal_by_game(batch.masks, players)
        problem = _difference(network, outputs, expected, over, _scores(batch))
        if not problem and compared < max_states:
            problem = _state_difference(sheet, network, batch, states)
            compared += num_envs
        if problem or played >= plies:
            return Equivalence(played, games, compared, problem)
        legal = outputs[: len(network.moves)].T if rounds % 2 else expected[:, :-1]
        played_moves = moves.sample(legal & ~over[:, np.newaxis], rng)
        batch_actions = moves.actions(played_moves, players)
        next_states = run_program(network.phase2, np.concatenate([states, played_moves.T]))
        games += int(over.sum())
        batch.reset([None] * num_envs, over)
        _step_except(batch, batch_actions, over)
        states = np.where(over, network.initial[:, np.newaxis], next_states)
        played += int((~over).sum())
        rounds += 1


class _MoveTable:
    """Table of the network's moves by player and action.

    Attributes:
        start: the moves of player p are `start[p]` to `start[p + 1] - 1`. Shape `[P + 1]`.
        moves: number of the move of each action, -1 if the sheet lacks it. Shape `[P, A]`.
        noop_moves: number of each player's move `noop`, or -1. Shape `[P]`.
        num_moves: number of moves, M.
    """

    def __init__(self, sheet: GameSheet, network: Network):
        game = sheet.game
        self.start = network.move_start
        self.moves = np.full((game.num_players, game.num_actions), -1)
        self.noop_moves = np.full(game.num_players, -1)
        terms = [sheet.term(name) for name in game.action_names]
        for player in range(game.num_players):
            begin, end = network.move_start[player : player + 2].tolist()
            numbers = {network.moves[move]: move for move in range(begin, end)}
            self.moves[player] = [numbers.get(term, -1) for term in terms]
            self.noop_moves[player] = numbers.get(NOOP, -1)
        self.num_moves = int(network.move_start[-1])

    def legal_by_game(
        self, masks: NDArray[np.int8], players: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return the legal moves according to the game; players that wait may play `noop`.

        Args:
            masks: action masks of the game. Shape `[B, W, A]`.
            players: the players that move. Shape `[B, W]`.

        Returns:
            Array of shape `[B, M + 1]`; the last column stands for moves that the sheet lacks.
        """
        legal = np.zeros((len(masks), self.num_moves + 1), np.bool_)
        for player in range(len(self.moves)):
            to_move = np.flatnonzero((players == player).any(1))
            column = np.argmax(players[to_move] == player, axis=1)
            legal[np.ix_(to_move, self.moves[player])] |= masks[to_move, column].astype(np.bool_)
            waiting = np.flatnonzero((players != player).all(1))
            legal[waiting, self.noop_moves[player]] = True
        return legal

    def sample(self, legal: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return a random joint move of each game, `[B, M]`, from the `legal` moves, `[B, M]`."""
        played_moves = np.zeros_like(legal)
        for begin, end in zip(self.start, self.start[1:], strict=False):
            weights = rng.random((len(legal), end - begin)) * legal[:, begin:end]
            rows = np.flatnonzero(legal[:, begin:end].any(1))
            played_moves[rows, begin + weights[rows].argmax(1)] = True
        return played_moves

    def actions(
        self, played_moves: NDArray[np.bool_], players: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the actions `[B, W]` of joint moves `[B, M]`; `players` `[B, W]` move."""
        action_of = np.full((len(self.moves), self.num_moves), -1)
        for player, moves in enumerate(self.moves):
            in_network = moves >= 0
            action_of[player, moves[in_network]] = np.flatnonzero(in_network)
        actions = np.zeros(players.shape, np.int64)
        for column in range(players.shape[1]):
            for player in range(len(self.moves)):
                begin, end = self.start[player : player + 2]
                rows = np.flatnonzero(
                    (players[:, column] == player) & played_moves[:, begin:end].any(1)
                )
                actions[rows, column] = action_of[
                    player, begin + played_moves[rows, begin:end].argmax(1)
                ]
        return actions


def _players_to_move(batch: GameBatch) -> NDArray[np.int64]:
    """Return the players that move, `[B, W]`."""
    game = batch.game
    if game.simultaneous:
        return np.tile(np.arange(game.num_players), (batch.count, 1))
    return batch.step_result().player.astype(np.int64).reshape(-1, 1)


def _scores(batch: GameBatch) -> NDArray[np.float64]:
    """Return the returns of the games, `[B, P]`."""
    scores = np.zeros((batch.count, batch.game.num_players))
    states = view_records(batch.states)
    for index in np.flatnonzero(batch.episode_states["over"]):
        batch.game.returns(states[index], scores[index])
    return scores


def _step_except(batch: GameBatch, actions: NDArray[np.int64], skipped: NDArray[np.bool_]) -> None:
    """Step all games except those of `skipped` `[B]`, which have just been reset.

    These take a legal step, too, and are then restored.
    """
    saved = {name: array[skipped].copy() for name, array in _state_arrays(batch).items()}
    legal = np.argmax(batch.masks > 0, axis=2)
    batch.step(np.where(skipped[:, np.newaxis], legal, actions))
    for name, array in _state_arrays(batch).items():
        array[skipped] = saved[name]
    batch.refresh()


def _state_arrays(batch: GameBatch) -> dict[str, NDArray[Any]]:
    """Return the arrays of a batch that a step changes, by name."""
    return {"states": batch.states, "episode_states": batch.episode_states}


def _difference(
    network: Network,
    outputs: NDArray[np.bool_],
    expected: NDArray[np.bool_],
    over: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> str:
    """Return the first difference of ends, legal moves or goals, or an empty string.

    Args:
        network: the compiled sheet.
        outputs: outputs of its phase 1: whether each move is legal, whether each goal holds, and
            whether the state is terminal. Shape `[M + number of goals + 1, B]`.
        expected: legal moves in the game; the last column: those that the sheet lacks. Shape
            `[B, M + 1]`.
        over: whether each game is over. Shape `[B]`.
        scores: returns of the games. Shape `[B, P]`.
    """
    terminal = outputs[-1]
    for index in np.flatnonzero(terminal != over)[:1]:
        return f"terminal is {terminal[index]} by the sheet, {over[index]} in the game"
    if expected[:, -1].any():
        return "the game has legal moves that the sheet lacks"
    legal = outputs[: len(network.moves)].T
    for index, move in np.argwhere((legal != expected[:, :-1]) & ~over[:, np.newaxis])[:1]:
        role, name = network.roles[network.role_of(move)], network.moves[move]
        return f"{name} of {role}: legal is {legal[index, move]} by the sheet"
    goals = outputs[len(network.moves) : -1].T
    for index in np.flatnonzero(over):
        holding = np.flatnonzero(goals[index])
        goal_by_role = {int(network.goal_roles[k]): int(network.goal_values[k]) for k in holding}
        # Goals are from 0 to 100, returns from -1 to 1.
        expected_goals = {role: int(50 + 50 * score) for role, score in enumerate(scores[index])}
        if goal_by_role != expected_goals or len(holding) != len(network.roles):
            return f"goals are {goal_by_role} by the sheet, {expected_goals} by the game's returns"
    return ""


def _state_difference(
    sheet: GameSheet, network: Network, batch: GameBatch, states: NDArray[np.bool_]
) -> str:
    """Return the first difference of the fluents, `states` `[F, B]`, or an empty string."""
    records = view_records(batch.states)
    for index in range(batch.count):
        fluents = {network.fluents[k] for k in np.flatnonzero(states[:, index])}
        expected = set(sheet.state(records[index]))
        if fluents != expected:
            return f"only by the sheet: {fluents - expected}, by the game: {expected - fluents}"
    return ""


def compare_games(sheet: GameSheet, plies: int, seed: int = 0, num_envs: int = 256) -> Equivalence:
    """Play the same random games in a game and in the compiled game of its sheet, `gdl:path=NAME`.

    The comparison covers the action masks (translated by `GameSheet.term`), the player to move,
    rewards and ends. In alternate plies, actions are sampled from the masks of the one and of the
    other game. See `compare_with_game` for the arguments.
    """
    batch = GameBatch(sheet.game, num_envs)
    sheet_batch = GameBatch(make_game(f"gdl:path={sheet.name}"), num_envs)
    for game_batch in (batch, sheet_batch):
        game_batch.reset(list(range(seed, seed + num_envs)))
    # Action names of the sheet's game are terms without their outer parentheses.
    numbers = {f"({name})": k for k, name in enumerate(sheet_batch.game.action_names)}
    numbers |= {name: k for k, name in enumerate(sheet_batch.game.action_names)}
    terms = [sheet.term(name) for name in sheet.game.action_names]
    missing = [term for term in terms if term not in numbers]  # never legal in a game
    # Action of the sheet's game for each action of the game; its number of actions if missing.
    to_sheet = np.array([numbers.get(term, len(sheet_batch.game.action_names)) for term in terms])
    rng = np.random.default_rng(seed)
    played = games = rounds = 0
    while played < plies:
        expected = np.zeros(
            (*sheet_batch.masks.shape[:2], sheet_batch.game.num_actions + 1), np.int8
        )
        expected[:, :, to_sheet] = batch.masks
        if expected[:, :, -1].any():
            problem = f"one of {' '.join(missing)} is legal in the game"
            return Equivalence(played, games, 0, problem)
        if problem := _batches_differ(batch, sheet_batch, expected[:, :, :-1]):
            return Equivalence(played, games, 0, problem)
        over = batch.episode_states["over"].copy()
        games += int(over.sum())
        for game_batch in (batch, sheet_batch):
            game_batch.reset([None] * num_envs, over)
        in_sheet = to_sheet < sheet_batch.game.num_actions
        sheet_masks = sheet_batch.masks[:, :, np.where(in_sheet, to_sheet, 0)] * in_sheet
        masks = batch.masks if rounds % 2 else sheet_masks
        actions = (rng.random(masks.shape) * (masks > 0)).argmax(2)
        batch.step(actions)
        sheet_batch.step(to_sheet[actions])
        played += num_envs
        rounds += 1
    return Equivalence(played, games, 0, "")


def _batches_differ(batch: GameBatch, sheet_batch: GameBatch, expected: NDArray[np.int8]) -> str:
    """Return the first difference of two batches, or an empty string.

    `expected` are the masks of `batch` by actions of the sheet's game.
    """
    results = batch.step_result(), sheet_batch.step_result()
    for name in ("terminated", "rewards"):
        in_game, by_sheet = (getattr(result, name) for result in results)
        for index in np.argwhere(in_game != by_sheet)[:1]:
            k = tuple(index.tolist())
            return f"{name}{list(k)} is {by_sheet[k]} by the sheet, {in_game[k]} in the game"
    playing = ~batch.episode_states["over"]
    in_game, by_sheet = (result.player for result in results)
    if (in_game != by_sheet)[playing].any():
        return "the players to move differ"
    for env_index, column, action in np.argwhere(sheet_batch.masks != expected)[:1]:
        name = sheet_batch.game.action_names[action]
        legal = bool(sheet_batch.masks[env_index, column, action])
        return f"{name}: legal is {legal} by the sheet, {not legal} in the game"
    return ""
