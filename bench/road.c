/* SPDX-License-Identifier: Apache-2.0 */
/* Times fit and transform of koc with a Gaussian kernel and, for comparison, the GEMM and exp that they
 * cannot avoid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "kfe.h"

enum { REPEATS = 5 };

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "road: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

static kfe_data *twonorm(kfe_context *ctx, int64_t rows, int64_t cols, double **values)
{
    kfe_data *data = NULL;
    const char **labels = malloc((size_t)rows * sizeof *labels);
    uint64_t state = 88172645463325252u;

    *values = malloc((size_t)(rows * cols) * sizeof **values);
    for (int64_t i = 0; i < rows; i++) {
        labels[i] = i % 2 ? "b" : "a";
        for (int64_t j = 0; j < cols; j++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (*values)[i * cols + j] = (double)(state >> 11) * 0x1.0p-53 + (i % 2 ? 0.2 : 0);
        }
    }
    check(ctx, kfe_data_wrap_dense(ctx, rows, cols, cols, *values, &data));
    check(ctx, kfe_data_set_labels(ctx, data, labels));
    free(labels);
    return data;
}

static void report(const char *what, double *times, double *floors, double target)
{
    double ratios[REPEATS];
    for (int r = 0; r < REPEATS; r++)
        ratios[r] = times[r] / floors[r];
    printf("| %s | %.3f | %.3f | %.2f | %.2f |\n", what, bench_median(times, REPEATS),
           bench_median(floors, REPEATS), bench_median(ratios, REPEATS), target);
}

static void bench_koc(kfe_context *ctx, int64_t n, int64_t d)
{
    double times[REPEATS];
    double floors[REPEATS];
    double *values = NULL;
    kfe_data *data = twonorm(ctx, n, d, &values);
    kfe_spec *spec = NULL;

    check(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf:gamma=0.1", &spec));
    for (int r = 0; r < REPEATS; r++) {
        kfe_model *model = NULL;
        double start = bench_now();
        check(ctx, kfe_fit(ctx, spec, data, &model));
        times[r] = bench_now() - start;
        kfe_model_free(model);
        /* half of the matrix, because it is symmetric */
        floors[r] = bench_gemm_seconds(n, n / 2, d, kfe_context_threads(ctx)) +
                    bench_exp_seconds(n * n / 2, kfe_context_threads(ctx));
    }
    report("koc, rbf, n=20,000, d=50 (floor: half the matrix)", times, floors, 2);
    printf("| peak memory of the koc fits, MB | %.0f | | | 300 |\n", bench_peak_memory() / 1e6);
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(values);
}

static void bench_transform(kfe_context *ctx, int64_t rows, int64_t support, int64_t d)
{
    double times[REPEATS];
    double floors[REPEATS];
    double *train_values = NULL;
    double *values = NULL;
    kfe_data *train = twonorm(ctx, support, d, &train_values);
    kfe_data *data = twonorm(ctx, rows, d, &values);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    check(ctx, kfe_spec_parse(ctx, "koc", "clusters-per-class=5", "rbf:gamma=0.1", &spec));
    check(ctx, kfe_fit(ctx, spec, train, &model));
    for (int r = 0; r < REPEATS; r++) {
        kfe_matrix features;
        double start = bench_now();
        check(ctx, kfe_transform(ctx, model, data, &features));
        times[r] = bench_now() - start;
        kfe_matrix_free(&features);
        floors[r] = bench_gemm_seconds(rows, support, d, kfe_context_threads(ctx)) +
                    bench_exp_seconds(rows * support, kfe_context_threads(ctx));
    }
    printf("<!-- transform makes %lld features from %lld support points -->\n",
           (long long)kfe_model_dim(model), (long long)kfe_model_support_size(model));
    report("transform, 100,000 x 50, 5,000 support points, 10 features", times, floors, 1.5);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_data_free(data);
    free(train_values);
    free(values);
}

int main(void)
{
    kfe_context *ctx = NULL;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 1;
    printf("| what | seconds | floor, seconds | ratio | target |\n|---|---|---|---|---|\n");
    bench_koc(ctx, 20000, 50);
    bench_transform(ctx, 100000, 5000, 50);
    kfe_context_free(ctx);
    return 0;
}
