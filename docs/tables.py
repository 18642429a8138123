# SPDX-License-Identifier: Apache-2.0
"""The tables of the library (methods, kernels, learners, generators, metrics) as Python objects, by ctypes."""
import ctypes
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python" / "kfe"))
from _abi import EntryInfo, ParamInfo  # noqa: E402: the structures of kfe.h

TYPES = ("integer", "real", "choice", "flag", "text")  # in the order of kfe_param_type


@dataclasses.dataclass
class Param:
    name: str
    type: str
    default: str
    min: float
    max: float
    words: str
    help: str


@dataclasses.dataclass
class Entry:
    name: str
    summary: str
    formula: str
    traits: list
    takes_kernels: bool
    weighs_kernels: bool
    takes_reals: bool
    params: list


def text(value):
    return value.decode() if value else ""


def flag_meanings(header):
    """{bit: what it says} and {constant: bit}, from the enum of KFE_HAS_ constants and its comments."""
    rows = re.findall(r"(KFE_HAS_\w+) = 1u << (\d+),?\s*/\* (.*?) \*/", header, re.DOTALL)
    said = {1 << int(bit): re.sub(r"^(methods|kernels): | \(otherwise.*\)", "", comment) for _, bit, comment in rows}
    return said, {name: 1 << int(bit) for name, bit, _ in rows}


class Library:
    """libkfe, as far as its tables go; `header` is the text of kfe.h, which says what the flags mean."""

    def __init__(self, path, header):
        self.library = ctypes.CDLL(str(path))
        self.said, self.bits = flag_meanings(header)

    def params(self, family, index):
        function = getattr(self.library, f"kfe_{family}_param", None)
        if family == "metric" or function is None:
            return
        function.restype = ctypes.POINTER(ParamInfo)
        row = 0
        while info := function(index, row):
            yield Param(text(info[0].name), TYPES[info[0].type], text(info[0].initial), info[0].min, info[0].max,
                        text(info[0].words), text(info[0].help))
            row += 1

    def entries(self, family):
        function = getattr(self.library, f"kfe_{family}")
        function.restype = ctypes.POINTER(EntryInfo)
        default_kernel = self.library.kfe_method_kernel
        default_kernel.restype = ctypes.c_char_p
        found = []
        while row := function(len(found)):
            info = row.contents
            index = len(found)
            traits = [said for bit, said in self.said.items() if info.flags & bit]
            if family == "method" and default_kernel(index):
                traits.append(f"default kernel: `{text(default_kernel(index))}`")
            has = lambda name: bool(info.flags & self.bits[name])
            found.append(Entry(text(info.name), text(info.summary), text(info.formula), traits, has("KFE_HAS_KERNELS"),
                               has("KFE_HAS_WEIGHTS"), has("KFE_HAS_REGRESSION"), list(self.params(family, index))))
        return found
