"""Agent that plays by alpha-beta search with iterative deepening."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.alphabeta.evaluators import check_evaluation
from ludoteca.agents.search.alphabeta.search import (
    NO_VALUE,
    STOPPED,
    make_search,
    make_workspace,
)
from ludoteca.agents.search.alphabeta.table import NOT_FOUND, WIN, find, make_table
from ludoteca.agents.search.monitor import Monitor
from ludoteca.agents.search.position_hash import hash_of
from ludoteca.agents.search.report import PROVEN_NAMES, Candidate, SearchReport
from ludoteca.agents.search.select import DRAW, LOSS
from ludoteca.agents.search.select import WIN as PROVEN_WIN
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.records import as_words, batch_of_one
from ludoteca.envs.rng import next_u64

DEFAULT_DEPTH, MAX_DEPTH = 4, 128  # plies
# A slice is the number of nodes between two readings of the clock: FIRST_SLICE at first, later the
# nodes that take 1 / NUM_SLICES of the time limit, and at most MONITOR_SECONDS.
FIRST_SLICE, MIN_SLICE, MAX_SLICE = 256, 32, 1 << 20
NUM_SLICES, MONITOR_SECONDS = 40, 0.05


class AlphaBetaAgent(Agent):
    """Alpha-beta search with iterative deepening and a transposition table.

    It plays every sequential game for two players without chance. In games that are not zero-sum it
    maximizes half the difference of the returns. The search ends at its limit of depth or time, or
    when the position is solved: then its value is exact.

    Attributes:
        seconds: time per move, or None.
        monitor: function that watches single searches and can stop them, or None.
    """

    lazy_attributes = ("monitor",)

    def __init__(
        self,
        game: Game,
        depth: int | None = None,
        seconds: float | None = None,
        evaluation: str = "",
        table_size: int = 1 << 20,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            depth: maximum depth of the search in plies; by default 4, and `MAX_DEPTH` with
                `seconds`.
            seconds: time per move; the depth increases until it is over.
            evaluation: evaluation of the positions at the maximum depth: one of the game's own,
                whose first is the default, see `ludoteca.agents.evaluations`; `"mobility"`, the
                default of games without their own; or `"returns"`, which is 0 in unfinished games.
            table_size: maximum number of entries of the transposition table, of 24 bytes each.

        Raises:
            ValueError: if a parameter is out of range, or the game does not fit.
        """
        self.check_game(game)
        super().__init__(game)
        check_evaluation(evaluation, game)
        self.depth = None if depth is None else check_integer("depth", depth, 1, MAX_DEPTH)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self.evaluation = evaluation
        self.table_size = check_integer("table_size", table_size, 2, 1 << 30)
        self.monitor: Monitor | None = None
        self._make_workspace()

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is sequential, for two players and without chance."""
        if game.simultaneous or game.num_players != 2:
            raise ValueError(
                f"alpha-beta search needs a sequential game for two players, and {game.name} is "
                f"{game.dynamics}, for {game.num_players} players"
            )
        if game.has_chance:
            raise ValueError(f"alpha-beta search needs a game without chance, unlike {game.name}")

    @property
    def max_depth(self) -> int:
        """Depth at which a search ends in any case."""
        depth = self.depth
        if depth is None:
            depth = DEFAULT_DEPTH if self.seconds is None else MAX_DEPTH
        return min(depth, max(self.game.max_plies, 1))

    def set_time_control(self, time_control: TimeControl) -> None:
        """Search for the time of the clock; a depth limit that was given remains."""
        previous_depth, self.seconds = self.max_depth, time_control.thinking_seconds
        if self.max_depth != previous_depth:
            self._make_workspace()

    def prepare(self) -> None:
        """Compile or load the search, by a search of depth 1."""
        rng = np.zeros(1, np.uint64)
        _Deepening(self, self.game.new(), rng, max_depth=1).run()

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search each position and choose its best action."""
        actions = np.zeros(len(states), np.int64)
        for k in range(len(states)):
            deepening = _Deepening(self, states[k], rngs[k], self.max_depth)
            deepening.run()
            actions[k] = deepening.action
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position and return a report, which can be printed.

        Args:
            s: the position, a record as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a stream seeded 0 if None. It
                orders actions, and so decides which of several best ones is played.
        """
        rng = np.zeros(1, np.uint64) if rng is None else rng
        deepening = _Deepening(self, s, rng, self.max_depth)
        deepening.run()
        return deepening.report()

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings; workspaces are made anew, as every search begins with empty ones."""
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "workspace"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._make_workspace()

    def _make_workspace(self) -> None:
        """Allocate the arguments of `make_search`'s function, for searches of `max_depth`."""
        frames, states, work = make_workspace(self.game, self.max_depth + 1)
        table = make_table(self.game, self.table_size)
        self.workspace = frames, states, as_words(states), table, work


