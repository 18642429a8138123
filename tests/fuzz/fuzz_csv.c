/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the CSV reader with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("csv", "", "missing=drop", "missing=mean,label=none", "content=strings", "label=first,header=no",
            "delimiter=space,task=classify", "header=yes,task=regress", "label=2,delimiter=comma,encode=auto")
