"""Tests of the replay buffer and of prioritized sampling."""

from types import SimpleNamespace

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.replay import Packing, ReservoirBuffer, RingBuffer
from ludoteca.train.sum_tree import SumTree

SHAPE, ACTIONS = (2, 3, 3), 9
COLUMNS = {
    "planes": "planes",
    "action": "action",
    "reward": "scalar",
    "discount": "scalar",
    "next_planes": "planes",
    "next_mask": "mask",
}


def layout(binary: bool = True) -> ExampleLayout:
    """Return the layout of transitions with planes of 0 and 1, or of larger numbers."""
    game = SimpleNamespace(num_actions=ACTIONS, action_dtype=np.int16)
    return ExampleLayout(
        SimpleNamespace(game=game, shape=SHAPE, scale=1 if binary else 0.1), COLUMNS
    )


def make_buffer(capacity: int, count: int, binary: bool = True):
    """Return an empty buffer, records for it, and their planes, next planes and masks."""
    rng = np.random.default_rng(0)
    high = 2 if binary else 30
    columns = layout(binary)
    buffer = RingBuffer(capacity, columns.dtype)
    planes, next_planes = rng.integers(high, size=(2, count, *SHAPE)).astype(np.int8)
    masks = rng.integers(2, size=(count, ACTIONS)).astype(np.int8)
    records = np.zeros(count, buffer.records.dtype)
    records["planes"], records["next_planes"] = (
        columns.planes.pack(planes),
        columns.planes.pack(next_planes),
    )
    records["next_mask"] = columns.masks.pack(masks)
    records["action"] = np.arange(count) % ACTIONS
    records["reward"] = np.arange(count)
    records["discount"] = -0.5
    return buffer, records, planes, next_planes, masks


@pytest.mark.parametrize("binary", [True, False])
def test_stored_transitions_are_returned(binary):
    buffer, records, planes, next_planes, masks = make_buffer(50, 40, binary)
    buffer.add(records[:25])
    buffer.add(records[25:])
    assert len(buffer) == 40
    indices = np.array([3, 39, 3])
    batch = layout(binary).unpack(buffer.records[indices])
    assert np.array_equal(batch["planes"], planes[indices])
    assert np.array_equal(batch["next_planes"], next_planes[indices])
    assert np.array_equal(batch["next_mask"], masks[indices])
    assert batch["action"].tolist() == [3, 3, 3]
    assert batch["reward"].tolist() == [3.0, 39.0, 3.0]
    assert batch["discount"].tolist() == [-0.5] * 3
    assert all(len(column) == 3 for column in batch.values())


def test_planes_take_an_eighth_of_the_memory():
    assert Packing((6, 13, 13), True).size == 127
    assert Packing((6, 13, 13), False).size == 1014


def test_oldest_transitions_are_overwritten():
    buffer, records, *_ = make_buffer(16, 40)
    for k in range(0, 40, 5):
        indices = buffer.add(records[k : k + 5])
        assert buffer.records["reward"][indices].tolist() == records["reward"][k : k + 5].tolist()
    assert sorted(buffer.records["reward"]) == list(range(24, 40))
    assert len(buffer) == 16
    assert buffer.added == 40
    overfilled = RingBuffer(16, layout().dtype)
    overfilled.add(records)  # more than it holds, at once
    assert sorted(overfilled.records["reward"]) == list(range(24, 40))


@pytest.mark.parametrize("before", [0, 3, 16, 21])
@pytest.mark.parametrize("count", [16, 17, 31, 40])
def test_overfilled_buffer_overwrites_the_oldest_next(before, count):
    """Records added at once are stored at the same indices as records added one by one."""
    buffer, records, *_ = make_buffer(16, before + count + 5)
    single = RingBuffer(16, layout().dtype)
    for low, high in ((0, before), (before, before + count), (before + count, len(records))):
        indices = buffer.add(records[low:high])
        assert np.array_equal(buffer.records[indices], records[low:high][-16:])
        for k in range(low, high):
            single.add(records[k : k + 1])
        assert np.array_equal(buffer.records, single.records)
        assert (buffer.added, len(buffer)) == (single.added, len(single))
    assert sorted(buffer.records["reward"]) == list(range(len(records) - 16, len(records)))


def test_samples_are_uniform_without_replacement():
    buffer, records, *_ = make_buffer(50, 30)
    buffer.add(records)
    rng = np.random.default_rng(0)
    counts = np.zeros(30)
    for _ in range(2000):
        sampled = buffer.sample(6, rng)
        assert len(set(sampled.tolist())) == 6
        counts[sampled] += 1
    assert (abs(counts - 400) < 80).all()  # four standard deviations
    assert len(buffer.sample(100, rng)) == 100  # more than there are: with repetition


def test_buffer_resumes_from_its_saved_state():
    buffer, records, *_ = make_buffer(16, 40)
    buffer.add(records[:21])
    state = {name: array.copy() for name, array in buffer.state().items()}
    restored = RingBuffer(16, layout().dtype)
    restored.restore(state)
    for target in (buffer, restored):
        target.add(records[21:])
    assert np.array_equal(buffer.records, restored.records)
    with pytest.raises(ValueError, match="expected at most 8 records"):
        RingBuffer(8, layout().dtype).restore(state)


def reservoir_sample(parts: list[int], capacity: int, rng: np.random.Generator) -> list[int]:
    """Add the numbers 0, 1, ... to a reservoir buffer, in parts; return those that it holds."""
    buffer = ReservoirBuffer(capacity, np.dtype([("number", np.int64)]))
    numbers = np.arange(sum(parts)).astype(np.int64).view(buffer.records.dtype)
    for part in np.split(numbers, np.cumsum(parts)[:-1]):
        buffer.add(part, rng)
    assert buffer.added == len(numbers)
    return buffer.records["number"][: len(buffer)].tolist()


