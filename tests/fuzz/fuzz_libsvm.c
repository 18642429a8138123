/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the LIBSVM reader with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("libsvm", "", "missing=drop", "label=none", "columns=10", "task=regress", "task=classify",
            "missing=mean", "label=first")
