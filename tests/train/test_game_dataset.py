"""Tests of data sets of recorded games: files, slices, validation, generation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from episodes import GOLDEN, STANDARD, converted, golden, read, samples_of

from ludoteca.envs.game import FORFEIT
from ludoteca.train.data import collect
from ludoteca.train.data import generate as generation
from ludoteca.train.data.__main__ import main
from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.dataset import concatenate
from ludoteca.train.data.generate import GenerationConfig, generate, play_games
from ludoteca.train.data.positions import iterate_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset, save_dataset

pytestmark = pytest.mark.interpreted
GEESE = GenerationConfig(game="hungry_geese", agents=("random_safe",), num_workers=1)


def assert_same(games, others):
    """Assert that two data sets are equal."""
    assert (games.game, games.agent_names) == (others.game, others.agent_names)
    for name in (
        "actions",
        "lengths",
        "seeds",
        "chance_outcomes",
        "chance_lengths",
        "returns",
        "agents",
        "selected",
    ):
        np.testing.assert_array_equal(getattr(games, name), getattr(others, name), name)
    assert games.ids.tolist() == others.ids.tolist()
    np.testing.assert_array_equal(games.ratings, others.ratings)


def test_file_round_trip(tmp_path, rated):
    games, _ = convert(ConversionConfig(**rated, out=tmp_path / "a.npz"))
    assert not np.isnan(games.ratings).all()
    assert_same(load_dataset(tmp_path / "a.npz"), games)
    convert(ConversionConfig((tmp_path / "a.npz",), tmp_path / "b.npz"))
    assert_same(load_dataset(tmp_path / "b.npz"), games)


def test_slices_masks_and_chunks(tmp_path):
    games, _ = converted(tmp_path, GOLDEN)
    whole = samples_of(games)
    assert_same(concatenate([games[0:1], games[1:3], games[3:4]]), games)
    assert_same(games[np.array([False, True, True, True])], games[1:4])
    assert len(games[2:2]) == len(samples_of(games, 2, 2)) == 0
    for low, high in ((0, 2), (1, 3), (3, 4)):
        part = samples_of(games, low, high)
        some = whole[(whole.games >= low) & (whole.games < high)]
        for name in ("players", "actions", "games", "returns", "selected"):
            np.testing.assert_array_equal(getattr(part, name), getattr(some, name))
        np.testing.assert_array_equal(part.states[part.rows], whole.states[some.rows])
    assert sum(len(positions.samples()) for positions in iterate_positions(games)) == len(whole)


def test_concatenates_recorded_and_generated_games(tmp_path):
    generated = play_games(replace(GEESE, games=3))
    games, _ = converted(tmp_path, GOLDEN)
    both = concatenate([generated, games])
    assert set(both.agent_names) == {"random_safe", *games.agent_names}
    counts = [len(samples_of(generated)), len(samples_of(games))]
    assert np.bincount(samples_of(both).games >= 3).tolist() == counts
    assert both.agent_names[both.agents[3, 0]] == games.agent_names[games.agents[0, 0]]
    with pytest.raises(ValueError, match="are different games"):
        concatenate(
            [generated, play_games(GenerationConfig(game="tron", agents=("random",), games=1))]
        )


def test_invalid_games_raise():
    games = concatenate([read(golden(name)) for name in STANDARD])

    def refused(message, **arrays):  # asserts that games with these arrays raise
        with pytest.raises(ValueError, match=message):
            samples_of(replace(games, **arrays))

    def edited(name, index, value):
        array = getattr(games, name).copy()
        array[index] = value
        return {name: array}

    second = games.offsets[1]
    refused(
        "game 1 .*'700326'.* step 2 of 9: an action is illegal",
        **edited("actions", (second + 2, 1), 4),
    )
    refused("game 0 .*step 3 of 15: an action is illegal", **edited("actions", (3, 1), -2))
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible",
        **edited("chance_outcomes", 1, games.chance_outcomes[0]),
    )
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible", **edited("chance_outcomes", 1, 77)
    )
    refused(
        "game 0 .*step 0 of 15: a chance outcome is impossible", **edited("chance_outcomes", 1, -1)
    )
    refused("the returns differ from the recorded ones", **edited("returns", (1, 0), 0.5))
    refused("the game has already ended", **edited("actions", (3, slice(None)), FORFEIT))
    lengths = games.lengths + np.array([-1, 1, 0, 0], np.int32)
    refused("game 0 .*step 14 of 14: the game does not end after the last action", lengths=lengths)
    chance_lengths = games.chance_lengths + np.array([1, -1, 0, 0], np.int32)
    refused("game 0 .*more chance outcomes are recorded than", chance_lengths=chance_lengths)
    with pytest.raises(ValueError, match=r"returns must have the shape \(4, 4\), got \(3, 4\)"):
        replace(games, returns=games.returns[1:])
    with pytest.raises(ValueError, match="agents must be from 0 to 0"):
        replace(games, agent_names=("one",))


def test_damaged_files_raise(tmp_path):
    converted(tmp_path, GOLDEN)
    path = tmp_path / "out.npz"
    content = path.read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"out\.npz holds no games, or is damaged"):
            load_dataset(path)
    np.savez(path, a=np.zeros(1))
    with pytest.raises(ValueError, match="holds no games"):
        load_dataset(path)
    path.write_bytes(golden("700326"))
    with pytest.raises(ValueError, match=r"out\.npz holds no games.*expected an \.npz archive"):
        load_dataset(path)
    with pytest.raises(FileNotFoundError):
        load_dataset(tmp_path / "nowhere.npz")
    path.write_bytes(content)
    wrong = load_dataset(path)
    wrong.returns[0] = 0
    save_dataset(tmp_path / "wrong.npz", wrong)
    # Damaged files are reported as skipped, and valid files are read.
    path.write_bytes(content[:-5])
    _, report = convert(
        ConversionConfig((path, tmp_path / "wrong.npz", GOLDEN), tmp_path / "b.npz")
    )
    skipped = {Path(place).name: reason for place, reason in report.skipped}
    assert list(skipped) == ["out.npz", "wrong.npz", "small.json"]
    assert "the returns differ" in skipped["wrong.npz"]
    assert (report.found, report.used) == (7, 4)


@pytest.mark.slow
@pytest.mark.interpreted
def test_split_keeps_games_together():
    games = play_games(
        GenerationConfig(game="hungry_geese", agents=("random_safe",), games=40, seed=1)
    )
    is_validation, samples = validation_games(games, 0.25, seed=0), samples_of(games)
    assert is_validation.sum() == 10
    held_out = is_validation[samples.games]
    assert set(samples.games[held_out]) == set(np.flatnonzero(is_validation))
    assert not set(samples.games[held_out]) & set(samples.games[~held_out])
    assert (validation_games(games, 0.25, seed=1) != is_validation).any()


@pytest.mark.parametrize("game", ["hungry_geese:num_players=3,rows=5,columns=5", "tron:rows=6"])
def test_generated_games_equal_interpreted_replay(game):
    """Compare every game with its replay in plain Python, from its seed."""
    games = play_games(
        GenerationConfig(game=game, agents=("random_safe", "random"), games=6, seed=3)
    )
    samples, seats = samples_of(games), games.game.num_players
    moves = list(zip(samples.rows, samples.players, samples.actions, strict=True))
    row = 0
    for k in range(len(games)):
        s = games.game.new(int(games.seeds[k]))
        expected = np.zeros(seats)
        for joint in games.actions[row - k : row - k + games.lengths[k]]:
            assert samples.states[row].tobytes() == s.tobytes()
            active = [p for p in range(seats) if games.game.is_active(s, p)]
            assert [(row, p, joint[p]) for p in active] == [m for m in moves if m[0] == row]
            with np.errstate(over="ignore"):
                games.game.step(s, joint.astype(np.int64))
            row += 1
        assert games.game.is_terminal(s)
        assert samples.states[row].tobytes() == s.tobytes()
        row += 1
        games.game.returns(s, expected)
        np.testing.assert_allclose(games.returns[k], expected, rtol=1e-6)
        assert games.agents[k].tolist() == [(k + p) % 2 for p in range(seats)]
        mine = samples.games == k
        np.testing.assert_array_equal(
            samples.returns[mine], games.returns[k, samples.players[mine]]
        )
    assert len(moves) == len(samples)
    assert samples.selected.all()


@pytest.mark.parametrize(
    ("game", "num_games"),
    [
        ("hungry_geese:num_players=2,rows=4,columns=5,episode_steps=12", 12),
        pytest.param("hungry_geese", 40, marks=pytest.mark.slow),
    ],
)
def test_generation_depends_on_neither_workers_nor_batches(game, num_games, tmp_path, monkeypatch):
    config = GenerationConfig(
        game=game,
        agents=("flat:simulations=4,playout_depth=1", "random_safe"),
        games=num_games,
        num_workers=1,
    )
    games = generate(replace(config, out=tmp_path / "1.npz"))
    generate(replace(config, out=tmp_path / "2.npz", num_workers=2))
    content = (tmp_path / "1.npz").read_bytes()
    assert (tmp_path / "2.npz").read_bytes() == content
    monkeypatch.setattr(generation, "SIMULTANEOUS_GAMES", 7)
    generate(replace(config, out=tmp_path / "3.npz"))
    assert (tmp_path / "3.npz").read_bytes() == content
    generate(replace(config, out=tmp_path / "4.npz", seed=1))
    assert (tmp_path / "4.npz").read_bytes() != content
    assert_same(play_games(replace(config, games=5)), games[:5])


def test_conversion_depends_on_neither_workers_nor_batches(tmp_path, monkeypatch):
    folder = tmp_path / "episodes"
    folder.mkdir()
    for name in (*STANDARD, "small"):
        (folder / f"{name}.json").write_bytes(golden(name))
    _, report = convert(ConversionConfig((folder,), tmp_path / "1.npz"))
    monkeypatch.setattr(collect, "FILES_PER_TASK", 2)
    _, again = convert(ConversionConfig((folder,), tmp_path / "2.npz", num_workers=2))
    assert again == report
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_invalid_generation_settings_raise(tmp_path):
    for settings, message in (
        ({"agents": ("nobody",)}, "unknown agent 'nobody'"),
        ({"game": "tron", "agents": ("random",) * 3}, "between 2 agents, got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            play_games(GenerationConfig(games=1, **settings))
    with pytest.raises(ValueError, match="agents must name"):
        GenerationConfig(agents=())
    with pytest.raises(ValueError, match=r"files of games end with \.npz or \.csv"):
        GenerationConfig(out=tmp_path / "a.txt")


def test_commands_generate_convert_and_verify(tmp_path, capsys):
    path = tmp_path / "a.npz"
    main(
        GenerationConfig(
            game="hungry_geese", agents=("random_safe", "random"), games=4, out=path, num_workers=1
        )
    )
    output = capsys.readouterr().out
    assert "random_safe" in output
    assert "a.npz: 4 games" in output
    main(ConversionConfig((path,), tmp_path / "b.npz", agents=("random",)))
    assert "of 4 games in the files, 0 could not be used" in capsys.readouterr().out
    assert load_dataset(tmp_path / "b.npz").selected.sum() == 8
