/* SPDX-License-Identifier: Apache-2.0 */
/* Defines a kernel in the user's program, here on angles: points that differ by a full turn are equal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <kfe.h>

static kfe_context *ctx;

static void check(kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "%s\n", ctx ? kfe_error_message(ctx) : kfe_status_text(status));
    exit(EXIT_FAILURE);
}

/* exp(sharpness·(cos(x − y) − 1)), multiplied over all columns */
static double angle_kernel(void *user, const double *x, const double *y, int64_t cols)
{
    const double *sharpness = user;
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += cos(x[j] - y[j]) - 1;
    return exp(*sharpness * sum);
}

int main(void)
{
    static const double angles[] = {0.1, 6.2, 3.1, 3.2, 1.5, 1.6, 4.7, 4.8};
    double sharpness = 2;
    kfe_data *data;
    kfe_spec *spec;
    kfe_model *model;
    kfe_matrix features;

    check(kfe_context_new(&ctx));
    check(kfe_data_wrap_dense(ctx, 8, 1, 1, angles, &data));
    check(kfe_spec_parse(ctx, "kpca", "dim=2", NULL, &spec));
    check(kfe_spec_add_user_kernel(ctx, spec, "angle", angle_kernel, &sharpness));
    check(kfe_fit(ctx, spec, data, &model));
    check(kfe_transform(ctx, model, data, &features));
    for (int64_t i = 0; i < features.rows; i++)
        printf("%.1f -> (%+.3f, %+.3f)\n", angles[i], features.values[2 * i], features.values[2 * i + 1]);

    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return EXIT_SUCCESS;
}
