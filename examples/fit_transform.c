/* SPDX-License-Identifier: Apache-2.0 */
/* Fits features on points in memory and applies the model to new points. */
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

int main(void)
{
    /* Two classes that no line separates: one around the origin, the other around the first class. */
    static const double points[][2] = {{0.1, 0.0}, {-0.1, 0.1}, {0.0, -0.1}, {0.2, 0.2},
                                       {2.0, 0.0}, {-2.0, 0.1}, {0.1, 2.0},  {0.0, -2.0}};
    static const char *const labels[] = {"inner", "inner", "inner", "inner",
                                         "outer", "outer", "outer", "outer"};
    static const double new_points[][2] = {{-0.2, 0.0}, {1.4, -1.4}};
    kfe_data *train, *test;
    kfe_spec *spec;
    kfe_model *model;
    kfe_matrix features;

    check(kfe_context_new(&ctx));
    check(kfe_data_wrap_dense(ctx, 8, 2, 2, points[0], &train));
    check(kfe_data_set_labels(ctx, train, labels));
    check(kfe_data_wrap_dense(ctx, 2, 2, 2, new_points[0], &test));

    check(kfe_spec_parse(ctx, "koc", NULL, "poly:degree=2,gamma=1,coef0=1", &spec));
    check(kfe_fit(ctx, spec, train, &model));
    check(kfe_transform(ctx, model, test, &features));
    for (int64_t i = 0; i < features.rows; i++)
        printf("(%g, %g) -> (%.3f, %.3f)\n", new_points[i][0], new_points[i][1],
               features.values[i * features.stride], features.values[i * features.stride + 1]);

    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(test);
    kfe_data_free(train);
    kfe_context_free(ctx);
    return EXIT_SUCCESS;
}
