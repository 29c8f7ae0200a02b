"""Measures of environment speed: workloads, comparisons with peers (other packages), and floors.

Unless a comparison says otherwise, a round is random legal play in one thread, and its time
includes a user's entire loop: sampling of actions, steps, observations, legal actions, resets.
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
MANY_ENVS = 8192  # for comparisons of thread pools
REPLAYED_GAMES = 200
ENGINE_GAMES = {
    "connect4": "connect4",
    "hex": "hex:board_size=11",
    "hungry_geese": "hungry_geese",
}

# Descriptions of the timed work, for `Comparison.timed`.
VECTOR = (
    f"native vector environment, self-play, B = {NUM_ENVS}, next-step autoreset, action sampling "
    "included"
)
INSIDE_STEP = f"time within step() only: B = {NUM_ENVS}, resets, observations and masks included"
OPENSPIEL = "legal_actions(), random.choice, apply_action(), is_terminal(), observation_tensor()"
PGX = (
    f"vmapped step of {NUM_ENVS} games with auto_reset in a compiled loop, action sampling included"
)
PGX_FAST_SAMPLING = "sampled with one random number per game"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two workloads of a group.

    Attributes:
        measure: name of the measure, for the table.
        ours: name of our workload, or names of several, of which the fastest counts.
        peer: name of the workload to compare with; `""`: none.
        floor: minimum of the ratio of the rates, or of our rate without a peer; None: no minimum,
            the result is for information.
        timed: descriptions of the timed work: ours, the peer's.
        inside: whether only the time within the environment's `step` counts: ours, the peer's.
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
    """Group of workloads that alternate, and their comparisons.

    Attributes:
        ours: makers of our workloads, by name.
        comparisons: the comparisons to report.
        peers: makers of the peers' workloads, by name; they run only on request.
    """

    ours: Mapping[str, Callable[[], Workload]]
    comparisons: tuple[Comparison, ...]
    peers: Mapping[str, Callable[[], Workload]] = field(default_factory=dict)


def groups() -> dict[str, Callable[[], Group]]:
    """Return the makers of the groups of workloads, by name, in the order of the report."""
    return {
        # The game here, in OpenSpiel and in pgx; the floors for OpenSpiel and for pgx.
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
    """Return comparisons of the vector environment with OpenSpiel's Python loop and with pgx.

    Args:
        game: spec string of the game.
        openspiel: spec string of the same game in OpenSpiel.
        pgx: id of the same game in pgx.
        openspiel_floor: ratio of our speed to OpenSpiel's that has to be reached.
        pgx_floor: ratio of our speed to that of pgx on one core that has to be reached.
    """
    title = make_game(game).title
    pgx_workload = partial(PeerWorkload, "pgx", "pgx_vector", game=pgx, num_envs=NUM_ENVS)

    def versus(peer: str, floor: float | None, peer_title: str, peer_timed: str) -> Comparison:
        return Comparison(
            f"{title} vector, {peer_title}", "vector", peer, floor, (VECTOR, peer_timed)
        )

    return Group(
        ours={"vector": partial(VectorWorkload, game, NUM_ENVS)},
        peers={
            "OpenSpiel": partial(
                PeerWorkload, "openspiel", "openspiel_loop", game=openspiel, sample_actions=True
            ),
            "OpenSpiel replay": partial(
                PeerWorkload, "openspiel", "openspiel_loop", game=openspiel, sample_actions=False
            ),
            "pgx": partial(pgx_workload, cores=1, sampler="count"),
            "pgx act_randomly": partial(pgx_workload, cores=1, sampler="act_randomly"),
            "pgx all cores": partial(pgx_workload, cores=0, sampler="count"),
        },
        comparisons=(
            versus("OpenSpiel", openspiel_floor, "OpenSpiel with tensors", OPENSPIEL),
            versus(
                "pgx act_randomly",
                pgx_floor,
                "pgx on one core",
                f"{PGX}: pgx.experimental.act_randomly; one core",
            ),
            versus(
                "pgx",
                None,
                "pgx with faster action sampling",
                f"{PGX}: {PGX_FAST_SAMPLING}; one core",
            ),
            versus(
                "pgx all cores",
                None,
                "pgx with faster action sampling, all cores",
                f"{PGX}: {PGX_FAST_SAMPLING}; all cores",
            ),
            Comparison(
                f"{title} vector, OpenSpiel, action sampling excluded",
                ours="vector",
                peer="OpenSpiel replay",
                floor=None,
                timed=(INSIDE_STEP, f"recorded games: {OPENSPIEL.replace('random.choice, ', '')}"),
                inside=(True, False),
            ),
        ),
    )


def hungry_geese_group() -> Group:
    """Return the comparison of Hungry Geese with kaggle-environments; a step moves all geese."""
    return Group(
        ours={"vector": partial(VectorWorkload, "hungry_geese", NUM_ENVS)},
        peers={"kaggle-environments": partial(PeerWorkload, "kaggle", "kaggle_geese")},
        comparisons=(
            Comparison(
                "Hungry Geese vector, kaggle-environments",
                ours="vector",
                peer="kaggle-environments",
                floor=2000,
                timed=(
                    f"{VECTOR}; all four geese uniform over 4 actions; 4 views of 17 planes a step",
                    "env.step([...]) and env.reset(4); all four geese random.choice of 4 actions",
                ),
            ),
        ),
    )


def deterministic_geese_group() -> Group:
    """Return the measurement of the agent `deterministic` in Hungry Geese.

    The positions come from all stages of games.
    """
    return Group(
        ours={"agent": partial(AgentWorkload, "hungry_geese", "deterministic")},
        comparisons=(
            Comparison(
                "Hungry Geese, the deterministic agent",
                ours="agent",
                peer="",
                floor=200_000,
                timed=("one thread, positions of games against greedy, in one batch", ""),
                unit="moves/s",
            ),
        ),
    )


def python_loops_group() -> Group:
    """Return comparisons of Python loops that step one game of Connect Four at a time."""
    games = random_games("connect4", REPLAYED_GAMES)
    loop = "agent_iter/last/step loop and reset(), replaying recorded games"
    return Group(
        ours={"AEC": partial(AECWorkload, games), "single": SingleEnvWorkload},
        peers={"PettingZoo": partial(PeerWorkload, "pettingzoo", "pettingzoo_aec", games=games)},
        comparisons=(
            Comparison(
                "AEC Connect Four, action sampling excluded",
                ours="AEC",
                peer="PettingZoo",
                floor=5,
                timed=(
                    f"pettingzoo.make: {loop}",
                    f"connect_four_v3.env(): {loop}, the same games",
                ),
            ),
            Comparison(
                "Gymnasium Connect Four, random opponent, action sampling excluded",
                ours="single",
                peer="PettingZoo",
                floor=5,
                timed=(
                    "gymnasium.make(opponent='random'): step() and reset(), replaying recorded "
                    "actions; moves of both players; the opponent's action sampling is timed",
                    f"connect_four_v3.env(): {loop}",
                ),
            ),
        ),
    )


def threads_group(game: str) -> Group:
    """Return the comparison of a vector environment with two threads with one with one thread."""
    timed = f"time within step() only: B = {MANY_ENVS}, "
    return Group(
        ours={
            f"threads: {n}": partial(VectorWorkload, game, MANY_ENVS, num_threads=n) for n in (1, 2)
        },
        comparisons=(
            Comparison(
                f"{make_game(game).title} vector, 2 threads against 1, B = {MANY_ENVS}",
                ours="threads: 2",
                peer="threads: 1",
                floor=1.7,
                timed=(f"{timed}2 threads", f"{timed}1 thread"),
                inside=(True, True),
            ),
        ),
    )


def engine_group(game: str, num_envs: int) -> Group:
    """Return the comparison of the vector environment's thread pool with `ThreadPoolExecutor`."""
    title = f"{make_game(game).title} vector, B = {num_envs}"
    timed = f"time within step() only: B = {num_envs}"
    ours, plain = "thread pool that spins", "ThreadPoolExecutor"
    return Group(
        ours={
            ours: partial(VectorWorkload, game, num_envs, num_threads=2),
            plain: partial(PlainThreadsWorkload, game, num_envs, num_threads=2),
        },
        comparisons=(
            Comparison(
                f"{title}, {ours} against {plain}, 2 threads",
                ours=ours,
                peer=plain,
                floor=None,
                timed=(f"{timed}; 2 threads", f"{timed}; 2 threads"),
                inside=(True, True),
            ),
        ),
    )
