"""Tests of agents that play solved endgames."""

import json
from typing import Any

import numpy as np
import pytest
from endgames import FFO, GAME

from ludoteca import make_agent, make_game
from ludoteca.agents.games.endgame import (
    solve_endgame,
)
from ludoteca.agents.search import MCTSAgent
from ludoteca.evaluate.match import play_match


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def choices(agent: Any, s: Any, seeds: int) -> set[str]:
    """Return the names of the actions of an agent in a position, with several random streams."""
    states = np.repeat(np.asarray(s[()]).reshape(1), seeds)
    rngs = np.arange(seeds, dtype=np.uint64).reshape(-1, 1)
    actions = agent.act(states, np.full(seeds, int(s.to_move)), rngs, np.arange(seeds))
    return {GAME.action_names[action] for action in actions}


@pytest.mark.slow
def test_tree_search_plays_endgames_perfectly() -> None:
    """Only d1 wins, by two discs."""
    known = FFO[3]
    assert known.best == (2, ("d1",))
    s = known.state()
    plain, exact = (
        make_agent(f"mcts:simulations=30,solver_empties={empty}", GAME) for empty in (13, 14)
    )
    assert choices(plain, s, 8) != {"d1"}
    assert choices(exact, s, 8) == {"d1"}


@pytest.mark.slow
def test_search_report_contains_the_solution() -> None:
    agent = MCTSAgent(GAME, simulations=20, solver_empties=14)
    agent.prepare()
    report = agent.search(FFO[3].state())
    assert (report.name, report.score, report.proven) == ("d1", 2, "win")
    assert (report.simulations, len(report.candidates)) == (0, 1)
    assert report.candidates[0].mean == 1
    assert report.principal_variation == solve_endgame(GAME, FFO[3].state()).principal_variation
    assert "proven win, exact score +2" in str(report)
    assert json.loads(report.to_json())["score"] == 2
    report = agent.search(FFO[22].state())
    assert (report.score, report.simulations) == (None, 20)
    assert "exact" not in str(report)


@pytest.mark.slow
def test_solver_does_not_change_search_before_the_endgame() -> None:
    plain, exact = (MCTSAgent(GAME, simulations=50, solver_empties=empty) for empty in (0, 12))
    assert choices(plain, GAME.new(), 6) == choices(exact, GAME.new(), 6)
    assert plain.search(GAME.new()).score is None


@pytest.mark.parametrize("more", ["", ",reuse=True", ",threads=2", ",seconds=0.001"])
@pytest.mark.interpreted
def test_games_are_played_to_the_end(more: str) -> None:
    game = make_game("othello:board_size=6")
    result = play_match(
        game, [f"mcts:simulations=3,solver_empties=6{more}", "random"], games=2, seed=3
    )
    assert result.games == 2


def test_endgames_of_other_games_are_refused() -> None:
    with pytest.raises(
        ValueError, match="hex has no endgame solver; games with one are othello, connect4"
    ):
        make_agent("mcts:solver_empties=10", make_game("hex"))
    with pytest.raises(ValueError, match="no parameter 'solver_empties' where all move at once"):
        make_agent("mcts:solver_empties=10", make_game("tron"))
    with pytest.raises(ValueError, match="solver_empties must be an integer from 0 to 60, got 61"):
        make_agent("mcts:solver_empties=61", GAME)
