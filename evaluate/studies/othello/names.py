"""Agents and networks of the study on Othello.

The paper is Sancho Cebrero and Fernández Limárquez, a report of the University of Seville, 2019.
"""

ITERATIONS = (50, 200, 800)  # simulations per move, which the paper calls iterations
SECONDS = 0.02  # time per move in matches at equal time
LEAVES = 16  # leaves per batch of the network in matches at equal time
UCT = "mcts:policy=uct,policy.c=1.4142135623730951,action_selection=mean"  # the paper's search
SHIPPED = "othello"  # name of the AlphaZero network that comes with the package
# Agents that are not in the paper, by name.
COMPETITORS = {
    "az": f"az:{SHIPPED},simulations=200,leaf_batch=8,solver_empties=10,precision=auto",
}
TIME_FACTOR = 10  # time per move of this package's MCTS, as a multiple of a competitor's
# The paper's networks: UCT's opponent in the training games, the number of these games, and the
# player from whose view the network sees the board.
SIZES = {
    "random-1k": ("random", 1_000, "second"),
    "random-10k": ("random", 10_000, "second"),
    "random-100k": ("random", 100_000, "second"),
}
# Networks with another opponent or view than the paper's.
VARIANTS = {
    "random-10k-mover": ("random", 10_000, "mover"),
    "self-10k": ("self", 10_000, "second"),
    "self-10k-mover": ("self", 10_000, "mover"),
}
NETWORKS = SIZES | VARIANTS
MOST_GAMES = "random-100k"  # the paper's network with the most training games
# Search budgets of the matches, and their titles in the report.
BUDGETS = (*map(str, ITERATIONS), "time")
TITLES = (*(f"{count} iterations" for count in ITERATIONS), f"{SECONDS:g} s a move")
# Networks that show the effect of label noise; all learn from 10,000 games.
NOISE = ("random-10k", "random-10k-mover", "self-10k", "self-10k-mover")
NOISE_ITERATIONS = (50, 200)  # simulations per move of the matches of these networks
# Texts of the report for the opponents and views of the networks.
OPPONENTS = {"random": "random moves", "self": "itself"}
VIEWS = {"second": "white", "mover": "player to move"}
# Opponent and view of each network, as two cells of a Markdown table.
ORIGINS = {
    name: f"{OPPONENTS[opponent]} | {VIEWS[view]}" for name, (opponent, _, view) in NETWORKS.items()
}

# Other readings of the paper: the network chooses the moves of the playouts; the tree has one
# level. A playout evaluates about 500 positions, so the network of these matches is small.
SMALL_FILTERS, SMALL_HIDDEN = 8, 32  # filters of its convolutions, and units of its hidden layer
PLAYOUT_ITERATIONS, PLAYOUT_SECONDS = 20, 0.05  # simulations, or time, per move of these matches
LEVEL_SECONDS = 0.005  # time per move of the matches with a tree of one level
