# SPDX-License-Identifier: Apache-2.0
"""kfe.dask on a local cluster: partitions of arrays and dataframes give the model of all rows. Skipped without dask."""
import numpy as np
import pytest
from sklearn.base import clone

import kfe

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  memory_limit=None) as made, distributed.Client(made) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    y = np.sort(rng.integers(0, 3, 600))  # partitions lack classes
    return rng.normal(size=(600, 5)) + 1.5 * np.eye(5)[y] + 50, np.array(["u", "v", "w"])[y]


def agree(a, b):
    b = b * np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-7 * np.abs(a).max())


def test_linear_method_on_an_array(cluster, rows):
    import kfe.dask
    x, y = rows
    found = kfe.dask.fit(kfe.OC(), da.from_array(x, chunks=(70, 2)), da.from_array(y, chunks=90), split_every=3)
    agree(kfe.OC().fit(x, y).transform(x), found.transform(x))
    features = kfe.dask.transform(found, da.from_array(x, chunks=(200, 5)))
    agree(found.transform(x), features.compute())


def test_landmarks_from_a_sample_of_all_partitions(cluster, rows):
    import kfe.dask
    x, y = rows
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.1", landmarks=40, learner="ls")
    found = kfe.dask.fit(model, da.from_array(x, chunks=(100, 5)), y)
    whole = kfe.KFDClassifier(kernel="rbf:gamma=0.1", landmarks=40, learner="ls").fit(x, y)
    # fewer rows than the sample wants, so that the sample is all rows in their order
    np.testing.assert_allclose(found.decision_function(x[:20]), whole.decision_function(x[:20]), rtol=1e-5, atol=1e-7)
    answers = kfe.dask.predict(found, da.from_array(x, chunks=(100, 5))).compute()
    assert (answers == whole.predict(x)).all()


def test_dataframe(cluster, rows):
    pytest.importorskip("dask.dataframe")
    import dask.dataframe as dd
    import pandas as pd
    import kfe.dask
    x, y = rows
    frame = pd.DataFrame(x, columns=list("abcde")).assign(y=y)
    parts = dd.from_pandas(frame, npartitions=4)
    found = kfe.dask.fit(kfe.PLS(dim=2), parts[list("abcde")], parts["y"])
    assert found.feature_names_in_.tolist() == list("abcde")
    agree(kfe.PLS(dim=2).fit(frame[list("abcde")], y).transform(frame[list("abcde")]), found.transform(frame[list("abcde")]))


def test_weights(cluster, rows):
    import kfe.dask
    x, y = rows
    w = np.random.default_rng(2).integers(0, 4, len(y))
    w[100:200] = 0  # a partition without weight
    array = da.from_array(x, chunks=(100, 5))
    for model in (kfe.PLSClassifier(dim=3, learner="ls"),
                  kfe.KFDClassifier(kernel="rbf:gamma=0.1", landmarks=40, ridge=0.1, learner="ls", class_weight={"u": 3})):
        whole = clone(model).fit(x, y, sample_weight=w)
        for weights in (w, da.from_array(w, chunks=77)):
            found = kfe.dask.fit(clone(model), array, y, sample_weight=weights)
            np.testing.assert_allclose(found.decision_function(x[:20]), whole.decision_function(x[:20]), rtol=1e-5, atol=1e-7)
    repeated = kfe.dask.fit(kfe.OC(), da.from_array(np.repeat(x, w, axis=0), chunks=(100, 5)), np.repeat(y, w))
    agree(repeated.transform(x), kfe.dask.fit(kfe.OC(), array, y, sample_weight=w).transform(x))


def test_refusals(rows):
    import kfe.dask
    x, y = rows
    with pytest.raises(kfe.UnsupportedError, match="landmarks"):
        kfe.dask.fit(kfe.KPCA(), da.from_array(x, chunks=(100, 5)))
    with pytest.raises(ValueError, match="600 rows"):
        kfe.dask.fit(kfe.OC(), da.from_array(x, chunks=(100, 5)), y[:10])
    with pytest.raises(ValueError, match="sample_weight has 10"):
        kfe.dask.fit(kfe.OC(), da.from_array(x, chunks=(100, 5)), y, sample_weight=np.ones(10))
    with pytest.raises(kfe.UnsupportedError, match="by name"):
        kfe.dask.fit(kfe.OC(class_weight="balanced"), da.from_array(x, chunks=(100, 5)), y)
    with pytest.raises(ValueError, match="all weights are zero"):
        kfe.dask.fit(kfe.KPCA(landmarks=9), da.from_array(x, chunks=(100, 5)), sample_weight=np.zeros(600))


@pytest.mark.parametrize("y, chunk", [(np.arange(600) // 15, 150), (np.r_[np.zeros(300, int), np.arange(300)], 300)],
                         ids=["too many together", "too many in one partition"])
def test_partitions_that_are_classes_alone_but_not_together_are_refused(cluster, rows, y, chunk):
    import kfe.dask
    x, y = da.from_array(rows[0], chunks=(chunk, 5)), da.from_array(y, chunks=chunk)
    with pytest.raises(Exception, match="task='classify'.*task='regress'"):
        kfe.dask.fit(kfe.PLS(dim=2), x, y)
    agree(kfe.PLS(dim=2, task="regress").fit(rows[0], y.compute()).transform(rows[0]),
          kfe.dask.fit(kfe.PLS(dim=2, task="regress"), x, y).transform(rows[0]))
