/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-validates koc with linear SVMs on a device and says how long that took; bench/gpu.sh runs it.
 *
 *     gpu_cv DEVICE ROWS COLS CLASSES
 *
 * 5 folds, 10 widths, 8 values of C. The time begins with data in host memory and ends with the text of the result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu_data.h"

int main(int argc, char **argv)
{
    static const char *const grids[] = {"gamma=1e-4:1e-1:log10", "C=1e-2:1e5:log8", NULL};
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_result *found = NULL;
    char *text = NULL;

    if (argc < 5 || kfe_context_new(&ctx) != KFE_OK) {
        fprintf(stderr, "usage: gpu_cv DEVICE ROWS COLS CLASSES\n");
        return 2;
    }
    gpu_data p = {.rows = atoll(argv[2]), .cols = atoll(argv[3]), .classes = atoll(argv[4])};
    gpu_data_make(&p);
    double began = gpu_seconds();
    kfe_context_on_log(ctx, gpu_print_log, &began);
    gpu_check(ctx, kfe_context_set_device(ctx, argv[1]));
    double opened = gpu_seconds() - began;
    began = gpu_seconds();
    gpu_check(ctx, kfe_data_wrap_dense(ctx, p.rows, p.cols, p.cols, p.x, &data));
    gpu_check(ctx, kfe_data_set_labels(ctx, data, p.labels));
    gpu_check(ctx, kfe_spec_parse(ctx, "koc", "", "rbf:gamma=1e-2", &spec));
    gpu_check(ctx, kfe_spec_set_learner(ctx, spec, "linear-svm", ""));
    gpu_check(ctx, kfe_cross_validate(ctx, spec, grids, data, "folds=5,inner-folds=0", NULL, &found));
    gpu_check(ctx, kfe_result_describe(ctx, found, KFE_STYLE_TEXT, &text));
    printf("cv of koc + linear-svm, 5 folds x 10 gamma x 8 C, on %s, n=%lld d=%lld classes=%lld: %.3f s "
           "(opening the "
           "device %.3f s)\n%s\n",
           kfe_context_device(ctx), (long long)p.rows, (long long)p.cols, (long long)p.classes,
           gpu_seconds() - began, opened, text);
    kfe_string_free(ctx, text);
    kfe_result_free(found);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    gpu_data_free(&p);
    return 0;
}
