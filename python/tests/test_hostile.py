# SPDX-License-Identifier: Apache-2.0
"""Arbitrary arrays and parameters give a result with finite numbers, or an exception of the right kind.

A crash of the interpreter would end the whole run, so no example crashes. Examples are the same in every run;
KFE_HYPOTHESIS=N tries N random ones of each kind.
"""
import collections
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

hypothesis = pytest.importorskip("hypothesis", reason="Debian's python3-hypothesis is not installed")
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as npst

import kfe
from kfe._model import Model

COUNT = int(os.environ.get("KFE_HYPOTHESIS", "0"))
hostile = settings(max_examples=COUNT or 40, derandomize=not COUNT, deadline=None, database=None,
                   suppress_health_check=list(HealthCheck))
REFUSALS = (ValueError, TypeError, OverflowError, ArithmeticError, MemoryError, NotImplementedError)


TAKEN = collections.Counter()  # how often a test got a result


def attempt(work):
    """The result, or None after an exception of a kind that users catch."""
    test = os.environ["PYTEST_CURRENT_TEST"].split("::")[-1].split(" ")[0]
    TAKEN[test] += 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = work()
            TAKEN[test] += 1
            return found
        except REFUSALS as error:
            assert str(error), f"{type(error).__name__} without a message"
            return None


def check_features(found, rows):
    if found is not None:
        assert found.shape[0] == rows and found.dtype == np.float64 and np.isfinite(found).all()


shapes = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7)
dtypes = st.one_of(npst.floating_dtypes(endianness="?"), npst.integer_dtypes(endianness="?"),
                   npst.unsigned_integer_dtypes(), npst.boolean_dtypes(), npst.complex_number_dtypes(),
                   npst.unicode_string_dtypes(max_len=3), npst.datetime64_dtypes(), st.just(np.dtype(object)))
objects = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just({}), st.just([1]))


@st.composite
def arrays(draw):
    """Arrays of any type and shape: transposed, strided, reversed, broadcast or read-only."""
    dtype = draw(dtypes)
    elements = objects if dtype == object else None
    x = draw(npst.arrays(dtype, draw(shapes), elements=elements, fill=st.nothing()))
    form = draw(st.sampled_from(["as it is", "transposed", "backwards", "every second", "read-only", "broadcast"]))
    if form == "transposed":
        x = x.T
    elif form == "backwards" and x.ndim:
        x = x[::-1]
    elif form == "every second" and x.ndim:
        x = x[..., ::2]
    elif form == "read-only":
        x.setflags(write=False)
    elif form == "broadcast" and x.ndim == 1:
        x = np.broadcast_to(x, (4, x.shape[0]))
    return x


@hostile
@given(arrays())
def test_any_array(x):
    check_features(attempt(lambda: kfe.KPCA(dim=2, n_threads=1).fit_transform(x)), np.shape(x)[0] if np.ndim(x) else 0)


@hostile
@given(npst.arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 4))), st.sampled_from(["KPCA", "KFD", "SMA", "PLS"]),
       st.data())
def test_any_numbers(x, method, data):
    """Doubles of all sizes, including infinities and NaN, with classes or real targets."""
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(x), max_size=len(x)))
    check_features(attempt(lambda: getattr(kfe, method)(dim=1, n_threads=1).fit(x, labels).transform(x)), len(x))


# Arrays of any shape rarely fit six rows, so that half of the targets are six words or numbers.
labels = st.sampled_from([[0, 1], [3, -1, 2], ["a", "b"], [True, False], [0.0, 1.0], [0.5, 1.5], [None, "a"], [2**62, 0]])
targets = st.one_of(arrays(), labels.flatmap(lambda words: st.lists(st.sampled_from(words), min_size=6, max_size=6)))


@hostile
@given(targets)
def test_any_target(y):
    x = np.arange(12.0).reshape(6, 2) % 5
    check_features(attempt(lambda: kfe.KFD(n_threads=1).fit(x, y).transform(x)), 6)


