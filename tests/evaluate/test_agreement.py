"""Tests of the agreement of agents with themselves."""

import json

import numpy as np
import pytest

from ludoteca.evaluate.agreement import agreement_fractions, measure_agreement


def test_agreement_fractions_by_hand():
    # First decision: 3 of 6 pairs are equal. Each 1 equals the most frequent one of the other
    # samples 1, 1 and 2; the 2 does not. Second decision: all pairs are equal.
    fractions = agreement_fractions(np.array([[1, 1, 1, 2], [3, 3, 3, 3]]), 4)
    assert fractions == {"agreement": (3 / 6 + 1) / 2, "predictable": (3 / 4 + 1) / 2}
    # The other samples of a 1 are 1, 2 and 2, those of a 2 are 1, 1 and 2.
    assert agreement_fractions(np.array([[1, 1, 2, 2]]), 4)["predictable"] == 0
    # The other samples are three different ones, none of them equal.
    expected = {"agreement": 0, "predictable": 0}
    assert agreement_fractions(np.array([[0, 1, 2, 3]]), 4) == expected


@pytest.mark.interpreted
def test_deterministic_agent_agrees_with_itself(tmp_path):
    agents = ("deterministic", "random")
    game = "hungry_geese:num_players=2,rows=5,columns=6"
    measure_agreement(agents, tmp_path / "a.json", game=game, games=6, moves=60, repeats=5)
    deterministic, random = json.loads((tmp_path / "a.json").read_text())["agents"]
    assert (deterministic["moves"], deterministic["agreement"], deterministic["predictable"]) == (
        60,
        1,
        1,
    )
    assert random["agreement"] == pytest.approx(0.25, abs=0.1)
    with pytest.raises(ValueError, match="game must be simultaneous, got tictactoe"):
        measure_agreement(agents, tmp_path / "a.json", game="tictactoe")
