"""Results of the thesis on General Game Playing (UAEMex, 2021), tables 4.37 to 4.41.

Its author and title are in `ludoteca.evaluate.studies.bandits.uaemex2021`.
"""

import numpy as np

# Parameters of each policy in a spec string, by its name in this package.
SPECS = {
    "ucb1": "policy=ucb1,policy.alpha=2",
    "etc": "policy=etc,policy.m=2",
    "ucb_tuned": "policy=ucb_tuned",
    "ucb_alpha1": "policy=ucb_alpha1",
    "ucb_alpha2": "policy=ucb_alpha2",
}
POLICIES = tuple(SPECS)
POLICY_NAMES = ("UCB", "ETC", "UCB-Tuned", "alpha1", "alpha2")  # names in the report
GAMES_PER_PAIR, REPEATS = 300, 3  # games per pair and game, and matches into which they are divided
PLAYED = GAMES_PER_PAIR * (len(POLICIES) - 1)  # number of games that each policy plays of each game

# Wins in the 1200 games that each policy played of each game (table 4.37): name of the game in this
# package, its title, and the wins of each of POLICIES with 100 and with 1000 simulations per move.
_WINS = """
atari_go             Atari Go          497 612 500 711 680  518 619 453 704 706
breakthrough         Breakthrough      494 659 473 705 669  522 338 540 792 808
breakthrough_holes   with Holes        565 571 555 649 660  533 324 534 820 789
breakthrough_suicide Suicide           629 570 584 586 631  572 585 539 675 629
knight_through       Knight-Through    461 514 477 771 777  417 624 439 743 777
sheep_and_wolf       Sheep and Wolf    594 558 603 627 618  612 441 619 664 664
tictactoe_large      Tic-Tac-Toe Large 594 547 563 575 622  637 221 586 692 697
free_for_all         2P Free-For-All   544 555 552 670 672  484 354 489 807 853
"""
_ROWS = [(line[:21].strip(), line[21:39].strip(), line[39:].split())
         for line in _WINS.strip().splitlines()]  # fmt: skip
GAMES, GAME_NAMES = tuple(row[0] for row in _ROWS), tuple(row[1] for row in _ROWS)
_TABLE = np.array([row[2] for row in _ROWS], np.int64)
# Wins by the number of simulations per move. Shape `[8, 5]`: GAMES, POLICIES.
WINS = {100: _TABLE[:, :5], 1000: _TABLE[:, 5:]}

# Friedman's statistic by the number of simulations per move, not corrected for ties, with 4 degrees
# of freedom (section 4.4).
FRIEDMAN = {100: 20.8, 1000: 24.625}
# Two-sided exact p-values of the Wilcoxon signed-rank tests (tables 4.40 and 4.41). For alpha1
# against alpha2 the thesis reports only that p is at least 0.2.
WILCOXON = {
    simulations: {(ours, old): 0.007812 for ours in POLICIES[3:] for old in POLICIES[:3]}
    for simulations in WINS
}
WILCOXON[100]["ucb_alpha1", "ucb1"] = 0.054680
