"""Leduc poker as a rule sheet, against its rules written in Python and against OpenSpiel."""

import numpy as np
import pytest
from chance_games import play, returns, true_fluents
from poker_games import ACTIONS, CARDS, CHIPS, card_and_moves, openspiel_state, percepts_of_game

from ludoteca.envs.engine.chance_outcomes import after_chance, starting_positions
from ludoteca.envs.gdl.game import dynamics
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted
GAME = "gdl:path=leduc_poker"


class Bets:
    """Bets of a hand after some moves.

    `mover` is the player to move; `legal` are its moves, none at the end of the hand; `round` is 0
    or 1; `paid` are the chips of both players; `folded` is the player who has folded, or None.
    """

    def __init__(self, moves):
        self.round, self.paid, self.folded = 0, [1, 1], None
        self.mover, self.raises, self.acted = 0, 0, 0
        for move in moves:
            assert move in self.legal
            self._apply(move)

    @property
    def legal(self):
        if self.folded is not None or self.round == 2:
            return set()
        owes = self.paid[self.mover] < max(self.paid)
        moves = {"fold", "call"} if owes else {"check"}
        return moves | {"raise"} if self.raises < 2 else moves

    def _apply(self, move):
        self.acted += 1
        if move == "fold":
            self.folded = self.mover
        elif move == "raise":
            self.paid[self.mover] = max(self.paid) + (2, 4)[self.round]
            self.raises += 1
        else:
            self.paid[self.mover] = max(self.paid)
        self.mover = 1 - self.mover
        if move in ("check", "call") and self.acted > 1:
            self.round, self.mover, self.raises, self.acted = self.round + 1, 0, 0, 0

    def chips(self, cards, public):
        """Return the chips that the first player wins."""
        if self.folded is not None:
            return self.paid[1] if self.folded == 1 else -self.paid[0]
        ranks = [card.split("_")[0] for card in (*cards, public)]
        order = ("jack", "queen", "king")
        strengths = [10 if rank == ranks[2] else order.index(rank) for rank in ranks[:2]]
        return int(np.sign(strengths[0] - strengths[1])) * self.paid[0]


def cards_of(game, s):
    """Return both cards and the public card, or None, of a position."""
    facts = [fluent[1:-1].split() for fluent in true_fluents(game, s) if "_of_" in fluent]
    has = {fact[1]: fact[2] for fact in facts if fact[0] == "has"}
    public = next((fact[1] for fact in facts if fact[0] == "public"), None)
    return (has["first"], has["second"]), public


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_line_of_bets_has_the_rules_of_its_reference(seed):
    game, results = make_game(GAME), set()

    def visit(s, moves):
        bets, (cards, public) = Bets(moves), cards_of(game, s)
        assert (public is None) == (bets.round == 0)
        assert game.is_terminal(s) == (not bets.legal)
        for player in range(2):
            planes = np.zeros(game.observation_shape, np.int8)
            game.observe(s, player, planes)
            percepts = percepts_of_game(game, planes)
            assert card_and_moves("leduc_poker", percepts) == (cards[player], public, moves)
            shown = {p for p in percepts if p.startswith("shown")}
            showdown = {f"shown first {cards[0]}", f"shown second {cards[1]}"}
            assert shown == (showdown if bets.round == 2 else set())
        if not bets.legal:
            chips = bets.chips(cards, public)
            assert returns(game, s) == pytest.approx([0.06 * chips, -0.06 * chips])
            results.add(abs(chips))
            return
        assert game.player(s) == bets.mover
        assert {game.action_names[a] for a in game.legal(s)} == bets.legal
        for move in bets.legal:
            after = s.copy()
            play(game, after, move)
            visit(after, [*moves, move])

    visit(game.new(seed), [])
    assert {1, 3, 5, 7, 9} <= results
    assert (13 in results) != (0 in results)  # equal cards without a pair split all pots


def test_dynamics_are_proved():
    found = dynamics(make_game(GAME))
    assert (found.proved, found.max_plies, found.max_plies_proved) == (True, 10, True)


def test_deals_are_uniform_over_the_pairs_of_cards():
    game = make_game(GAME)
    states, probabilities = starting_positions(game)
    deals = {cards_of(game, s)[0] for s in view_records(states)}
    assert deals == {(c, d) for c in CARDS["leduc_poker"] for d in CARDS["leduc_poker"] if c != d}
    assert probabilities == pytest.approx(np.full(30, 1 / 30))


@pytest.mark.slow
@pytest.mark.interpreted
def test_the_game_tree_is_that_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")
    spiel_game, game = pyspiel.load_game("leduc_poker"), make_game(GAME)
    numbers = CARDS["leduc_poker"].index
    information_sets, keys = {}, {}
    nodes = []
    for s in view_records(starting_positions(game)[0]):
        spiel = spiel_game.new_initial_state()
        for card in cards_of(game, s)[0]:
            spiel.apply_action(numbers(card))
        nodes.append((s, spiel))
    while nodes:
        s, spiel = nodes.pop()
        assert game.is_terminal(s) == spiel.is_terminal()
        if spiel.is_terminal():
            chips = [CHIPS["leduc_poker"] * score for score in returns(game, s)]
            assert chips == pytest.approx(spiel.returns())
            continue
        player, planes = game.player(s), np.zeros(game.observation_shape, np.int8)
        assert player == spiel.current_player()
        game.observe(s, player, planes)
        known = card_and_moves("leduc_poker", percepts_of_game(game, planes))
        text, key = spiel.information_state_string(), (player, planes.tobytes())
        assert openspiel_state(spiel_game, *known, player).information_state_string() == text
        # The observation has the whole information state of OpenSpiel, and no more.
        assert information_sets.setdefault(text, key) == key
        assert keys.setdefault(key, text) == text
        actions = {ACTIONS["leduc_poker"][game.action_names[a]]: a for a in game.legal(s)}
        assert sorted(actions) == spiel.legal_actions()
        for number, action in actions.items():
            child = spiel.child(number)
            if not child.is_chance_node():
                after = s.copy()
                play(game, after, game.action_names[action])
                nodes.append((after, child))
                continue
            begun = np.array([s], game.state)
            with np.errstate(over="ignore"):
                game.chance.begin(view_records(begun)[0], action)
            outcomes, _, probabilities = after_chance(game, begun, np.ones(1, np.bool_))
            turned = [numbers(cards_of(game, outcome)[1]) for outcome in view_records(outcomes)]
            assert dict(zip(turned, probabilities, strict=True)) == dict(child.chance_outcomes())
            nodes += zip(view_records(outcomes), map(child.child, turned), strict=True)
    assert len(information_sets) == len(keys) == 936
