"""Measures of environment speed: workloads, comparisons with peers, and floors.

Unless a comparison says otherwise, a round is random legal play in one thread, and its time
includes a user's whole loop: choosing, stepping, observations, legal actions, resets.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.bench.engine_workloads import PlainThreadsWorkload
from ludoteca.evaluate.bench.own_workloads import (
    AECWorkload,
    AgentWorkload,
    SingleEnvWorkload,
    VectorWorkload,
    random_games,
)
from ludoteca.evaluate.bench.workloads import PeerWorkload, Workload

NUM_ENVS = 1024
MANY_ENVS = 8192
REPLAYED_GAMES = 200
ENGINE_GAMES = {
    "connect4": "connect4",
    "hex": "hex:board_size=11",
    "hungry_geese": "hungry_geese",
}

VECTOR = (
    f"native vector environment, self-play, B = {NUM_ENVS}, next-step autoreset, choosing timed"
)
INSIDE = f"time within step() only: B = {NUM_ENVS}, resets, observations and masks included"
OPEN_SPIEL = "legal_actions(), random.choice, apply_action(), is_terminal(), observation_tensor()"
PGX = f"vmapped step of {NUM_ENVS} games with auto_reset in a compiled loop, choosing included"
ONE_DRAW = "one random number per game"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two workloads of a group, by name.

    Attributes:
        measure: name of the measure, for the table.
        ours: our workload, or several, of which the fastest counts.
        peer: the peer's workload; `""` without a peer.
        floor: ratio to reach, or our rate without a peer; None: for information.
        timed: description of the timed work, ours and the peer's.
        inside: whether only the time within `step` counts, ours and the peer's.
        unit: unit of the rates.
    """

    measure: str
    ours: str | tuple[str, ...]
    peer: str
    floor: float | None
    timed: tuple[str, str]
    inside: tuple[bool, bool] = (False, False)
    unit: str = "steps/s"


@dataclass(frozen=True)
class Group:
    """Workloads that alternate, and their comparisons.

    Attributes:
        ours: makers of our workloads, by name.
        comparisons: the comparisons to report.
        peers: makers of the peers' workloads, which run only on request.
    """

    ours: Mapping[str, Callable[[], Workload]]
    comparisons: tuple[Comparison, ...]
    peers: Mapping[str, Callable[[], Workload]] = field(default_factory=dict)


def groups() -> dict[str, Callable[[], Group]]:
    """Return the groups by name, in the order of the report."""
    return {
        "othello": partial(vector_group, "othello", "othello", "othello", 40, 15),
        "hex": partial(vector_group, "hex:board_size=11", "hex(board_size=11)", "hex", 10, 5),
        "connect4": partial(vector_group, "connect4", "connect_four", "connect_four", 15, 4),
        "hungry_geese": hungry_geese_group,
        "deterministic_geese": deterministic_geese_group,
        "python_loops": python_loops_group,
        **{f"threads_{name}": partial(threads_group, name) for name in game_names()},
        **{
            f"engine_{name}_{num_envs}": partial(engine_group, game, num_envs)
            for name, game in ENGINE_GAMES.items()
            for num_envs in (NUM_ENVS, MANY_ENVS)
        },
    }


def game_names() -> tuple[str, ...]:
    """Return the names of all games."""
    return tuple(factory.partition(":")[2] for factory in GAMES.values())


def vector_group(
    game: str, openspiel: str, pgx: str, openspiel_floor: float, pgx_floor: float
) -> Group:
    """Compare the vector environment with OpenSpiel's loop and with pgx."""
    title = make_game(game).title
    pgx_workload = partial(PeerWorkload, "pgx", "pgx_vector", game=pgx, num_envs=NUM_ENVS)

    def versus(peer: str, floor: float | None, what: str, how: str) -> Comparison:
        return Comparison(f"{title} vector, {what}", "vector", peer, floor, (VECTOR, how))

    return Group(
        ours={"vector": partial(VectorWorkload, game, NUM_ENVS)},
        peers={
            "OpenSpiel": partial(
                PeerWorkload, "openspiel", "openspiel_loop", game=openspiel, choosing=True
            ),
            "OpenSpiel replay": partial(
                PeerWorkload, "openspiel", "openspiel_loop", game=openspiel, choosing=False
            ),
            "pgx": partial(pgx_workload, cores=1, choice="count"),
            "pgx act_randomly": partial(pgx_workload, cores=1, choice="act_randomly"),
            "pgx all cores": partial(pgx_workload, cores=0, choice="count"),
        },
        comparisons=(
            versus("OpenSpiel", openspiel_floor, "OpenSpiel with tensors", OPEN_SPIEL),
            versus(
                "pgx act_randomly",
                pgx_floor,
                "pgx on one core",
                f"{PGX}: pgx.experimental.act_randomly; one core",
            ),
            versus("pgx", None, "pgx made to choose faster", f"{PGX}: {ONE_DRAW}; one core"),
            versus(
                "pgx all cores",
                None,
                "pgx made to choose faster, all cores",
                f"{PGX}: {ONE_DRAW}; all cores",
            ),
            Comparison(
                f"{title} vector, OpenSpiel, choosing excluded",
                "vector",
                "OpenSpiel replay",
                None,
                (INSIDE, f"recorded games: {OPEN_SPIEL.replace('random.choice, ', '')}"),
                (True, False),
            ),
        ),
    )


