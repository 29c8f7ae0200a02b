"""Agreement of agents with themselves."""

import json

import numpy as np
import pytest

from ludoteca.evaluate.agreement import agreement, shares


def test_shares_of_equal_answers_by_hand():
    # Of 6 pairs 3 are equal, then all. The answer 2 is not the most frequent of the other three,
    # three times 1; each 1 is the most frequent of the others, 1, 1 and 2.
    found = shares(np.array([[1, 1, 1, 2], [3, 3, 3, 3]]), 4)
    assert found == {"agreement": (3 / 6 + 1) / 2, "predictable": (3 / 4 + 1) / 2}
    # Of the others 1, 2 and 2, or 1, 1 and 2, the own answer is never the most frequent one.
    assert shares(np.array([[1, 1, 2, 2]]), 4)["predictable"] == 0
    # Of three different others none is more frequent, so that the own one has no share at all.
    assert shares(np.array([[0, 1, 2, 3]]), 4) == {"agreement": 0, "predictable": 0}


@pytest.mark.interpreted
def test_deterministic_agent_agrees_with_itself(tmp_path):
    agents = ("deterministic", "random")
    game = "hungry_geese:num_players=2,rows=5,columns=6"
    agreement(agents, tmp_path / "a.json", game=game, games=6, moves=60, repeats=5)
    sure, chance = json.loads((tmp_path / "a.json").read_text())["agents"]
    assert (sure["moves"], sure["agreement"], sure["predictable"]) == (60, 1, 1)
    assert chance["agreement"] == pytest.approx(0.25, abs=0.1)
    with pytest.raises(ValueError, match="game must be simultaneous, got tictactoe"):
        agreement(agents, tmp_path / "a.json", game="tictactoe")
