# SPDX-License-Identifier: Apache-2.0
# Made by tools/make-stubs from the library's tables.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

__version__: str
__all__: list[str]

class _Parameters:
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...

class _KernelObject(_Parameters):
    def __add__(self, other: Any) -> KernelSum: ...
    def __radd__(self, other: Any) -> KernelSum: ...
    def __mul__(self, factor: float) -> Self: ...
    def __rmul__(self, factor: float) -> Self: ...

class KernelSum(_KernelObject):
    kernels: list[Any]
    def __init__(self, *kernels: Any, **named: Any) -> None: ...

class ViewKernels(_Parameters):
    kernels: dict[str, Any]
    def __init__(self, **kernels: Any) -> None: ...

_OneKernel = (
    str | _KernelObject | tuple[str, Mapping[str, Any]] | Mapping[str, Any]
    | Callable[[NDArray[np.float64], NDArray[np.float64]], float]
)
Kernel = _OneKernel | Sequence[_OneKernel] | ViewKernels | None
Grid = Mapping[str, Any]

class Extractor:
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    view_columns_: dict[str, int]
    view_feature_names_in_: dict[str, NDArray[Any]]
    records_: dict[str, NDArray[np.float64]]
    @property
    def dual_coef_(self) -> NDArray[np.float64]: ...
    @property
    def support_(self) -> NDArray[np.int64]: ...
    @property
    def components_(self) -> NDArray[np.float64]: ...
    @property
    def offset_(self) -> NDArray[np.float64]: ...
    @property
    def projections_(self) -> list[NDArray[np.float64] | None]: ...
    @property
    def gate_projections_(self) -> list[NDArray[np.float64] | None]: ...
    @property
    def gate_weights_(self) -> NDArray[np.float64]: ...
    @property
    def gate_offset_(self) -> NDArray[np.float64]: ...
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def intercept_(self) -> NDArray[np.float64]: ...
    @property
    def x_rotations_(self) -> NDArray[np.float64]: ...
    @property
    def x_weights_(self) -> NDArray[np.float64]: ...
    @property
    def x_loadings_(self) -> NDArray[np.float64]: ...
    @property
    def y_loadings_(self) -> NDArray[np.float64]: ...
    @property
    def x_explained_variance_ratio_(self) -> NDArray[np.float64]: ...
    @property
    def y_explained_variance_ratio_(self) -> NDArray[np.float64]: ...
    @property
    def vip_(self) -> NDArray[np.float64]: ...
    @property
    def selectivity_ratio_(self) -> NDArray[np.float64]: ...
    def explain(self, X: Any = None, y: ArrayLike | None = None, *, train: tuple[Any, ArrayLike] | None = None,
                **options: Any) -> Mapping[str, Any]: ...
    def diagnostics(self, X: Any, y: ArrayLike | None = None, *, level: float = ..., contributions: bool = ...) -> Mapping[str, Any]: ...
    def outliers(self, X: Any, *, level: float = ...) -> NDArray[np.bool_]: ...
    def inverse_transform(self, Z: ArrayLike) -> NDArray[np.float64]: ...
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None,
                    sample_weight: ArrayLike | None = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...
    def fit_transform(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> Any: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_onnx(self, path: str | os.PathLike[str] | None = None, precision: str = "float") -> bytes: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]: ...
    def __getattr__(self, name: str) -> Any: ...

