/* SPDX-License-Identifier: Apache-2.0 */
/* What all generators need: the table, its column names, and balanced classes. */
#include "data/generate/generated.h"

#include <stdio.h>

#include "core/memory.h"

kfe_status kfe_i_generated_table(kfe_context *ctx, kfe_data *data, int64_t rows, int64_t cols)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    char name[32];

    KFE_TRY(kfe_i_check_memory(ctx, (double)rows * (double)cols * sizeof(double), "the generated data",
                               "ask for fewer rows"));
    KFE_TRY(kfe_i_table_new_dense(ctx, rows, cols, &view->table));
    KFE_ALLOC_ZERO(ctx, view->column_names, cols);
    for (int64_t j = 0; j < cols; j++) {
        snprintf(name, sizeof name, "x%lld", (long long)j + 1);
        KFE_STRDUP(ctx, view->column_names[j], name);
    }
cleanup:
    return status;
}

double *kfe_i_generated_row(kfe_data *data, int64_t row)
{
    kfe_i_table *table = &data->views[0].table;
    return table->values + row * table->stride;
}

int64_t kfe_i_generated_class(int64_t row, int64_t classes)
{
    return row % classes;
}

kfe_status kfe_i_generated_classes(kfe_context *ctx, kfe_data *data, int64_t classes)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    char names[KFE_GENERATED_MAX_CLASSES][16];
    const char **labels = NULL;

    for (int64_t c = 0; c < classes; c++)
        snprintf(names[c], sizeof names[c], "%d", (int)c + 1);
    KFE_ALLOC(ctx, labels, rows);
    for (int64_t i = 0; i < rows; i++)
        labels[i] = names[kfe_i_generated_class(i, classes)];
    KFE_TRY(kfe_data_set_labels(ctx, data, labels));
    KFE_STRDUP(ctx, data->target_name, "label");
cleanup:
    kfe_i_free(ctx, labels);
    return status;
}

kfe_status kfe_i_generated_clouds(kfe_context *ctx, kfe_i_rng *rng, int64_t rows, int64_t cols,
                                  const double mean[2], const double deviation[2], kfe_data *data)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_generated_table(ctx, data, rows, cols));
    for (int64_t i = 0; i < rows; i++) {
        double *row = kfe_i_generated_row(data, i);
        int64_t g = kfe_i_generated_class(i, 2);
        for (int64_t j = 0; j < cols; j++)
            row[j] = mean[g] + deviation[g] * kfe_i_rng_normal(rng);
    }
    KFE_TRY(kfe_i_generated_classes(ctx, data, 2));
cleanup:
    return status;
}

double kfe_i_generated_between(kfe_i_rng *rng, double low, double high)
{
    return low + (high - low) * kfe_i_rng_uniform(rng);
}
