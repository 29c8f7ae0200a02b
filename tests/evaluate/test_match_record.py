"""Tests of wins, draws, points and ranks of match records."""

import numpy as np
import pytest

from ludoteca.evaluate.match_record import agent_record, seat_record

# Arrays of returns and of agents are `[games, seats]`.
ALL_GAMES = np.ones(4, np.bool_)


def test_records_of_two_players():
    returns = np.array([[1, -1], [-1, 1], [0, 0], [1, -1]], float)
    seating = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    first = agent_record(returns, seating, 0)
    assert (first.games, first.wins, first.draws, first.losses) == (4, 2, 1, 1)
    assert first.points == 2.5
    assert first.score == 2.5 / 4
    assert first.win_rate == 0.5
    assert first.mean_return == 0.25
    assert first.mean_rank == (1 + 1 + 1.5 + 2) / 4
    second = agent_record(returns, seating, 1)
    assert (second.wins, second.draws, second.losses, second.points) == (1, 1, 2, 1.5)
    seat = seat_record(returns, 0, ALL_GAMES)
    assert (seat.wins, seat.draws, seat.losses) == (2, 1, 1)
    record = seat_record(returns, 0, seating[:, 0] == 1)
    assert (record.games, record.wins, record.losses, record.mean_rank) == (2, 1, 1, 1.5)


def test_agent_with_several_seats_wins_at_most_once_per_game():
    returns = np.array(
        [
            [1.0, 0.0, -0.5, -0.5],  # seat 0 alone has the first place
            [0.5, 0.5, -0.5, -0.5],  # seats 0 and 1 share the first place
            [0.5, -0.5, 0.5, -0.5],  # seats 0 and 2 share it; both are of agent 0, which wins
            [0.0, 0.0, 0.0, 0.0],
        ]
    )
    seating = np.array([[0, 1, 0, 1]] * 4)
    first, second = (agent_record(returns, seating, agent) for agent in (0, 1))
    assert (first.wins, first.draws, first.losses) == (2, 2, 0)
    assert (second.wins, second.draws, second.losses) == (0, 2, 2)
    assert first.points == 1 + 0.5 + 1 + 0.5
    assert first.points + second.points == 4
    assert first.mean_rank == pytest.approx((1 + 3.5 + 1.5 + 3.5 + 1.5 + 1.5 + 2.5 + 2.5) / 8)
    assert first.mean_return == pytest.approx((1 - 0.5 + 0.5 - 0.5 + 0.5 + 0.5) / 8)
    seat = seat_record(returns, 2, ALL_GAMES)
    assert (seat.wins, seat.draws, seat.losses) == (0, 2, 2)
    assert seat.points == 0.5 + 0.25


def test_record_of_no_games_is_empty():
    record = seat_record(np.zeros((4, 2)), 0, ~ALL_GAMES)
    assert (record.games, record.wins, record.score, record.win_rate, record.mean_rank) == (
        0,
        0,
        0,
        0,
        0,
    )


def test_records_of_one_player():
    returns = np.array([[1.0], [-1.0], [0.5], [0.0], [1.0]])
    seating = np.array([[0], [1], [0], [1], [0]])
    first, second = (agent_record(returns, seating, agent) for agent in (0, 1))
    assert (first.games, first.wins, first.draws, first.losses) == (3, 2, 1, 0)
    assert first.points == 1 + 0.75 + 1
    assert first.mean_return == pytest.approx(2.5 / 3)
    assert first.mean_rank == 1
    assert (second.games, second.wins, second.draws, second.losses) == (2, 0, 1, 1)
    assert (second.points, second.mean_return, second.win_rate) == (0.5, -0.5, 0)
