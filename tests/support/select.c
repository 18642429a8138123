/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of every kind of data, and evaluations without the search engine, for the tests of searches. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"

/* ---- data ---- */

static void make_strings(select_sample *s)
{
    uint64_t random = 21;

    s->strings = calloc((size_t)s->rows, sizeof *s->strings);
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t c = 0; c < 15 + i % 8; c++) {
            double draw = support_uniform(&random) * 7;
            s->strings[i][c] = draw < 4 ? "acgt"[(int)draw] : "acgt"[s->class_of[i] % 4];
        }
}

static void make_targets(select_sample *s)
{
    uint64_t random = 8;

    s->targets = support_normals(1, s->rows);
    for (int64_t i = 0; i < s->rows; i++) {
        const double *x = s->values + i * s->cols;
        s->targets[i] = 3 * x[0] - x[1] + sin(x[2]) + 0.1 * support_normal(&random) + 5;
    }
}

static void make_kernel(select_sample *s)
{
    double *kernel = support_rbf(s->rows, s->values, s->rows, s->values, s->cols, 0.1);

    free(s->values);
    s->values = kernel;
    s->cols = s->rows;
}

select_sample select_sample_make(kfe_context *ctx, select_table table, int64_t rows, int64_t cols,
                                 int classes, double apart)
{
    select_sample s = {.ctx = ctx, .table = table, .rows = rows, .cols = cols, .classes = classes};
    int64_t *all = calloc((size_t)rows, sizeof *all);

    support_clouds(41, rows, cols, classes ? classes : 2, apart, &s.values, &s.class_of);
    for (int64_t i = 0; table == SELECT_CSR && i < rows * cols; i++)
        s.values[i] = i * 7 % 3 == 0 ? 0 : s.values[i];
    if (table == SELECT_TEXT)
        make_strings(&s);
    if (classes == 0)
        make_targets(&s);
    if (table == SELECT_GIVEN)
        make_kernel(&s);
    for (int64_t i = 0; i < rows; i++)
        all[i] = i;
    s.data = select_pick(&s, all, rows, all, rows);
    free(all);
    return s;
}

void select_sample_free(select_sample *s)
{
    kfe_data_free(s->data);
    free(s->values);
    free(s->strings);
    free(s->class_of);
    free(s->targets);
    memset(s, 0, sizeof *s);
}

/* ---- picking rows ---- */

static void pick_dense(const select_sample *s, const int64_t *rows, int64_t count, const int64_t *columns,
                       int64_t first, int64_t cols, kfe_i_table *out)
{
    assert_ok(s->ctx, kfe_i_table_new_dense(s->ctx, count, cols, out));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < cols; j++)
            out->values[i * out->stride + j] =
                s->values[rows[i] * s->cols + (columns ? columns[j] : first + j)];
}

static void pick_sparse(const select_sample *s, const int64_t *rows, int64_t count, kfe_i_table *out)
{
    int64_t filled = 0;

    assert_ok(s->ctx, kfe_i_table_new_csr(s->ctx, count, s->cols, count * s->cols, out));
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < s->cols; j++) {
            double value = s->values[rows[i] * s->cols + j];
            if (value == 0)
                continue;
            out->columns[filled] = (int32_t)j;
            out->values[filled++] = value;
        }
        out->row_start[i + 1] = filled;
    }
}

static void pick_strings(const select_sample *s, const int64_t *rows, int64_t count, kfe_i_table *out)
{
    assert_ok(s->ctx, kfe_i_table_new_text(s->ctx, count, count * SELECT_STRING, out));
    for (int64_t i = 0; i < count; i++) {
        size_t length = strlen(s->strings[rows[i]]);
        memcpy(out->bytes + out->row_start[i], s->strings[rows[i]], length);
        out->row_start[i + 1] = out->row_start[i] + (int64_t)length;
    }
}

static void pick_view(const select_sample *s, const int64_t *rows, int64_t count, const int64_t *train,
                      int64_t train_count, int view, kfe_i_table *out)
{
    int64_t half = s->cols / 2;

    switch (s->table) {
    case SELECT_DENSE:
        pick_dense(s, rows, count, NULL, 0, s->cols, out);
        break;
    case SELECT_CSR:
        pick_sparse(s, rows, count, out);
        break;
    case SELECT_GIVEN:
        pick_dense(s, rows, count, train, 0, train_count, out);
        break;
    case SELECT_VIEWS:
        pick_dense(s, rows, count, NULL, view ? half : 0, view ? s->cols - half : half, out);
        break;
    case SELECT_TEXT:
        pick_strings(s, rows, count, out);
        break;
    }
}

static void pick_real(const select_sample *s, const int64_t *rows, int64_t count, kfe_i_target *out)
{
    double *values = calloc((size_t)count, sizeof *values);

    for (int64_t i = 0; i < count; i++)
        values[i] = s->targets[rows[i]];
    assert_ok(s->ctx, kfe_i_target_from_values(s->ctx, count, 1, values, out));
    free(values);
}

