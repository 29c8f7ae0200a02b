"""Agents and networks of the study on Othello."""

ITERATIONS = (50, 200, 800)
SECONDS = 0.02  # per move, at equal time
LEAVES = 16  # leaves per batch of the network, at equal time
UCT = "mcts:policy=uct,policy.c=1.4142135623730951,action_selection=mean"  # the paper's
SHIPPED = "othello"  # name of the AlphaZero network that comes with the package
# One line for each competitor that goes beyond the paper: its name, and its spec string.
COMPETITORS = {
    "az": f"az:{SHIPPED},simulations=200,leaf_batch=8,solver_empties=10,precision=auto",
}
TIMES = 10  # factor of our own UCT's time over a competitor's
# Opponent and number of the games of each network, and its view, by name.
SIZES = {
    "random-1k": ("random", 1_000, "second"),
    "random-10k": ("random", 10_000, "second"),
    "random-100k": ("random", 100_000, "second"),
}
READINGS = {
    "random-10k-mover": ("random", 10_000, "mover"),
    "self-10k": ("self", 10_000, "second"),
    "self-10k-mover": ("self", 10_000, "mover"),
}
NETWORKS = SIZES | READINGS
MOST_GAMES = "random-100k"  # network that stands for the paper's agent against others
# Time or iterations of a match, and their names in the report.
BUDGETS = (*map(str, ITERATIONS), "time")
TITLES = (*(f"{count} iterations" for count in ITERATIONS), f"{SECONDS:g} s a move")
# The networks of 10,000 games: the opponent of their games, and the view.
NOISE = ("random-10k", "random-10k-mover", "self-10k", "self-10k-mover")
NOISE_ITERATIONS = (50, 200)
OPPONENTS = {"random": "random moves", "self": "itself"}
VIEWS = {"second": "white", "mover": "player to move"}
# Opponent and view of each network, two cells of tables.
ORIGINS = {
    name: f"{OPPONENTS[opponent]} | {VIEWS[view]}" for name, (opponent, _, view) in NETWORKS.items()
}

# Other readings of the paper: the network chooses the moves of the playouts; a tree of one level.
# A playout evaluates some 500 positions, so that the network is a small one.
SMALL_FILTERS, SMALL_HIDDEN = 8, 32
PLAYOUT_ITERATIONS, PLAYOUT_SECONDS = 20, 0.05
LEVEL_SECONDS = 0.005
