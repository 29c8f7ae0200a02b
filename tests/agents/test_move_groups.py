"""Move groups: partitions by name, and selections against formulas in plain Python."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from search_trees import agent_tree, check_tree

from ludoteca.agents.move_groups import find_move_groups
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.select import UNKNOWN
from ludoteca.agents.search.sequential.search import search_kernel
from ludoteca.agents.search.sequential.tree import UNEXPANDED
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted
ALPHA = 0.5


def partition(game: Game, name: str, s: Any) -> set[frozenset[str]]:
    """Return the groups of the legal actions of a position, as names of actions."""
    group = find_move_groups(name, game)
    parts: dict[int, set[str]] = {}
    with np.errstate(over="ignore"):
        for action in game.legal(s):
            number = group(s, action)
            assert 0 <= number < game.num_actions
            parts.setdefault(number, set()).add(game.action_names[action])
    return {frozenset(names) for names in parts.values()}


def groups(*names: str) -> set[frozenset[str]]:
    """Return groups, each given by the names of its actions."""
    return {frozenset(each.split()) for each in names}


def test_partitions_by_the_layout() -> None:
    game = make_game("breakthrough:rows=6,columns=3")
    s = game.new()
    for move in ("a2-a3", "c5-c4"):
        game.step(s, game.action_names.index(move))
    by_cell = ("c2-b3 c2-c3", "b1-a2", "a3-a4 a3-b4", "b2-b3 b2-c3", "a1-a2")
    assert partition(game, "origin", s) == groups(*by_cell)
    by_row = ("b1-a2 a1-a2", "c2-b3 c2-c3 b2-b3 b2-c3", "a3-a4 a3-b4")
    assert partition(game, "row", s) == groups(*by_row)
    hex_game = make_game("hex:board_size=2,swap=True")
    s = hex_game.new()
    hex_game.step(s, 0)
    assert partition(hex_game, "row", s) == groups("b1", "a2 b2", "swap")
    assert partition(hex_game, "column", s) == groups("a2", "b1 b2", "swap")


@pytest.mark.parametrize("name", ["breakthrough", "knight_through", "free_for_all"])
def test_captures_are_the_moves_that_remove_a_piece(name: str) -> None:
    game, captured = make_game(name), 0
    for seed in range(3):
        s, rng = game.new(seed), np.random.default_rng(seed)
        while not game.is_terminal(s):
            parts = partition(game, "captures", s)
            capturing = set()
            for action in game.legal(s):
                t = s.copy()
                with np.errstate(over="ignore"):
                    game.step(t, action)
                opponent = 1 - int(s["to_move"])
                if int(t["pieces"][opponent]) != int(s["pieces"][opponent]):
                    capturing.add(game.action_names[action])
            others = {game.action_names[action] for action in game.legal(s)} - capturing
            assert parts == {frozenset(part) for part in (capturing, others) if part}
            captured += bool(capturing)
            with np.errstate(over="ignore"):
                game.step(s, rng.choice(game.legal(s)))
    assert captured > 10


def test_contact_moves_of_atari_go_are_beside_a_stone() -> None:
    game = make_game("atari_go:board_size=3")
    s = game.new()
    assert len(partition(game, "contact", s)) == 1
    game.step(s, game.action_names.index("b2"))
    assert partition(game, "contact", s) == groups("a1 a3 c1 c3", "a2 b1 b3 c2")


def ucb1(value: float, visits: float, t: int) -> float:
    """Return the score of UCB1."""
    return value / visits + math.sqrt(ALPHA * math.log(t) / visits)


def expected_children(children: Any, group_of: dict[int, int], solver: bool) -> set[int]:
    """Return the actions that may be selected, by sums over groups of open children."""
    is_open = (children["proven"] == UNKNOWN) | (not solver)
    members: dict[int, list[Any]] = {}
    for child, each_open in zip(children, is_open, strict=True):
        if each_open:
            members.setdefault(group_of[int(child["action"])], []).append(child)
    visits = {g: sum(int(child["visits"]) for child in each) for g, each in members.items()}
    if min(visits.values()) == 0:
        chosen = {g for g in members if visits[g] == 0}
    else:
        t = int(children["visits"].sum()) + 1
        scores = {
            g: ucb1(sum(child["value"] for child in each), visits[g], t)
            for g, each in members.items()
        }
        chosen = {g for g in scores if scores[g] > max(scores.values()) - 1e-12}
    result = set()
    for g in chosen:
        unvisited = {int(child["action"]) for child in members[g] if child["visits"] == 0}
        if unvisited:
            result |= unvisited
            continue
        scores = {
            int(child["action"]): ucb1(child["value"], child["visits"], visits[g] + 1)
            for child in members[g]
        }
        result |= {a for a in scores if scores[a] > max(scores.values()) - 1e-12}
    return result


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize(
    ("spec", "name"), [("breakthrough:rows=4,columns=3", "origin"), ("tictactoe", "row")]
)
def test_selected_children_are_those_of_two_bandits(spec: str, name: str, solver: bool) -> None:
    game, simulations = make_game(spec), 120
    policy = f"ucb1:alpha={ALPHA}"
    agent = MCTSAgent(game, policy=policy, simulations=simulations, groups=name, solver=solver)
    tree = agent._workspace.trees[0]
    tree.reset(game.new(), 5)
    nodes, table, states = (view_records(a) for a in (tree.nodes, tree.table, tree.states))
    work, params = view_records(tree.work)[0], view_records(agent._params)
    search, group, checked = search_kernel(game, agent.config), find_move_groups(name, game), 0
    for _ in range(simulations):
        before = tree.nodes[: tree.size].copy()
        with np.errstate(over="ignore"):
            search(nodes, tree.shared, table, states, tree.words, work, params, 1)
        s, path = game.new(), [int(node) for node in tree.work["path"][0]]
        for parent, child in pairwise(path):
            if parent >= len(before) or before[parent]["first_child"] == UNEXPANDED:
                break
            first, n = (int(before[parent][key]) for key in ("first_child", "num_children"))
            if not first <= child < first + n:
                break  # below the leaf: the path of an earlier simulation
            children = before[first : first + n]
            group_of = {int(a): group(s, int(a)) for a in children["action"]}
            action = int(tree.nodes[child]["action"])
            if solver and not (children["proven"] == UNKNOWN).any():
                break
            assert action in expected_children(children, group_of, solver)
            checked += 1
            with np.errstate(over="ignore"):
                game.step(s, action)
    assert checked > simulations


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "thompson"},
        {"policy": "puct", "fpu": 0.6},
        {"policy": "omc_stochastic"},
        {"solver": True, "transpositions": True, "amaf": "rave", "decisive": "both"},
        {"exploration": "linear:stdev=root"},
    ],
    ids=str,
)
def test_groups_compose_with_other_options(options: dict[str, Any]) -> None:
    game = make_game("breakthrough:rows=5,columns=4")
    agent = MCTSAgent(game, simulations=60, groups="captures", **options)
    agent.search(game.new())
    check_tree(agent_tree(agent), exact="solver" not in options)


@pytest.mark.parametrize(
    ("game", "spec", "message"),
    [
        ("hex", "mcts:groups=origin", "hex has no move groups 'origin'; expected one of row, col"),
        ("hex", "mcts:groups=rows", r"did you mean 'row'\?"),
        ("connect4", "mcts:groups=row", "connect4 has no move groups 'row'; it has none"),
        ("hex", "mcts:groups=row,policy=exp3", "groups need a policy without statistics of its"),
        ("hex", "mcts:groups=row,policy=puct,action_selection=policy", "has no priors of moves"),
        ("tron", "mcts:groups=row", "has no parameter 'groups' where all move at once"),
    ],
)
def test_invalid_groups_are_refused(game: str, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(game))
    with pytest.raises(ValueError, match="groups must be the name of a partition, got True"):
        MCTSAgent(make_game("hex"), groups=True)
