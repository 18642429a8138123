/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever the bytes say they are. */
#include "fuzz_reader.h"

FUZZ_READER("auto", "", "label=none", "missing=drop", "missing=mean", "label=first", "columns=2",
            "task=regress", "task=classify")
