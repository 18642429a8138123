/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the reader of ARFF files with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("arff", "", "label=none", "missing=drop", "missing=mean,encode=auto", "label=first,encode=auto",
            "columns=2", "task=regress", "content=strings")
