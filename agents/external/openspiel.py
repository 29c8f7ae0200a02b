"""OpenSpiel's Monte Carlo tree search as an agent: `openspiel:simulations=1000`.

OpenSpiel (https://github.com/google-deepmind/open_spiel) has its search in C++. This agent applies
the moves of each game to a state of OpenSpiel: of OpenSpiel's own version of the game if there is
one, else of ours (`ludoteca.envs.adapters.openspiel`), with which the search takes several times as
long.
"""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.openspiel_counterparts import (
    Counterpart,
    Translation,
    same_action,
)
from ludoteca.agents.external.openspiel_moves import MAX_PLIES, NOT_FOUND, make_find_moves
from ludoteca.agents.games.knowledge import load
from ludoteca.agents.games.registry import find_knowledge, games_with
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.records import as_words
from ludoteca.envs.rng import next_u64

MEMORY_MB = 1000  # OpenSpiel removes rarely visited nodes from a tree that needs more memory
INT_MAX = 2**31 - 1  # largest int in C++
NO_LIMIT = -1.0  # seconds of a search without time limit
MIN_SIMULATIONS = 2  # the first simulation ends at the root, without a choice of an action


class OpenSpielAgent(Agent):
    """Agent with OpenSpiel's MCTSBot: UCT with random rollouts, and a new tree for every move.

    The agent follows each game move by move with a state of OpenSpiel. With OpenSpiel's own version
    of the game it therefore has to be called in every position in which it is to move: `act` raises
    a `ValueError` if it missed a turn.
    """

    def __init__(
        self,
        game: Game,
        simulations: int = 1000,
        seconds: float | None = None,
        uct_c: float = 2.0,
        rollouts: int = 1,
        solve: bool = False,
    ):
        """Make the agent.

        Args:
            game: the game it plays.
            simulations: simulations per move, at least `MIN_SIMULATIONS`.
            seconds: time limit per move; if given, `simulations` has no effect.
            uct_c: exploration constant of UCT, for rewards in [-1, 1]; at least 0.
            rollouts: rollouts per simulation, at least 1.
            solve: whether proven results are backed up.

        Raises:
            ValueError: if a parameter is out of range, or OpenSpiel cannot play the game.
            ImportError: if OpenSpiel is not installed.
        """
        super().__init__(game)
        self.simulations = check_integer("simulations", simulations, MIN_SIMULATIONS, INT_MAX)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self.uct_c = check_real("uct_c", uct_c, 0, 1e6)
        self.rollouts = check_integer("rollouts", rollouts, 1, 10**6)
        self.solve = check_choice("solve", solve, (False, True))
        self._pyspiel = import_pyspiel()
        self._spiel_game, self._to_spiel, self._to_ours = self._find_spiel_game()
        self._tracked: dict[int, _TrackedGame] = {}  # by env_index
        # Scratch space of `find_moves`, and the same memory as unsigned integers, by which it
        # compares positions. Padding bytes do not matter: records are assigned field by field, so
        # the padding stays zero.
        self._states = game.empty(MAX_PLIES + 2)
        self._words = as_words(self._states)
        self._legal = np.zeros((MAX_PLIES, game.num_actions), game.action_dtype)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without those that `__setstate__` makes again."""
        derived = {"_pyspiel", "_spiel_game", "_to_spiel", "_to_ours", "_words"}
        return {key: value for key, value in vars(self).items() if key not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pyspiel = import_pyspiel()
        self._spiel_game, self._to_spiel, self._to_ours = self._find_spiel_game()
        self._words = as_words(self._states)

    def _find_spiel_game(self) -> tuple[Any, Translation, Translation]:
        """Return the `pyspiel.Game`, and the translations of actions to it and back."""
        try:
            name, to_spiel, to_ours = counterpart(self.game)
        except ValueError as error:
            check_ours(self.game, str(error))
            return load_ours(self.game), same_action, same_action
        return self._pyspiel.load_game(name), to_spiel, to_ours

    def set_time_control(self, time_control: TimeControl) -> None:
        """Limit each search to the thinking time of the time control."""
        self.seconds = time_control.thinking_seconds

    def prepare(self) -> None:
        """Compile the search for the moves between two positions."""
        self._find_moves(self.game.empty(1)[0], self.game.empty(1)[0])

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the games at `env_indices`."""
        for env_index in env_indices.tolist():
            self._tracked.pop(env_index, None)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Track each game to its position, and run OpenSpiel's search there.

        Raises:
            ValueError: if a position cannot be reached in `MAX_PLIES` plies from the agent's last
                position in the game, nor from the start. With our rules any position is accepted.
        """
        actions = np.zeros(len(states), np.int64)
        for k, env_index in enumerate(env_indices.tolist()):
            state = self._track(env_index, states[k])
            actions[k] = self._to_ours(state, self._search(state, rngs[k]))
        return actions

    def _track(self, env_index: int, s: Any) -> Any:
        """Return OpenSpiel's state of position `s`, and store it as the last one of its game."""
        tracked = self._tracked.get(env_index)
        moves = None if tracked is None else self._find_moves(tracked.position, s)
        if tracked is None or moves is None:
            tracked = _TrackedGame(self.game.new(), self._spiel_game.new_initial_state())
            moves = self._find_moves(tracked.position, s)
        # Our own game, which has the attribute `rules`, can start at any position.
        if moves is None and hasattr(self._spiel_game, "rules"):
            tracked, moves = _TrackedGame(s, self._spiel_game.new_initial_state(s)), []
        if moves is None:
            raise ValueError(
                f"the position in game {env_index} is more than {MAX_PLIES} plies from the "
                f"agent's last position in that game, and from the start of {self.game.spec}: the "
                "agent must be called at each of its turns"
            )
        for action in moves:
            tracked.state.apply_action(self._to_spiel(tracked.state, action))
        self._tracked[env_index] = _TrackedGame(s.copy(), tracked.state)
        return tracked.state

    def _find_moves(self, position: Any, target: Any) -> list[int] | None:
        """Return at most `MAX_PLIES` moves from one position to another; None if there are none."""
        self._states[0], self._states[-1] = position, target
        moves = np.zeros(MAX_PLIES, np.int64)
        n = make_find_moves(self.game)(self._states, self._words, self._legal, moves)
        return None if n == NOT_FOUND else moves[:n].tolist()

    def _search(self, state: Any, rng: NDArray[np.uint64]) -> int:
        """Return OpenSpiel's move; the search is seeded from `rng`."""
        with np.errstate(over="ignore"):  # the arithmetic of random streams wraps around
            seeds = [int(next_u64(rng)) & INT_MAX for _ in range(2)]
        if self.seconds is None:
            root = self._tree(state, seeds, self.simulations, NO_LIMIT)
        else:
            root = self._tree(state, seeds, INT_MAX, self.seconds)
            if not root.children:  # out of time: `best_child` would crash
                root = self._tree(state, seeds, MIN_SIMULATIONS, NO_LIMIT)
        action: int = root.best_child().action
        return action

    def _tree(self, state: Any, seeds: list[int], simulations: int, seconds: float) -> Any:
        """Search with limits of simulations and seconds; return the root of OpenSpiel's tree.

        `seeds` are two seeds, of the rollouts and of the search.
        """
        bot = self._pyspiel.MCTSBot(
            self._spiel_game,
            self._pyspiel.RandomRolloutEvaluator(self.rollouts, seeds[0]),
            self.uct_c,
            simulations,
            MEMORY_MB,
            self.solve,
            seeds[1],
            False,  # verbose
            self._pyspiel.ChildSelectionPolicy.UCT,
            seconds,
        )
        return bot.mcts_search(state)


