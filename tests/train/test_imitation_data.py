"""Samples of behavioral cloning: their selection, observations, labels and symmetries."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from imitation_runs import SMALL, TINY, VIEWS, games_of, tiny

from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.registry import make_game
from ludoteca.envs.symmetry import DIRECTIONS
from ludoteca.train.augmentation import Augmentation
from ludoteca.train.data.dataset import concatenate
from ludoteca.train.data.positions import replay_positions
from ludoteca.train.data.storage import load_dataset, save_dataset
from ludoteca.train.imitation import ImitationTraining, load_data

pytestmark = pytest.mark.interpreted


@pytest.mark.slow
def test_validation_games_are_not_trained_on(mixed, tmp_path):
    games = load_dataset(mixed)
    twice = tmp_path / "games.npz"
    save_dataset(twice, concatenate([games, games[:10]]))
    data = load_data(tiny(twice, tmp_path, validation_fraction=0.3))
    starts = data.games.offsets

    def moves(chosen):
        played = set(data.game_indices[chosen].tolist())
        return {data.games.actions[starts[k] : starts[k + 1]].tobytes() for k in played}

    assert not moves(data.training) & moves(data.validation)
    assert len(moves(data.training)) + len(moves(data.validation)) == 30
    assert len(data.training) + len(data.validation) == len(data)
    assert 0.2 < len(data.validation) / len(data) < 0.4
    again = load_data(tiny(twice, tmp_path, validation_fraction=0.3))
    np.testing.assert_array_equal(data.validation, again.validation)
    other = load_data(tiny(twice, tmp_path, validation_fraction=0.3, seed=2))
    assert not np.array_equal(data.validation, other.validation)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("games", [None, 7])
def test_samples_match_the_episodes(view, games, mixed, tmp_path, monkeypatch):
    monkeypatch.setattr("ludoteca.train.data.positions.GAMES_PER_CHUNK", 4)
    monkeypatch.setattr("ludoteca.train.data.observations.BATCH_SIZE", 50)
    config = tiny(mixed, tmp_path, network=replace(TINY, view=view), games=games)
    data = load_data(replace(config, agents=("random_safe",)))
    dataset = load_dataset(mixed).select_agents(["random_safe"])[: games or 30]
    samples = replay_positions(dataset).samples()
    samples = samples[samples.selected]
    np.testing.assert_array_equal(data.actions, samples.actions)
    np.testing.assert_array_equal(data.returns, samples.returns)
    np.testing.assert_array_equal(data.game_indices, samples.games)
    chosen = np.random.default_rng(0).permutation(len(data))[:200]
    seats = samples.players[chosen].astype(np.int64)
    expected = SeatEncoder(data.games.game, view).encode(
        samples.states[samples.rows[chosen]], seats
    )
    for arrays, expected_arrays in zip(data.observations.encode(chosen), expected, strict=True):
        np.testing.assert_array_equal(arrays, expected_arrays)


def test_samples_are_selected_by_agent_and_by_rating(mixed, tmp_path):
    config = tiny(mixed, tmp_path)
    every, greedy = load_data(config), load_data(replace(config, agents=("greedy",)))
    names = every.games.agent_names
    assert (every.agents == names.index("greedy")).sum() == len(greedy)
    assert {names[k] for k in greedy.agents} == {"greedy"}
    weak = load_data(replace(config, rating_range=(10.0, 19.0)))
    assert len(weak.games) == 10
    assert {names[k] for k in weak.agents} == {"random_safe"}
    ratings = weak.games.ratings[weak.games.selected]
    assert (ratings.min(), ratings.max()) == (10, 19)
    strong = load_data(replace(config, rating_range=(20.0, float("inf"))))
    assert {names[k] for k in strong.agents} == {"greedy", "random_safe"}
    # The selected agents of a file are imitated, unless the settings select others.
    selected = save_dataset(tmp_path / "a.npz", load_dataset(mixed).select_agents(["greedy"]))
    assert load_data(tiny(selected, tmp_path)).digest == greedy.digest
    assert greedy.digest != every.digest


@pytest.mark.parametrize(
    ("game", "view"),
    [
        (SMALL, "plain"),
        (SMALL, "hand_crafted"),
        ("hungry_geese:rows=4,columns=7", "plain"),
        ("hungry_geese:rows=4,columns=7", "hand_crafted"),
        ("tron:rows=4,columns=4", "plain"),
    ],
)
def test_augmented_labels_point_to_the_same_neighbor(game, view):
    """Check that all planes are equal in the cell that the move leads to, before and after."""
    games = games_of("random_safe", games=6, game=game)
    samples = replay_positions(games).samples()
    samples = samples[:: max(1, len(samples) // 75)]
    encoder = SeatEncoder(games.game, view)
    seats = samples.players.astype(np.int64)
    planes, _ = encoder.encode(samples.states[samples.rows], seats)
    augmentation = Augmentation(encoder.symmetries, encoder.shape[0])
    rng = np.random.default_rng(0)
    symmetry_indices = augmentation.sample(len(planes), rng)
    assert len(set(symmetry_indices)) > min(len(augmentation), len(planes)) / 2
    moved = augmentation.observations(planes, symmetry_indices)
    actions = augmentation.actions[symmetry_indices, samples.actions]
    assert len(augmentation) == 1 or (actions != samples.actions).any()
    _, rows, columns = encoder.shape
    for i in range(len(planes)):
        symmetry = encoder.symmetries[symmetry_indices[i]]
        np.testing.assert_array_equal(moved[i], symmetry.observation(planes[i]))
        target_cells = []
        for seen, action in ((planes[i], samples.actions[i]), (moved[i], actions[i])):
            head = (
                rows // 2 * columns + columns // 2 if view == "hand_crafted" else seen[0].argmax()
            )
            down, right = DIRECTIONS[action]
            row, column = head // columns + down, head % columns + right
            if game.startswith("tron") and not (0 <= row < rows and 0 <= column < columns):
                target_cells.append(None)  # off the board
            else:
                target_cells.append(seen[:, row % rows, column % columns])
        np.testing.assert_array_equal(*target_cells)


@pytest.mark.slow
def test_labels_follow_the_sampled_symmetry(mixed, tmp_path, monkeypatch):
    training = ImitationTraining(tiny(mixed, tmp_path, precision="float32"), tensorboard=False)
    chosen, data = training.data.training[:64], training.data
    symmetry = data.encoder.symmetries[1]
    monkeypatch.setattr(
        training._augmentation, "sample", lambda count, rng: np.ones(count, np.int64)
    )
    losses = training.update(chosen, np.random.default_rng(0), 0.0)
    planes = torch.from_numpy(symmetry.observation(data.observations.encode(chosen)[0]))
    outputs = training.network(planes * data.encoder.scale)
    actions = torch.from_numpy(symmetry.actions[data.actions[chosen]])
    loss = torch.nn.functional.cross_entropy(outputs[:, :4], actions)
    assert losses["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)


def test_symmetries_may_swap_planes():
    game = make_game("hex:board_size=3")
    both, shape = game.symmetries(), game.observation_shape
    planes = np.random.default_rng(0).integers(0, 2, (len(both), *shape), np.int8)
    moved = Augmentation(both, shape[0]).observations(planes, np.arange(len(both)))
    for k, symmetry in enumerate(both):
        np.testing.assert_array_equal(moved[k], symmetry.observation(planes[k]))


def test_invalid_files_raise(mixed, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_data(tiny(tmp_path / "none.npz", tmp_path))
    other = tmp_path / "other.npz"
    save_dataset(other, games_of("random", games=2, game="tron:rows=3,columns=3"))
    with pytest.raises(ValueError, match="are different games"):
        load_data(replace(tiny(mixed, tmp_path), data=(mixed, other)))
    with pytest.raises(ValueError, match="no hand-crafted features"):
        load_data(tiny(other, tmp_path))
