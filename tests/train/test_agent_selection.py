"""Tests of samples selected by agent name and rating."""

from collections import Counter

import numpy as np
import pytest
from episodes import GOLDEN, converted, samples_of

from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.storage import save_dataset

pytestmark = pytest.mark.interpreted


def save_as(path, games):
    """Write games to a file and return its path."""
    save_dataset(path, games)
    return path


def selected_seats(games):
    """Return the selected seats by id of the game."""
    return {
        id_: np.flatnonzero(selected).tolist()
        for id_, selected in zip(games.ids.tolist(), games.selected, strict=True)
    }


def test_selects_agents_by_name(tmp_path):
    games, report = converted(tmp_path, GOLDEN, agents=("league-net", "smart-geese-rl"))
    assert selected_seats(games) == {"700041": [0, 2], "700326": [1, 2], "700350": [2, 3]}
    assert (report.used, report.unselected) == (3, 1)  # faults.json has neither agent
    assert report.agents.keys() == {"league-net", "smart-geese-rl"}
    samples = samples_of(games)
    selected_samples = samples[samples.selected]
    names = np.array(games.agent_names)[
        games.agents[selected_samples.games, selected_samples.players]
    ]
    assert Counter(names) == {name: counts["actions"] for name, counts in report.agents.items()}
    assert not samples.selected.all()
    with pytest.raises(
        ValueError, match=r"there is no agent 'nobody'.*; there are 'smart-geese-rl'"
    ):
        converted(tmp_path, GOLDEN, agents=("nobody",))
    again, _ = converted(tmp_path, save_as(tmp_path / "a.npz", games))
    assert selected_seats(again) == selected_seats(games)
    everyone, _ = converted(tmp_path, GOLDEN)
    assert everyone.selected.all()


def test_selects_agents_by_rating(tmp_path, rated):
    def select(**settings):
        return selected_seats(
            convert(ConversionConfig(**rated, out=tmp_path / "o.npz", **settings))[0]
        )

    assert select(rating_range=(1000, 1100)) == {"700041": [1, 2], "700326": [2, 3]}
    assert select(rating_range=(1101, float("inf"))) == {"700041": [3], "700326": [0]}
    assert select(rating_range=(900, 999)) == {"700041": [0]}
    assert select(rating_range=(1000, 1100), agents=("league-net",)) == {
        "700041": [2],
        "700326": [2],
    }
    initial = select(rating_range=(600, 600), rating="initial")
    assert initial == {"700041": [0, 1, 2, 3], "700326": [0, 1, 2, 3]}
    with pytest.raises(ValueError, match=r"rating in \(1, 2\); ratings are from 950 to 1201.5"):
        select(rating_range=(1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EpisodeId,Index\n", "expected the columns EpisodeId, Index, UpdatedScore, got"),
        ("", r"expected the columns .* got \[\]"),
        ("EpisodeId,Index,UpdatedScore\n1,2,3\n700041,0,many\n", "line 3: expected numbers in"),
        ("EpisodeId,Index,UpdatedScore\n700041\n", "line 2: expected numbers in"),
    ],
)
def test_invalid_rating_table_raises(tmp_path, text, message):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, GOLDEN, ratings_csv=tmp_path / "table.csv")


def test_unrated_agents_are_not_selected_by_rating(tmp_path):
    with pytest.raises(ValueError, match="ratings are unknown"):
        converted(tmp_path, GOLDEN, rating_range=(0, 3000))
