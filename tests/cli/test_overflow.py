# SPDX-License-Identifier: Apache-2.0
"""Rows that are too large to compute with are refused by whatever projects them, and all others are answered rightly."""
import decimal
import math

import numpy
import pytest

decimal.getcontext().prec = 60
D = decimal.Decimal

LEARNERS = ["knn", "centroid", "svm", "linear-svm", "ls"]
FAR = [1e25, 1e160, 1e200, -1e200, 1e308, 5e-324, 1e-310, -0.0]


def table(rows, labels=None):
    return "a,b,c" + (",kind" if labels is not None else "") + "\n" + "".join(
        ",".join(map(repr, map(float, row))) + (f",{labels[i]}" if labels is not None else "") + "\n" for i, row in enumerate(rows))


def train(kfe, positive=False):
    draw = numpy.random.default_rng(4)
    x = draw.normal(size=(30, 3)) + numpy.repeat([[0, 0, 0], [2, 1, -1], [-1, 2, 2]], 10, axis=0)
    x = numpy.abs(x) if positive else x
    kfe.write("train.csv", table(x, numpy.repeat(list("pqr"), 10)))
    return x


@pytest.mark.parametrize("learner", LEARNERS)
def test_whatever_projects_refuses(kfe, learner):
    x = train(kfe)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "poly:degree=3", "--scale", "none", "--learner", learner, "train.csv", "-o", "m.kfe")
    kfe.write("far.csv", table([x[0], [1, 1e200, 1]], "pq"))
    refusal = "row 2, column 2 is too large to compute with"
    for command in ["transform"], ["predict"], ["predict", "--scores"], ["evaluate"], ["explain", "--parts", "permutation"], \
            ["explain", "--parts", "gradient"]:
        kfe.refused(command[0], "-q", *command[1:], "m.kfe", "far.csv", says=refusal)
    assert refusal in kfe.run("predict", "-q", "m.kfe", "-", stdin=kfe.path("far.csv").read_bytes(), status=2).err
    kfe.refused("report", "-q", "m.kfe", "--test", "far.csv", "-o", "r.html", says=refusal)


@pytest.mark.parametrize("learner", ["knn", "centroid", "svm", "linear-svm", "ls"])
def test_columns_themselves_are_checked(kfe, learner):
    """Without a projector too; neighbours at distances that overflow are all alike."""
    train(kfe)
    kfe.ok("fit", "-q", "-m", "none", "--scale", "none", "--learner", learner, "train.csv", "-o", "m.kfe")
    kfe.write("far.csv", table([[1, 1e200, 1]]))
    if learner == "knn":
        kfe.refused("predict", "-q", "m.kfe", "far.csv", says="row 1, column 2 is too large to compute with")
    kfe.write("train.csv", table(numpy.arange(30).reshape(10, 3) * [1e-200, 1, 1], "pq" * 5))
    kfe.ok("fit", "-q", "-m", "none", "--scale", "standard", "--learner", learner, "train.csv", "-o", "m.kfe")
    kfe.write("far.csv", table([[1e200, 1, 1]]))
    for command in "transform", "predict":
        kfe.refused(command, "-q", "m.kfe", "far.csv", says="row 1, column 1 is too large to compute with")


def kernel_value(name, x, y):
    """With 60 digits."""
    x, y = [D(v) for v in x], [D(v) for v in y]
    squared, dot = sum((a - b) ** 2 for a, b in zip(x, y)), sum(a * b for a, b in zip(x, y))
    distance = squared.sqrt()
    if name == "linear":
        return dot
    if name.startswith("poly"):
        return (dot * D(0.3) + 1) ** 2
    if name == "cosine":
        length = sum(a * a for a in x).sqrt() * sum(b * b for b in y).sqrt()
        return dot / length if length else D(0)
    if name.startswith("sigmoid"):
        t = max(min(dot * D(0.05) + D(0.1), D(500)), D(-500))
        return (t.exp() - (-t).exp()) / (t.exp() + (-t).exp())
    if name.startswith("rbf"):
        return (-squared * D(0.2)).exp()
    if name.startswith("laplacian"):
        return (-sum(abs(a - b) for a, b in zip(x, y)) * D(0.1)).exp()
    if name == "exp:sigma=2":
        return (-distance / 2).exp()
    if name.startswith("exp"):
        return (-((distance / 3) ** 3).sqrt()).exp()
    if name == "matern:sigma=3":
        t = D(3).sqrt() * distance / 3
        return (1 + t) * (-t).exp()
    if name.startswith("matern"):
        t = D(5).sqrt() * distance / 2
        return (1 + t + t * t / 3) * (-t).exp()
    if name.startswith("chi2"):
        return (-sum((a - b) ** 2 / (a + b) if a + b else D(0) for a, b in zip(x, y)) * D(0.2)).exp()
    assert name == "intersection"
    return sum(min(a, b) for a, b in zip(x, y))


KERNELS = ["linear", "rbf:gamma=0.2", "poly:degree=2,gamma=0.3", "cosine", "sigmoid:gamma=0.05,coef0=0.1", "laplacian:gamma=0.1", "exp:sigma=2",
           "exp:sigma=3,power=1.5", "matern:sigma=3", "matern:sigma=2,nu=2.5", "chi2:gamma=0.2", "intersection"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_far_rows_have_the_right_kernel_values(kfe, kernel):
    """The matrix of kernel values against the training rows, compared with exact numbers; refused if some are too large."""
    positive = kernel.split(":")[0] in ("chi2", "intersection")
    x = train(kfe, positive)
    kfe.write("support.csv", table(x[:8]))
    for value in FAR:
        if positive and math.copysign(1, value) < 0:
            continue
        for row in [value, x[0][1], x[0][2]], [value, value, value], [value, -0.0, 0.0]:
            if positive:
                row = numpy.abs(row)
            kfe.write("far.csv", table([row]))
            expected = [kernel_value(kernel, row, y) for y in x[:8]]
            command = ["convert", "-q", "-k", kernel, "--label", "none", "--against", "support.csv", "far.csv", "out.npy"]
            if max(map(abs, expected)) > D(1e300) or (kernel == "cosine" and max(map(abs, row)) > 1e150):
                kfe.path("out.npy").unlink(missing_ok=True)
                kfe.refused(*command, says="too large")
                continue
            if kernel == "cosine" and 0 < max(map(abs, row)) < 1e-300:
                continue  # squares are zero
            kfe.path("out.npy").unlink(missing_ok=True)
            if kernel.startswith("sigmoid") and max(map(abs, row)) >= 1e308:  # terms of a dot product overflow, not its value
                kfe.refused(*command, says="too large")
                continue
            kfe.ok(*command)
            found = numpy.load(kfe.path("out.npy"))[0]
            for a, b in zip(found, expected):
                assert abs(D(float(a)) - b) <= D(1e-9) * max(abs(b), D(1e-300)), (row, list(found), [float(b) for b in expected])