@pytest.mark.parametrize("parts", [[12], [5, 1, 6]])
def test_reservoir_buffer_is_a_uniform_sample_without_replacement(parts):
    rng, runs, capacity, total = np.random.default_rng(0), 1_500, 4, 12
    counts, pairs = np.zeros(total), np.zeros((total, total))
    for _ in range(runs):
        sample = reservoir_sample(parts, capacity, rng)
        assert len(set(sample)) == capacity
        counts[sample] += 1
        pairs[np.ix_(sample, sample)] += 1
    expected = runs * capacity / total
    # The counts are dependent: their sum is fixed, and their variance is that of a sample without
    # replacement, so that this statistic has a chi-squared distribution with 11 degrees of freedom.
    statistic = ((counts - expected) ** 2).sum() / expected / (1 - capacity / total)
    assert statistic * (total - 1) / total < 31.3  # its 0.999 quantile
    together = runs * capacity * (capacity - 1) / total / (total - 1)
    assert abs(pairs[~np.eye(total, dtype=bool)] - together).max() < 5 * together**0.5


def test_reservoir_buffer_keeps_all_records_until_it_is_full():
    rng = np.random.default_rng(0)
    assert reservoir_sample([3, 0, 2], 5, rng) == [0, 1, 2, 3, 4]
    assert reservoir_sample([2, 1], 5, rng) == [0, 1, 2]


def test_reservoir_buffer_replaces_the_record_at_the_sampled_index():
    class Sampled:
        """Generator that returns given numbers."""

        def integers(self, high):
            assert high.tolist() == [1, 2, 3, 4, 5, 6, 7]
            return np.array([0, 0, 2, 1, 4, 1, 3])

    # Of the sampled indices, those from 3 on are outside the buffer, and their records are dropped.
    assert reservoir_sample([7], 3, Sampled()) == [0, 5, 2]


def test_symmetries_map_all_columns_of_transitions():
    game = make_game("tictactoe")
    buffer, records, planes, next_planes, masks = make_buffer(50, 20)
    buffer.add(records)
    batch = layout().unpack(buffer.records[:20])
    for symmetry in game.symmetries():
        mapped = layout().mapped(batch, symmetry)
        for k in range(20):
            # The action's cell is mapped as the cells of the planes are.
            row, column = divmod(int(batch["action"][k]), 3)
            mapped_cell = divmod(int(mapped["action"][k]), 3)
            assert (
                mapped["planes"][k, :, *mapped_cell].tolist() == planes[k, :, row, column].tolist()
            )
            mapped_next_plane = mapped["next_planes"][k, :, *mapped_cell].tolist()
            assert mapped_next_plane == next_planes[k, :, row, column].tolist()
            assert mapped["next_mask"][k, mapped["action"][k]] == masks[k, batch["action"][k]]
        assert mapped["reward"] is batch["reward"]


@pytest.mark.parametrize("capacity", [1, 2, 5, 8, 100])
def test_sum_tree_holds_powers_of_errors(capacity):
    rng = np.random.default_rng(0)
    priorities = SumTree(capacity, alpha=0.7, epsilon=0.01)
    errors = np.zeros(capacity)
    for _ in range(20):
        indices = rng.integers(capacity, size=7)
        new = rng.random(7)
        priorities.update(indices, new)
        errors[indices] = new  # the last of repeated indices counts, as in the tree
    updated = np.where(priorities.tree[priorities.leaves :][:capacity] > 0, 1, 0)
    expected = (errors + 0.01) ** 0.7 * updated
    leaves = priorities.tree[priorities.leaves :]
    assert np.allclose(leaves[:capacity], expected)
    assert (leaves[capacity:] == 0).all()
    assert np.isclose(priorities.total, expected.sum())


def test_sampling_follows_priorities_with_importance_weights():
    priorities = SumTree(6, alpha=1.0, epsilon=0.0)
    errors = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 0.0])
    priorities.update(np.arange(6), errors)
    rng = np.random.default_rng(0)
    counts = np.bincount(
        np.concatenate([priorities.sample(10, rng) for _ in range(1000)]), minlength=6
    )
    assert counts[[0, 5]].tolist() == [0, 0]  # no priority, never sampled
    assert np.allclose(counts / 10_000, errors / 10, atol=0.01)
    # By hand, Schaul et al., section 3.4: (N P)^-beta = (6 * 0.1)^-0.5, (6 * 0.4)^-0.5, by the max.
    weights = priorities.weights(np.array([1, 4]), 6, 0.5)
    assert np.allclose(weights, [1.0, (2.4**-0.5) / (0.6**-0.5)])
    assert np.allclose(priorities.weights(np.array([1, 4]), 6, 1.0), [1.0, 0.25])
    assert np.allclose(priorities.weights(np.array([1, 4]), 6, 0.0), [1.0, 1.0])


def test_new_transitions_get_the_largest_priority():
    priorities = SumTree(4, alpha=1.0, epsilon=0.0)
    priorities.add(np.array([0]))
    assert priorities.total == 1.0
    priorities.update(np.array([0]), np.array([5.0]))
    priorities.update(np.array([0]), np.array([2.0]))
    priorities.add(np.array([1]))
    assert priorities.tree[priorities.leaves :].tolist() == [2.0, 5.0, 0.0, 0.0]
    restored = SumTree(4, alpha=1.0, epsilon=0.0)
    restored.restore({name: array.copy() for name, array in priorities.state().items()})
    restored.add(np.array([2]))
    assert restored.total == 12.0  # 2 + 5 + 5
    with pytest.raises(ValueError, match="nothing to sample"):
        SumTree(4).sample(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="expected"):
        SumTree(9).restore(priorities.state())
