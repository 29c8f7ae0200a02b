"""Results of Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018).

Percentages of games won over an entire training run.
"""

MIXED, HEURISTIC = "mixed:epsilon=0.2", "heuristic"  # the paper's opponents

# Table 4.1, the 12 best of 36 settings: percentage of wins by learning rate, gamma, epsilon, and
# number of convolutional layers.
GRID = {
    (0.01, 0.8, 0.1, 2): 69,
    (0.01, 0.9, 0.1, 1): 26,
    (0.1, 0.9, 0.1, 1): 14,
    (0.1, 0.8, 0.1, 1): 9,
    (0.1, 0.8, 0.25, 1): 9,
    (0.01, 0.8, 0.4, 2): 9,
    (0.1, 0.9, 0.25, 1): 9,
    (0.01, 0.9, 0.25, 1): 7,
    (0.01, 0.8, 0.25, 1): 4,
    (0.1, 0.8, 0.25, 2): 4,
    (0.01, 0.8, 0.1, 1): 4,
    (0.1, 0.8, 0.4, 1): 3,
}
# The values whose combinations are the 36 settings.
LEARNING_RATES, GAMMAS, EPSILONS, LAYERS = (0.01, 0.1), (0.8, 0.9, 0.99), (0.1, 0.25, 0.4), (2, 1)
BEST = 77  # table 4.2, 300,000 games
LAST_HUNDRED = 90  # figure 4.1: "above 90" of each 100 games at the end of training
# Table 4.3, against the heuristic: percentage of wins by mode of the experience, and games.
MODES = {
    ("simple", 150_000): 42,
    ("mirrored", 150_000): 72,
    ("simple", 300_000): 55,
    ("mirrored", 300_000): 80,
}
# Tables 4.4 (larger boards) and 4.5 (second player), by the name of our run.
BOARDS = {"board-6": 45, "board-7": 2, "board-8": 0.027, "second": 9}
# Figure 3.2, values of the cells for white, which is to move; -1 for occupied cells. The colors of
# the stones are only in the picture, which is not available.
FIGURE_3_2 = (
    (-1, 0.59, -1, -1, 0.80),
    (-1, -1, 0.68, 0.86, 1),
    (0.61, 0.65, 0.65, -1, 1),
    (-1, -1, -1, 0.82, 0.83),
    (-1, -1, 0.66, -1, 0.66),
)
