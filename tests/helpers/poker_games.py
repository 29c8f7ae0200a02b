"""Kuhn and Leduc poker: percepts in observations, policies by percepts, states of OpenSpiel."""

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.envs.gdl.game import rules
from ludoteca.envs.gdl.percepts import percept_names

CARDS = {
    "kuhn_poker": ("jack", "queen", "king"),
    "leduc_poker": tuple(
        f"{rank}_of_{suit}" for rank in ("jack", "queen", "king") for suit in ("hearts", "spades")
    ),
}  # in the order of OpenSpiel's numbers
ACTIONS = {
    "kuhn_poker": {"check": 0, "fold": 0, "bet": 1, "call": 1},
    "leduc_poker": {"fold": 0, "check": 1, "call": 1, "raise": 2},
}  # OpenSpiel's numbers
CHIPS = {"kuhn_poker": 2, "leduc_poker": 50 / 3}  # of a return of 1


def percepts_of_game(game, planes):
    """Return the percepts of a player since the start of the game, from its observation."""
    names = percept_names(rules(game))
    known = planes.reshape(-1)[len(names) : 2 * len(names)]
    return {names[i][1:-1] for i in np.flatnonzero(known)}


def card_and_moves(name, percepts):
    """Return the own card, the public card or None, and the moves, from a player's percepts."""
    words = [percept.split() for percept in percepts]
    (card,) = (w[1] for w in words if w[0] == "card")
    public = next((w[1] for w in words if w[0] == "public"), None)
    if name == "leduc_poker":
        moves = [w[2] for w in sorted((w for w in words if w[0] == "did"), key=lambda w: int(w[1]))]
    else:
        moves = [w[2] for w in words if w[:2] == ["did", "first"] and w[2] in ("check", "bet")]
        moves += [w[2] for w in words if w[:2] == ["did", "second"]]
    return card, public, moves


class PerceptAgent(Agent):
    """Agent whose probabilities are a function of its percepts.

    `policy(card, public, moves, player)` returns probabilities by action name.
    """

    def __init__(self, game, policy):
        super().__init__(game)
        self.policy, self.observer = policy, Observer(game)

    def action_probabilities(self, states, seats):
        """Return the probabilities of all actions, `[K, num_actions]`."""
        planes, _ = self.observer.observe(states, seats)
        probabilities = np.zeros((len(states), self.game.num_actions))
        name = self.game.params["path"]
        for k in range(len(states)):
            known = card_and_moves(name, percepts_of_game(self.game, planes[k]))
            for action, probability in self.policy(*known, int(seats[k])).items():
                probabilities[k, self.game.action_names.index(action)] = probability
        return probabilities

    def act(self, states, seats, rngs, env_indices):
        raise NotImplementedError  # only the probabilities are used


def kuhn_equilibrium(alpha):
    """Return the equilibrium of Kuhn poker with parameter alpha from 0 to 1/3, a policy.

    https://en.wikipedia.org/wiki/Kuhn_poker#Optimal_strategy
    """

    def policy(card, public, moves, player):
        if moves == []:
            aggressive = {"jack": alpha, "queen": 0, "king": 3 * alpha}[card]
        elif moves == ["check"]:
            aggressive = {"jack": 1 / 3, "queen": 0, "king": 1}[card]
        elif moves == ["bet"]:
            aggressive = {"jack": 0, "queen": 1 / 3, "king": 1}[card]
        else:
            assert moves == ["check", "bet"]
            aggressive = {"jack": 0, "queen": alpha + 1 / 3, "king": 1}[card]
        names = ("call", "fold") if "bet" in moves else ("bet", "check")
        return dict(zip(names, (aggressive, 1 - aggressive), strict=True))

    return policy


def openspiel_state(spiel_game, card, public, moves, player):
    """Return a state of OpenSpiel's game in which a player knows the same."""
    name = spiel_game.get_type().short_name
    cards = CARDS[name]
    other = next(c for c in cards if c not in (card, public))
    state = spiel_game.new_initial_state()
    for dealt in (card, other) if player == 0 else (other, card):
        state.apply_action(cards.index(dealt))
    for move in moves:
        if state.is_chance_node():
            state.apply_action(cards.index(public))
        state.apply_action(ACTIONS[name][move])
    if state.is_chance_node():
        state.apply_action(cards.index(public))
    return state
