# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions that scikit-learn users already catch."""
import re


class KfeError(Exception):
    """Something that the library refused or could not do, in its own words.

    Every error is of a subclass that is also one of Python's own kinds: `ValueError` for data and
    arguments, `MemoryError`, `OSError` and so on.
    """


class InvalidArgumentError(KfeError, ValueError):
    """A parameter has a value that it cannot have."""


class InputError(KfeError, ValueError):
    """The data cannot be worked with."""


class ModelError(KfeError, ValueError):
    """A file or bytes are not a usable model."""


class OutOfMemoryError(KfeError, MemoryError):
    """Memory ended."""


class MemoryLimitError(KfeError, MemoryError):
    """The work does not fit in the limit that was set."""


class FileError(KfeError, OSError):
    """Reading or writing failed."""


class NumericalError(KfeError, ArithmeticError):
    """A computation did not succeed."""


class UnsupportedError(KfeError, NotImplementedError, ValueError):
    """What was asked for does not exist for this method or data."""


class CancelledError(KfeError):
    """The work was stopped."""


class KfeWarning(UserWarning):
    """What the library has to say about a result, such as that a search did not converge."""


# in the order of kfe_status
BY_STATUS = (None, OutOfMemoryError, InvalidArgumentError, InputError, FileError, ModelError, MemoryLimitError,
             NumericalError, UnsupportedError, CancelledError)


# Advice for the command line and for C in the words of Python; the first that fits a place is taken.
_ADVICE = (
    (r"`kfe (methods|kernels|learners)`", r"kfe.\1()"),
    (r"(?:bind it with|call) kfe_model_bind_kernel", "give it to kfe.load(path, kernels={name: function})"),
    (r" \(and see --label if one of them is the label\)", ""),
    (r"; if the label is not in the last column, say --label", ""),
    (r"give each with --view NAME=FILE", "give X as a dict of arrays by these names"),
    (r"tell them apart with --view NAME=FILE", "give X as a dict of arrays by name"),
    (r"with --view-kernel NAME=KERNEL", "with kernel={NAME: KERNEL}"),
    (r"by --view-kernel; leave out -k", "by kernel={NAME: KERNEL}; leave out the others"),
    (r"see --label and --label-file", "give y"),
    (r"--learner, such as --learner (\w+)", r"learner=, such as learner='\1'"),
    (r"--learner (\w+), (\w+), …", r"learner='\1', '\2', …"),
    (r"--(task|solver|missing|learner|label|criterion|ridge-on|scale|stratified) "
     r"(classify|regress|gradient|mean|drop|svm|none|kta|norm|minmax|yes)\b",
     lambda found: f"{found[1].replace('-', '_')}='{found[2]}'"),
    (r"(?<!\S)-m kpca\b", "kfe.KPCA"),
    (r"(?<!\S)-k\b", "kernel="),
    (r"--grid\b", "grid"),
    (r"(?<!\S)(\(?)--([a-z]+(?:-[A-Za-z]+)*)\b", lambda found: f"{found[1]}{found[2].replace('-', '_')}="),
)


def in_python(message: str) -> str:
    """A message with advice that can be followed in Python."""
    if "-" not in message and "kfe" not in message:
        return message
    for words, python in _ADVICE:
        message = re.sub(words, python, message)
    return message


def make_error(status: int, message: str) -> KfeError:
    kind = BY_STATUS[status] if 0 < status < len(BY_STATUS) else KfeError
    return kind(in_python(message))
