"""Tests of self-agreement: how often an agent repeats its action in the same position."""

import json

import numpy as np
import pytest

from ludoteca.evaluate.agreement import agreement_fractions, measure_agreement


def test_agreement_fractions_by_hand():
    # A row has the 4 sampled actions of one decision. First row: 3 of 6 pairs are equal; a 1 is
    # predicted by the mode of the other samples (1, 1, 2), the 2 is not. Second row: all are equal.
    fractions = agreement_fractions(np.array([[1, 1, 1, 2], [3, 3, 3, 3]]), 4)
    assert fractions == {"agreement": (3 / 6 + 1) / 2, "predictable": (3 / 4 + 1) / 2}
    # Without a 1, the mode of the others (1, 2, 2) is 2; without a 2, that of (1, 1, 2) is 1.
    assert agreement_fractions(np.array([[1, 1, 2, 2]]), 4)["predictable"] == 0
    # No sample is among the other three.
    expected = {"agreement": 0, "predictable": 0}
    assert agreement_fractions(np.array([[0, 1, 2, 3]]), 4) == expected


@pytest.mark.interpreted
def test_deterministic_agent_agrees_with_itself(tmp_path):
    agents = ("deterministic", "random")
    game = "hungry_geese:num_players=2,rows=5,columns=6,episode_steps=20"
    measure_agreement(agents, tmp_path / "a.json", game=game, games=6, moves=60, repeats=5)
    deterministic, random = json.loads((tmp_path / "a.json").read_text())["agents"]
    assert (deterministic["moves"], deterministic["agreement"], deterministic["predictable"]) == (
        60,
        1,
        1,
    )
    # Two uniform samples of the 4 directions are equal with probability 1/4.
    assert random["agreement"] == pytest.approx(0.25, abs=0.1)
    with pytest.raises(ValueError, match="game must be simultaneous, got tictactoe"):
        measure_agreement(agents, tmp_path / "a.json", game="tictactoe")
