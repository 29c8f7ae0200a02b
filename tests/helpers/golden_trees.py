"""Recorded search trees: cases, searches of each case, and digests of their trees.

`python tests/helpers/golden_trees.py` compares all cases with the file, compiled; with
`--interpreted`, as plain Python; with `--record`, it writes the file.
"""

import argparse
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.decoupled_search import DecoupledNetworkGuidedSearch
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.network.selection import NetworkSearchConfig, SelectionParams
from ludoteca.agents.search.policies import POLICIES
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.registry import make_game
from ludoteca.envs.rng import next_u64

FILE = Path(__file__).parents[1] / "golden" / "search_trees.json"
NODE_FIELDS = (
    "action",
    "visits",
    "value",
    "square",
    "first_child",
    "num_children",
    "num_visited",
    "mover",
    "proven",
)
AMAF_FIELDS = ("amaf_visits", "amaf_value")


@dataclass(frozen=True)
class Case:
    """Search of one position, or of a few, with a fixed seed.

    Attributes:
        game: spec string of the game.
        search: spec string of an agent, or the name of a network-guided search.
        plies: number of random plies before the position.
        moves: number of moves searched, with random replies (tree reuse).
        options: parameters of a network-guided search.
    """

    game: str
    search: str
    plies: int = 2
    moves: int = 1
    options: dict[str, Any] = field(default_factory=dict)


def make_cases() -> dict[str, Case]:
    """Return all cases by name."""
    cases = {}
    for policy in POLICIES:
        spec = f"mcts:policy={policy},simulations=80"
        cases[f"sequential {policy}"] = Case("tictactoe", spec)
        cases[f"simultaneous {policy}"] = Case("tron:rows=4,columns=4", spec)
    small = "connect4:rows=4,columns=4,connect=3"
    for name, options in {
        "solver": "solver=True",
        "solver exp3": "solver=True,policy=exp3",
        "solver puct": "solver=True,policy=puct",
        "transpositions": "transpositions=True",
        "amaf": "amaf=amaf",
        "rave": "amaf=rave",
        "grave": "amaf=grave,amaf.reference=5",
        "mast gibbs": "mast=gibbs",
        "mast greedy": "mast=greedy",
        "decisive win": "decisive=win",
        "decisive both": "decisive=both",
        "playout depth": "playout.depth=3,playout.evaluation=returns",
        "playouts": "playout.count=3",
        "playouts mast": "playout.count=3,playout.depth=6,mast=gibbs,decisive=win",
        "max_robust": "action_selection=max_robust",
        "mean": "action_selection=mean",
        "by policy": "action_selection=policy,policy=ucb_tuned",
        "fpu": "fpu=0.7",
        "fpu thompson": "fpu=0.7,policy=thompson",
        "draw": "draw=loss",
        "max_nodes": "max_nodes=20",
        "max_depth": "max_depth=2",
        "exploration linear": "exploration=linear,exploration.depth_decay=0.8",
        "exploration stdev": "exploration.stdev=root,policy=ucb_tuned",
        "all": "solver=True,transpositions=True,amaf=grave,amaf.reference=3,mast=greedy,"
        "decisive=both,fpu=0.9,draw=loss,policy=ucb_v",
    }.items():
        cases[f"connect4 {name}"] = Case(small, f"mcts:simulations=80,{options}", plies=4)
    larger = "connect4:rows=5,columns=5"
    cases["rule sheet playouts"] = Case(
        "gdl:path=tictactoe", "mcts:simulations=3,playout.count=33", plies=2
    )
    cases["connect4 reuse"] = Case(larger, "mcts:simulations=60,reuse=True", moves=3)
    cases["connect4 reuse rave"] = Case(larger, "mcts:simulations=60,reuse=True,amaf=rave", moves=3)
    cases["hex rave"] = Case("hex:board_size=4", "mcts:simulations=60,amaf=rave,policy=uct")
    cases["othello greedy"] = Case("othello:board_size=4", "mcts:simulations=40,playout=greedy")
    cases["othello evaluation"] = Case(
        "othello:board_size=6", "mcts:simulations=40,playout.depth=2,playout.evaluation=discs"
    )
    cases["othello solved"] = Case(
        "othello:board_size=4", "mcts:simulations=40,solver_empties=8", plies=5
    )
    for name, options in {
        "origin": "groups=origin",
        "captures": "groups=captures,solver=True,amaf=rave,fpu=0.7",
    }.items():
        cases[f"breakthrough {name}"] = Case(
            "breakthrough:rows=5,columns=4", f"mcts:simulations=60,{options}", plies=6
        )
    cases["sheep"] = Case(
        "sheep_and_wolf",
        "mcts:simulations=40,playout.depth=20,playout.evaluation=returns,solver=True",
    )
    for name, options in {
        "safe": "playout=safe",
        "playouts": "playout.count=3",
        "fpu": "fpu=0.7",
        "max_robust": "action_selection=max_robust",
        "mean": "action_selection=mean",
        "by policy": "action_selection=policy,policy=ucb_tuned",
        "draw": "draw=loss",
        "max_nodes": "max_nodes=20",
        "rave": "amaf=rave",
        "grave": "amaf=grave,amaf.reference=3",
        "mast": "mast=greedy",
        "max_depth": "max_depth=2",
        "exploration": "exploration=power,exploration.final=0.2,exploration.stdev=node",
    }.items():
        cases[f"tron {name}"] = Case("tron:rows=5,columns=5", f"mcts:simulations=60,{options}")
    geese = "hungry_geese:rows=4,columns=4,num_players=3"
    cases["geese"] = Case(geese, "mcts:simulations=30")
    cases["geese valid"] = Case(
        geese,
        "mcts:simulations=30,playout=valid,playout.depth=4,playout.evaluation=returns,policy=exp3",
    )
    for name, (game, search, options) in {
        "puct": (small, "puct", {}),
        "puct hex": ("hex:board_size=4", "puct", {}),
        "puct leaves": (small, "puct", {"leaf_batch": 4}),
        "puct noise": (small, "puct", {"dirichlet_fraction": 0.25}),
        "puct depth": (small, "puct", {"max_depth": 2}),
        "gumbel": (small, "gumbel", {}),
        "gumbel othello": ("othello:board_size=4", "gumbel", {"gumbel_scale": 1.0}),
        "uct": (small, "uct", {}),
        "uct leaves": ("othello:board_size=4", "uct", {"leaf_batch": 4}),
        "decoupled": ("tron:rows=5,columns=5", "decoupled", {}),
        "decoupled leaves": ("tron:rows=5,columns=5", "decoupled", {"leaf_batch": 4}),
        "decoupled geese": (geese, "decoupled", {"uniform_fraction": 0.25}),
        "decoupled geese leaves": (geese, "decoupled", {"leaf_batch": 4}),
    }.items():
        cases[f"network {name}"] = Case(game, search, options=options)
    return cases