static void pick_classes(const select_sample *s, const int64_t *rows, int64_t count, kfe_i_target *out)
{
    int32_t code_of[16];

    *out = (kfe_i_target){.ctx = s->ctx, .task = KFE_TASK_CLASSES, .rows = count};
    out->codes = kfe_i_alloc(s->ctx, count, sizeof *out->codes);
    out->names = kfe_i_alloc_zero(s->ctx, s->classes, sizeof *out->names);
    assert_true(out->codes && out->names);
    for (int g = 0; g < s->classes; g++) {
        char name[16];
        int64_t i = 0;
        while (i < count && s->class_of[rows[i]] != g)
            i++;
        if (i == count)
            continue;
        snprintf(name, sizeof name, "c%d", g);
        code_of[g] = (int32_t)out->class_count;
        out->names[out->class_count++] = kfe_i_strdup(s->ctx, name);
    }
    for (int64_t i = 0; i < count; i++)
        out->codes[i] = code_of[s->class_of[rows[i]]];
}

kfe_data *select_pick(const select_sample *s, const int64_t *rows, int64_t count, const int64_t *train,
                      int64_t train_count)
{
    int views = s->table == SELECT_VIEWS ? 2 : 1;
    kfe_data *data = NULL;

    assert_ok(s->ctx, kfe_i_data_new(s->ctx, views, &data));
    for (int v = 0; v < views; v++) {
        data->views[v].name = kfe_i_strdup(s->ctx, v ? "second" : "first");
        pick_view(s, rows, count, train, train_count, v, &data->views[v].table);
    }
    if (s->classes)
        pick_classes(s, rows, count, &data->target);
    else
        pick_real(s, rows, count, &data->target);
    return data;
}

/* ---- metrics by their definitions ---- */

const char *select_metric_name(const select_sample *s, int metric)
{
    static const char *const names[2][SELECT_METRICS] = {{"rmse", "r2"}, {"accuracy", "auc"}};
    return names[s->classes > 0][metric];
}

static double score_of_second(const kfe_model *model, const double *outputs)
{
    return kfe_model_outputs(model) == 1 ? -outputs[0] : outputs[1];
}

static double area(const select_sample *s, const kfe_model *model, const kfe_i_split *split,
                   const kfe_matrix *scores)
{
    double won = 0;
    double pairs = 0;

    for (int64_t i = 0; i < split->test_count; i++)
        for (int64_t j = 0; j < split->test_count; j++) {
            if (s->class_of[split->test[i]] != 1 || s->class_of[split->test[j]] != 0)
                continue;
            double a = score_of_second(model, scores->values + i * scores->stride);
            double b = score_of_second(model, scores->values + j * scores->stride);
            won += a > b ? 1 : a == b ? 0.5 : 0;
            pairs++;
        }
    return won / pairs;
}

static void measure_classes(const select_sample *s, const kfe_model *model, const kfe_i_split *split,
                            const kfe_matrix *predictions, const kfe_matrix *scores, double *values)
{
    int64_t right = 0;

    for (int64_t i = 0; i < split->test_count; i++) {
        const char *name = kfe_model_class_name(model, (int64_t)predictions->values[i]);
        right += atoi(name + 1) == s->class_of[split->test[i]];
    }
    values[0] = (double)right / (double)split->test_count;
    values[1] = s->classes == 2 ? area(s, model, split, scores) : NAN;
}

static void measure_real(const select_sample *s, const kfe_i_split *split, const kfe_matrix *predictions,
                         double *values)
{
    double n = (double)split->test_count;
    double mean = 0;
    double errors = 0;
    double variation = 0;

    for (int64_t i = 0; i < split->test_count; i++)
        mean += s->targets[split->test[i]] / n;
    for (int64_t i = 0; i < split->test_count; i++) {
        errors += pow(predictions->values[i] - s->targets[split->test[i]], 2);
        variation += pow(s->targets[split->test[i]] - mean, 2);
    }
    values[0] = sqrt(errors / n);
    values[1] = 1 - errors / variation;
}

void select_by_hand(const select_sample *s, const kfe_spec *spec, const kfe_i_split *split,
                    double values[SELECT_METRICS])
{
    kfe_data *train = select_pick(s, split->train, split->train_count, split->train, split->train_count);
    kfe_data *test = select_pick(s, split->test, split->test_count, split->train, split->train_count);
    kfe_model *model = NULL;
    kfe_matrix predictions;
    kfe_matrix scores;

    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train, &model));
    assert_ok(s->ctx, kfe_predict(s->ctx, model, test, &predictions, &scores));
    if (s->classes)
        measure_classes(s, model, split, &predictions, &scores, values);
    else
        measure_real(s, split, &predictions, values);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&scores);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
}
