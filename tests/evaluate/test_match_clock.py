"""Tests of matches and tournaments with a clock; the mocked time passes only in agents."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from tournaments import SMALL_TOURNAMENT

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate import match_runner
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_clock import times_from_json
from ludoteca.evaluate.match_table import match_json, match_text
from ludoteca.evaluate.sequential_match import play_sequential_match
from ludoteca.evaluate.statistics.sprt import Sprt
from ludoteca.evaluate.timed_match import TimedAgent
from ludoteca.evaluate.tournament.game_log import GAMES_FILE, TOURNAMENT_FILE, GameLog
from ludoteca.evaluate.tournament.report import REPORT, write_report
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.evaluate.tournament.saved_results import read_results

pytestmark = pytest.mark.interpreted


class SlowAgent(RandomAgent):
    """Random agent that advances the mocked clock: by `seconds[k]` at move k, and at resets."""

    def __init__(self, game, now, seconds, reset_seconds=0.0):
        super().__init__(game)
        self.now, self.seconds, self.reset_seconds = now, seconds, reset_seconds
        self.moves, self.control = 0, None

    def set_time_control(self, time_control):
        self.control = time_control

    def reset(self, env_indices):
        self.moves = 0
        self.now[0] += self.reset_seconds

    def act(self, states, seats, rngs, env_indices):
        if len(states) > 0:
            self.now[0] += self.seconds[self.moves % len(self.seconds)]
            self.moves += 1
        return super().act(states, seats, rngs, env_indices)


@pytest.fixture
def now(monkeypatch):
    """Return the mocked time in seconds, a list of one element that only agents change."""
    seconds = [0.0]
    monkeypatch.setattr(match_runner, "clock", lambda: seconds[0])
    return seconds


def play(now, seconds, control, games=1, spec="connect4", reset_seconds=0.0, **options):
    """Return a match of a slow agent, which takes `seconds[k]` for move k, and a fast one."""
    game = make_game(spec)
    slow = SlowAgent(game, now, seconds, reset_seconds)
    return play_match(
        game, [slow, RandomAgent(game)], games, seed=1, time_control=control, **options
    )


@pytest.mark.parametrize(
    ("text", "start", "move"), [("10+1", 10, 1), ("0.5", 0, 0.5), ("0+.25", 0, 0.25)]
)
def test_clocks_are_parsed(text, start, move):
    control = TimeControl.parse(text, 60, "random")
    assert (control.start_seconds, control.move_seconds) == (start, move)
    assert (control.bank_seconds, control.out_of_time) == (60, "random")
    assert 0.5 * move <= control.thinking_seconds < move
    assert TimeControl(**json.loads(json.dumps(control.to_json()))) == control


@pytest.mark.parametrize("text", ["", "1+", "+1", "1+2+3", "-1", "a", "1,5", "1.2.3", "1e3", "nan"])
def test_invalid_clocks_are_rejected(text):
    with pytest.raises(ValueError, match=r"clock must be START\+MOVE in seconds.*got "):
        TimeControl.parse(text)


@pytest.mark.parametrize(
    ("field", "value"), [("move_seconds", 0), ("start_seconds", -1), ("bank_seconds", -1),
                         ("move_seconds", 1e9), ("out_of_time", "lose")]
)  # fmt: skip
def test_clocks_out_of_range_are_rejected(field, value):
    with pytest.raises(ValueError, match=field):
        TimeControl(**{"move_seconds": 1, field: value})


# `TimeControl(move, start, bank)` in seconds; the slow agent exceeds it at the last of its `moves`.
@pytest.mark.parametrize(
    ("control", "seconds", "reset_seconds", "moves"),
    [
        (TimeControl(1), [0.5, 1.0, 1.5], 0, 3),
        (TimeControl(1, 10), [11.0, 1.0, 1.1], 0, 3),  # the start clock is for the first move
        (TimeControl(1, 10), [11.0], 0, 2),
        (TimeControl(1, 10), [4.0, 1.5], 7, 2),  # the start clock is for the reset, too
        (TimeControl(1, 10), [4.0], 7.5, 1),
        (TimeControl(1, 0), [0.5], 2, 1),  # the reset exceeds a start clock of 0 s
        (TimeControl(1, 0, 2), [2.0, 1.0, 2.0, 1.0, 1.5], 0, 5),  # the bank is for all moves
    ],
)
def test_player_out_of_time_forfeits(now, control, seconds, reset_seconds, moves):
    result = play(now, seconds, control, reset_seconds=reset_seconds, num_replays=1)
    (forfeit,) = result.forfeits
    assert (forfeit.agent, forfeit.seat, forfeit.ply) == (0, 0, 2 * (moves - 1))
    assert forfeit.kind == "timeout"
    assert forfeit.message.startswith("took ")
    assert result.returns.tolist() == [[-1, 1]]
    assert len(result.replays[0].actions) == 2 * (moves - 1)
    slow, fast = result.times
    assert (slow.moves, slow.out_of_time, fast.out_of_time) == (moves, 1, 0)
    assert slow.seconds == pytest.approx(sum(seconds[k % len(seconds)] for k in range(moves)))
    assert slow.slowest == pytest.approx(max(seconds[k % len(seconds)] for k in range(moves)))


def test_random_moves_replace_those_out_of_time(now):
    control = TimeControl(1, out_of_time="random")
    # Every second move of the slow agent is late.
    result = play(now, [0.5, 2.0], control, games=4)
    assert result.forfeits == ()
    # The slow agent has seats 0, 1, 0 and 1.
    assert result.times[0].out_of_time == sum(n // 2 for n in result.move_times["moves"][
        np.arange(4), [0, 1, 0, 1]])  # fmt: skip
    assert (result.returns != 0).any()
    text, content = " ".join(match_text(result).split()), match_json(result)
    assert "clock 0+1 s, out of time is a random move" in text
    assert f"{result.times[0].out_of_time} out of time" in text
    assert content["time_control"]["out_of_time"] == "random"
    assert content["times"][0]["out_of_time"] == result.times[0].out_of_time


def test_only_the_late_seat_of_a_simultaneous_game_forfeits(now):
    game, control = make_game("hungry_geese:rows=5,columns=6"), TimeControl(1)
    # The first agent has seats 0 and 2: at the first ply it is late in seat 2.
    agents = [SlowAgent(game, now, [0.5, 1.5] + [0.5] * 500), SlowAgent(game, now, [0.1])]
    result = play_match(game, agents, 1, seed=1, time_control=control)
    assert [(f.agent, f.seat, f.ply, f.kind) for f in result.forfeits] == [(0, 2, 0, "timeout")]


class DelayedAgent(Agent):
    """Agent whose moves take `seconds` of the mocked time, and are those of another agent."""

    def __init__(self, spec, game, now, seconds):
        super().__init__(game)
        self.agent, self.now, self.seconds = make_agent(spec, game), now, seconds

    def reset(self, env_indices):
        self.agent.reset(env_indices)

    def act(self, states, seats, rngs, env_indices):
        self.now[0] += self.seconds * len(states)
        return self.agent.act(states, seats, rngs, env_indices)


KAGGLE = TimeControl.parse("1", bank_seconds=60)  # the clock of Kaggle's Hungry Geese


@pytest.mark.parametrize(
    "spec", ["random_safe", "greedy", "deterministic", "flat:simulations=2,playout_depth=2"]
)
def test_bank_of_kaggle_lasts_as_long_for_every_agent(now, spec):
    """By hand: of 26 s, 25 are above the limit, so the bank of 60 s suffices for two moves."""
    game = make_game("hungry_geese")
    agents = [DelayedAgent(spec, game, now, 26.0), *[RandomAgent(game) for _ in range(3)]]
    result = play_match(game, agents, 4, seed=1, time_control=KAGGLE)
    late = [(f.game, f.seat) for f in result.forfeits]
    assert late == [(0, 0), (1, 3), (2, 2), (3, 1)]  # each game has a full bank, in every seat
    assert {(f.agent, f.ply, f.kind) for f in result.forfeits} == {(0, 2, "timeout")}
    assert all("26 s for a move, 11 s allowed" in f.message for f in result.forfeits)
    assert (result.times[0].moves, result.times[0].out_of_time) == (12, 4)


def test_seats_of_one_agent_have_banks_of_their_own(now):
    """By hand: a bank of 2 s suffices for 4 moves that are 0.5 s late, in each of two seats."""
    game = make_game("hungry_geese")
    slow = DelayedAgent("random_safe", game, now, 1.5)
    control = TimeControl(1, bank_seconds=2)
    result = play_match(game, [slow, RandomAgent(game)], 1, seed=1, time_control=control)
    assert [(f.seat, f.ply) for f in result.forfeits] == [(0, 4), (2, 4)]


@pytest.mark.parametrize("name", sorted(GAMES.keys() - {"GDL-v0"}))
def test_bank_allows_two_late_moves_in_every_game(now, name):
    """By hand: moves of 1.5 s are 0.5 s late, so a bank of 1.2 s suffices for two."""
    game = make_game(name)
    agents = [
        DelayedAgent("random", game, now, 1.5),
        *[RandomAgent(game) for _ in range(game.num_players - 1)],
    ]
    penalty = "random" if not game.simultaneous and game.num_players > 2 else "forfeit"
    control = TimeControl(1, bank_seconds=1.2, out_of_time=penalty)
    result = play_match(game, agents, 1, seed=3, time_control=control)
    times = result.times[0]
    if penalty == "random":
        assert (result.forfeits, times.out_of_time) == ((), times.moves - 2)
    else:
        (forfeit,) = result.forfeits
        assert (forfeit.agent, forfeit.kind) == (0, "timeout")
        assert (times.moves, times.out_of_time) == (3, 1)
        assert forfeit.message == "took 1.5 s for a move, 1.2 s allowed"


def test_used_bank_is_the_most_in_one_game(now):
    """By hand: 1 + 0.5 s of a game's first and third move are above the limit of 1 s."""
    seconds = [2.0, 1.0, 1.5, *[0.5] * 50]
    result = play(now, seconds, TimeControl(1, bank_seconds=60), games=2)
    assert result.times[0].moves > 3
    assert [times.bank_used for times in result.times] == [1.5, 0]
    assert "up to 1.500 s of the bank in a game" in " ".join(match_text(result).split())
    content = match_json(result)["times"]
    assert content[0]["bank_used"] == 1.5
    assert times_from_json(content[0]).bank_used == 1.5
    del content[0]["bank_used"]  # as in older files
    assert times_from_json(content[0]).bank_used == 0
    empty = play(now, seconds, TimeControl(1, bank_seconds=1.25))
    assert (empty.times[0].out_of_time, empty.times[0].bank_used) == (1, 1.25)
    half = replace(result.times[0], bank_used=0.75)
    assert (half + result.times[0]).bank_used == 1.5


