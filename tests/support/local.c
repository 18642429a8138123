/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of several views for the tests that call the localized methods directly. */
#include "support/local.h"

#include <math.h>

#include "core/memory.h"

kfe_status support_views_begin(kfe_context *ctx, int64_t rows, const int *class_of, support_views *s)
{
    const char **labels = malloc((size_t)rows * sizeof *labels);
    static const char *const names[] = {"a", "b", "c", "d"};
    kfe_status status;

    *s = (support_views){.ctx = ctx, .rows = rows};
    kfe_i_kernel_list_init(ctx, &s->kernels);
    for (int64_t i = 0; i < rows; i++)
        labels[i] = names[class_of[i]];
    status = kfe_i_target_from_labels(ctx, rows, labels, &s->target);
    free(labels);
    s->problem = (kfe_i_fit_source){
        .target = &s->target, .kernels = &s->kernels, .views = s->views, .view_names = s->names};
    return status;
}

void support_views_add(support_views *s, const char *name, int64_t cols, const double *values)
{
    s->names[s->view_count] = name;
    s->views[s->view_count++] = (kfe_i_table){.ctx = s->ctx,
                                              .kind = KFE_TABLE_DENSE,
                                              .rows = s->rows,
                                              .cols = cols,
                                              .stride = cols,
                                              .values = (double *)(uintptr_t)values};
    s->problem.view_count = s->view_count;
}

kfe_status support_views_kernel(support_views *s, int view, const char *text)
{
    kfe_i_kernel kernel = {0};
    kfe_status status = kfe_i_kernel_parse(s->ctx, text, &kernel);

    if (status == KFE_OK) {
        kernel.view = view;
        status = kfe_i_kernel_list_add(&s->kernels, &kernel);
    }
    if (status == KFE_OK)
        status = kfe_i_kernel_prepare(s->ctx, &s->kernels.items[s->kernels.count - 1], &s->views[view]);
    return status;
}

void support_views_end(support_views *s)
{
    kfe_i_kernel_list_free(&s->kernels);
    kfe_i_target_free(&s->target);
}

kfe_status support_local_fit(support_views *s, const char *method, const char *params, kfe_i_solution *out)
{
    const kfe_i_method *found = NULL;
    void *settings = NULL;
    kfe_status status = kfe_i_method_find(s->ctx, method, &found);

    *out = (kfe_i_solution){.ctx = s->ctx};
    if (status != KFE_OK)
        return status;
    settings = calloc(1, found->params.size);
    status = kfe_i_params_default(s->ctx, &found->params, settings);
    if (status == KFE_OK)
        status = kfe_i_params_parse(s->ctx, &found->params, method, settings, params);
    if (status == KFE_OK)
        status = found->fit(s->ctx, &s->problem, settings, out);
    free(settings);
    return status;
}

/* The support of a given kernel matrix are column numbers. */
static kfe_i_table support_of(const support_views *train, int view, double *numbers)
{
    if (kfe_i_kernel_list_given(&train->kernels, view) != 1)
        return kfe_i_table_slice(&train->views[view], 0, train->rows);
    for (int64_t i = 0; i < train->rows; i++)
        numbers[i] = (double)i;
    return (kfe_i_table){.ctx = train->ctx,
                         .kind = KFE_TABLE_DENSE,
                         .rows = train->rows,
                         .cols = 1,
                         .stride = 1,
                         .values = numbers};
}

double *support_local_outputs(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data)
{
    kfe_i_table support[SUPPORT_VIEWS] = {{0}};
    kfe_i_local_data local = {.kernels = &train->kernels, .views = data->views, .support = support};
    double *numbers = malloc((size_t)train->rows * sizeof *numbers);
    double *out = malloc((size_t)(data->rows * solution->local->outputs) * sizeof *out);

    for (int v = 0; v < train->view_count; v++)
        support[v] = support_of(train, v, numbers);
    assert_ok(train->ctx, kfe_i_local_outputs(train->ctx, solution->local, &local, out));
    free(numbers);
    return out;
}

const double *support_local_record(const kfe_i_solution *solution, const char *name, int64_t *count)
{
    for (int64_t i = 0; i < solution->record_count; i++)
        if (strcmp(solution->records[i].name, name) == 0) {
            *count = solution->records[i].count;
            return solution->records[i].values;
        }
    fail_msg("there is no record %s", name);
    return NULL;
}

double support_local_objective(const kfe_i_solution *solution)
{
    int64_t count = 0;
    const double *values = support_local_record(solution, "objective", &count);

    return values[count - 1];
}

void support_local_check_gap(const support_views *views, const kfe_i_solution *solution, const int *class_of,
                             double c, double tolerance)
{
    const kfe_i_local *local = solution->local;
    double *outputs = support_local_outputs(views, solution, views);
    double objective = support_local_objective(solution);
    double sum = 0;

    for (int64_t i = 0; i < local->rows * local->outputs; i++)
        sum += fabs(local->weights[i]);
    for (int64_t i = 0; i < views->rows; i++)
        for (int64_t o = 0; o < local->outputs; o++) {
            int code = class_of[i]; /* classes are in order of appearance: 0, 1, 2 */
            double output = outputs[i * local->outputs + o];
            sum += c * fmax(0, 1 - (code == o ? output : -output));
        }
    assert_below(fabs(sum / 2 - objective), tolerance * objective);
    free(outputs);
}

double support_local_accuracy(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data, const int *class_of)
{
    double *outputs = support_local_outputs(train, solution, data);
    double right = 0;

    for (int64_t i = 0; i < data->rows; i++) {
        int32_t code = kfe_i_predictor_decide(&solution->predictor, outputs + i * solution->local->outputs);
        const char *expected[] = {"a", "b", "c", "d"};
        right += strcmp(train->target.names[code], expected[class_of[i]]) == 0;
    }
    free(outputs);
    return right / (double)data->rows;
}
