/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the reader of MatrixMarket files with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("mtx", "", "label=none", "missing=drop", "missing=mean,label=none", "label=first", "columns=2",
            "task=regress", "id=1,label=none")
