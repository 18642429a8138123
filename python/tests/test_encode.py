# SPDX-License-Identifier: Apache-2.0
"""Columns of categories, against scikit-learn's OneHotEncoder."""
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder

import kfe

KFD = dict(kernel="rbf:gamma=0.3", ridge=0.01, scale="none", n_threads=1)


def frame(rows=60, seed=1):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({"x": draw.normal(size=rows), "color": draw.choice(["red", "green", "blue"], rows),
                      "size": pd.Categorical(draw.choice(["S", "M", "L"], rows)), "z": draw.integers(0, 4, rows)})
    return X, np.where((X["color"] == "red") ^ (X["x"] > 0.3), "yes", "no")


def by_hand(X, encoder=None):
    encoder = encoder or OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(X[["color", "size"]])
    hot = encoder.transform(X[["color", "size"]])
    return np.column_stack([X["x"], hot, X["z"]]), encoder


@pytest.mark.parametrize("encode", ["auto", ["color", "size"], [1, 2]], ids=str)
def test_the_features_are_those_of_one_hot_columns(encode):
    X, y = frame()
    hand, encoder = by_hand(X)
    model = kfe.KFDClassifier(**KFD, encode=encode).fit(X, y)
    other = kfe.KFDClassifier(**KFD).fit(hand, y)
    new = frame(20, seed=2)[0]
    np.testing.assert_array_equal(model.transform(new), other.transform(by_hand(new, encoder)[0]))
    assert (model.predict(new) == other.predict(by_hand(new, encoder)[0])).all()
    assert model.feature_names_in_.tolist() == ["x", "color", "size", "z"] and model.n_features_in_ == 4
    np.testing.assert_array_equal(cross_val_score(clone(model), X, y, cv=3), cross_val_score(clone(other), hand, y, cv=3))


def test_files_and_pickles_keep_the_categories(tmp_path):
    X, y = frame()
    model = kfe.KFDClassifier(**KFD, encode="auto").fit(X, y)
    expected = model.transform(X)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    assert loaded.encode == ["color", "size"] and loaded.n_features_in_ == 4
    assert loaded.feature_names_in_.tolist() == ["x", "color", "size", "z"]
    np.testing.assert_array_equal(loaded.transform(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), expected)
    np.testing.assert_array_equal(clone(loaded).fit(X, y).transform(X), expected)


def test_arrays_of_objects_are_tables_as_well():
    X, y = frame()
    np.testing.assert_array_equal(kfe.KFD(**KFD, encode="auto").fit_transform(X.to_numpy(dtype=object), y),
                                  kfe.KFD(**KFD, encode="auto").fit_transform(X, y))


def test_unseen_categories_are_counted():
    X, y = frame()
    model = kfe.KFD(**KFD, encode="auto").fit(X, y)
    new, encoder = frame(5, seed=3)[0], by_hand(X)[1]
    new.loc[[0, 3], "color"] = "pink"
    with pytest.warns(kfe.KfeWarning, match="2 cells hold a category that the training data did not have, the first 'pink'"):
        found = model.transform(new)
    hand = kfe.KFD(**KFD).fit(by_hand(X)[0], y)
    np.testing.assert_array_equal(found, hand.transform(by_hand(new, encoder)[0]))


def test_missing_categories_follow_missing():
    X, y = frame()
    gaps = X.copy()
    gaps["color"] = gaps["color"].astype(object)
    gaps.loc[[1, 4], "color"] = [None, np.nan]
    with pytest.raises(ValueError, match="column 'color' of X has a missing value in row 1; .*missing='most_frequent'"):
        kfe.KFD(**KFD, encode="auto").fit(gaps, y)
    filled = gaps.fillna({"color": gaps["color"].mode()[0]})
    np.testing.assert_array_equal(kfe.KFD(**KFD, encode="auto", missing="most_frequent").fit_transform(gaps, y),
                                  kfe.KFD(**KFD, encode="auto").fit_transform(filled, y))


