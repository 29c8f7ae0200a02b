"""Benchmark of search speed, optionally with peers (other packages): `ludoteca bench mcts`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ludoteca.agents.networks.int16_block import HAS_INT16
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.measures import Comparison, Group
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import measure_groups
from ludoteca.evaluate.bench.search_workload import NetworkSearchWorkload, SearchWorkload
from ludoteca.evaluate.bench.workloads import PeerWorkload
from ludoteca.evaluate.match_table import title_with_params

SIMULATIONS = 1000  # per move, as in the next two
THREADS_SIMULATIONS = 20_000  # enough for two threads to pay off
NETWORK_SIMULATIONS = 400
# Of uib2021: Martín Miralles, "Hungry Geese" (master's thesis, UIB, 2021).
GEESE_FLAT_PARAMETERS = {"simulations": 1000, "playout_depth": 6}
# Exploration is c/2 sqrt(2 ln N / n) for our scores in [0, 1] and uct_c sqrt(ln N / n) for those of
# OpenSpiel in [-1, 1], a range of twice the size: c = sqrt(2), our default, equals uct_c = 2.
UCT = "mcts:policy=uct"
# Descriptions of the timed work, for `Comparison.timed`.
ENTIRE_MOVE = "entire time of a move"
OUR_UCT = f"one thread, uct with c = sqrt(2), random playouts; {ENTIRE_MOVE}"
OPENSPIEL_UCT = "C++ MCTSBot, uct_c = 2, RandomRolloutEvaluator(1), solve = False: mcts_search"


def bench_mcts(
    peers: bool, json: Path | None, seconds: float = 2.0, only: tuple[str, ...] = ()
) -> Report:
    """Run the benchmark, print the table, and write all numbers as JSON.

    Args:
        peers: measure the installed peers (other packages), too.
        json: file for the results; None: no file.
        seconds: time per workload, all rounds together; in the report as `seconds_per_side`, as
            each side of a comparison, ours or the peer's, is one workload.
        only: names of groups of workloads, or their prefixes (`"threads"`); all by default.

    Raises:
        ValueError: if there is no such group, or `seconds` is not positive.
    """
    title = "search speed from the opening"
    return measure_groups(search_groups(), title, json, seconds, only, peers=peers)


def search_groups() -> dict[str, Callable[[], Group]]:
    """Return the makers of the groups of workloads, by name, in the order of the report."""
    return {
        # The game here and in OpenSpiel, and the floor.
        "othello": partial(versus_openspiel, "othello", "othello", 25),
        "hex": partial(versus_openspiel, "hex:board_size=11", "hex(board_size=11)", 10),
        "connect4": partial(versus_openspiel, "connect4", "connect_four", 5),
        "breakthrough": partial(
            versus_openspiel, "breakthrough", "breakthrough(rows=6,columns=6)", 5
        ),
        "tictactoe_large": partial(versus_openspiel, "tictactoe_large", "mnk(m=5,n=5,k=5)", 15),
        "threads_othello": partial(threads_group, "othello"),
        "threads_hex": partial(threads_group, "hex:board_size=11"),
        "flat_hungry_geese": flat_geese_group,
        "network_othello": network_group,
    }


def versus_openspiel(game: str, openspiel: str, floor: float) -> Group:
    """Return the comparison of simulations per second with OpenSpiel's.

    Args:
        game: spec string of the game.
        openspiel: spec string of the same game in OpenSpiel.
        floor: ratio of ours to OpenSpiel's that has to be reached.
    """
    agent = f"{UCT},simulations={SIMULATIONS}"
    peer = partial(
        PeerWorkload, "openspiel", "openspiel_mcts", game=openspiel, simulations=SIMULATIONS
    )
    return Group(
        ours={"mcts": partial(SearchWorkload, game, agent, SIMULATIONS)},
        peers={"OpenSpiel": peer},
        comparisons=(
            Comparison(
                f"{_title(game)}, {SIMULATIONS:,} simulations, OpenSpiel",
                ours="mcts",
                peer="OpenSpiel",
                floor=floor,
                timed=(OUR_UCT, OPENSPIEL_UCT),
                unit="simulations/s",
            ),
        ),
    )


def threads_group(game: str) -> Group:
    """Return comparisons of two threads with one: tree parallelization and root parallelization."""
    agent = f"{UCT},simulations={THREADS_SIMULATIONS}"
    two_threads = {
        "in one tree": f"{agent},threads=2,parallel=tree",
        "in a tree each": f"{agent},threads=2,parallel=root",
    }
    specs = {"1 thread": agent} | {f"2 threads {how}": spec for how, spec in two_threads.items()}

    def versus_one_thread(how: str, ours: str | tuple[str, ...], floor: float | None) -> Comparison:
        return Comparison(
            f"{_title(game)}, {THREADS_SIMULATIONS:,} simulations, 2 threads {how} against 1",
            ours=ours,
            peer="1 thread",
            floor=floor,
            timed=(ENTIRE_MOVE, ENTIRE_MOVE),
            unit="simulations/s",
        )

    return Group(
        ours={
            name: partial(SearchWorkload, game, spec, THREADS_SIMULATIONS)
            for name, spec in specs.items()
        },
        comparisons=(
            *(versus_one_thread(how, f"2 threads {how}", None) for how in two_threads),
            versus_one_thread(
                "the better way", tuple(f"2 threads {how}" for how in two_threads), 1.7
            ),
        ),
    )


def flat_geese_group() -> Group:
    """Return the measurement of flat Monte Carlo in Hungry Geese, with the settings of uib2021.

    Martín Miralles, "Hungry Geese" (UIB, 2021), which is uib2021, reports 0.9 moves/s.
    """
    params = ",".join(f"{key}={value}" for key, value in GEESE_FLAT_PARAMETERS.items())
    return Group(
        ours={"flat": partial(SearchWorkload, "hungry_geese", f"flat:{params}", 1)},
        comparisons=(
            Comparison(
                "Hungry Geese, flat Monte Carlo, "
                f"{GEESE_FLAT_PARAMETERS['simulations']:,} simulations of depth "
                f"{GEESE_FLAT_PARAMETERS['playout_depth']}",
                ours="flat",
                peer="",
                floor=300,
                timed=(f"one thread, one goose's first move; {ENTIRE_MOVE}", ""),
                unit="moves/s",
            ),
        ),
    )


def network_group() -> Group:
    """Return comparisons of the network backends of a search, by the number of batched leaves."""
    leaf_batches = (1, 8, 16)
    settings = {"PyTorch": "backend=torch", "compiled network": "backend=compiled"}
    if HAS_INT16:
        settings["compiled network in int16"] = "backend=compiled,precision=int16"
    timed = "one thread, CPU time, positions of several stages, each with an empty cache"
    return Group(
        ours={
            f"{name} {count}": partial(
                NetworkSearchWorkload,
                "othello",
                f"az:othello,simulations={NETWORK_SIMULATIONS},leaf_batch={count},{setting}",
                NETWORK_SIMULATIONS,
            )
            for name, setting in settings.items()
            for count in leaf_batches
        },
        comparisons=tuple(
            Comparison(
                f"{_title('othello')}, az:othello, {count} leaves together, {name} against PyTorch",
                ours=f"{name} {count}",
                peer=f"PyTorch {count}",
                floor=None,
                timed=(timed, timed),
                unit="simulations/s",
            )
            for name in settings
            if name != "PyTorch"
            for count in leaf_batches
        ),
    )


def _title(game: str) -> str:
    return title_with_params(make_game(game))
