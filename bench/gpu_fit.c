/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits one method to data in memory on a device and says how long that took; bench/gpu.sh runs it.
 *
 *     gpu_fit DEVICE METHOD PARAMS KERNEL ROWS COLS CLASSES [TRANSFORM_ROWS]
 *
 * KERNEL may be a number, the gamma of a Gaussian.
 * The data has ten clusters of normally distributed examples in each class; CLASSES 0 gives a numeric target. The time begins with
 * data in host memory and ends with the model. The log of the fit goes to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_data.h"

static void transform(kfe_context *ctx, const kfe_model *model, const gpu_data *p, int64_t rows)
{
    kfe_data *data = NULL;
    kfe_matrix features = {0};
    double *x = malloc((size_t)(rows * p->cols) * sizeof *x);

    for (int64_t i = 0; i < rows; i++)
        memcpy(x + i * p->cols, p->x + i % p->rows * p->cols, (size_t)p->cols * sizeof *x);
    gpu_check(ctx, kfe_data_wrap_dense(ctx, rows, p->cols, p->cols, x, &data));
    double began = gpu_seconds();
    gpu_check(ctx, kfe_transform(ctx, model, data, &features));
    printf("  transform of %lld rows: %.3f s\n", (long long)rows, gpu_seconds() - began);
    kfe_matrix_free(&features);
    kfe_data_free(data);
    free(x);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    char kernel[64];

    if (argc < 8 || kfe_context_new(&ctx) != KFE_OK) {
        fprintf(stderr, "usage: gpu_fit DEVICE METHOD PARAMS KERNEL ROWS COLS CLASSES [TRANSFORM_ROWS]\n");
        return 2;
    }
    gpu_data p = {.rows = atoll(argv[5]), .cols = atoll(argv[6]), .classes = atoll(argv[7])};
    gpu_data_make(&p);
    double began = gpu_seconds();
    kfe_context_on_log(ctx, gpu_print_log, &began);
    gpu_check(ctx, kfe_context_set_device(ctx, argv[1]));
    double opened = gpu_seconds() - began;
    began = gpu_seconds();
    snprintf(kernel, sizeof kernel, strchr(argv[4], ':') ? "%s" : "rbf:gamma=%s", argv[4]);
    gpu_check(ctx, kfe_spec_parse(ctx, argv[2], argv[3], kernel, &spec));
    gpu_check(ctx, kfe_data_wrap_dense(ctx, p.rows, p.cols, p.cols, p.x, &data));
    if (p.classes > 0)
        gpu_check(ctx, kfe_data_set_labels(ctx, data, p.labels));
    else
        gpu_check(ctx, kfe_data_set_targets(ctx, data, 1, p.y));
    gpu_check(ctx, kfe_fit(ctx, spec, data, &model));
    printf("%s %s on %s, n=%lld d=%lld classes=%lld: %.3f s (opening the device %.3f s)\n", argv[2], argv[3],
           kfe_context_device(ctx), (long long)p.rows, (long long)p.cols, (long long)p.classes,
           gpu_seconds() - began, opened);
    if (argc > 8)
        transform(ctx, model, &p, atoll(argv[8]));
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    gpu_data_free(&p);
    return 0;
}
