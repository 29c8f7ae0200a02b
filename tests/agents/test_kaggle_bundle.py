"""Source bundles: the text of functions, with their dependencies and arrays, in exported agents."""

import math

import numpy as np
import pytest
import torch

from ludoteca.agents.external.kaggle import bundle
from ludoteca.agents.external.kaggle.bundle import Bundle, pack, unpack

MAX_LENGTH = 3
BIG = np.arange(100, dtype=np.int32).reshape(10, 10)
LITTLE = np.array([1.5, 2.5])
ODD = {"a": [1, (2.5, None)], "b": math.inf}


def twice(x: int) -> int:
    return 2 * x


def first(x: int) -> int:
    y: int = twice(x)
    z: int
    z = sum(twice(one) for one in range(MAX_LENGTH))
    return y + z + int(BIG[9, 9]) + int(LITTLE[1] * 2) + ODD["a"][0]


def test_bundle_includes_dependencies_of_functions():
    bundle = Bundle()
    assert bundle.add(first, "first") == "first"
    assert bundle.add(first, "again") == "first"
    text = bundle.text()
    names = {}
    exec(text, names)
    # twice(5), twice(0) + twice(1) + twice(2), and the constants of the module.
    assert names["first"](5) == first(5) == 10 + 6 + 99 + 5 + 1
    assert text.count("def twice") == 1
    assert ": int" not in text


def test_bundle_renames_different_objects_of_one_name():
    def make(twice, limit):
        def choose(x):
            return twice(x) + limit

        return choose

    def triple(x):
        return 3 * x

    bundle = Bundle()
    bundled_names = [
        bundle.add(make(*pair), "choose") for pair in ((twice, 1), (triple, 2), (twice, 1))
    ]
    names = {}
    exec(bundle.text(), names)
    assert [names[name](10) for name in bundled_names] == [21, 32, 21]
    assert bundle.text().count("limit = 1\n") == 1


def test_dependencies_other_than_numpy_raise():
    def by_torch(x):
        return torch.relu(x)

    def by_object(x):
        return marker.go(x)

    marker = object()
    with pytest.raises(
        ValueError, match="torch is from torch, but exported agents can import NumPy only"
    ):
        Bundle().add(by_torch, "choose")
    with pytest.raises(ValueError, match="marker cannot be exported: it is <object"):
        Bundle().add(by_object, "choose")
    with pytest.raises(ValueError, match="must be a function with a name"):
        Bundle().add(lambda x: x, "choose")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint64", "bool"])
def test_arrays_are_packed_exactly(dtype):
    values = np.arange(-30, 30).reshape(3, 4, 5).astype(dtype)
    read = unpack(values.dtype.str, values.shape, pack(values))
    assert np.array_equal(read, values)
    assert read.dtype == ("float32" if dtype.startswith("f") else dtype)
    assert read.flags.writeable


def test_weights_have_the_requested_precision():
    values = np.random.default_rng(0).normal(size=(20, 20)).astype(np.float32)
    unpacked = {}
    for precision in ("float16", "float32"):
        bundle = Bundle(precision)
        bundle.add({"w": values}, "WEIGHTS")
        names = {}
        exec(bundle.text(), names)
        unpacked[precision] = names["WEIGHTS"]["w"], len(bundle.text())
        assert unpacked[precision][0].dtype == np.float32
    assert np.array_equal(unpacked["float32"][0], values)
    assert np.array_equal(unpacked["float16"][0], values.astype(np.float16).astype(np.float32))
    assert unpacked["float16"][1] < 0.7 * unpacked["float32"][1]
    with pytest.raises(ValueError, match="too large for float16"):
        Bundle("float16").add({"w": 1e6 * values}, "WEIGHTS")


def test_text_of_arrays_needs_no_escapes():
    text = pack(np.random.default_rng(1).integers(0, 256, 100_000).astype(np.uint8))
    assert not set(text) & set("\"'\\ \n")
    assert bundle.LINE_WIDTH < 100
