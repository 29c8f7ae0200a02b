"""Tests of games in a batch: bit operations, and the moves of the games."""

import numpy as np
import pytest

from ludoteca.envs.bits import select_bit, transpose
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.gdl.machine import make_machine

pytestmark = pytest.mark.interpreted


def bits_of(words):
    """Return the bits of words, the lowest first, in a new last dimension."""
    return (words[..., np.newaxis] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)


def test_blocks_are_transposed_and_the_others_stay():
    blocks = np.random.default_rng(0).integers(0, 2**64, (64, 3, 8), np.uint64)
    transposed = blocks.copy()
    transpose(transposed, 1)
    assert np.array_equal(transposed[:, [0, 2]], blocks[:, [0, 2]])
    before, after = bits_of(blocks[:, 1]), bits_of(transposed[:, 1])  # [row, word, bit]
    assert np.array_equal(after, before.transpose(2, 1, 0))


def test_every_set_bit_can_be_selected():
    rng = np.random.default_rng(1)
    words = [1, 1 << 63, 2**64 - 1, *rng.integers(0, 2**64, 10, np.uint64).tolist()]
    for word in words:
        expected = [i for i in range(64) if word >> i & 1]
        with np.errstate(over="ignore"):  # compiled code wraps around without a warning
            selected = [select_bit(np.uint64(word), n) for n in range(len(expected))]
        assert selected == expected


@pytest.mark.compiled
def test_games_in_a_batch_make_legal_moves_to_the_next_states_of_the_rules():
    machine = make_machine(find_sheet("tictactoe"))
    network, simulator = machine.network, BatchSimulator(machine.network, seed=3, analyze=True)
    games, ends = [0, 63, 64, 511], 0
    states = bits_of(simulator.fluents).astype(bool).reshape(len(network.fluents), -1)
    for _ in range(25):
        simulator.play(1)
        after = bits_of(simulator.fluents).astype(bool).reshape(len(network.fluents), -1)
        for game in games:
            machine.set_fluents([network.fluents[i] for i in np.flatnonzero(states[:, game])])
            if machine.is_terminal():
                machine.reset()
                ends += 1
            else:
                numbers = simulator.moves[:, game]
                joint = [network.moves[m] for m in numbers]
                assert all(m in legal for m, legal in zip(joint, machine.legal(), strict=True))
                machine.step(joint)
            assert np.array_equal(after[:, game], machine.state)
        states = after
    assert ends >= len(games)