def test_ordered_categories_are_their_places():
    """As in R; a column that is named is encoded by zeros and ones."""
    X, y = frame()
    order = ["S", "M", "L", "XL"]
    ordered = X.assign(size=pd.Categorical(X["size"].astype(str), order, ordered=True))
    numbers = X.assign(size=[order.index(word) + 1.0 for word in X["size"]])
    model = kfe.KFD(**KFD, encode="auto").fit(ordered, y)
    other = kfe.KFD(**KFD, encode="auto").fit(numbers, y)
    np.testing.assert_array_equal(model.transform(ordered), other.transform(numbers))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(ordered), model.transform(ordered))
    new, places = frame(5, seed=3)[0], numbers.iloc[:5].copy()
    places["x"], places["color"], places["z"] = new["x"], new["color"], new["z"]
    places["size"] = [4.0, 3.0, 2.0, 1.0, 4.0]
    new["size"] = ["XL", "L", "M", "S", "XL"]
    np.testing.assert_array_equal(model.transform(new), other.transform(places))
    with pytest.raises(ValueError, match="column 'size' of X holds 'XXL' in row 1, which is not among .*: S < M < L < XL"):
        model.transform(new.assign(size=["S", "XXL", "M", "S", "S"]))
    with pytest.raises(ValueError, match="missing|NaN"):
        model.transform(new.assign(size=["S", None, "M", "S", "S"]))
    named = kfe.KFD(**KFD, encode=["color", "size"])
    np.testing.assert_array_equal(named.fit_transform(ordered, y), named.fit_transform(X, y))


def test_what_cannot_be_encoded_is_refused():
    X, y = frame()
    with pytest.raises(ValueError, match="encode='auto'"):
        kfe.KFD(**KFD).fit(X, y)
    with pytest.raises(ValueError, match="encode names the column 'shape', but X has the columns x, color, size, z"):
        kfe.KFD(**KFD, encode=["shape"]).fit(X, y)
    with pytest.raises(ValueError, match="not for sparse data"):
        kfe.KFD(**KFD, encode="auto").fit(sp.eye(60, format="csr"), y)
    with pytest.raises(ValueError, match="examples that are strings"):
        kfe.KFD(kernel="spectrum", encode="auto").fit(["ab"] * 60, y)
    with pytest.raises(ValueError, match="leave out encode"):
        kfe.KFD(kernel="precomputed", encode=[0]).fit(np.eye(60), y)
    with pytest.raises(ValueError, match="X has 3 features, but KFD is expecting 4"):
        kfe.KFD(**KFD, encode="auto").fit(X.to_numpy(object), y).transform(X.to_numpy(object)[:, :3])


def test_searches_of_the_library_take_categories():
    X, y = frame()
    result = kfe.cv(kfe.KFDClassifier(**KFD, encode="auto"), X, y, folds=3, refit=True)
    hand = kfe.cv(kfe.KFDClassifier(**KFD), by_hand(X)[0], y, folds=3)
    assert [split["metrics"] for split in result["splits"]] == [split["metrics"] for split in hand["splits"]]
    assert (result.best_estimator_.predict(X) == kfe.KFDClassifier(**KFD, encode="auto").fit(X, y).predict(X)).all()


def test_categories_in_views_of_one_table(tmp_path):
    X, y = frame()
    hand = by_hand(X)[0]
    views = {"left": ["x", "color"], "right": ["size", "z"]}
    model = kfe.MKLClassifier(kernel="rbf", views=views, encode="auto", n_threads=1).fit(X, y)
    other = kfe.MKLClassifier(kernel="rbf", n_threads=1).fit({"left": hand[:, :4], "right": hand[:, 4:]}, y)
    expected = other.transform({"left": hand[:, :4], "right": hand[:, 4:]})
    np.testing.assert_array_equal(model.transform(X), expected)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    np.testing.assert_array_equal(loaded.transform(X), expected)
    assert loaded.encode == ["color", "size"] and loaded.view_columns_ == {"left": 2, "right": 2}
    assert loaded.feature_names_in_.tolist() == ["x", "color", "size", "z"]
    np.testing.assert_array_equal(clone(loaded).fit(X, y).transform(X).shape, expected.shape)
    with pytest.raises(ValueError, match="column 2 is in the views 'left' and 'right'"):
        kfe.MKLClassifier(views={"left": [0, 1], "right": [1, 3]}, encode="auto").fit(X, y)
