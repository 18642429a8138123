/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of all readers: the bytes themselves determine the format (gzip, zip, npy, text). */
#include "fuzz_reader.h"

FUZZ_READER("auto", "", "label=none", "missing=drop", "missing=mean", "label=first", "columns=2",
            "task=regress", "task=classify")
