/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times products with a stored kernel matrix, by one process or by those that mpirun started; bench/mpi.py runs it. Process 0 prints the
 * median seconds of a product with 16 vectors, the matrix being evaluated before.
 *
 *     bench_product ROWS THREADS
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/context.h"
#include "floor.h"
#include "gram/gram.h"

enum { COLUMNS = 21, VECTORS = 16, REPEATS = 21 };

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "product: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

static double *fill(int64_t count, uint64_t state)
{
    double *values = malloc((size_t)count * sizeof *values);

    for (int64_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = (double)(state >> 11) * 0x1.0p-53;
    }
    return values;
}

static double product_seconds(kfe_context *ctx, int64_t rows)
{
    kfe_i_table table = {
        .ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = rows, .cols = COLUMNS, .stride = COLUMNS};
    double *points = fill(rows * COLUMNS, 88172645463325252u);
    double *vectors = fill(rows * VECTORS, 1181783497276652981u);
    double *out = fill(rows * VECTORS, 1);
    double times[REPEATS];
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;
    kfe_i_gram *gram = NULL;

    table.values = points;
    kfe_i_kernel_list_init(ctx, &kernels);
    check(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=0.3", &kernel));
    check(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    check(ctx, kfe_i_gram_open(ctx, &kernels, &table, KFE_GRAM_F64, &gram));
    for (int i = 0; i < REPEATS; i++) {
        double start = bench_now();
        check(ctx, kfe_i_gram_times(gram, vectors, VECTORS, out));
        times[i] = bench_now() - start;
    }
    kfe_i_gram_free(gram);
    kfe_i_kernel_list_free(&kernels);
    free(points);
    free(vectors);
    free(out);
    return bench_median(times, REPEATS);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;

    if (argc < 3)
        return 2;
    check(NULL, kfe_context_new(&ctx));
    check(ctx, kfe_context_set_threads(ctx, atoi(argv[2])));
    if (kfe_launched_processes() > 1)
        check(ctx, kfe_context_set_cluster(ctx, NULL));
    kfe_i_threads_enter(ctx);
    double seconds = product_seconds(ctx, atoll(argv[1]));
    check(ctx, kfe_context_agree(ctx, KFE_OK));
    if (kfe_launched_process() == 0)
        printf("%.6f s\n", seconds);
    kfe_context_free(ctx);
    return 0;
}