class _Deepening:
    """Search of one position with increasing depth.

    Attributes:
        action: the best action found, or -1.
        value: its value for the player to move, from `-table.WIN` to `table.WIN`.
        depth: depth in plies of the last search that was finished.
        is_solved: whether the value is exact.
        variation: actions of the principal variation, as far as the last search recorded it.
    """

    def __init__(self, agent: AlphaBetaAgent, s: Any, rng: NDArray[np.uint64], max_depth: int):
        game, self._agent, self._max_depth = agent.game, agent, max_depth
        self._run = make_search(game, agent.evaluation)
        self._frames, states, _, table, works = agent.workspace
        self._start, self._work = clock(), works[0]
        states[0] = s
        assert game.player is not None
        self._player = int(game.player(states.view(np.recarray)[0]))
        age = int(self._work["age"]) + 1
        if age == 1 << 32:  # beyond uint32: empty the table and count again
            table["age"], age = 0, 1
        self._work["age"], self._work["nodes"], self._work["history"] = age, 0, 0
        with np.errstate(over="ignore"):  # the arithmetic of random streams wraps around
            seed = int(next_u64(rng))
        self._work["tie_break"] = np.random.default_rng(seed).permutation(game.num_actions)
        self._frames["killers"] = -1
        self._stopped = False
        self.action, self.value, self.depth, self.is_solved = -1, 0, 0, False
        self.variation: tuple[int, ...] = ()

    def run(self) -> None:
        """Search deeper and deeper until the position is solved or a limit is reached."""
        for depth in range(1, self._max_depth + 1):
            self._search(depth)
            if self._stopped or self.is_solved or self._is_over():
                return
            if self._frames["num_legal"][0] == 1 and self._agent.seconds is not None:
                return  # a forced move needs no more time

    def report(self) -> SearchReport:
        """Return the report of the search."""
        game, nodes = self._agent.game, int(self._work["nodes"])
        names, value = game.action_names, self.value / WIN  # in [-1, 1]
        proof = PROVEN_WIN if value > 0 else LOSS if value < 0 else DRAW
        proven = PROVEN_NAMES[proof] if self.is_solved else ""
        return SearchReport(
            action=self.action,
            name=names[self.action],
            simulations=0,
            seconds=clock() - self._start,
            nodes=nodes,
            candidates=(
                Candidate(self.action, names[self.action], nodes, 0.5 + value / 2, proven),
            ),
            principal_variation=tuple(names[action] for action in self._full_variation()),
            proven=proven,
            title=f"alpha-beta search of {game.name}",
            depth=self.depth,
        )

    def _full_variation(self) -> list[int]:
        """Return the principal variation, continued by the best actions in the table."""
        game, table = self._agent.game, self._agent.workspace[3].view(np.recarray)
        batch = batch_of_one(game, self._agent.workspace[1][0])
        words, s, variation = as_words(batch), batch.view(np.recarray)[0], list(self.variation)
        with np.errstate(over="ignore"):  # the hash and kernels may wrap around
            for ply in range(self.depth):
                if ply == len(variation):
                    k = find(table, hash_of(words[0]), self._work["age"])
                    if k == NOT_FOUND or not _is_exact(table[k]):
                        break
                    variation.append(int(table[k].action))
                game.step(s, variation[ply])
                if game.is_terminal(s):
                    break
        return variation

    def _search(self, depth: int) -> None:
        """Search to one depth, or until the time is over, and keep the best action found."""
        root = self._frames[:1]
        root["player"], root["depth"], root["null_window"] = self._player, depth, 0
        root["alpha"], root["beta"] = NO_VALUE, -NO_VALUE
        self._work["level"] = 0
        value = STOPPED
        while value == STOPPED and not self._stopped:
            limit = int(self._work["nodes"]) + self._slice()
            value = self._run(*self._agent.workspace, limit)
            self._stopped = value == STOPPED and self._is_over()
        best, finished = int(root["best"][0]), value != STOPPED
        if finished:
            self.depth, self.is_solved = depth, not root["unsolved"][0]
        if self.action >= 0 and best == -WIN:
            # All actions lose: keep the best one of a lower depth, which delays the loss longest.
            self.value = best if finished else self.value
        elif best > NO_VALUE:
            self.action, self.value = int(root["best_action"][0]), best
            length = int(self._work["variation_length"][0])
            self.variation = tuple(self._work["variation"][0, :length].tolist())
        elif self.action < 0:
            s = self._agent.workspace[1].view(np.recarray)[0]
            self.action = self._agent.game.legal(s)[0]
            self.variation = (self.action,)

    def _slice(self) -> int:
        """Return the number of nodes until the next reading of the clock."""
        seconds, nodes = self._agent.seconds, int(self._work["nodes"])
        if seconds is None and self._agent.monitor is None:
            return MAX_SLICE
        if nodes < FIRST_SLICE:
            return FIRST_SLICE
        passed = max(clock() - self._start, 1e-6)  # above 0, as it is a divisor
        interval = MONITOR_SECONDS
        if seconds is not None:
            interval = min(seconds / NUM_SLICES, MONITOR_SECONDS)
        return max(MIN_SLICE, min(MAX_SLICE, int(nodes / passed * interval)))

    def _is_over(self) -> bool:
        """Return whether the time is over, or the monitor stops the search."""
        agent = self._agent
        if agent.seconds is not None and clock() - self._start >= agent.seconds:
            return True
        return agent.monitor is not None and self.action >= 0 and agent.monitor(self.report)


def _is_exact(entry: Any) -> bool:
    """Return whether an entry of the table holds an exact value, not a bound."""
    return bool(entry.lower == entry.upper or entry.lower == WIN or entry.upper == -WIN)
