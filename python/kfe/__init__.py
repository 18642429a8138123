# SPDX-License-Identifier: Apache-2.0
"""kfe: kernel feature extraction.

Every method of the library is a transformer in scikit-learn's conventions (``KOC``), and, with a classifier or
regressor fitted on its features, an estimator that predicts (``KOCClassifier``, ``KPLSRegressor``):

>>> import kfe
>>> X, y = kfe.generate("iris")
>>> kfe.KOC(kernel="rbf:gamma=0.2").fit_transform(X, y).shape
(150, 3)
>>> kfe.KOCClassifier(kernel="rbf:gamma=0.2", learner="svm").fit(X, y).predict(X[:2]).tolist()
['setosa', 'setosa']

``kfe.methods()`` lists the methods. Estimator classes are created at first use, because they need scikit-learn, which is
slow to import; ``import kfe`` alone does not import it.
"""
from __future__ import annotations

from . import _tables
from ._checkpoint import checkpoint
from ._errors import (CancelledError, DeviceError, FileError, InputError, InvalidArgumentError, KfeError, KfeWarning,
                      MemoryLimitError, ModelError, NumericalError, OutOfMemoryError, UnsupportedError)
from ._kernels import CLASSES as _KERNELS
from ._kernels import KernelSum, ViewKernels
from ._learners import CLASSES as _LEARNERS
from ._lib import lib as _library
from ._page import figures, report
from ._select import compare, cv, evaluate, measure
from ._sources import devices, generate, generators, kernel_matrix, kernels, learners, methods, read, steps
from ._transfer import transfer
from ._tune import tune

__version__ = _library.kfe_version().decode()

_ESTIMATORS = tuple(name for method, entry in _tables.ESTIMATORS.items()
                    for name in (method, *_tables.predictor_names(method, entry)))
_ESTIMATORS += ("DirectionRule", "DirectionRuleClassifier", "DirectionRuleRegressor")
_FUNCTIONS = ("checkpoint", "compare", "cv", "devices", "evaluate", "figures", "generate", "generators", "kernel_matrix", "kernels",
              "learners", "load", "measure", "methods", "read", "report", "steps", "transfer", "tune")
_ERRORS = ("CancelledError", "DeviceError", "FileError", "InputError", "InvalidArgumentError", "KfeError", "KfeWarning",
           "MemoryLimitError", "ModelError", "NumericalError", "OutOfMemoryError", "UnsupportedError")

_KERNEL_CLASSES = (*_KERNELS, "KernelSum", "ViewKernels")

_LEARNER_CLASSES = tuple(_LEARNERS)

__all__ = [*_ESTIMATORS, *_KERNEL_CLASSES, *_LEARNER_CLASSES, *_FUNCTIONS, *_ERRORS]
globals().update(_KERNELS, **_LEARNERS)


def __getattr__(name: str):
    if name not in _ESTIMATORS and name != "load":
        raise AttributeError(f"module 'kfe' has no attribute {name!r}")
    from . import _estimators
    globals().update(_estimators.CLASSES, load=_estimators.load)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"])
