"""Tests of the arena's runs: tournaments in progress, trainings, and replays of run folders."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")

from starlette.testclient import TestClient

from ludoteca.evaluate.arena.runs import find_runs
from ludoteca.evaluate.arena.server import make_app
from ludoteca.evaluate.arena.tournament_view import MAX_PAIRS
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.statistics.ratings import rate
from ludoteca.evaluate.tournament import progress
from ludoteca.evaluate.tournament.game_log import GAMES_FILE, TOURNAMENT_FILE, GameLog
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.played_games import PlayedGames
from ludoteca.evaluate.tournament.progress import TournamentProgress

pytestmark = pytest.mark.interpreted

ADDRESS = "http://127.0.0.1:8765"
PLAN = Tournament(
    ("tictactoe", "hex:board_size=3"), ("random", "greedy", "flat"), games_per_pair=8, repeats=2
)
# Line of the log of games: a win of the first agent.
LINE = (
    '{"game": 0, "pair": [0, 1], "repeat": 0, "first": 0, "outcomes": "W", "plies": 9, '
    '"seconds": 0.1}'
)


@pytest.fixture
def client(tmp_path):
    """Yield a client of an arena that shows the runs in the temporary folder."""
    with TestClient(make_app(("random",), runs=(tmp_path,)), base_url=ADDRESS) as client:
        yield client


def only_run(client):
    """Return the view of the only run."""
    (run,) = client.get("/api/runs").json()
    response = client.get(f"/api/runs/{run['id']}")
    assert response.status_code == 200, response.text
    return response.json()


def test_a_tournament_is_shown_while_it_is_written(client, tmp_path):
    folder = tmp_path / "cup"
    folder.mkdir()
    with GameLog(PLAN, folder) as log:  # the log is locked while it is open
        empty = only_run(client)
        # 2 games times 3 pairs times 8 games of a pair are planned.
        assert (empty["kind"], empty["planned"], empty["played"]) == ("tournament", 48, 0)
        assert [row["elo"] for row in empty["standings"]] == [None] * 3
        log.add(PlayedGames(Match(0, (0, 1), 0), 0, "WLD", 21, 0.5))
        forfeit = Forfeit(3, 1, 0, 2, "timeout", "5 s")
        log.add(PlayedGames(Match(0, (0, 1), 0), 3, "W", 2, 0.5, (forfeit,)))
        view = only_run(client)
        assert view["played"] == 4
        assert [row["agent"] for row in view["standings"]] == [0, 1, 2]
        # Wins and draws, [agent, opponent], of agents 0 and 1, the only ones that have played.
        ratings = rate(np.array([[0, 2], [1, 0]]), np.array([[0, 1], [1, 0]]))
        first, second, third = view["standings"]
        assert (first["elo"], first["low"]) == pytest.approx(
            (ratings.elo[0], ratings.low[0]), abs=0.01
        )
        assert (first["wins"], first["draws"], first["losses"], first["score"]) == (2, 1, 1, 0.625)
        assert (second["forfeits"], third["games"], third["elo"]) == (1, 0, None)
        newest = view["newest"][0]
        assert (newest["number"], newest["first"], newest["outcome"]) == (3, 1, "W")
        assert newest["forfeit"] == "forfeit, timeout: 5 s"
        assert view["pairs"][0]["played"] == 4
        assert view["pairs"][0]["planned"] == 8
        with (folder / GAMES_FILE).open(
            "ab"
        ) as torn:  # a line of which only the beginning is written
            torn.write(b'{"game": 1, "pair": [0, 2], "rep')
        size = (folder / GAMES_FILE).stat().st_size
        assert only_run(client)["played"] == 4
        assert (folder / GAMES_FILE).stat().st_size == size
        with (folder / GAMES_FILE).open(
            "ab"
        ) as rest:  # the rest of that line, and the beginning of the next one
            rest.write(
                b'eat": 0, "first": 0, "outcomes": "LLLL", "plies": 20, "seconds": 0.1}\n{"game"'
            )
        view = only_run(client)
    assert (view["played"], view["plies"]) == (8, 43)
    assert [row["agent"] for row in view["standings"]] == [2, 0, 1]
    games, ratings = view["curve"][-1]
    assert games == 8
    assert ratings == [row["elo"] for row in sorted(view["standings"], key=lambda r: r["agent"])]
    assert str(tmp_path) not in json.dumps(view)  # no path leaves the server


def test_a_large_tournament_is_read_in_parts(tmp_path, monkeypatch):
    plan = Tournament(("tictactoe",), ("random", "greedy"), games_per_pair=600, repeats=1)
    (tmp_path / TOURNAMENT_FILE).write_text(json.dumps(plan.identity() | {"format": 1}))
    lines = [LINE.replace('"first": 0', f'"first": {k}') for k in range(600)]
    (tmp_path / GAMES_FILE).write_text("\n".join([*lines, ""]))
    monkeypatch.setattr(progress, "READ_BYTES", 10_000)
    tournament, games_read = TournamentProgress(tmp_path), []
    while not tournament.is_complete:
        tournament.update()
        games_read.append(tournament.games_read)
    assert len(games_read) > 5
    assert games_read[-1] == 600 == tournament.games.games_played
    # The curve has 60 points.
    assert [games for games, _ in tournament.curve] == list(range(10, 601, 10))
    assert not tournament.is_replaced
    (tmp_path / GAMES_FILE).write_text("")
    assert tournament.is_replaced
    empty = TournamentProgress(tmp_path)
    other = replace(plan, seed=1).identity() | {"format": 1}
    (tmp_path / TOURNAMENT_FILE).write_text(json.dumps(other) + "\n")
    assert empty.is_replaced


@pytest.mark.parametrize(
    ("plan", "lines", "reason"),
    [
        ({"format": 9}, "", "expected format 1, got 9"),
        ({"games": ["interactive:Throwing"]}, "", "not imported"),
        ({"games_per_pair": 10**9}, "", "at most 10,000,000 games"),
        ({"agents": ["a"] * 100}, "", "100 agents"),
        ({}, '{"game": 7}\n', "line 1"),
        ({}, "[]\n", "line 1"),
        ({}, f"{LINE}\n{LINE}\n", "line 2"),
    ],
)
def test_damaged_tournaments_are_explained(client, tmp_path, plan, lines, reason):
    (tmp_path / TOURNAMENT_FILE).write_text(json.dumps(PLAN.identity() | {"format": 1} | plan))
    (tmp_path / GAMES_FILE).write_text(lines)
    (run,) = client.get("/api/runs").json()
    for _ in range(2):  # the reason is the same when the run is read again
        response = client.get(f"/api/runs/{run['id']}")
        assert response.status_code == 400
        assert reason in response.json()["error"]


def test_the_table_of_pairs_is_bounded(client, tmp_path):
    agents = tuple(f"mcts:simulations={k}" for k in range(2, 28))
    plan = Tournament(("tictactoe",), agents, games_per_pair=2, repeats=1)
    with GameLog(plan, tmp_path) as log:
        log.add(PlayedGames(Match(0, (24, 25), 0), 0, "WW", 9, 0.5))
    view = only_run(client)
    assert len(view["pairs"]) == MAX_PAIRS < len(plan.pairs)
    assert view["pairs"][0]["pair"] == [24, 25]


def test_curves_and_settings_of_trainings_are_served(client, tmp_path):
    run = tmp_path / "hex5"
    run.mkdir()
    (tmp_path / "empty").mkdir()
    (run / "metrics.csv").write_text("step,loss,score\n1,0.5,\n2,nan,0.25\n3,0.125,0.75\n")
    settings = {"game": "hex", "eval_opponents": ["random", "mcts"], "network": {"blocks": 2}}
    (run / "config.json").write_text(json.dumps(settings))
    (run / ".lock").write_text("process 12 (ludoteca train hex)\n")
    view = only_run(client)
    assert (view["name"], view["kind"]) == ("hex5", "training")
    assert view["command"] == "ludoteca train hex"
    assert view["settings"] == [
        ["game", "hex"], ["eval_opponents", "random mcts"], ["network.blocks", "2"],
    ]  # fmt: skip
    assert view["curves"] == [
        {"name": "loss", "points": [[1, 0.5], [3, 0.125]]},
        {"name": "score", "points": [[2, 0.25], [3, 0.75]]},
    ]
    for path in ("1", "-1", "..%2f", "hex5", str(run).replace("/", "%2f")):
        assert client.get(f"/api/runs/{path}").status_code == 404
    (run / "config.json").write_text("[]")
    (listed,) = client.get("/api/runs").json()
    response = client.get(f"/api/runs/{listed['id']}")
    assert (response.status_code, "damaged" in response.json()["error"]) == (400, True)
    with pytest.raises(ValueError, match="not a folder"):
        find_runs((tmp_path / "missing",))
