/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the reader of FASTA files with the options listed (fuzz_reader.h). */
#include "fuzz_reader.h"

FUZZ_READER("fasta", "", "label=kind", "label=kind,missing=drop", "id=name", "label_pattern=a([0-9])",
            "label_pattern=[a-z]+,missing=drop,id=header", "content=strings", "label=none")
