/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the reader of NumPy archives with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("npz", "", "label=none", "missing=drop", "missing=mean", "label=first", "columns=2",
            "task=regress", "task=classify")
