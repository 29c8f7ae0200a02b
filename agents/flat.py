"""Flat Monte Carlo agent: playouts after each legal action, without a tree."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import CompiledAgent
from ludoteca.agents.flat_together import make_simulate_together, together_fields
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.agents.playouts import choose_playout, playout_policy
from ludoteca.agents.random_ply import make_random_ply
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import MAX_TOGETHER, Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import below, next_u64

# Indices of the two positions in `states`: the one to act in, and the current one of a simulation.
START, CURRENT = range(2)
# Simulations that are played together have states of their own, after these two.
NUM_STATES = 2


class FlatAgent(CompiledAgent):
    """Flat Monte Carlo agent: it plays the action with the highest mean reward of random playouts.

    A simulation is a first action and random actions of all players, at most `playout_depth` plies
    in all. Except in Hungry Geese, the reward is the return (0 for an unfinished game), and
    simulations take the legal first actions in turn (round robin). Chance events are sampled anew
    in each simulation. In games that have `Game.many`, simulations are played together.

    Hungry Geese is played as in Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.3: random
    "valid" moves, including the first, and the reward `length_to_the_fifth`. The thesis does not
    define valid moves. Here a valid move leads to a free cell (`playout="safe"`): four such agents
    reach about the lengths of geese in figure 7 of the thesis. If a valid move is any move that
    does not turn back (`playout="valid"`), as for the random goose in section 2.1, geese stay much
    shorter.

    Attributes:
        simulations: simulations per move without a time limit.
        seconds: time per move, or None.
    """

    def __init__(
        self,
        game: Game,
        simulations: int = 1000,
        playout_depth: int | None = None,
        playout: str = "",
        seconds: float | None = None,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            simulations: simulations per move.
            playout_depth: maximum plies of a simulation; by default 6 in Hungry Geese, otherwise
                unlimited.
            playout: `"uniform"`, `"valid"` or `"safe"`, see `ludoteca.agents.playouts`. The default
                is `"safe"` in Hungry Geese, otherwise `"uniform"`.
            seconds: time per move, instead of a number of simulations.

        Raises:
            ValueError: if a parameter is out of range.
        """
        self.simulations = check_integer("simulations", simulations, 1, 10**9)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self.playout, self.playout_depth = choose_playout(game, playout, playout_depth, min_depth=1)
        self._work = np.zeros(1, work_dtype(game))
        act = make_act(game, self.playout)
        super().__init__(
            game,
            act,
            game.empty(num_states(game)),
            self._work,
            0,
            self.simulations,
            self.playout_depth,
        )

    def set_time_control(self, time_control: TimeControl) -> None:
        """Run simulations for the time of the clock, instead of a given number."""
        self.seconds = time_control.thinking_seconds

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose an action for each position; with a time limit, one position after the other."""
        if self.seconds is None or len(states) == 0:
            return super().act(states, seats, rngs, env_indices)
        actions = np.zeros(len(states), np.int64)
        for k in range(len(states)):
            row = slice(k, k + 1)
            self._act_in_time(self.seconds, states[row], seats[row], rngs[row], actions[row])
        return actions

    def _act_in_time(
        self,
        seconds: float,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        actions: NDArray[np.int64],
    ) -> None:
        """Write the action after the simulations of `seconds` to `actions`.

        The only legal action is chosen at once. All arrays have one row.
        """
        records, work, *_ = self._extra_args
        finished = 0

        def run(count: int) -> bool:
            """Run `count` more simulations; return whether there is nothing to choose."""
            nonlocal finished
            self._act(
                states, seats, rngs, records, work, finished, count, self.playout_depth, actions
            )
            finished += count
            return bool(work["num_legal"][0] <= 1)

        search_for(seconds, clock(), run)

    def means(self, s: Any, seat: int, rng: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the mean reward of each action in one position. Shape `[num_actions]`.

        It is NaN for actions without simulations, such as illegal ones.

        Args:
            s: the position, a record as `Game.new` returns.
            seat: the player to act.
            rng: random stream, uint64 `[1]`, advanced in place.
        """
        self.act(
            batch_of_one(self.game, s), np.array([seat]), rng.reshape(1, 1), np.zeros(1, np.int64)
        )
        visits, totals = self._work["visits"][0], self._work["total"][0]
        return np.where(visits > 0, totals / np.maximum(visits, 1), np.nan)


def num_states(game: Game) -> int:
    """Return the number of states that an agent needs."""
    return NUM_STATES + (MAX_TOGETHER if game.many is not None else 0)


def work_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of an agent's workspace."""
    players, actions = game.num_players, game.num_actions
    return np.dtype(
        [
            ("total", np.float64, (actions,)),  # sum of rewards, by first move
            ("scores", np.float64, (players,)),  # returns of the players
            ("joint", np.int64, (players,)),  # joint action
            ("num_legal", np.int64),  # number of legal first moves
            ("visits", np.int32, (actions,)),  # number of simulations, by first move
            ("legal", game.action_dtype, (actions,)),  # legal actions of a player
            ("first", game.action_dtype, (actions,)),  # legal first moves
            *together_fields(game, num_states(game)),
        ],
        align=True,
    )


