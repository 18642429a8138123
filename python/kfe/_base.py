# SPDX-License-Identifier: Apache-2.0
"""The base class of all estimators, a transformer. Parameters, names and documentation come from the library's tables
(_estimators)."""
from __future__ import annotations

import functools
import os
import types
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _get_feature_names, check_is_fitted, column_or_1d

from . import _tables as tables
from ._columns import note_division
from ._context import Context
from ._data import TASK_CLASSES, TASK_REAL, Data, class_labels, wrap
from ._encode import split_texts
from ._errors import InputError, UnsupportedError
from ._explain import Explaining
from ._kernels import with_params
from ._learners import learner_text
from ._learners import with_params as learner_with_params
from ._model import Model
from ._spec import MISFIT_ONE_CLASS, MISFIT_TWO_CLASSES, is_precomputed, kernel_flags, make_spec
from ._names import EstimatorType, rename_params
from ._partial import Partial
from ._target import CLASSES, EITHER, KINDS, SeenNumbers, check_task, class_texts, encode_labels, validate_target
from ._validation import check_missing, check_strings, check_views, check_weights, is_views, refuse_one_table, validate

# Records of the library whose attributes have the names that scikit-learn's users expect; others get an underscore.
ATTRIBUTES = {"alignment": "alignment_path_", "weights": "kernel_weights_"}
# Records of iterative searches: one value before the first iteration and one after each.
PATHS = ("objective", "alignment", "radius-margin", "loss")


def _attribute(record: str, params: tuple[str, ...]) -> str:
    """The attribute name of a record; a parameter may already have that name (``lambda_``)."""
    name = ATTRIBUTES.get(record, record.replace("-", "_") + "_")
    return f"fitted_{name}" if name in params else name


# scikit-learn compares weights of zero with removed rows in another order of the rows. Its data has equal rows, where that order
# decides the signs of features, and the point at which an SVM stops.
ROW_ORDER = "signs of features and the stopping point of SVMs depend on the order of the rows, which this check changes"


class _Tables(list):
    """A list of views. A plain list has a method ``index``, which scikit-learn before 1.4 would take for row names."""

    index = None


def _taking_views(method):
    """Makes a method that scikit-learn has wrapped accept lists of views too."""
    @functools.wraps(method)
    def wrapped(self, X, *args, **options):
        return method(self, _Tables(X) if isinstance(X, (list, tuple)) and is_views(X) else X, *args, **options)
    return wrapped


def _fit_weighted(self, X, y=None, sample_weight=None):
    """Fit the features; a classifier or regressor also fits its predictor on them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The examples. Methods with several views also accept a list or dict of arrays; with a kernel on strings,
        a list of strings; with ``kernel="precomputed"``, the kernel matrix.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Labels, or real targets for methods that accept them.
    sample_weight : array-like of shape (n_samples,), optional
        How many examples each row counts for: a row of weight 2 counts like two equal rows, one of weight 0 is left
        out. Methods and learners that take no weights refuse them.

    Returns
    -------
    self : object
    """
    return self._fit(X, y, sample_weight)


def _fit_unweighted(self, X, y=None, **fit_params):
    """The same without weights; the library refuses them with a message that names what takes them."""
    weights = fit_params.pop("sample_weight", None)
    if fit_params:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(fit_params))!r}")
    try:
        return self._fit(X, y, weights)
    except UnsupportedError as error:
        raise error if weights is None else UnsupportedError(f"sample_weight: {error}") from None


_fit_weighted.__name__ = _fit_unweighted.__name__ = "fit"
_fit_weighted.__qualname__ = _fit_unweighted.__qualname__ = "Extractor.fit"


class _Fit:
    """The method fit. scikit-learn reads from its signature whether an estimator takes weights, which depends on the
    learner."""

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return _fit_weighted
        return types.MethodType(_fit_weighted if estimator._takes_weights() else _fit_unweighted, estimator)