def test_clock_does_not_change_games_of_agents_in_time():
    agents = ["random", "greedy"]
    with_clock = play_match("tictactoe", agents, 6, seed=2, time_control=TimeControl(60))
    without_clock = play_match("tictactoe", agents, 6, seed=2)
    assert with_clock.game_digests.tolist() == without_clock.game_digests.tolist()
    assert (without_clock.times, without_clock.time_control) == ((), None)
    assert "time_control" not in match_json(without_clock)
    assert with_clock.times[0].moves + with_clock.times[1].moves == with_clock.plies.sum()


def test_sequential_matches_keep_the_times(now):
    game = make_game("tictactoe")
    agents = [SlowAgent(game, now, [2.0]), RandomAgent(game)]
    result = play_sequential_match(
        game, agents, Sprt(0, 50), max_games=4, time_control=TimeControl(1)
    )
    assert result.match.times[0].out_of_time == len(result.match.forfeits) == result.match.games


def test_timed_agent_passes_the_clock_to_its_agent():
    game, control = make_game("tictactoe"), TimeControl(2)
    agent = TimedAgent("mcts", game)
    agent.set_time_control(control)
    assert agent.agent.seconds == control.thinking_seconds


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        ("tictactoe", "mcts:simulations=9"),
        ("tictactoe", "mcts:seconds=5,reuse=True"),
        ("tron:rows=4,columns=4", "mcts:simulations=9"),
        ("tictactoe", "alphabeta"),
        ("tictactoe", "alphabeta:depth=3"),
    ],
)
def test_searches_use_the_time_of_the_clock(game, spec):
    rules = make_game(game)
    agent, control = make_agent(spec, rules), TimeControl(0.3)
    agent.set_time_control(control)
    assert agent.seconds == control.thinking_seconds
    for searcher in (agent, copy.deepcopy(agent)):
        report = searcher.search(rules.new())
        assert report.name in rules.action_names
        assert report.simulations > 9 or report.depth > 0