@st.composite
def compressed_rows(draw):
    """CSR matrices with arbitrary index arrays: out of range, unsorted, repeated, decreasing, of two widths. Half of them are
    matrices, whose rows are unsorted and have repeated entries."""
    rows, cols = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    entries = draw(st.integers(0, 8))
    if draw(st.booleans()):
        start = sorted(draw(st.lists(st.integers(0, entries), min_size=rows - 1, max_size=rows - 1)))
        x = sp.csr_matrix((rows, cols))
        x.data = np.array(draw(st.lists(st.floats(-5, 5), min_size=entries, max_size=entries)))
        x.indices = np.array(draw(st.lists(st.integers(0, cols - 1), min_size=entries, max_size=entries)), dtype=np.int32)
        x.indptr = np.array([0, *start, entries], dtype=np.int32)
        return x
    wide = draw(st.sampled_from([np.int32, np.int64]))
    index = st.one_of(st.integers(0, cols - 1), st.integers(-3, 9), st.sampled_from([2**31 - 1, -2**31]))
    position = st.one_of(st.integers(0, entries), st.integers(-2, 12), st.sampled_from([2**31 - 1]))
    x = sp.csr_matrix((rows, cols))
    x.data = np.array(draw(st.lists(st.floats(-5, 5), min_size=entries, max_size=entries)))
    x.indices = np.array(draw(st.lists(index, min_size=entries, max_size=entries)), dtype=wide)
    inner = draw(st.lists(position, min_size=rows, max_size=rows))
    x.indptr = np.array([draw(st.sampled_from([0, 0, 0, 1, -1])), *(sorted(inner) if draw(st.booleans()) else inner)], dtype=wide)
    return x


def dense_of(x):
    """The same numbers in a dense array; None if the index arrays do not describe a matrix."""
    rows, cols = x.shape
    starts = x.indptr.tolist()
    if starts[0] != 0 or any(b < a for a, b in zip(starts, starts[1:])) or starts[-1] > min(len(x.data), len(x.indices)):
        return None
    if any(not 0 <= j < cols for j in x.indices[:starts[-1]].tolist()):
        return None
    dense = np.zeros((rows, cols))
    for i in range(rows):
        for p in range(starts[i], starts[i + 1]):
            dense[i, x.indices[p]] += x.data[p]
    return dense


@hostile
@given(compressed_rows())
def test_any_compressed_rows(x):
    """Invalid matrices are refused; valid ones give the features of the same numbers in a dense array."""
    dense = dense_of(x)
    estimator = kfe.PCA(dim=5, scale="none", n_threads=1)  # with all components, their products do not depend on ties
    found = attempt(lambda: estimator.fit_transform(x))
    if dense is None:
        assert found is None
        return
    if found is None and (x.indptr[-1] < len(x.data) or x.indices.dtype == np.int64):
        return  # entries that belong to no row, and wide indices, may be refused, as in scikit-learn
    expected = attempt(lambda: estimator.fit_transform(dense))
    assert (found is None) == (expected is None), (x.data, x.indices, x.indptr)
    if found is not None:
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


values = st.one_of(st.none(), st.booleans(), st.integers(-10, 10), st.integers(), st.floats(), st.text(max_size=8), st.binary(max_size=4),
                   st.sampled_from(["auto", "rbf", "rbf:gamma=0", "linear:weight=-1", "a=b", "rbf:gamma=1..9/3", "\0", "é", "precomputed"]),
                   st.just([]), st.just({}), st.just(np.nan), st.just(np.float32(2)), st.just(object()))


@hostile
@given(st.dictionaries(st.sampled_from(["dim", "kernel", "scale", "gram", "n_threads", "memory", "center", "random_state"]), values,
                       min_size=1, max_size=3))
def test_any_parameters(parameters):
    x = np.arange(12.0).reshape(6, 2) % 5
    if isinstance(parameters.get("n_threads"), int) and parameters["n_threads"] > 4:
        parameters["n_threads"] = 4
    check_features(attempt(lambda: kfe.KPCA(**parameters).fit_transform(x)), 6)


@hostile
@given(st.binary(max_size=200))
def test_any_bytes_as_a_model(data):
    try:
        Model.from_bytes(data)
    except (kfe.KfeError, ValueError):
        return
    pytest.fail("random bytes were taken for a model")


def test_some_of_it_is_taken():
    """A test whose inputs are all refused tests the refusals only."""
    assert TAKEN and all(TAKEN.values()), TAKEN