@factory("search")
def make_act(game: Game, playout: str) -> Callable[..., None]:
    """Return `act(positions, seats, rngs, states, work, finished, simulations, depth, actions)`.

    It runs `simulations` of at most `depth` plies for each position, after `finished` ones, whose
    statistics are in `work`; 0 begins anew. It writes the chosen `actions`, int64 `[K]`, for
    `positions` `[K]` and their `seats` `[K]`. Position k uses the random stream `rngs[k]`, uint64
    `[K, 1]`. Workspaces are `states`, `num_states` records, and `work`, one record of `work_dtype`.
    """
    simulate = simulate_kernel(game, playout)

    @compiled_without_allocation
    def act(
        positions: Any,
        seats: Any,
        rngs: Any,
        states: Any,
        work: Any,
        finished: int,
        simulations: int,
        depth: int,
        actions: Any,
    ) -> None:
        for k in range(len(positions)):
            states[START] = positions[k]
            actions[k] = simulate(states, seats[k], rngs[k], work[0], finished, simulations, depth)

    return act  # type: ignore[no-any-return]


@factory()
def simulate_kernel(game: Game, playout: str) -> Callable[..., int]:
    """Return `simulate(states, seat, rng, work, finished, simulations, playout_depth) -> action`.

    It searches the position `states[START]`, and leaves the sum of rewards and the visit count of
    each action in `work.total` and `work.visits`, and the number of legal actions in
    `work.num_legal`. `finished` simulations of the same position are continued, unless it is 0.
    """
    legal_actions, is_terminal, returns = game.legal_actions, game.is_terminal, game.returns
    fast_playout = cast(Any, game.playout)  # uniformly random to the end of the game
    simultaneous, num_actions = game.simultaneous, game.num_actions
    has_chance = game.has_chance
    choose = playout_policy(playout, game)
    play = make_random_ply(game, choose, game.step)
    own_reward = cast(Any, find_knowledge(game).playout_reward)
    has_own_reward = own_reward is not None
    has_fast_playout = fast_playout is not None and playout == "uniform" and not has_own_reward
    max_plies = game.max_plies
    together = game.many is not None and not has_own_reward
    simulate_together: Any = None
    if together:
        simulate_together = make_simulate_together(game, playout, START, NUM_STATES)

    @kernel
    def playout_reward(s: Any, seat: int, plies: int, work: Any) -> float:
        """Return the reward of `seat` after a simulation of `plies` plies, including the first."""
        if has_own_reward:
            return float(own_reward(s, seat, plies))
        returns(s, work.scores)
        return float(work.scores[seat])

    @kernel
    def best_action(rng: Any, work: Any) -> int:
        """Return the action of the highest mean, with ties broken uniformly at random."""
        best, ties, sampled = -np.inf, 0, 0
        for action in range(num_actions):
            if work.visits[action] > 0:
                mean = work.total[action] / work.visits[action]
                if mean > best:
                    best, ties = mean, 0
                ties += int(mean == best)
                if mean == best and below(rng, ties) == 0:
                    sampled = action
        return sampled

    @kernel
    def simulate(
        states: Any,
        seat: int,
        rng: Any,
        work: Any,
        finished: int,
        simulations: int,
        playout_depth: int,
    ) -> int:
        if finished == 0:
            work.visits[:] = 0
            work.total[:] = 0.0
        s = states[CURRENT]
        if simultaneous:
            n = legal_actions(states[START], seat, work.first)
        else:
            n = legal_actions(states[START], work.first)
        work.num_legal = n
        if n == 0:
            return 0
        if together:
            simulate_together(states, seat, rng, work, finished, simulations, playout_depth, n)
            return best_action(rng, work)
        for i in range(finished, finished + simulations):
            states[CURRENT] = states[START]
            if has_chance:
                s.rng[0] = next_u64(rng)
            # Simulations begin at random in games with a reward of their own (Hungry Geese), in
            # others in round robin.
            first = int(
                choose(s, seat, work.first, n, rng) if has_own_reward else work.first[i % n]
            )
            play(s, seat, first, rng, work)
            plies, over = 1, is_terminal(s)
            if has_fast_playout and playout_depth >= max_plies:
                if not over:
                    fast_playout(s, work.legal, rng)
            else:
                while plies < playout_depth and not over:
                    play(s, seat, -1, rng, work)
                    plies += 1
                    over = is_terminal(s)
            work.visits[first] += 1
            work.total[first] += playout_reward(s, seat, plies, work)
        return best_action(rng, work)

    return simulate