def hungry_geese_group() -> Group:
    """Compare Hungry Geese with the original; a step moves all geese."""
    return Group(
        ours={"vector": partial(VectorWorkload, "hungry_geese", NUM_ENVS)},
        peers={"kaggle-environments": partial(PeerWorkload, "kaggle", "kaggle_geese")},
        comparisons=(
            Comparison(
                "Hungry Geese vector, kaggle-environments",
                "vector",
                "kaggle-environments",
                2000,
                (
                    f"{VECTOR}; all four geese uniform over 4 actions; 4 views of 17 planes a step",
                    "env.step([...]) and env.reset(4); all four geese random.choice of 4 actions",
                ),
            ),
        ),
    )


def deterministic_geese_group() -> Group:
    """Measure the agent `deterministic` in Hungry Geese, in positions of all stages of games."""
    return Group(
        ours={"agent": partial(AgentWorkload, "hungry_geese", "deterministic")},
        comparisons=(
            Comparison(
                "Hungry Geese, the deterministic agent",
                "agent",
                "",
                200_000,
                ("one thread, positions of games against greedy, all at once", ""),
                unit="moves/s",
            ),
        ),
    )


def python_loops_group() -> Group:
    """Compare the environments stepped one game at a time from Python, in Connect Four."""
    games = random_games("connect4", REPLAYED_GAMES)
    loop = "agent_iter/last/step loop and reset(), replaying recorded games"
    return Group(
        ours={"AEC": partial(AECWorkload, games), "single": SingleEnvWorkload},
        peers={"PettingZoo": partial(PeerWorkload, "pettingzoo", "pettingzoo_aec", games=games)},
        comparisons=(
            Comparison(
                "AEC Connect Four, choosing excluded",
                "AEC",
                "PettingZoo",
                5,
                (f"pettingzoo.make: {loop}", f"connect_four_v3.env(): {loop}, the same games"),
            ),
            Comparison(
                "Gymnasium Connect Four, random opponent, choosing excluded",
                "single",
                "PettingZoo",
                5,
                (
                    "gymnasium.make(opponent='random'): step() and reset(), replaying recorded "
                    "actions; moves of both players; the opponent's choices are timed",
                    f"connect_four_v3.env(): {loop}",
                ),
            ),
        ),
    )


def threads_group(game: str) -> Group:
    """Compare two threads with one."""
    how = f"time within step() only: B = {MANY_ENVS}, "
    return Group(
        ours={
            f"threads: {n}": partial(VectorWorkload, game, MANY_ENVS, num_threads=n) for n in (1, 2)
        },
        comparisons=(
            Comparison(
                f"{make_game(game).title} vector, 2 threads against 1, B = {MANY_ENVS}",
                "threads: 2",
                "threads: 1",
                1.7,
                (f"{how}2 threads", f"{how}1 thread"),
                (True, True),
            ),
        ),
    )


def engine_group(game: str, num_envs: int) -> Group:
    """Compare the engine's thread pool with `ThreadPoolExecutor`."""
    title = f"{make_game(game).title} vector, B = {num_envs}"
    how = f"time within step() only: B = {num_envs}"
    ours, plain = "thread pool that spins", "ThreadPoolExecutor"
    return Group(
        ours={
            ours: partial(VectorWorkload, game, num_envs, num_threads=2),
            plain: partial(PlainThreadsWorkload, game, num_envs, num_threads=2),
        },
        comparisons=(
            Comparison(
                f"{title}, {ours} against {plain}, 2 threads",
                ours,
                plain,
                None,
                (f"{how}; 2 threads", f"{how}; 2 threads"),
                (True, True),
            ),
        ),
    )
