"""OpenSpiel's Monte Carlo tree search in C++, called from Python once per move."""

from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from time import perf_counter

Run = Callable[[float], tuple[int, float]]  # seconds to run -> simulations, seconds passed


def prepare(game: str, simulations: int, uct_c: float = 2.0) -> tuple[dict[str, str], Run]:
    """Load a game, and search its opening once; return the version and a function that searches.

    Args:
        game: spec string of OpenSpiel, such as `"hex(board_size=11)"`.
        simulations: simulations per search, each with one random rollout.
        uct_c: exploration constant; rewards are in [-1, 1].
    """
    import pyspiel

    loaded = pyspiel.load_game(game)
    opening = loaded.new_initial_state()
    seeds = count()

    def search() -> None:
        seed = next(seeds)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        max_memory_mb, solve, verbose = 1000, False, False
        pyspiel.MCTSBot(
            loaded, evaluator, uct_c, simulations, max_memory_mb, solve, seed, verbose
        ).mcts_search(opening)

    def run(seconds: float) -> tuple[int, float]:
        searches = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            search()
            searches += 1
        return searches * simulations, passed

    search()
    return {"open_spiel": version("open_spiel")}, run
