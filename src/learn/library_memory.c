/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of LIBSVM and LIBLINEAR, for the learners svm and linear-svm. The bounds were read from the sources of LIBSVM 3.24
 * and LIBLINEAR 2.3; tests/dependencies measures that the libraries stay below them.
 *
 * LIBSVM: about 150 bytes a row for classes and 300 for real targets, which become two rows each, and the cache of kernel
 * rows in single precision: as large as asked for, at most the whole matrix, at least two rows. Memory that is freed in
 * pieces and what malloc adds to each piece take an eighth more.
 * LIBLINEAR: some twelve vectors over the columns and ten over the rows.
 */
#include "learn/library_memory.h"

#include <math.h>

#include "core/reserve.h"

#define BYTES_PER_ROW 512.0
#define SMALLEST_CACHE_PER_ROW 16.0
#define FIXED_BYTES 1e6
#define MEGABYTE (1024.0 * 1024.0)

double kfe_i_libsvm_bytes(int64_t rows)
{
    return FIXED_BYTES + (BYTES_PER_ROW + SMALLEST_CACHE_PER_ROW) * (double)rows;
}

kfe_status kfe_i_libsvm_reserve(kfe_context *ctx, int64_t rows, double *cache)
{
    double least = kfe_i_libsvm_bytes(rows);
    double matrix = 4.0 * (double)rows * (double)rows + 64.0 * (double)rows;
    double left = ((double)kfe_i_memory_left(ctx) - least) * 8 / 9;
    double bytes = fmin(*cache * MEGABYTE, fmin(matrix, fmax(left, 0)));

    *cache = fmax(bytes / MEGABYTE, 1e-3);
    return kfe_i_reserve(ctx, least + bytes * 9 / 8, "training an SVM with LIBSVM",
                         "fit on fewer examples, or raise {memory}");
}
