"""Games from rule sheets with chance: sheets, steps, and a test statistic."""

from functools import cache

import numpy as np

from ludoteca.envs.gdl.board_layout import fluent_bits
from ludoteca.envs.gdl.game import rules

SHEETS = ("dice_race", "kriegspiel_tictactoe", "kuhn_poker", "leduc_poker")

# One player guesses coins, which are tossed while the player waits; the player sees the tosses.
COINS = """
(role guesser) (role random) (init (turn guesser)) (init (count 0)) (side heads) (side tails)
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r ?s) (true (turn ?r)) (side ?s))
(<= (legal guesser noop) (true (turn random))) (<= (legal random noop) (true (turn guesser)))
(<= (next (turn random)) (true (turn guesser))) (<= (next (turn guesser)) (true (turn random)))
(<= (next (guess ?s)) (does guesser ?s) (side ?s))
(<= hit (does random ?s) (true (guess ?s)))
(<= (next (count ?n)) (true (count ?m)) (succ ?m ?n) hit)
(<= (next (count ?n)) (true (count ?n)) (not hit))
(<= (next missed) (does random ?s) (side ?s) (not hit)) (<= (next missed) (true missed))
(<= terminal (true (count 3))) (<= terminal (true missed))
(<= (goal guesser 100) (true (count 3))) (<= (goal guesser 0) (not (true (count 3))))
"""
# Both players and chance show a side at the same time; a player who equals chance alone wins.
MATCH = """
(role a) (role b) (role random) (init start) (side heads) (side tails)
(<= (legal ?r ?s) (role ?r) (side ?s))
(<= (next (shown ?r ?s)) (does ?r ?s))
(<= terminal (true (shown random ?s)))
(<= (equal ?r) (true (shown ?r ?s)) (true (shown random ?s)))
(<= (player ?r) (role ?r) (distinct ?r random))
(<= (goal ?r 100) (player ?r) (equal ?r) (player ?q) (not (equal ?q)))
(<= (goal ?r 0) (player ?r) (not (equal ?r)) (player ?q) (equal ?q))
(<= (goal a 50) (equal a) (equal b)) (<= (goal b 50) (equal a) (equal b))
(<= (goal a 50) (not (equal a)) (not (equal b))) (<= (goal b 50) (not (equal a)) (not (equal b)))
"""


def write(tmp_path, text):
    """Write a rule sheet; return its path."""
    path = tmp_path / "sheet.kif"
    path.write_text(text)
    return str(path)


def true_fluents(game, s):
    network = rules(game)
    return {network.fluents[i] for i in np.flatnonzero(fluent_bits(s, len(network.fluents)))}


def play(game, s, name):
    with np.errstate(over="ignore"):
        game.step(s, game.action_names.index(name))


def returns(game, s):
    out = np.zeros(game.num_players)
    game.returns(s, out)
    return out.tolist()


def chi_square(counts, probabilities):
    """Return the chi-square statistic of counts by outcome."""
    total = sum(counts.values())
    assert set(counts) <= set(probabilities)
    return sum((counts[x] - total * p) ** 2 / (total * p) for x, p in probabilities.items())


@cache
def chance_to_win(own, other, policy):
    """Return the probability that the player to move wins the dice race, and that of each move.

    `policy`: both players play at random, or the best move.
    """
    values = []
    for steps in ((3,), (1, 2, 3, 4, 5, 6)):
        cells = [min(own + step, 20) for step in steps]
        wins = [1 if c == 20 else 1 - chance_to_win(other, c, policy)[0] for c in cells]
        values.append(sum(wins) / len(wins))
    return (sum(values) / 2 if policy == "random" else max(values)), tuple(values)