def search_case(case: Case) -> dict[str, Any]:
    """Search the position of a case; return its root statistics and the digest of its tree."""
    game = make_game(case.game)
    s = position(game, case.plies, seed=1)
    if ":" in case.search:
        return _search_with_agent(game, case, s)
    states = game.empty(3)
    for k in range(len(states)):
        states[k] = position(game, case.plies, seed=1 + k)
    if case.search == "decoupled":
        return _search_decoupled(game, case, states)
    return _search_sequential(game, case, states)


def position(game: Game, plies: int, seed: int) -> Any:
    """Return the position after some random plies, earlier if the game ends there."""
    s = game.new(seed)
    for ply in range(plies):
        t = s.copy()
        _play(game, t, 10 * seed + ply)
        if game.is_terminal(t):
            break
        s = t
    return s


def _play(game: Game, s: Any, seed: int) -> None:
    """Play one ply; the seed determines the legal actions that are chosen."""
    if game.simultaneous:
        legal = [game.legal(s, p) for p in range(game.num_players)]
        game.step(
            s, np.array([a[(seed + p) % len(a)] if len(a) else 0 for p, a in enumerate(legal)])
        )
    else:
        actions = game.legal(s)
        game.step(s, actions[seed % len(actions)])


def _search_with_agent(game: Game, case: Case, s: Any) -> dict[str, Any]:
    """Search by an agent with playouts, several moves in a row if the case has them."""
    agent: Any = make_agent(case.search, game)
    rng = np.array([7], np.uint64)
    checksum, visits, actions = 0, [], []
    for move in range(case.moves):
        if case.moves > 1:
            report = agent.search(s, rng, agent.tree_of(0, 0))
        else:
            report = agent.search(s, rng)
        visits.append({one.name: one.visits for one in report.candidates})
        actions.append(report.action)
        checksum = zlib.crc32(
            repr((report.candidates, report.players, report.score)).encode(), checksum
        )
        checksum = zlib.crc32(repr(report.principal_variation).encode(), checksum)
        workspace = agent.tree_of(0, 0) if case.moves > 1 else agent._workspace
        for array in _tree(game, workspace):
            checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
        checksum = zlib.crc32(rng.tobytes(), checksum)
        if move < case.moves - 1:
            game.step(s, report.action)
            _play(game, s, move)
    return {"visits": visits, "actions": actions, "digest": f"{checksum:08x}"}


def _tree(game: Game, workspace: Any) -> list[NDArray[Any]]:
    """Return the columns of the arrays of the tree of an agent with playouts."""
    tree = workspace.trees[0]
    if game.simultaneous:
        nodes, arms = workspace.statistics()
        return [
            *(nodes[name] for name in ("joint", "parent", "visits")),
            *(arms[name] for name in ("visits", "value", "square")),
        ]
    nodes = tree.nodes[: tree.size]
    return [nodes[name] for name in NODE_FIELDS + AMAF_FIELDS]


