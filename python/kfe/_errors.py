# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions that scikit-learn users already catch."""

class KfeError(Exception):
    """A call to the library failed; the message says why.

    Every error is of a subclass that is also one of Python's own kinds: `ValueError` for data and
    arguments, `MemoryError`, `OSError` and so on.
    """


class InvalidArgumentError(KfeError, ValueError):
    """A parameter has a value that it cannot have."""


class InputError(KfeError, ValueError):
    """The data cannot be used."""


class ModelError(KfeError, ValueError):
    """A file or bytes are not a usable model."""


class OutOfMemoryError(KfeError, MemoryError):
    """There is not enough memory."""


class MemoryLimitError(KfeError, MemoryError):
    """The work needs more memory than the limit."""


class FileError(KfeError, OSError):
    """Reading or writing failed."""


class NumericalError(KfeError, ArithmeticError):
    """A computation failed numerically."""


class UnsupportedError(KfeError, NotImplementedError, ValueError):
    """The method or the data does not support what was asked for."""


class CancelledError(KfeError):
    """The work was cancelled."""


class DeviceError(KfeError, RuntimeError):
    """A call of a device, such as a GPU, failed."""


class KfeWarning(UserWarning):
    """A warning of the library about a result, such as that a search did not converge."""


# in the order of kfe_status
BY_STATUS = (None, OutOfMemoryError, InvalidArgumentError, InputError, FileError, ModelError, MemoryLimitError,
             NumericalError, UnsupportedError, CancelledError, DeviceError)


def make_error(status: int, message: str) -> KfeError:
    kind = BY_STATUS[status] if 0 < status < len(BY_STATUS) else KfeError
    return kind(message)
