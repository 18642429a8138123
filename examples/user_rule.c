/* SPDX-License-Identifier: Apache-2.0 */
/* Defines a method in the user's program: a direction rule that picks, for each feature, the example whose
 * kernel column covaries most with the residual target. The library does the rest; the model contains only
 * the two examples picked. */
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

/* K times the residual is the covariance of every kernel column with it; `user` is a buffer for the result. */
static kfe_status one_example(void *user, const kfe_deflation_state *state, double *direction)
{
    double *covariance = user;
    int64_t best = 0;
    kfe_status status = state->times(state->handle, state->residual, 1, covariance);

    for (int64_t i = 1; status == KFE_OK && i < state->examples; i++)
        if (fabs(covariance[i]) > fabs(covariance[best]))
            best = i;
    direction[best] = 1;
    return status;
}

int main(void)
{
    static const double points[] = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5};
    static const double values[] = {0, 1, 0, 0, 0, 0, -2, 0};
    double room[8];
    kfe_data *data;
    kfe_spec *spec;
    kfe_model *model;
    kfe_matrix features;
    int64_t count;

    check(kfe_context_new(&ctx));
    check(kfe_data_wrap_dense(ctx, 8, 1, 1, points, &data));
    check(kfe_data_set_targets(ctx, data, 1, values));
    check(kfe_spec_new_rule(ctx, "one-example", one_example, room, "dim=2,center=no", "rbf:gamma=4", &spec));
    check(kfe_fit(ctx, spec, data, &model));
    check(kfe_transform(ctx, model, data, &features));
    for (int64_t i = 0; i < features.rows; i++)
        printf("%.1f -> (%+.3f, %+.3f)\n", points[i], features.values[2 * i], features.values[2 * i + 1]);
    printf("%s: %lld examples, %.0f %% of the target explained\n", kfe_model_method(model),
           (long long)kfe_model_support_size(model), 100 * kfe_model_record(model, "alignment", &count)[1]);

    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return EXIT_SUCCESS;
}
