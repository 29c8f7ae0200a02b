"""Tests of leaf parallelization: each leaf is evaluated by the mean of several playouts."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from boards import EVERY_GAME, small_game
from chance_games import write
from search_trees import agent_tree, check_tree, play

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.search.config import SearchConfig, plays_together
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

# A gambler whose choices do not matter: the last of three tosses decides.
TOSSES = """
(role gambler) (role random) (init (count 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(side heads) (side tails)
(<= (legal ?r ?s) (role ?r) (side ?s))
(<= (next (count ?n)) (true (count ?m)) (succ ?m ?n))
(<= (next (shown ?s)) (does random ?s))
(<= terminal (true (count 3)))
(<= (goal gambler 100) (true (shown heads))) (<= (goal gambler 0) (not (true (shown heads))))
"""


def search(spec: str, game: Game, s: Any = None, seed: int = 5) -> tuple[Any, Any]:
    """Search a position, by default the first; return the agent and its report."""
    agent: Any = make_agent(spec, game)
    with np.errstate(over="ignore"):
        report = agent.search(game.new() if s is None else s, np.array([seed], np.uint64))
    return agent, report


def random_score(game: Game, s: Any, player: int) -> float:
    """Return the expected score of a player if all players choose uniformly from now on."""
    if game.is_terminal(s):
        out = np.zeros(game.num_players)
        game.returns(s, out)
        return 0.5 + 0.5 * float(out[player])
    if game.simultaneous:
        actions: Any = [
            np.array(a) for a in product(*(game.legal(s, p) for p in range(game.num_players)))
        ]
    else:
        actions = game.legal(s)
    scores = []
    for action in actions:
        child = s.copy()
        game.step(child, action)
        scores.append(random_score(game, child, player))
    return float(np.mean(scores))


def test_values_of_actions_are_those_of_random_play() -> None:
    game = make_game("tictactoe")
    s = play(game, "b2", "a1", "c1", "a3")
    _, report = search("mcts:policy=uniform,max_depth=1,simulations=50,playout.count=40", game, s)
    for one in report.candidates:
        child = s.copy()
        game.step(child, one.action)
        expected = random_score(game, child, 0)
        assert abs(one.mean - expected) < 4 * 0.5 / np.sqrt(one.visits * 40)


def test_values_of_simultaneous_actions_are_those_of_random_play() -> None:
    game = make_game("tron:rows=3,columns=3")
    s = game.new()
    _, report = search("mcts:policy=uniform,max_depth=1,simulations=200,playout.count=4", game)
    for one in report.candidates:
        scores = []
        for other in game.legal(s, 1):
            child = s.copy()
            game.step(child, np.array([one.action, other]))
            scores.append(random_score(game, child, 0))
        # The opponent's first action varies between simulations, not between their playouts.
        assert abs(one.mean - np.mean(scores)) < 4 * 0.5 / np.sqrt(one.visits)


@pytest.mark.slow
@pytest.mark.compiled
def test_values_in_the_prisoners_dilemma_are_those_of_random_play() -> None:
    # Points of a random round: 1.5 by cooperation, 3 by defection, 2.25 on average. Ten rounds.
    game = make_game("gdl:path=prisoners_dilemma")
    _, report = search("mcts:policy=uniform,max_depth=1,simulations=400,playout.count=600", game)
    expected = {"cooperate": (1.5 + 9 * 2.25) / 50, "defect": (3 + 9 * 2.25) / 50}
    assert len(report.candidates) == 2
    for one in report.candidates:
        value = next(value for name, value in expected.items() if name in one.name)
        # The opponent's first action changes the points by 1.5 or 2 around their mean.
        assert one.mean == pytest.approx(value, abs=4 * 2 / 50 / np.sqrt(one.visits) + 0.001)


def test_playouts_are_played_together_unless_they_depend_on_each_other() -> None:
    game = make_game("gdl:path=tictactoe")
    assert plays_together(game, SearchConfig(many_playouts=True))
    assert not plays_together(game, SearchConfig())
    assert not plays_together(game, SearchConfig(many_playouts=True, mast="gibbs"))
    assert not plays_together(game, SearchConfig(many_playouts=True, decisive="win"))
    assert not plays_together(make_game("tictactoe"), SearchConfig(many_playouts=True))


@pytest.mark.parametrize(
    ("sheet", "options"),
    [
        ("tictactoe", "playout.count=40,simulations=2"),
        ("tictactoe", "playout.count=33,simulations=3,playout.depth=2,transpositions=True"),
        pytest.param("tictactoe", "playout.count=520,simulations=1", marks=pytest.mark.slow),
        pytest.param("prisoners_dilemma", "playout.count=33,simulations=1", marks=pytest.mark.slow),
    ],
)
def test_playouts_together_equal_playouts_one_by_one(sheet: str, options: str) -> None:
    require_equal_searches(sheet, options)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("sheet", ["connect4", "breakthrough", "tron"])
def test_compiled_playouts_together_equal_playouts_one_by_one(sheet: str) -> None:
    for playouts in (31, 64, 65, 600):
        require_equal_searches(sheet, f"playout.count={playouts},simulations=60")


def require_equal_searches(sheet: str, options: str) -> None:
    """Require the same search of a rule sheet with and without `Game.many`."""
    game = make_game(f"gdl:path={sheet}")
    assert game.many is not None
    results = []
    for each in (game, replace(game, many=None)):
        agent, report = search(f"mcts:{options}", each)
        work = agent._workspace.trees[0].work
        results.append((report.candidates, report.action, work["rng"].tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("id_", EVERY_GAME)
def test_every_game_is_searched_and_visits_add_up(id_: str) -> None:
    game = small_game(id_)
    agent, report = search("mcts:simulations=20,playout.count=3", game, game.new(3))
    assert report.simulations == sum(one.visits for one in report.candidates) == 20
    assert all(0 <= one.mean <= 1 for one in report.candidates if one.visits)
    if not game.simultaneous:
        check_tree(agent_tree(agent))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_takes_the_winning_move(policy: str) -> None:
    game = make_game("tictactoe")
    s = play(game, "a1", "a2", "b1", "b2")
    spec = f"mcts:policy={policy},simulations=60,playout.count=4,action_selection=mean"
    _, report = search(spec, game, s)
    assert report.name == "c1"
    assert {one.name: one.mean for one in report.candidates}["c1"] == 1


@pytest.mark.parametrize(
    "options",
    [
        "solver=True", "transpositions=True", "mast=gibbs", "mast=greedy", "decisive=both",
        "fpu=0.7", "draw=loss", "max_nodes=20", "max_depth=2", "action_selection=max_robust",
        "tune=nmc,tune.alpha=0.5/2", "exploration=linear,exploration.stdev=root",
        "playout.depth=3", "policy=ucb_tuned,exploration.stdev=node",
        "solver=True,transpositions=True,mast=gibbs,decisive=win,fpu=0.9,draw=loss,policy=exp3",
    ],
)  # fmt: skip
def test_options_compose(options: str) -> None:
    game = make_game("connect4:rows=4,columns=4,connect=3")
    agent, report = search(f"mcts:simulations=15,playout.count=4,{options}", game)
    assert report.simulations >= 15 or report.proven
    check_tree(agent_tree(agent), exact="solver" not in options and "transp" not in options)


@pytest.mark.parametrize(
    "options", ["playout=safe", "playout.depth=2", "mast=greedy", "reuse=True"]
)
def test_options_compose_in_simultaneous_games(options: str) -> None:
    _, report = search(f"mcts:simulations=30,playout.count=5,{options}", make_game("tron:rows=4"))
    assert report.simulations == 30


@pytest.mark.parametrize("parallel", ["tree", "root"])
def test_threads_share_the_simulations(parallel: str) -> None:
    spec = f"mcts:simulations=21,playout.count=4,threads=2,parallel={parallel}"
    _, report = search(spec, make_game("tictactoe"))
    assert report.simulations == sum(one.visits for one in report.candidates) == 21


@pytest.mark.slow
@pytest.mark.compiled
def test_threads_play_together_in_memory_of_their_own() -> None:
    # The trees of root parallelization are those of single threads with the same random streams.
    game = make_game("gdl:path=connect4")
    options = "simulations=300,playout.count=64,threads=3,parallel=root"
    for _ in range(3):
        require_equal_searches("connect4", options)
    _, report = search(f"mcts:{options.replace('root', 'tree')}", game)
    assert report.simulations == 300


def test_searches_are_determined_by_the_seed() -> None:
    game, spec = make_game("tictactoe"), "mcts:simulations=30,playout.count=5"
    first, second, other = (search(spec, game, seed=seed)[1] for seed in (1, 1, 2))
    assert first.candidates == second.candidates != other.candidates
    agent, rngs = make_agent(spec, game), np.array([[1], [2]], np.uint64)
    states = game.empty(2)
    states[:] = game.new()
    actions = agent.act(states, np.zeros(2, np.int64), rngs, np.zeros(2, np.int64))
    assert actions.tolist() == [first.action, other.action]


def test_one_playout_is_the_search_without_the_option() -> None:
    game = make_game("tictactoe")
    one, plain = (make_agent(f"mcts:simulations=5{x}", game) for x in (",playout.count=1", ""))
    assert isinstance(one, MCTSAgent)
    assert isinstance(plain, MCTSAgent)
    assert one.config == plain.config
    assert (one._params == plain._params).all()
    assert len(one._workspace.trees[0].states) == 3


def test_a_visit_has_the_mean_score_of_its_playouts() -> None:
    # The variance of the mean of N playouts is an N-th of theirs.
    game, variances = make_game("tictactoe"), []
    s = play(game, "b2", "a1", "c3", "c1")
    for count in (1, 16):
        spec = f"mcts:max_depth=1,policy=uniform,simulations=200,playout.count={count}"
        agent, _ = search(spec, game, s)
        nodes = agent_tree(agent)[1:]
        means = nodes["value"] / nodes["visits"]
        variances.append((nodes["square"] / nodes["visits"] - means**2).mean())
    assert variances[0] / variances[1] == pytest.approx(16, rel=0.5)


def test_playouts_of_a_leaf_have_different_chance_events(tmp_path: Any) -> None:
    game = make_game(f"gdl:path={write(tmp_path, TOSSES)}")
    assert game.many is None
    agent, _ = search("mcts:max_depth=1,simulations=6,playout.count=40", game)
    tree = agent._workspace.trees[0]
    arms = tree.arms[0, 0] if game.simultaneous else tree.nodes[1:3]
    means = arms["value"] / arms["visits"]
    assert abs(means - 0.5).max() < 0.25
    assert (arms["square"] / arms["visits"] - means**2).max() < 0.05  # 0.25 / 40 is expected


def test_each_playout_updates_mast() -> None:
    game = make_game("tictactoe")
    agent, report = search("mcts:simulations=1,playout.count=7,mast=gibbs", game)
    work = agent._workspace.trees[0].work[0]
    chosen = report.action
    assert work["mast_visits"][0, chosen] == 7
    mean = work["mast_value"][0, chosen] / 7
    assert mean == pytest.approx(agent_tree(agent)["value"].sum())
    assert len({int(n) for n in work["mast_visits"][1]}) > 1


def test_the_first_reading_of_the_clock_is_earlier_with_many_playouts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[int] = []

    def run(count: int) -> bool:
        counts.append(count)
        return True

    search_for(1.0, 0.0, run, 2)
    assert counts == [2]
    chunks = []
    monkeypatch.setattr(
        "ludoteca.agents.search.tree_agent.search_for",
        lambda seconds, start, run, first_chunk: (chunks.append(first_chunk), run(first_chunk)),
    )
    for count in (1, 3, 64):
        search(f"mcts:seconds=60,playout.count={count}", make_game("tictactoe"))
    assert chunks == [8, 2, 1]


def test_search_with_a_clock_ends_in_time() -> None:
    game = make_game("tictactoe")
    agent: Any = make_agent("mcts:playout.count=4", game)
    agent.set_time_control(TimeControl(0.1))
    assert agent.search(game.new()).seconds < 5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts:playout.count=0", "playout.count must be an integer from 1 to 1,?000,?000, got 0"),
        ("mcts:playout.count=1.5", "playout.count must be an integer from 1"),
        ("mcts:playout.count=many", "playout.count must be an integer from 1"),
        ("mcts:playout.count=64,amaf=rave", "amaf='rave' needs playout.count=1: its visit counts"),
        (
            "mcts:playout.count=8,playout.depth=0",
            "playout.count=8 needs playouts of one ply or more, got playout.depth=0",
        ),
        ("mcts:playout.counts=8", "did you mean 'count'"),
    ],
)
@pytest.mark.parametrize("game", ["connect4", "tron"])
def test_invalid_numbers_of_playouts_raise(game: str, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(game))