def test_clocks_need_players_that_can_forfeit():
    game = replace(make_game("tictactoe"), num_players=3)
    agents = [RandomAgent(game) for _ in range(3)]
    with pytest.raises(ValueError, match=r"of 3 players cannot forfeit.*random"):
        play_match(game, agents, 1, time_control=TimeControl(1))


CLOCKED = replace(SMALL_TOURNAMENT, games_per_pair=4, time_control=TimeControl(60, 5, 10, "random"))


def test_tournaments_log_the_times(tmp_path):
    results = run_tournament(CLOCKED, tmp_path, processes=1)
    assert all(times.moves > 0 and times.out_of_time == 0 for times in results.times)
    without_clock = run_tournament(
        replace(CLOCKED, time_control=None), tmp_path / "free", processes=1
    )
    assert np.array_equal(results.outcomes, without_clock.outcomes)
    lines = (tmp_path / GAMES_FILE).read_text().splitlines()
    assert all(len(json.loads(line)["times"]) == 2 for line in lines)
    assert "times" not in (tmp_path / "free" / GAMES_FILE).read_text()
    assert "time_control" not in (tmp_path / "free" / TOURNAMENT_FILE).read_text()
    with GameLog(CLOCKED, tmp_path) as log:
        assert [times.moves for times in log.times] == [times.moves for times in results.times]
    write_report(results, tmp_path)
    assert "## Clock" in (tmp_path / REPORT).read_text()
    read = read_results(tmp_path)
    assert read.tournament == CLOCKED
    assert [times.moves for times in read.times] == [times.moves for times in results.times]


@pytest.mark.parametrize("swapped", [False, True])
def test_results_with_another_clock_are_not_resumed(tmp_path, swapped):
    plans = [CLOCKED, replace(CLOCKED, time_control=None)]
    first, second = reversed(plans) if swapped else plans
    with GameLog(first, tmp_path):
        pass
    with pytest.raises(ValueError, match="another tournament: its time control is"):
        GameLog(second, tmp_path)


@pytest.mark.parametrize(
    "change", [{"times": []}, {"times": [{}, {}]}, {"times": 3},
               {"times": [{"moves": -1, "seconds": 0, "slowest": 0, "out_of_time": 0}] * 2}]
)  # fmt: skip
def test_damaged_times_are_rejected(tmp_path, change):
    run_tournament(CLOCKED, tmp_path, processes=1)
    file = tmp_path / GAMES_FILE
    first, *others = file.read_text().splitlines()
    damaged = json.dumps(json.loads(first) | change)
    file.write_text("\n".join([damaged, *others]) + "\n")
    with pytest.raises(ValueError, match=r"line 1 of .* is damaged"):
        GameLog(CLOCKED, tmp_path)