def _search_sequential(game: Game, case: Case, states: NDArray[np.void]) -> dict[str, Any]:
    """Search three positions of a sequential game with a network that hashes its input."""
    options = dict(case.options)
    params = SelectionParams(max_depth=options.pop("max_depth", 0))
    config = NetworkSearchConfig(case.search, case.search != "uct", params)
    search = NetworkGuidedSearch(
        Encoder(game), len(states), 40, config, leaf_batch=options.pop("leaf_batch", 1)
    )
    rng = np.random.default_rng(3) if options else None
    streams = np.arange(1, len(states) + 1, dtype=np.uint64).reshape(-1, 1)
    result = search.run(states, hashing_network(game), 40, rng, streams=streams, **options)
    trees, checksum = search.trees, zlib.crc32(streams.tobytes())
    for b in range(len(states)):
        size = int(trees.size[b])
        visits = trees.visits[b, :size]
        totals = 2 * trees.scores[b, :size] - visits  # of values in [-1, 1]
        nodes, children = trees.nodes[b, 1:size], np.full(visits.shape, -1)
        children[nodes["parent"], nodes["joint"]] = np.arange(1, size)
        checksum = zlib.crc32(visits.tobytes(), checksum)
        checksum = zlib.crc32(
            np.where(visits > 0, totals, 0).astype(np.float64).tobytes(), checksum
        )
        checksum = zlib.crc32(children.astype(np.int32).tobytes(), checksum)
    checksum = zlib.crc32(result.root_value.round(5).tobytes(), checksum)
    return {
        "visits": result.visit_counts.tolist(),
        "actions": result.action.tolist(),
        "digest": f"{checksum:08x}",
    }


def _search_decoupled(game: Game, case: Case, states: NDArray[np.void]) -> dict[str, Any]:
    """Search three positions of a simultaneous game with a network that hashes its input."""
    options = dict(case.options)
    search = DecoupledNetworkGuidedSearch(
        game, len(states), 40, leaf_batch=options.pop("leaf_batch", 1)
    )
    streams = np.arange(1, len(states) + 1, dtype=np.uint64).reshape(-1, 1)
    result = search.run(states, hashing_seat_network(game), 40, streams, **options)
    trees, checksum = search.trees, zlib.crc32(streams.tobytes())
    for b in range(len(states)):
        size = int(trees.size[b])
        for array in (
            *(trees.nodes[b, :size][name] for name in ("joint", "parent", "visits")),
            *(trees.arms[b, :size][name] for name in ("visits", "value")),
        ):
            checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
    return {"visits": result.visit_counts.tolist(), "digest": f"{checksum:08x}"}


def hashing_network(game: Game) -> Callable[[NDArray[np.int8]], Any]:
    """Return a network whose logits and values are hashes of its input, multiples of 1/64."""

    def evaluate(planes: NDArray[np.int8]) -> Any:
        return _outputs(planes.reshape(len(planes), -1), game.num_actions)

    return evaluate


def hashing_seat_network(game: Game) -> Callable[[NDArray[np.void], NDArray[np.int64]], Any]:
    """Return a network for simultaneous games whose outputs are hashes of position and player."""

    def evaluate(states: NDArray[np.void], seats: NDArray[np.int64]) -> Any:
        columns = [
            np.ascontiguousarray(states[name]).reshape(len(states), -1).astype(np.int64)
            for name in states.dtype.names or ()
            if name != "rng"
        ]
        logits, values = _outputs(np.column_stack([*columns, seats]), game.num_actions)
        weights = 1 + np.rint(8 * (logits + 1))
        return (weights / weights.sum(1, keepdims=True)).astype(np.float32), values

    return evaluate


def _outputs(rows: NDArray[Any], actions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return logits `[N, actions]` and values `[N]` that are hashes of rows `[N, K]`."""
    stream = np.array([5], np.uint64)
    with np.errstate(over="ignore"):
        # Random factors of 20 bits; 2654435761 is the multiplier of Knuth's multiplicative hash.
        factors = np.array([int(next_u64(stream)) >> 44 for _ in range(rows.shape[1])])
        mixed = (rows.astype(np.int64) @ factors + 1) * 2654435761 % (1 << 31)
        bits = (mixed[:, None] >> np.arange(actions + 1) % 17) * (3 + 2 * np.arange(actions + 1))
    logits = (bits[:, :-1] % 17 - 8) / 8
    values = (bits[:, -1] % 127 - 63) / 64
    return logits.astype(np.float32), values.astype(np.float32)


def main() -> None:
    """Compare all cases with the file, or record it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--interpreted", action="store_true")
    args = parser.parse_args()
    with interpreting(args.interpreted):
        results = {name: search_case(case) for name, case in make_cases().items()}
    if args.record:
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items())
        FILE.write_text(f"{{\n{lines}\n}}\n")
    recorded = json.loads(FILE.read_text())
    changed = [name for name in recorded | results if recorded.get(name) != results.get(name)]
    print(f"{len(results)} cases, {len(changed)} differ: {', '.join(changed)}")


if __name__ == "__main__":
    main()