class Extractor(Explaining, Partial, TransformerMixin, BaseEstimator, metaclass=EstimatorType):
    """A method of the library as a transformer of scikit-learn."""

    _entry: ClassVar[tables.Entry]
    _parameter_names: ClassVar[tuple[str, ...]]  # of the class made from the tables; derived classes may have others
    _predictors: ClassVar[tuple[str, ...]]  # names of the estimators that predict from these features

    # ---- fitting ----

    fit = _Fit()

    def _fit(self, X, y=None, sample_weight=None):
        context = self._context()
        spec = make_spec(context, self)
        spec.check()
        data = self._prepare(context, X, y, reset=True, finite=False, weights=sample_weight)
        try:
            if sample_weight is not None:
                data.set_weights(check_weights(sample_weight, data.rows))
            self._model = self._fit_or_explain(context, spec, data, X)
            vars(self).pop("_training_diagnostics", None)
            vars(self).pop("_sums", None)
        except InputError as error:
            if data.rows > 1:
                raise
            raise InputError(f"{error} (n_samples = 1)") from None
        finally:
            data.free()
        self._publish()
        self._training = X, y
        return self

    def __getstate__(self):
        """Files and copies have no training rows."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_training", "_training_diagnostics")}

    def _fit_or_explain(self, context: Context, spec, data: Data, X) -> Model:
        """Fits. The library checks the data itself, in one pass; if it refuses them, scikit-learn's checks say why in their words."""
        try:
            return Model.fit(context, spec, data)
        except ValueError:
            self._check_X(split_texts(self, X, True)[0], True)
            self._check_classes(spec.check(data))
            raise

    def _takes_weights(self) -> bool:
        """Whether the method, and the learner if there is one, take weights of examples."""
        learner = learner_text(self._used_learner()) if hasattr(self, "learner") else None
        name = learner.partition(":")[0] if isinstance(learner, str) else None
        return self._entry.has(tables.SAMPLE_WEIGHTS) and (
            name not in tables.LEARNERS or tables.LEARNERS[name].has(tables.SAMPLE_WEIGHTS))

    def _context(self) -> Context:
        return Context(self.n_threads, self.random_state, self.memory, self.verbose, self.device)

    def _needs_target(self) -> bool:
        return self._entry.has(tables.SUPERVISION)

    def _may_use_target(self) -> bool:
        """Whether y is used if it is given: a user's rule may use it, and kcca compares one view with it."""
        return hasattr(self, "rule") or self._entry.compares_views

    def _target_kind(self) -> str:
        """The kind of y that the estimator accepts. If the method accepts both kinds, the parameter task or y itself
        decides."""
        if not self._entry.has(tables.REGRESSION):
            return CLASSES
        return KINDS[check_task(self.task)] if hasattr(self, "task") else EITHER

    def set_params(self, **params):
        """Set parameters; those of the kernel as ``kernel__gamma``, those of the learner as ``learner__C``.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : object
        """
        params = rename_params(self._entry, params)
        if "kernel" in params:
            super().set_params(kernel=params.pop("kernel"))
        inner = {name[len("kernel__"):]: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        if inner and hasattr(self, "kernel"):
            self.kernel = with_params(self.kernel, inner)
        self._set_learner_params(params)
        return super().set_params(**params)

    def _set_learner_params(self, params: dict[str, Any]) -> None:
        """Takes the parameters of the learner, ``learner__C``, out of `params` and sets them."""
        inner = {name[len("learner__"):]: params.pop(name) for name in list(params) if name.startswith("learner__")}
        if not inner or not hasattr(self, "learner"):
            params.update({f"learner__{name}": value for name, value in inner.items()})
            return
        learner = params.pop("learner", self.learner)
        self.learner = learner_with_params(self._used_learner() if learner is None else learner, inner)

    def _check_X(self, X, reset: bool, finite: bool = True):
        """X in the library's form, with scikit-learn's checks and messages; finite=False: not that of NaNs in one table."""
        if getattr(self, "views", None) is not None:
            if is_views(X):
                raise ValueError("views= divides the columns of one table, but X is several; give one of them")
            table = validate(self, X, reset=reset, finite=finite)
            if reset:
                note_division(self, table)
            return table
        if is_views(X):
            return check_views(self, X, reset)
        if reset:
            for name in ("view_columns_", "view_feature_names_in_"):
                vars(self).pop(name, None)
        elif len(getattr(self, "view_columns_", ())) > 1:
            refuse_one_table(self)
        if kernel_flags(getattr(self, "kernel", None)) & tables.STRINGS:
            return check_strings(X)
        return validate(self, X, reset=reset, finite=finite)

    def _prepare(self, context: Context, X, y=None, reset: bool = False, with_target: bool = True, finite: bool = True,
                 seen: SeenNumbers | None = None, weights: Any = None) -> Data:
        """A data set of X, with labels or targets if the estimator needs them. finite=False leaves it to the library to refuse NaNs;
        `seen` has the targets of the blocks before. The caller sets the weights, of which those above 0 decide what the targets are."""
        X, texts = split_texts(self, X, reset)
        named = reset or is_views(X) or _get_feature_names(X) is not None
        X = self._check_X(X, reset, finite)
        task = None
        if with_target and (self._needs_target() or (y is not None and self._may_use_target())):
            y, is_real = validate_target(context, self, X, y, seen, weights)
            task = TASK_REAL if is_real else TASK_CLASSES
        data = wrap(context, X, getattr(self, "view_feature_names_in_", None))
        if not isinstance(X, (dict, list)) and hasattr(self, "feature_names_in_"):
            if named or len(set(self.feature_names_in_)) == len(self.feature_names_in_):  # of two equal names, the place decides
                data.set_column_names(self.feature_names_in_)
        if texts is not None and len(texts.columns):
            data.encode(texts, None if reset else self._model)
        if reset and getattr(self, "views", None) is not None:
            data.divide(self._view_places)
        if reset and check_missing(self.missing) != "error":
            data.set_missing(check_missing(self.missing))
        if task == TASK_REAL:
            data.set_targets(y)
        elif task == TASK_CLASSES:
            self._set_labels(data, y, reset)
        return data

    def _set_labels(self, data: Data, y: np.ndarray, reset: bool) -> None:
        classes, codes = encode_labels(column_or_1d(y, warn=True))
        data.set_labels(class_texts(classes), codes)
        self._note_labels(classes, reset)
        if reset:
            self.classes_ = classes

    def _check_classes(self, misfit: int) -> None:
        """Refuses an unsuitable number of classes in the words that scikit-learn's checks expect."""
        name = type(self).__name__
        if misfit == MISFIT_ONE_CLASS:
            raise ValueError(f"{name} needs at least two classes, but y has 1 class: {self.classes_.tolist()[0]!r}")
        if misfit == MISFIT_TWO_CLASSES:
            raise ValueError(f"Only binary classification is supported. {name} takes two classes, but y has "
                             f"{len(self.classes_)}")

    # ---- fitted attributes ----

    def _publish(self) -> None:
        """Sets the fitted attributes from the model."""
        model = self._model
        for name in [name for name in vars(self) if name in getattr(self, "_published", ())]:
            delattr(self, name)
        self.records_ = model.records()
        params = self._parameter_names
        named = {_attribute(name, params): values for name, values in self.records_.items()}
        if "max_iter" in params:
            named.update(self._iterations())
        for name, values in named.items():
            setattr(self, name, values)
        self._published = tuple(named)
        if model.task == TASK_CLASSES:
            self._order_classes()
        elif hasattr(self, "classes_"):
            del self.classes_

    def _iterations(self) -> dict[str, int]:
        records = self.records_
        if "iterations" in records:
            return {"n_iter_": max(1, int(records["iterations"][0]))}
        for name in PATHS:
            if name in records:
                return {"n_iter_": max(1, len(records[name]) - 1)}
        return {}

    def _order_classes(self) -> None:
        """Sorts the classes as scikit-learn does; the library numbers them by first appearance, and leaves out those whose rows all weigh zero."""
        names = self._model.class_names
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(class_labels(names))
        self.classes_ = self.classes_[np.isin(class_texts(self.classes_), names)]
        place = {name: k for k, name in enumerate(class_texts(self.classes_))}
        self._class_places = np.array([place[name] for name in names])

    def _kernel_projector(self) -> Model:
        check_is_fitted(self)
        if not self._model.is_kernel_projector:
            raise AttributeError(f"{type(self).__name__} is linear: see components_")
        return self._model

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the features on the support examples, (n_support, n_features_out)."""
        coefficients = self._kernel_projector().coefficients()
        if coefficients is None:
            raise AttributeError(f"{type(self).__name__} is localized: see projections_")
        return coefficients

    @property
    def support_(self) -> np.ndarray:
        """Training rows of the support examples."""
        index = self._kernel_projector().support_index()
        if index is None:
            raise AttributeError(f"{type(self).__name__} rests on points of its own, not on training rows")
        return index

    @property
    def components_(self) -> np.ndarray:
        """Directions of a linear method, (n_features_out, n_features_in)."""
        check_is_fitted(self)
        weights = self._model.coefficients()
        if weights is None or self._model.is_kernel_projector:
            raise AttributeError(f"{type(self).__name__} has no components; see dual_coef_")
        return weights.T

    def _localized(self) -> Model:
        check_is_fitted(self)
        if not self._model.parts():
            raise AttributeError(f"{type(self).__name__} has no parts and no gate")
        return self._model

    @property
    def projections_(self) -> list[np.ndarray | None]:
        """Local projections of a localized method, (n_columns, local_dim) per part; None for parts that compare the
        columns themselves."""
        model = self._localized()
        return [model.part_matrix(part.projection, part.cols, part.dim) for part in model.parts()]

    @property
    def gate_projections_(self) -> list[np.ndarray | None]:
        """The gate's projections of each part's columns, (n_columns, gate_dim); None for parts that the gate does not
        use."""
        model = self._localized()
        return [model.part_matrix(part.gating, part.cols, len(model.gate()[0])) for part in model.parts()]

    @property
    def gate_weights_(self) -> np.ndarray:
        """V of the gate softmax(zV + v₀), (gate_dim, n_parts)."""
        return self._localized().gate()[0]

    @property
    def gate_offset_(self) -> np.ndarray:
        """v₀ of the gate, (n_parts,)."""
        return self._localized().gate()[1]

    @property
    def offset_(self) -> np.ndarray:
        """The offset that is subtracted from the features."""
        check_is_fitted(self)
        return self._model.offset()

    def _scaling(self, which: int) -> Any:
        check_is_fitted(self)
        found = [self._model.scaling(number)[which] for number in range(len(self._model.view_columns))]
        return found[0] if len(found) == 1 else dict(zip(self.view_columns_, found))

    @property
    def scaling_(self) -> Any:
        """How the columns were scaled and, of ``scale="auto"``, why; with several views, a dict."""
        check_is_fitted(self)
        found = {view["name"]: view["scaling"] for view in self._model.describe()["views"]}
        return next(iter(found.values())) if len(found) == 1 else found

    @property
    def scale_mean_(self) -> Any:
        """The number that scaling subtracts from each column (with ``scale="standard"`` its mean); with several views, a
        dict."""
        return self._scaling(0)

    @property
    def scale_sd_(self) -> Any:
        """The number by which scaling divides each column (with ``scale="standard"`` its standard deviation); with
        several views, a dict."""
        return self._scaling(1)

    @property
    def _n_features_out(self) -> int:
        return self._model.dim

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the features, as usual in the field: ``LV1`` (PLS), ``PC1`` (PCA), ``LD1`` (KFD), ``predictive1`` and
        ``orthogonal1`` (OPLS); otherwise the method and a number, such as ``hsic1``.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        ndarray of str, shape (n_features,)
        """
        check_is_fitted(self)
        return self._model.feature_names()

    def __getattr__(self, name: str):
        if "_sums" in vars(self) and "_model" not in vars(self) and (name == "_model" or self._is_fitted_attribute(name)):
            self._finish()
            return getattr(self, name)
        if name in ("predict", "decision_function", "score") and not hasattr(type(self), "predict"):
            others = " or ".join(f"kfe.{other}" for other in self._predictors)
            raise AttributeError(f"this {type(self).__name__} gives features only and cannot predict; use {others}")
        return super().__getattribute__(name)  # fails again, with the message that a property may have given

    @staticmethod
    def _is_fitted_attribute(name: str) -> bool:
        """Whether a model gives this attribute; names and numbers of columns are known before."""
        return name.endswith("_") and not name.endswith("_in_") and not name.startswith(("_", "view_"))

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self) or "_sums" in vars(self)

    # ---- transforming and saving ----

    def transform(self, X):
        """Compute the features of examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        return self._ask(X, Model.transform)[1]

    def _ask(self, X, question, *arguments):
        """The context, and what the model answers to ``question(context, data, *arguments)``."""
        check_is_fitted(self)
        context = self._context()
        data = self._prepare(context, X, with_target=False)
        try:
            return context, question(self._model, context, data, *arguments)
        finally:
            data.free()

    def save(self, path: str | os.PathLike) -> None:
        """Write the model to a file that the command line can read as well.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        self._model.save(path)

    def to_onnx(self, path: str | os.PathLike | None = None, precision: str = "float") -> bytes:
        """The model as an ONNX file of standard operations, which other programs run without kfe.

        The inputs are ``X``, or one per view; the outputs are ``features`` and, if the model predicts, ``label`` (names of
        classes, as text) and ``scores``, or ``prediction``. Models of strings, of precomputed kernels and of Python functions
        are refused.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write; nothing is written unless given.
        precision : {"float", "double"}, default="float"
            Type of the numbers in the file and of its inputs.

        Returns
        -------
        content : bytes
            The file.
        """
        check_is_fitted(self)
        content = self._model.to_onnx(precision)
        if path is not None:
            with open(path, "wb") as out:
                out.write(content)
        return content

    # ---- answers to scikit-learn ----

    def _may_miss_target(self) -> bool:
        """Whether a regressor's features are found without y and may therefore miss what y depends on: with a kernel, ten
        features hold less of the columns than those of pca."""
        is_regressor = getattr(self, "_estimator_type", None) == "regressor"
        unsupervised = self._entry.has(tables.KERNELS) and not self._entry.has(tables.SUPERVISION)
        return (is_regressor or self._entry.compares_views) and unsupervised and self._entry.name != "none"

    def _skipped_checks(self) -> dict[str, str]:
        """Checks of scikit-learn that do not apply, and why."""
        skipped = {"check_sample_weights_invariance": ROW_ORDER}
        learner = learner_text(self._used_learner()) if hasattr(self, "learner") else None
        if not self._takes_weights():
            skipped["check_class_weight_classifiers"] = "the method or its learner takes no weights"
        elif isinstance(learner, str) and learner.partition(":")[0] == "centroid":
            skipped["check_class_weight_classifiers"] = "the mean of a class does not depend on the weight of the class"
        elif self._entry.name == "skfe" and isinstance(learner, str) and learner.partition(":")[0] == "ls":
            skipped["check_class_weight_classifiers"] = (
                "the check asks for 1,000 iterations, after which least squares fits rows of light classes too")
        elif self._entry.name in ("usvm-joint", "svm-mkl") and isinstance(learner, str) and learner.partition(":")[0] == "ls":
            skipped["check_class_weight_classifiers"] = (
                "uncorrelated features of light classes are as long as the others, so that least squares fits their rows too")
        return skipped

    def _more_tags(self) -> dict[str, Any]:
        kernel = getattr(self, "kernel", None)
        return {
            "requires_y": self._needs_target(),
            "binary_only": self._entry.has(tables.TWO_CLASSES),
            "pairwise": is_precomputed(kernel),
            "preserves_dtype": [],
            "allow_nan": self.missing != "error",
            "requires_positive_X": bool(kernel_flags(kernel) & tables.NONNEGATIVE),
            "multioutput": self._needs_target() and self._target_kind() != CLASSES,
            "poor_score": self._may_miss_target(),
            "_xfail_checks": self._skipped_checks(),
        }

    def __sklearn_tags__(self):
        said, tags = self._more_tags(), super().__sklearn_tags__()
        tags.estimator_type = getattr(self, "_estimator_type", None)
        tags.target_tags.required = said["requires_y"]
        tags.target_tags.multi_output = said["multioutput"]
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.pairwise = said["pairwise"]
        tags.input_tags.allow_nan = said["allow_nan"]
        tags.input_tags.positive_only = said["requires_positive_X"]
        tags.input_tags.sparse = self._entry.has(tables.SPARSE) and not said["pairwise"]
        if tags.estimator_type == "classifier" or said["binary_only"]:
            from sklearn.utils import ClassifierTags
            tags.classifier_tags = ClassifierTags(multi_class=not said["binary_only"])
        elif tags.estimator_type == "regressor":
            from sklearn.utils import RegressorTags
            tags.regressor_tags = RegressorTags(poor_score=said["poor_score"])
        return tags


for _name in ("transform", "fit_transform"):
    setattr(Extractor, _name, _taking_views(getattr(Extractor, _name)))
