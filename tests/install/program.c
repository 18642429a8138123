/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program that uses only the installed header and library. */
#include <stdio.h>
#include <string.h>

#include <kfe.h>

static int fit_iris(kfe_context *ctx)
{
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    int good = kfe_data_generate(ctx, "iris", NULL, &data) == KFE_OK &&
               kfe_spec_parse(ctx, "koc", NULL, "rbf:gamma=1", &spec) == KFE_OK &&
               kfe_fit(ctx, spec, data, &model) == KFE_OK &&
               kfe_transform(ctx, model, data, &features) == KFE_OK;

    if (good)
        printf("%lld %lld\n", (long long)features.rows, (long long)features.cols);
    else
        fprintf(stderr, "%s\n", kfe_error_message(ctx));
    good = good && features.rows == 150 && features.cols == kfe_model_dim(model);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return good;
}

int main(void)
{
    kfe_context *ctx = NULL;
    int good = strcmp(kfe_version(), KFE_VERSION) == 0 && kfe_context_new(&ctx) == KFE_OK && fit_iris(ctx);

    kfe_context_free(ctx);
    return good ? 0 : 1;
}
