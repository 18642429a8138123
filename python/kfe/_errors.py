# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions that scikit-learn users already catch."""


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


def make_error(status: int, message: str) -> KfeError:
    kind = BY_STATUS[status] if 0 < status < len(BY_STATUS) else KfeError
    return kind(message)
