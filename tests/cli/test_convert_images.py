# SPDX-License-Identifier: Apache-2.0
"""Rectangle features from the command line."""
import numpy as np
import pytest

IMAGES = np.array([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]], float)


@pytest.fixture
def images(kfe):
    rows = [",".join(f"{v:g}" for v in row) + f",{name}" for row, name in zip(IMAGES, ("face", "other"))]
    kfe.write("images.csv", "\n".join(rows) + "\n")
    return kfe


def expected():
    """Images of 3 × 2 pixels by hand: positions (w, h) of a rectangle, and the pixels that are added and subtracted."""
    columns = []
    for image in IMAGES.reshape(-1, 2, 3):
        a = image
        two_across = [a[y, x + 1] - a[y, x] for y in (0, 1) for x in (0, 1)]
        two_across += [a[:, x + 1].sum() - a[:, x].sum() for x in (0, 1)]
        two_down = [a[1, x] - a[0, x] for x in (0, 1, 2)]
        two_down += [a[1, x:x + 2].sum() - a[0, x:x + 2].sum() for x in (0, 1)]
        two_down += [a[1].sum() - a[0].sum()]
        three = [a[y, 1] - a[y, 0] - a[y, 2] for y in (0, 1)]
        three += [a[:, 1].sum() - a[:, 0].sum() - a[:, 2].sum()]
        four = [a[0, x + 1] + a[1, x] - a[0, x] - a[1, x + 1] for x in (0, 1)]
        columns.append(two_across + two_down + three + four)
    return np.array(columns)


def test_features_and_labels_are_written(images):
    images.ok("convert", "--viola-jones", "3x2", "images.csv", "-o", "features.csv")
    lines = [line.split(",") for line in images.path("features.csv").read_text().splitlines()]
    table = [line for line in lines if line[-1] in ("face", "other")]
    assert [line[-1] for line in table] == ["face", "other"]
    np.testing.assert_array_equal(np.array([line[:-1] for line in table], float), expected())


def test_out_may_be_an_operand(images):
    images.ok("convert", "--viola-jones", "3x2", "images.csv", "features.svm")
    assert images.path("features.svm").read_text().count("\n") == 2


@pytest.mark.parametrize("arguments, text", [
    (("--viola-jones", "3", "images.csv", "out.csv"), "WxH"),
    (("--viola-jones", "3x2x1", "images.csv", "out.csv"), "WxH"),
    (("--viola-jones", "0x6", "images.csv", "out.csv"), "WxH"),
    (("--viola-jones", "4x2", "images.csv", "out.csv"), "8 pixels"),
    (("--viola-jones", "3x2", "-k", "rbf", "images.csv", "out.csv"), "cannot be used together"),
    (("--viola-jones", "3x2", "images.csv", "out.csv", "-o", "other.csv"), "does not take 'out.csv'"),
])
def test_mistakes_are_explained(images, arguments, text):
    images.refused("convert", *arguments, says=text)