class _Classifier:
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_path(self, X: Any) -> NDArray[Any]: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class _Regressor:
    def predict(self, X: Any) -> NDArray[np.float64]: ...
    def predict_path(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class Linear(_KernelObject):
    def __init__(
        self,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Polynomial(_KernelObject):
    def __init__(
        self,
        degree: int = 3,
        *,
        gamma: float | str = 1.0,
        coef0: float = 1.0,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class RBF(_KernelObject):
    def __init__(
        self,
        gamma: float | str = 'scale',
        *,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Laplacian(_KernelObject):
    def __init__(
        self,
        gamma: float | str = 'auto',
        *,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Exp(_KernelObject):
    def __init__(
        self,
        sigma: float | str = 'median',
        *,
        power: float = 1.0,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Matern(_KernelObject):
    def __init__(
        self,
        sigma: float | str = 'median',
        *,
        nu: str = '1.5',
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Cosine(_KernelObject):
    def __init__(
        self,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Sigmoid(_KernelObject):
    def __init__(
        self,
        gamma: float | str = 'auto',
        *,
        coef0: float = 0.0,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Chi2(_KernelObject):
    def __init__(
        self,
        gamma: float | str = 1.0,
        *,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Intersection(_KernelObject):
    def __init__(
        self,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Spectrum(_KernelObject):
    def __init__(
        self,
        length: int = 3,
        *,
        normalize: bool = False,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class Precomputed(_KernelObject):
    def __init__(
        self,
        weight: float = 1.0,
    ) -> None: ...
    def __call__(self, X: Any, Y: Any = None) -> NDArray[np.float64]: ...

class NearestNeighbors(_Parameters):
    def __init__(
        self,
        neighbors: int | str = 'auto',
        *,
        vote: str = 'uniform',
    ) -> None: ...

class SVM(_Parameters):
    def __init__(
        self,
        C: float | str = 'auto',
        *,
        epsilon: float = 0.1,
        learner_kernel: str = 'linear',
        class_weights: str | Mapping[Any, float] = 'none',
        multiclass: str = 'ovo',
        stop: float = 0.001,
        svm_solver: str = 'smo',
    ) -> None: ...

class LinearSVM(_Parameters):
    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        class_weights: str | Mapping[Any, float] = 'none',
        multiclass: str = 'ovr',
        stop: float = 0.001,
        bias: bool = True,
    ) -> None: ...

class LeastSquares(_Parameters):
    def __init__(
        self,
        l2: float = 0.0,
    ) -> None: ...

class NearestCentroid(_Parameters):
    def __init__(
        self,
    ) -> None: ...

class OC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class OCClassifier(_Classifier, OC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        solver: str = 'cholesky',
        clusters_per_class: int = 1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOCClassifier(_Classifier, KOC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        solver: str = 'cholesky',
        clusters_per_class: int = 1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KFD(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        ridge: float | str = 'auto',
        ridge_on: str = 'norm',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KFDClassifier(_Classifier, KFD):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        ridge: float | str = 'auto',
        ridge_on: str = 'norm',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KDAQR(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scatter: str = 'within',
        ridge: float = 3.0,
        whiten: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KDAQRClassifier(_Classifier, KDAQR):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scatter: str = 'within',
        ridge: float = 3.0,
        whiten: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class AKDAQR(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scatter: str = 'within',
        ridge: float = 3.0,
        whiten: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class AKDAQRClassifier(_Classifier, AKDAQR):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        scatter: str = 'within',
        ridge: float = 3.0,
        whiten: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PCA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PCAClassifier(_Classifier, PCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PCARegressor(_Regressor, PCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPCA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPCAClassifier(_Classifier, KPCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPCARegressor(_Regressor, KPCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        tolerance: float = 1e-10,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PLSClassifier(_Classifier, PLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class PLSRegressor(_Regressor, PLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPLSClassifier(_Classifier, KPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KPLSRegressor(_Regressor, KPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class BLF(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class BLFClassifier(_Classifier, BLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class BLFRegressor(_Regressor, BLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KBLF(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KBLFClassifier(_Classifier, KBLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KBLFRegressor(_Regressor, KBLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        loss: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ContinuumRegression(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        alpha: float = 0.5,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ContinuumRegressionClassifier(_Classifier, ContinuumRegression):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        alpha: float = 0.5,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ContinuumRegressionRegressor(_Regressor, ContinuumRegression):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        alpha: float = 0.5,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKPLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKPLSClassifier(_Classifier, SparseKPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKPLSRegressor(_Regressor, SparseKPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKBLF(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        loss: str = 'auto',
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKBLFClassifier(_Classifier, SparseKBLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        loss: str = 'auto',
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparseKBLFRegressor(_Regressor, SparseKBLF):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = False,
        loss: str = 'auto',
        nu: float = 0.5,
        rule_: str = 'mr',
        cache: int = 500,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMAClassifier(_Classifier, SMA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMARegressor(_Regressor, SMA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMCClassifier(_Classifier, SMC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SMCRegressor(_Regressor, SMC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        sparsity: int = 1,
        bound: bool = False,
        cost: float | str = 'auto',
        delta: float = 0.1,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SKFA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SKFAClassifier(_Classifier, SKFA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SKFARegressor(_Regressor, SKFA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        columns: int = 500,
        refresh: int | str = 'auto',
        center: bool = False,
        low_memory: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class HSIC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        lambda_: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class HSICClassifier(_Classifier, HSIC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        lambda_: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class HSICRegressor(_Regressor, HSIC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        lambda_: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class UHSIC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        xi: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class UHSICClassifier(_Classifier, UHSIC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        xi: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class UHSICRegressor(_Regressor, UHSIC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        xi: float | str = 'auto',
        label_kernel: str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SKFE(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        criterion: str = 'kta',
        optimizer: str = 'manifold',
        init: str = 'koc',
        restarts: int = 0,
        max_iter: int | str = 'auto',
        tolerance: float = 1e-06,
        margin_C: float = 1.0,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SKFEClassifier(_Classifier, SKFE):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        criterion: str = 'kta',
        optimizer: str = 'manifold',
        init: str = 'koc',
        restarts: int = 0,
        max_iter: int | str = 'auto',
        tolerance: float = 1e-06,
        margin_C: float = 1.0,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLSClassifier(_Classifier, KOPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLSRegressor(_Regressor, KOPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ReducedKOPLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        support: int = 100,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ReducedKOPLSClassifier(_Classifier, ReducedKOPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        support: int = 100,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class ReducedKOPLSRegressor(_Regressor, ReducedKOPLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        support: int = 100,
        ridge: float | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KernelBoosting(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        loss: str = 'exp',
        ridge: float | str = 'auto',
        center: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KernelBoostingClassifier(_Classifier, KernelBoosting):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        loss: str = 'exp',
        ridge: float | str = 'auto',
        center: bool = False,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class HSICMKL(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        label_kernel: str = 'h2',
        xi: float | str = 'auto',
        solver: str = 'gradient',
        tolerance: float = 1e-08,
        max_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class HSICMKLClassifier(_Classifier, HSICMKL):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        label_kernel: str = 'h2',
        xi: float | str = 'auto',
        solver: str = 'gradient',
        tolerance: float = 1e-08,
        max_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SVMMKL(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        xi: float | str = 'auto',
        solver: str = 'gradient',
        tolerance: float = 1e-08,
        solver_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SVMMKLClassifier(_Classifier, SVMMKL):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        xi: float | str = 'auto',
        solver: str = 'gradient',
        tolerance: float = 1e-08,
        solver_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class MKL(Extractor):
    def __init__(
        self,
        svm_C: float | str = 'auto',
        *,
        svm_stop: float = 0.0001,
        normalize: bool = True,
        solver: str = 'gradient',
        tolerance: float = 0.0001,
        max_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class MKLClassifier(_Classifier, MKL):
    def __init__(
        self,
        svm_C: float | str = 'auto',
        *,
        svm_stop: float = 0.0001,
        normalize: bool = True,
        solver: str = 'gradient',
        tolerance: float = 0.0001,
        max_iter: int = 1000,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SVMJoint(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        lambda_: float | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SVMJointClassifier(_Classifier, SVMJoint):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        lambda_: float | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class USVMJoint(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        xi: float | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class USVMJointClassifier(_Classifier, USVMJoint):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 0.0001,
        settled: float = 0.0001,
        step: str = 'exact',
        max_iter: int = 50,
        xi: float | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SLMC(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 1e-08,
        init: str = 'kmeans',
        settled: float = 0.0001,
        max_iter: int = 50,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SLMCClassifier(_Classifier, SLMC):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        svm_C: float | str = 'auto',
        svm_stop: float = 1e-08,
        init: str = 'kmeans',
        settled: float = 0.0001,
        max_iter: int = 50,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class LMKL(Extractor):
    def __init__(
        self,
        gate: str = 'all',
        *,
        kernel_map: str = 'kpca',
        features: str = 'local',
        svm_C: float = 1.0,
        svm_stop: float = 0.0001,
        gate_ridge: float = 0.0001,
        step: str = 'armijo',
        step_size: float | str = 'auto',
        settled: float = 0.001,
        max_iter: int = 200,
        restarts: int | str = 'auto',
        kernel: Kernel = 'linear',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class LMKLClassifier(_Classifier, LMKL):
    def __init__(
        self,
        gate: str = 'all',
        *,
        kernel_map: str = 'kpca',
        features: str = 'local',
        svm_C: float = 1.0,
        svm_stop: float = 0.0001,
        gate_ridge: float = 0.0001,
        step: str = 'armijo',
        step_size: float | str = 'auto',
        settled: float = 0.001,
        max_iter: int = 200,
        restarts: int | str = 'auto',
        kernel: Kernel = 'linear',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SLDR(Extractor):
    def __init__(
        self,
        local_dim: int | str = 'auto',
        *,
        gate_dim: int = 2,
        init: str = 'supervised',
        gate: str = 'all',
        kernel_map: str = 'kpca',
        features: str = 'local',
        svm_C: float = 1.0,
        svm_stop: float = 0.0001,
        gate_ridge: float = 0.0001,
        step: str = 'armijo',
        step_size: float | str = 'auto',
        settled: float = 0.001,
        max_iter: int = 200,
        restarts: int | str = 'auto',
        kernel: Kernel = 'linear',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SLDRClassifier(_Classifier, SLDR):
    def __init__(
        self,
        local_dim: int | str = 'auto',
        *,
        gate_dim: int = 2,
        init: str = 'supervised',
        gate: str = 'all',
        kernel_map: str = 'kpca',
        features: str = 'local',
        svm_C: float = 1.0,
        svm_stop: float = 0.0001,
        gate_ridge: float = 0.0001,
        step: str = 'armijo',
        step_size: float | str = 'auto',
        settled: float = 0.001,
        max_iter: int = 200,
        restarts: int | str = 'auto',
        kernel: Kernel = 'linear',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KCCA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KCCAClassifier(_Classifier, KCCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KCCARegressor(_Regressor, KCCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KGCCA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KGCCAClassifier(_Classifier, KGCCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KGCCARegressor(_Regressor, KGCCA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        features: str = 'joint',
        ridge: float | str = 'auto',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class RFM(Extractor):
    def __init__(
        self,
        iterations: int = 5,
        *,
        power: float = 1.0,
        held_out: float = 0.2,
        ridge: float | str = 'auto',
        gradient_ridge: float = 0.01,
        directions: int | str = 'none',
        leaf_size: int | str = 'none',
        softness: float = 0.0,
        kernel: Kernel = 'exp',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class RFMClassifier(_Classifier, RFM):
    def __init__(
        self,
        iterations: int = 5,
        *,
        power: float = 1.0,
        held_out: float = 0.2,
        ridge: float | str = 'auto',
        gradient_ridge: float = 0.01,
        directions: int | str = 'none',
        leaf_size: int | str = 'none',
        softness: float = 0.0,
        kernel: Kernel = 'exp',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class RFMRegressor(_Regressor, RFM):
    def __init__(
        self,
        iterations: int = 5,
        *,
        power: float = 1.0,
        held_out: float = 0.2,
        ridge: float | str = 'auto',
        gradient_ridge: float = 0.01,
        directions: int | str = 'none',
        leaf_size: int | str = 'none',
        softness: float = 0.0,
        kernel: Kernel = 'exp',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class GKDR(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        iterations: int | str = 'auto',
        ridge: float | str = 'auto',
        label_kernel: str = 'linear',
        kernel: Kernel = 'rbf:gamma=median',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class GKDRClassifier(_Classifier, GKDR):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        iterations: int | str = 'auto',
        ridge: float | str = 'auto',
        label_kernel: str = 'linear',
        kernel: Kernel = 'rbf:gamma=median',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class GKDRRegressor(_Regressor, GKDR):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        iterations: int | str = 'auto',
        ridge: float | str = 'auto',
        label_kernel: str = 'linear',
        kernel: Kernel = 'rbf:gamma=median',
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class LFDA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        neighbours: int = 7,
        ridge: float | str = 'mean',
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class LFDAClassifier(_Classifier, LFDA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        neighbours: int = 7,
        ridge: float | str = 'mean',
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KLFDA(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        neighbours: int = 7,
        ridge: float | str = 'mean',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KLFDAClassifier(_Classifier, KLFDA):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        neighbours: int = 7,
        ridge: float | str = 'mean',
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class OPLS(Extractor):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class OPLSClassifier(_Classifier, OPLS):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class OPLSRegressor(_Regressor, OPLS):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLS2(Extractor):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLS2Classifier(_Classifier, KOPLS2):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KOPLS2Regressor(_Regressor, KOPLS2):
    def __init__(
        self,
        predictive: int | str = 'auto',
        *,
        orthogonal: int = 1,
        rank: int | str = 'auto',
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparsePLS(Extractor):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        keep: int | str = 50,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparsePLSClassifier(_Classifier, SparsePLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        keep: int | str = 50,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class SparsePLSRegressor(_Regressor, SparsePLS):
    def __init__(
        self,
        dim: int | str = 'auto',
        *,
        center: bool = True,
        keep: int | str = 50,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class NoExtraction(Extractor):
    def __init__(
        self,
        kernel: Kernel = None,
        *,
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class NoExtractionClassifier(_Classifier, NoExtraction):
    def __init__(
        self,
        kernel: Kernel = None,
        *,
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class NoExtractionRegressor(_Regressor, NoExtraction):
    def __init__(
        self,
        kernel: Kernel = None,
        *,
        gamma: float | str | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class DirectionRule(Extractor):
    def __init__(
        self,
        rule: Callable[[Any], Any] | None = None,
        *,
        dim: int | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        task: str = 'auto',
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class DirectionRuleClassifier(_Classifier, DirectionRule):
    def __init__(
        self,
        rule: Callable[[Any], Any] | None = None,
        *,
        dim: int | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class DirectionRuleRegressor(_Regressor, DirectionRule):
    def __init__(
        self,
        rule: Callable[[Any], Any] | None = None,
        *,
        dim: int | str = 'auto',
        center: bool = True,
        kernel: Kernel = 'rbf',
        gamma: float | str | None = None,
        views: Mapping[str, Any] | None = None,
        scale: str | bool = 'auto',
        gram: str = 'auto',
        landmarks: int | str = 'none',
        landmark_by: str = 'rpcholesky',
        distance: str = 'auto',
        calibration: str = 'none',
        class_weight: str | Mapping[Any, float] = 'none',
        missing: str = 'error',
        encode: Any = None,
        learner: Any = None,
        learner_params: Mapping[str, Any] | str | None = None,
        random_state: int | RandomState | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None: ...

class KfeError(Exception): ...
class KfeWarning(UserWarning): ...
class CancelledError(KfeError): ...
class DeviceError(KfeError, RuntimeError): ...
class FileError(KfeError, OSError): ...
class InputError(KfeError, ValueError): ...
class InvalidArgumentError(KfeError, ValueError): ...
class MemoryLimitError(KfeError, MemoryError): ...
class ModelError(KfeError, ValueError): ...
class NumericalError(KfeError, ArithmeticError): ...
class OutOfMemoryError(KfeError, MemoryError): ...
class UnsupportedError(KfeError, NotImplementedError, ValueError): ...

class CrossValidation(dict[str, Any]):
    def to_dataframe(self) -> Any: ...
    def settings(self) -> Any: ...
    best_estimator_: Any

class Comparison(dict[str, Any]):
    def to_dataframe(self) -> Any: ...
    def differences(self) -> Any: ...

class Evaluation(dict[str, Any]):
    def to_dataframe(self) -> Any: ...

class Measures(list[dict[str, Any]]):
    def to_dataframe(self) -> Any: ...

class Tuning(dict[str, Any]):
    def to_dataframe(self) -> Any: ...
    best_estimator_: Any

class Page:
    html: str
    def save(self, path: str | os.PathLike[str]) -> None: ...

def checkpoint(
    path: str | os.PathLike[str],
    every: float = 60,
    resume: bool = False,
) -> AbstractContextManager[None]: ...
def compare(
    estimators: Iterable[Any],
    X: Any,
    y: ArrayLike,
    *,
    grid: Grid | Iterable[str] | None = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> Comparison: ...
def cv(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: Grid | Iterable[str] | None = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    refit: bool = False,
    **options: Any,
) -> CrossValidation: ...
def devices(
) -> list[dict[str, Any]]: ...
def evaluate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: Any = None,
    **options: Any,
) -> Evaluation: ...
def figures(
) -> dict[str, str]: ...
def generate(
    name: str,
    random_state: int | None = None,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def generators(
) -> list[dict[str, Any]]: ...
def kernel_matrix(
    kernel: Any,
    X: Any,
    Y: Any = None,
    n_threads: int | None = None,
) -> NDArray[Any]: ...
def kernels(
) -> list[dict[str, Any]]: ...
def learners(
) -> list[dict[str, Any]]: ...
def load(
    path: str | os.PathLike[str],
    kernels: dict[str, Callable[..., Any]] | None = None,
) -> Extractor: ...
def measure(
    X: Any,
    y: ArrayLike,
    kernels: Any = 'rbf',
    *,
    task: str = 'auto',
    scale: str = 'none',
    n_threads: int | None = None,
    **options: Any,
) -> Measures: ...
def methods(
) -> list[dict[str, Any]]: ...
def read(
    path: Any,
    model: Any = None,
    **options: Any,
) -> tuple[Any, NDArray[Any] | None]: ...
def report(
    source: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    train: tuple[Any, Any] | None = None,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    positive: str | None = None,
    metric: str | None = None,
) -> Page: ...
def tune(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: Any = None,
    time: float | str | None = 60,
    trials: int = 0,
    task: str = 'auto',
    random_state: Any = None,
    n_threads: int | None = None,
    memory: Any = None,
    device: str | None = None,
    verbose: int = 0,
    **options: Any,
) -> Tuning: ...