class _TrackedGame(NamedTuple):
    """Last known position of a game, a record, and the `pyspiel.State` of the same position."""

    position: Any
    state: Any


def check_ours(game: Game, reason: str) -> None:
    """Check that OpenSpiel can run our rules of a game: it must be sequential, without chance.

    Args:
        game: the game.
        reason: beginning of the message: why OpenSpiel's own rules do not fit.

    Raises:
        ValueError: if it cannot.
    """
    has_chance = game.has_chance  # the state has a random stream
    if game.simultaneous or has_chance:
        raise ValueError(f"{reason}; with our rules it plays sequential games without chance only")


def load_ours(game: Game) -> Any:
    """Return our game as a `pyspiel.Game`."""
    return import_module("ludoteca.envs.adapters.openspiel").load_game(game)


def counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's own version of a game.

    Raises:
        ValueError: if OpenSpiel has none.
    """
    target = find_knowledge(game).openspiel
    if not target:
        games = ", ".join(games_with("openspiel"))
        raise ValueError(f"OpenSpiel has no version of {game.name}; games with one are {games}")
    version: Counterpart = load(target)(game)
    return version


def import_pyspiel() -> Any:
    """Import OpenSpiel's module `pyspiel`.

    Raises:
        ImportError: if OpenSpiel is not installed.
    """
    try:
        return import_module("pyspiel")
    except ImportError as error:
        raise ImportError(
            'OpenSpiel is not installed: pip install "ludoteca[openspiel]"', name="pyspiel"
        ) from error
