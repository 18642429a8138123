# SPDX-License-Identifier: Apache-2.0
"""split="kennard-stone" and "spxy": against brute force in NumPy, in any order of the rows."""
import numpy as np
import pytest

import kfe


def _expected(distances, count):
    """Rows in the order in which they are chosen: the farthest pair, then always the row farthest from the chosen ones."""
    chosen = list(np.unravel_index(np.argmax(distances), distances.shape))
    while len(chosen) < count:
        nearest = distances[:, chosen].min(axis=1)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    return set(chosen[:count])


def _apart(values):
    return np.linalg.norm(values[:, None, :] - values[None, :, :], axis=2)


def _train(X, y, split, train_size, **options):
    found = kfe.cv(kfe.PLSRegressor(dim=1), X, y, split=split, train_size=train_size, held_out="yes", **options)
    assert len(found["splits"]) == 1
    test = {row["row"] - 1 for row in found["held_out"]}
    assert found["splits"][0]["train_rows"] == len(X) - len(test)
    return set(range(len(X))) - test


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
def test_kennard_stone_is_brute_force(seed, share):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(40, 3)), random.normal(size=40)
    assert _train(X, y, "kennard-stone", share) == _expected(_apart(X), round(share * 40))


@pytest.mark.parametrize("targets", [1, 2])
def test_spxy_is_brute_force(targets):
    random = np.random.default_rng(5)
    X, Y = random.normal(size=(35, 4)), random.normal(size=(35, targets)) * [100, 1][:targets]
    apart = _apart(X) / _apart(X).max() + _apart(Y) / _apart(Y).max()
    expected = _expected(apart, 20)
    assert _train(X, Y[:, 0] if targets == 1 else Y, "spxy", 20) == expected
    assert expected != _expected(_apart(X), 20)


def test_the_order_of_the_rows_does_not_matter():
    """A grid, where many distances are equal."""
    X = np.array([[i, j] for i in range(6) for j in range(5)], float)
    y = X @ [1.0, 10.0]
    order = np.random.default_rng(6).permutation(len(X))
    for split in ("kennard-stone", "spxy"):
        straight, shuffled = _train(X, y, split, 12), _train(X[order], y[order], split, 12)
        assert straight == {order[row] for row in shuffled}


def test_rows_of_weight_zero_are_in_no_part():
    random = np.random.default_rng(7)
    X, y = random.normal(size=(30, 2)), random.normal(size=30)
    X[3] = 1000
    weights = np.ones(30)
    weights[3] = 0
    kept = np.delete(np.arange(30), 3)
    found = kfe.cv(kfe.PLSRegressor(dim=1), X, y, split="kennard-stone", train_size=10, held_out="yes", sample_weight=weights)
    test = {row["row"] - 1 for row in found["held_out"]}
    assert set(kept) - test == {int(kept[place]) for place in _expected(_apart(X[kept]), 10)} and 3 not in test


def test_compare_classes_and_mistakes():
    X, y = kfe.generate("iris")
    found = kfe.compare([kfe.KFDClassifier(learner="knn"), kfe.KOCClassifier(learner="knn")], X, y, split="kennard-stone", train_size=100)
    assert all(method["splits"][0]["test_rows"] == 50 for method in found["methods"])
    for options, says in (({"split": "spxy"}, "targets that are numbers"), ({"split": "kennard-stone", "repeats": 2}, "only one split"),
                          ({"split": "kennard-stone", "groups": np.arange(150) % 5}, "groups"),
                          ({"split": "kennard-stone", "train_size": 150}, "leaves no row")):
        with pytest.raises(ValueError, match=says):
            kfe.cv(kfe.KFDClassifier(learner="knn"), X, y, **options)
    X[0, 0] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)  # a gap is where its fill is
    rows = [{row["row"] for row in kfe.cv(kfe.KFDClassifier(learner="knn", missing="mean"), table, y, split="kennard-stone", held_out="yes")["held_out"]}
            for table in (X, filled)]
    assert rows[0] == rows[1]
