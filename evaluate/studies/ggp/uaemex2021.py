"""Results of the thesis in General Game Playing (UAEMex, 2021), tables 4.37 to 4.41."""

import numpy as np
from numpy.typing import NDArray

POLICIES = ("ucb1", "etc", "ucb_tuned", "ucb_alpha1", "ucb_alpha2")
POLICY_NAMES = ("UCB", "ETC", "UCB-Tuned", "alpha1", "alpha2")

GAMES = (
    "atari_go",
    "breakthrough",
    "breakthrough_holes",
    "breakthrough_suicide",
    "knight_through",
    "sheep_and_wolf",
    "tictactoe_large",
    "free_for_all",
)
GAME_NAMES = (
    "Atari Go",
    "Breakthrough",
    "with Holes",
    "Suicide",
    "Knight-Through",
    "Sheep and Wolf",
    "Tic-Tac-Toe Large",
    "2P Free-For-All",
)

GAMES_PER_PAIR, REPEATS = 300, 3

# Wins in the 1200 games that each policy played of each game, by simulations a move: a row for each
# of GAMES, a column for each of POLICIES (table 4.37).
WINS: dict[int, NDArray[np.int64]] = {
    100: np.array(
        [
            [497, 612, 500, 711, 680],
            [494, 659, 473, 705, 669],
            [565, 571, 555, 649, 660],
            [629, 570, 584, 586, 631],
            [461, 514, 477, 771, 777],
            [594, 558, 603, 627, 618],
            [594, 547, 563, 575, 622],
            [544, 555, 552, 670, 672],
        ]
    ),
    1000: np.array(
        [
            [518, 619, 453, 704, 706],
            [522, 338, 540, 792, 808],
            [533, 324, 534, 820, 789],
            [572, 585, 539, 675, 629],
            [417, 624, 439, 743, 777],
            [612, 441, 619, 664, 664],
            [637, 221, 586, 692, 697],
            [484, 354, 489, 807, 853],
        ]
    ),
}

# Friedman's statistic, not corrected for ties, on 4 degrees of freedom (section 4.4).
FRIEDMAN = {100: 20.8, 1000: 24.625}

# Two-sided exact p of the Wilcoxon signed-rank tests (tables 4.40 and 4.41). Of alpha1 against
# alpha2 the thesis says only that p is at least 0.2.
WILCOXON = {
    100: {
        ("ucb_alpha1", "ucb1"): 0.054680,
        ("ucb_alpha1", "etc"): 0.007812,
        ("ucb_alpha1", "ucb_tuned"): 0.007812,
        ("ucb_alpha2", "ucb1"): 0.007812,
        ("ucb_alpha2", "etc"): 0.007812,
        ("ucb_alpha2", "ucb_tuned"): 0.007812,
    },
    1000: {
        ("ucb_alpha1", "ucb1"): 0.007812,
        ("ucb_alpha1", "etc"): 0.007812,
        ("ucb_alpha1", "ucb_tuned"): 0.007812,
        ("ucb_alpha2", "ucb1"): 0.007812,
        ("ucb_alpha2", "etc"): 0.007812,
        ("ucb_alpha2", "ucb_tuned"): 0.007812,
    },
}
