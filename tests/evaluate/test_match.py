"""Tests of matches: schedule, random streams and counts."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from boards import EVERY_GAME
from chance_games import write

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import make_match_agents, play_match
from ludoteca.evaluate.match_table import match_json, match_summary
from ludoteca.evaluate.seat_results import seat_names, seat_results
from ludoteca.evaluate.statistics.intervals import wilson

pytestmark = pytest.mark.interpreted

AGENTS = ("random", "greedy")


def without_time(result):
    """Return a match result without the time that the match took."""
    return replace(result, seconds=0.0)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_game_is_played_and_its_replays_are_valid(game):
    result = play_match(game, AGENTS, 4, seed=3, num_replays=4)
    game = make_game(game)
    assert result.game == game.spec
    assert result.agents == AGENTS
    assert [total.games for total in result.totals] == [4, 4]
    assert sum(total.points for total in result.totals) == pytest.approx(4)
    assert len({replay.seed for replay in result.replays}) == 4
    plies = [len(replay.actions) for replay in result.replays]
    assert result.mean_plies == np.mean(plies)
    assert max(plies) <= game.max_plies
    for replay in result.replays:
        assert Replay.from_json(replay.to_json()) == replay
    for seat, record in enumerate(result.by_seat):
        returns = [replay.returns for replay in result.replays]
        assert record.mean_return == pytest.approx(
            np.mean([values[seat] for values in returns]), abs=1e-6
        )
        assert record.wins == sum(
            values.count(max(values)) == 1 and values[seat] == max(values) for values in returns
        )


@pytest.mark.parametrize(
    ("agents", "games"), [(2, 6), (3, 6), (4, 8)], ids=["two agents", "three", "four"]
)
def test_seats_rotate(agents, games):
    specs = ("random", "greedy", "random", "greedy")[:agents]
    result = play_match("hungry_geese:episode_steps=5", specs, games, num_replays=games)
    assert result.replays[0].players == tuple(specs[p % agents] for p in range(4))
    assert result.replays[1].players == tuple(specs[(p + 1) % agents] for p in range(4))
    for seats in result.seats:
        assert [record.games for record in seats] == [games // agents] * 4


def test_two_agents_take_turns_in_moving_first():
    result = play_match("tictactoe", AGENTS, 7, num_replays=7)
    assert [replay.players[0] for replay in result.replays] == ["random", "greedy"] * 3 + ["random"]
    assert [[record.games for record in seats] for seats in result.seats] == [[4, 3], [3, 4]]


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("tictactoe", marks=pytest.mark.compiled),
        *(
            pytest.param(game, marks=pytest.mark.slow)
            for game in ("connect4", "hungry_geese", "tron:rows=6")
        ),
    ],
)
def test_games_do_not_depend_on_batch_size_or_threads(game):
    expected = without_time(play_match(game, AGENTS, 30, seed=5, num_replays=30))
    for batch in (1, 7, 29, 1000):
        assert (
            without_time(play_match(game, AGENTS, 30, seed=5, num_replays=30, batch_size=batch))
            == expected
        )
    for threads in (2, 3, 64):
        threaded = play_match(
            game, AGENTS, 30, seed=5, num_replays=30, num_threads=threads, batch_size=8
        )
        assert without_time(threaded) == expected
    assert play_match(game, AGENTS, 10, seed=5, num_replays=10).replays == expected.replays[:10]


def test_matches_of_different_seeds_have_different_games():
    counts = Counter()
    for seed in range(4):
        result = play_match("hex:board_size=5", ("random", "random"), 20, seed=seed, num_replays=20)
        counts.update(tuple(replay.actions) for replay in result.replays)
        counts.update(replay.seed for replay in result.replays)
    assert len(counts) == 2 * 4 * 20  # all actions and all seeds are different


class Scripted(Agent):
    """Agent that chooses the first legal action, changed by `transform`, and records its calls."""

    def __init__(self, game, transform=lambda actions: actions):
        super().__init__(game)
        self.transform, self.reset_indices, self.act_indices = transform, [], []

    def reset(self, env_indices):
        self.reset_indices += env_indices.tolist()

    def act(self, states, seats, rngs, env_indices):
        self.act_indices += env_indices.tolist()
        legal = np.zeros(self.game.num_actions, np.int16)
        actions = np.zeros(len(states), np.int64)
        for i, s in enumerate(states.view(np.recarray)):
            self.game.legal_actions(s, legal)
            actions[i] = legal[0]
            self.game.step(s, legal[0])  # changes the agent's copy only
        return self.transform(actions)


def test_random_plies_are_the_same_for_each_agent_in_every_seat():
    def moves(**options):
        match = play_match("hex:board_size=4", ["greedy", "random"], 20, num_replays=20, **options)
        return [list(replay.actions) for replay in match.replays]

    games = moves(random_plies=5, seed=3)
    pairs = [(games[k], games[k + 1]) for k in range(0, 20, 2)]
    assert all(first[:5] == second[:5] for first, second in pairs)
    assert any(first[5:] != second[5:] for first, second in pairs)
    assert len({tuple(first[:5]) for first, _ in pairs}) == 10  # no two pairs are equal
    assert moves(random_plies=5, seed=3, batch_size=3) == games
    assert moves(random_plies=5, seed=3, first_game=4)[:6] == games[4:10]
    assert moves(random_plies=100, seed=3)[0] == moves(random_plies=100, seed=3)[1]
    geese = play_match(
        "hungry_geese:episode_steps=5", ["random"] * 4, 8, random_plies=3, num_replays=8
    )
    beginnings = [list(replay.actions[:3]) for replay in geese.replays]
    assert beginnings[:4] == [beginnings[0]] * 4
    with pytest.raises(ValueError, match="random_plies must be an integer from 0"):
        play_match("hex", ["random", "random"], 2, random_plies=-1)


def test_python_agents_play_matches():
    game = make_game("tictactoe")
    agents = Scripted(game), Scripted(game)
    result = play_match(game, agents, 5, batch_size=2, num_replays=5)
    assert result.agents == ("Scripted", "Scripted")
    assert {tuple(replay.actions) for replay in result.replays} == {(0, 1, 2, 3, 4, 5, 6)}
    assert result.by_seat[0].wins == 5
    for agent in agents:
        assert sorted(agent.reset_indices) == [0, 0, 0, 1, 1]
        assert set(agent.act_indices) == {0, 1}
    mixed = play_match(game, (Scripted(game), "random"), 20, seed=1)
    assert mixed.totals[0].games == 20


def test_agent_in_two_seats_is_reset_once_per_game():
    game = make_game("tictactoe")
    agent = Scripted(game)
    play_match(game, (agent, agent), 3, batch_size=3)
    assert sorted(agent.reset_indices) == [0, 1, 2]


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (
            lambda actions: np.full_like(actions, 0),
            r"agent 'Scripted' in seat 1 of game 0 chose the illegal action 0 at ply "
            r"1: the legal actions are \[1, 2, 3, 4, 5, 6, 7, 8\]",
        ),
        (
            lambda actions: actions + 100,
            "in seat 0 of game 1 chose the illegal action 100 at ply 0",
        ),
        (
            lambda actions: actions - 100,
            "in seat 0 of game 1 chose the illegal action -100 at ply 0",
        ),
        (lambda actions: actions[:-1], r"must return integers of shape \(2,\), got int64 of shape"),
        (lambda actions: actions.astype(float), r"must return integers .* got float64"),
    ],
)
def test_error_names_the_failing_agent(transform, message):
    game = make_game("tictactoe")
    first, second = Scripted(game), Scripted(game, transform)

    with pytest.raises(ValueError, match=message):
        play_match(game, (first, second), 4, batch_size=4)


def test_error_names_an_illegal_action_in_a_simultaneous_game():
    class AlwaysFive(Agent):
        def act(self, states, seats, rngs, env_indices):
            return np.full(len(states), 5)

    with pytest.raises(
        ValueError, match=r"'AlwaysFive' in seat 1 of game 0 chose the illegal action 5 at ply 0"
    ):
        play_match("tron", ("random", AlwaysFive(make_game("tron"))), 2)


def test_a_failure_in_one_thread_ends_the_match(monkeypatch):
    class Failing(Scripted):
        def act(self, states, seats, rngs, env_indices):
            raise RuntimeError("broken agent")

    monkeypatch.setattr(
        "ludoteca.evaluate.match.make_agent",
        lambda spec, game: Failing(game) if spec == "failing" else make_agent(spec, game),
    )
    with pytest.raises(RuntimeError, match="broken agent"):
        play_match("tictactoe", ("random", "failing"), 100, num_threads=2)


@pytest.mark.parametrize(
    ("game", "agents", "options", "message"),
    [
        ("hex", ("random",), {}, "a match of hex is between 2 agents, got 1: random"),
        ("hex", ("random",) * 3, {}, "between 2 agents, got 3: random, random, random"),
        ("hungry_geese", ("random",) * 5, {}, "between 2 to 4 agents, got 5"),
        ("hungry_geese:num_players=1", (), {}, "a match of hungry_geese needs an agent, got none"),
        ("hex", ("random", "zzz"), {}, "unknown agent 'zzz'; there are random, greedy"),
        (
            "hex",
            ("random:x=1", "random"),
            {},
            "agent random has no parameter 'x'; it has no parameters",
        ),
        ("chess", AGENTS, {}, "unknown game 'chess'"),
        ("hex", AGENTS, {"games": 0}, "games must be an integer from 1"),
        ("hex", AGENTS, {"batch_size": 0}, "batch_size must be an integer from 1"),
        ("hex", AGENTS, {"num_threads": 0}, "num_threads must be an integer from 1"),
        ("hex", AGENTS, {"num_replays": 11}, "num_replays must be an integer from 0 to 10, got 11"),
        ("hex", AGENTS, {"seed": -1}, "a seed must be an integer from 0"),
    ],
)
def test_invalid_arguments_are_rejected(game, agents, options, message):
    with pytest.raises(ValueError, match=message):
        play_match(game, agents, **({"games": 10} | options))


def test_agents_of_another_game_or_shared_by_threads_are_rejected():
    agent = make_agent("random", make_game("hex"))
    with pytest.raises(
        ValueError, match=r"was made for hex:board_size=11.*, not for hex:board_siz"
    ):
        play_match("hex:board_size=5", (agent, "random"), 1)
    with pytest.raises(ValueError, match="not spec strings cannot play in more than one thread"):
        play_match("hex", (agent, "random"), 10, num_threads=2)


@pytest.mark.slow
@pytest.mark.compiled
def test_greedy_othello_beats_random():
    result = play_match("othello", ("greedy", "random"), 2000)
    assert result.totals[0].score > 0.55
    assert [record.games for record in result.seats[0]] == [1000, 1000]


@pytest.mark.slow
@pytest.mark.compiled
def test_moving_first_is_an_advantage_in_hex():
    first = play_match("hex:board_size=5", ("random", "random"), 4000).by_seat[0]
    assert wilson(first.wins, first.games)[0] > 0.5
    assert first.draws == 0


@pytest.mark.slow
@pytest.mark.compiled
def test_equal_agents_score_half():
    result = play_match("connect4", ("random", "random"), 20_000, seed=1)
    low, high = wilson(result.totals[0].wins, 20_000, confidence=0.999)
    assert low < 0.5 * (1 - result.totals[0].draws / 20_000) < high


@pytest.mark.slow
@pytest.mark.compiled
def test_a_thousand_random_games_take_less_than_a_second():
    assert play_match("othello", ("random", "random"), 1000).seconds < 1


def test_progress_is_not_shown_on_standard_output(capsys):
    play_match("tictactoe", AGENTS, 10, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""


@pytest.mark.slow
def test_intervals_count_repeated_games_once():
    # There is one game for each order of the agents, which are deterministic.
    match = play_match("hex:board_size=5", ["heuristic", "heuristic"], 10, seed=1)
    assert match.num_distinct_games == 2
    assert "only 2 of the 10 games are different" in match_summary(make_game(match.game), match)
    assert match_json(match)["distinct"] == 2
    for seat in seat_results(match, ("first", "second")):
        assert (seat["games"], seat["distinct"]) == (5, 1)
        assert (seat["low"], seat["high"]) == wilson(int(seat["wins"] > 0), 1)
    # With random plies there are more distinct games.
    with_random_plies = play_match(
        "hex:board_size=5", ["heuristic", "heuristic"], 10, seed=1, random_plies=2
    )
    assert 2 < with_random_plies.num_distinct_games <= 10
    random_match = play_match("hex:board_size=5", ["random", "heuristic"], 40, seed=1)
    assert random_match.num_distinct_games > 30
    assert "are different" not in match_summary(make_game(random_match.game), random_match)
    (all_seats,) = seat_results(random_match, ("any",))
    assert (all_seats["games"], all_seats["distinct"]) == (40, random_match.num_distinct_games)
    assert (all_seats["low"], all_seats["high"]) == wilson(all_seats["wins"], 40)


@pytest.mark.compiled
def test_digests_identify_games():
    match = play_match("tictactoe", AGENTS, 200, seed=2, num_replays=200)
    digests = {}
    for replay, digest in zip(match.replays, match.game_digests.tolist(), strict=True):
        moves = tuple(map(tuple, np.atleast_2d(replay.actions)))
        digests.setdefault((replay.players, moves), set()).add(digest)
    assert all(len(values) == 1 for values in digests.values())
    assert match.num_distinct_games == len(digests)
    halves = [play_match("tictactoe", AGENTS, 50, seed=2, first_game=first) for first in (0, 50)]
    assert (
        np.concatenate([half.game_digests for half in halves]).tolist()
        == match.game_digests[:100].tolist()
    )


# One player chooses between a return of 1, 0 and -1, and one game has one ply.
CHOICE = """
(role player) (init (chosen nothing))
(option good 100) (option fair 50) (option bad 0)
(<= (legal player (choose ?option)) (option ?option ?points))
(<= (next (chosen ?option)) (does player (choose ?option)))
(<= terminal (not (true (chosen nothing))))
(<= (goal player ?points) (true (chosen ?option)) (option ?option ?points))
(<= (goal player 0) (true (chosen nothing)))
"""


class FirstAction(Agent):
    """Agent that plays the first legal action, or forfeits."""

    def __init__(self, game, forfeits=False):
        super().__init__(game)
        self.forfeits = forfeits

    def act(self, states, seats, rngs, env_indices):
        records = states.view(np.recarray)
        first = [FORFEIT if self.forfeits else min(self.game.legal(s)) for s in records]
        return np.array(first, np.int64)


@pytest.mark.interpreted
def test_agents_play_alone_in_one_player_games(tmp_path):
    game = make_game("gdl", path=write(tmp_path, CHOICE))
    agents = [FirstAction(game), "random", FirstAction(game, forfeits=True)]
    match = play_match(game, agents, 300, num_replays=3)
    assert game.action_names[0] == "choose bad"
    first, random, forfeiting = match.totals
    assert match.seats == ((first,), (random,), (forfeiting,))
    assert (first.games, first.wins, first.losses, first.mean_return) == (100, 0, 100, -1)
    assert (forfeiting.games, forfeiting.mean_return, len(match.forfeits)) == (100, -1, 100)
    assert random.games == 100
    # Six standard errors of the mean of uniform returns.
    assert abs(random.mean_return) < 6 * np.sqrt(2 / 3 / 100)
    assert random.wins + random.draws + random.losses == 100
    assert match.by_seat[0].games == 300
    assert [len(replay.actions) for replay in match.replays] == [1, 1, 0]
    rows = [line.split() for line in str(match).splitlines()]
    assert ["games", "mean", "return", "solved", "%"] in rows
    assert ["100", "-1.000", "(-1.000", "to", "-0.926)", "0.0", "(0.0", "to", "3.7)"] in rows
    (alone,) = seat_results(match, seat_names(game))
    assert (alone["seat"], alone["distinct"], alone["mean_return"]) == ("alone", 1, -1)
    with pytest.raises(ValueError, match="has one player, and a match between agents needs two"):
        make_match_agents(game, ["random", "random"])


def test_matches_of_general_sum_games_have_mean_returns():
    match = play_match("gdl:path=prisoners_dilemma", ["random", "random"], 20)
    heading = next(line for line in str(match).splitlines() if "score" in line)
    assert heading.split()[-1] == "return"
    assert "return: mean return" in str(match)
