# SPDX-License-Identifier: Apache-2.0
"""The library's tables: methods, kernels, learners, steps, generators, and their parameters.

Python names follow one rule: dashes become underscores, and a name that Python or the estimator itself uses gets a
trailing underscore (``max-iter`` is ``max_iter``, ``lambda`` is ``lambda_``).
"""
from __future__ import annotations

import keyword
from typing import Any, Iterator, NamedTuple

from ._lib import EntryInfo, ParamInfo, lib

SUPERVISION, REGRESSION, KERNELS, MULTIVIEW, SPARSE, SYNTHETIC = (1 << bit for bit in range(6))
INDEFINITE, NONNEGATIVE, STRINGS, NESTING, TWO_CLASSES, WEIGHTS, PREDICTOR, DERIVATIVE, SAMPLE_WEIGHTS, PROBABILITIES = (
    1 << bit for bit in range(6, 16))

INT, REAL, CHOICE, FLAG, TEXT = range(5)

# Parameters of every estimator; a method's own parameter of the same name gets an underscore.
RESERVED = frozenset(["kernel", "gamma", "views", "learner", "learner_params", "task", "missing", "random_state", "n_threads", "memory", "device",
                      "verbose", "rule"])

CLASS_NAMES = {
    "oc": "OC", "koc": "KOC", "kfd": "KFD", "kda-qr": "KDAQR", "akda-qr": "AKDAQR", "pca": "PCA", "kpca": "KPCA",
    "pls": "PLS", "kpls": "KPLS", "blf": "BLF", "kblf": "KBLF", "cr": "ContinuumRegression", "sma": "SMA",
    "smc": "SMC", "skfa": "SKFA", "skpls": "SparseKPLS", "skblf": "SparseKBLF", "kopls": "KOPLS",
    "rkopls": "ReducedKOPLS", "kb": "KernelBoosting", "skfe": "SKFE", "hsic": "HSIC", "uhsic": "UHSIC",
    "svm-joint": "SVMJoint", "usvm-joint": "USVMJoint", "hsic-mkl": "HSICMKL", "svm-mkl": "SVMMKL", "slmc": "SLMC",
    "mkl": "MKL", "kcca": "KCCA", "kgcca": "KGCCA", "rfm": "RFM", "gkdr": "GKDR", "lfda": "LFDA",
    "klfda": "KLFDA", "opls": "OPLS", "kopls2": "KOPLS2", "spls": "SparsePLS", "plsda": "PLSDA", "splsda": "SparsePLSDA", "mbpls": "MBPLS", "block-splsda": "BlockSparsePLSDA", "lmkl": "LMKL", "sldr": "SLDR", "none": "NoExtraction",
}


def class_name(method: str) -> str:
    """The name of a method's estimator; derived from the method's name if CLASS_NAMES has none."""
    return CLASS_NAMES.get(method) or "".join(part[:1].upper() + part[1:] for part in method.split("-"))


class Param(NamedTuple):
    """One row of a parameter table."""

    name: str
    kind: int
    initial: str
    min: float
    max: float
    words: tuple[str, ...]
    help: str
    alias: str | None = None  # a former name

    @property
    def default(self) -> Any:
        """The default as a Python value."""
        if self.kind == FLAG:
            return self.initial == "yes"
        if self.kind in (INT, REAL) and self.initial not in self.words:
            number = float(self.initial)
            return int(number) if self.kind == INT else number
        return self.initial


class Entry(NamedTuple):
    """One row of a table: a method, a kernel, a learner, a generator."""

    name: str
    summary: str
    reference: str
    flags: int
    params: tuple[Param, ...]
    kernel: str | None = None  # default kernel of a method
    alias: str | None = None  # another accepted name

    def has(self, flag: int) -> bool:
        return bool(self.flags & flag)

    @property
    def compares_views(self) -> bool:
        """Whether this is kcca or its like, which needs no target and takes one in place of a second view."""
        return self.has(REGRESSION) and self.has(MULTIVIEW) and not self.has(SUPERVISION)


def python_name(name: str, taken: frozenset[str] = RESERVED) -> str:
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) or name in taken else name


def as_text(value: Any) -> str:
    """A value as text for the library."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # a NumPy scalar, whose repr names its type
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ";".join(f"{as_text(key)}:{as_text(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ";".join(as_text(item) for item in value)
    if hasattr(value, "tolist"):  # an array
        return as_text(value.tolist())
    return repr(value)


def options_text(options: dict[str, Any]) -> bytes | None:
    """Options as "key=value,key=value", with a backslash before characters that would end a value."""
    written = []
    for key, value in options.items():
        text = as_text(value).replace("\\", "\\\\").replace(",", "\\,")
        written.append(f"{key.rstrip('_').replace('_', '-')}={text}")
    return ",".join(written).encode() or None


def _param(info: ParamInfo) -> Param:
    words = tuple(info.words.decode().split("|")) if info.words else ()
    return Param(info.name.decode(), info.type, info.initial.decode(), info.min, info.max, words,
                 info.help.decode(), info.alias.decode() if info.alias else None)


def option_rows(get) -> Iterator[Param]:
    """The rows of a table of parameters."""
    index = 0
    while row := get(index):
        yield _param(row.contents)
        index += 1


def table_rows(table) -> Iterator[EntryInfo]:
    """The entries of one of the library's tables."""
    index = 0
    while row := table(index):
        yield row.contents
        index += 1


def _entries(table, params, kernel=lambda index: None) -> dict[str, Entry]:
    entries = {}
    for index, info in enumerate(table_rows(table)):
        rows = tuple(option_rows(lambda row, entry=index: params(entry, row)))
        entry = Entry(info.name.decode(), info.summary.decode(), info.formula.decode(), info.flags, rows,
                      *(text.decode() if text else None for text in (kernel(index), info.alias)))
        entries[entry.name] = entry
    return entries


def find_kernel(name: str) -> Entry | None:
    """The kernel with this name or alias."""
    named = (entry for entry in KERNEL_ENTRIES.values() if entry.alias == name)
    return KERNEL_ENTRIES.get(name) or next(named, None)


METHODS = _entries(lib.kfe_method, lib.kfe_method_param, lib.kfe_method_kernel)
KERNEL_ENTRIES = _entries(lib.kfe_kernel, lib.kfe_kernel_param)
LEARNERS = _entries(lib.kfe_learner, lib.kfe_learner_param)
STEPS = _entries(lib.kfe_step, lib.kfe_step_param)
GENERATORS = _entries(lib.kfe_generator, lib.kfe_generator_param)
FIT_OPTIONS = tuple(option_rows(lib.kfe_fit_option))
ESTIMATORS = {class_name(name): entry for name, entry in METHODS.items()}


def can_regress(entry: Entry) -> bool:
    """Whether a regressor can be fitted on the method's features: the method accepts real targets, or needs none."""
    return entry.has(REGRESSION) or not entry.has(SUPERVISION)


def predictor_names(name: str, entry: Entry) -> list[str]:
    """The names of the estimators that predict from the features of the estimator `name`."""
    return [name + "Classifier"] + ([name + "Regressor"] if can_regress(entry) else [])
