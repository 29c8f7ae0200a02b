"""Baseline agents: uniformly random, and greedy with one ply of lookahead."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent, CompiledAgent, PolicyAgent
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.record_views import view_records
from ludoteca.envs.rng import below, next_u64


class RandomAgent(PolicyAgent):
    """Uniformly random agent."""

    def __init__(self, game: Game):
        super().__init__(game, uniform)

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the same probability for each legal action. Shape `[K, num_actions]`."""
        probabilities = np.zeros((len(states), self.game.num_actions))
        for k, s in enumerate(view_records(states)):
            legal = (
                self.game.legal(s, int(seats[k])) if self.game.simultaneous else self.game.legal(s)
            )
            probabilities[k, legal] = 1 / len(legal)
        return probabilities


def greedy(game: Game) -> Agent:
    """Return the greedy agent, with the game's own greedy policy if it has one.

    In Othello it plays a move that flips the most discs, with ties broken at random; in Hungry
    Geese the step closest to food, like the `greedy` agent of kaggle-environments; in other games a
    winning move if there is one, otherwise a random move, see `OnePlyAgent`.
    """
    policy = find_knowledge(game).greedy
    return OnePlyAgent(game) if policy is None else PolicyAgent(game, policy)


class OnePlyAgent(CompiledAgent):
    """Agent that plays the action of the highest immediate return; ties are broken at random.

    The return of an unfinished game is 0, so the agent plays a winning move if there is one, and
    avoids moves that lose immediately. In simultaneous games it samples one random action for each
    opponent, and plays the best response.
    """

    def __init__(self, game: Game):
        super().__init__(game, make_one_ply(game))


@factory("agent")
def make_one_ply(game: Game) -> Any:
    """Return `act(states, seats, rngs, actions)`, which writes `actions`, int64 `[K]`."""
    legal_actions, step, returns = game.legal_actions, game.step, game.returns
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    action_dtype, has_chance = game.action_dtype, game.has_chance

    @compiled
    def act(states: Any, seats: Any, rngs: Any, actions: Any) -> None:
        next_states = states[:1].copy()
        legal = np.zeros(num_actions, action_dtype)
        joint = np.zeros(players, np.int64)
        scores = np.zeros(players)
        for i in range(len(states)):
            s, seat, rng = states[i], seats[i], rngs[i]
            # The same chance events for all actions; without chance, the number is not used.
            chance = next_u64(rng) if has_chance else rng[0]
            if simultaneous:
                for p in range(players):
                    n = legal_actions(s, p, legal)
                    joint[p] = legal[below(rng, n)] if n > 0 else 0
                n = legal_actions(s, seat, legal)
            else:
                n = legal_actions(s, legal)
            best, ties = -np.inf, 0
            for k in range(n):
                next_states[0] = s
                t = next_states[0]
                if has_chance:
                    t.rng[0] = chance  # not the game's own: agents must not know chance events
                if simultaneous:
                    joint[seat] = legal[k]
                    step(t, joint)
                else:
                    step(t, int(legal[k]))
                returns(t, scores)
                if scores[seat] > best:
                    best, ties = scores[seat], 0
                ties += int(scores[seat] == best)
                # Reservoir sampling among ties.
                if scores[seat] == best and below(rng, ties) == 0:
                    actions[i] = legal[k]

    return act


@kernel
def uniform(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return a uniformly random legal action."""
    return int(legal[below(rng, n)])
