/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that make an accumulator, add blocks of rows and merge; finish.c makes the model. */
#include "accumulate/accumulator.h"

#include <string.h>

#include "accumulate/weigh.h"
#include "core/memory.h"
#include "data/target/classes.h"

/* Rows whose columns are computed at a time. */
enum { PIECE_ROWS = 4096 };

/* ---- making ---- */

kfe_status kfe_i_accumulator_new(kfe_context *ctx, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, *out, 1);
    (*out)->ctx = ctx;
    (*out)->sparse = 1;
cleanup:
    return status;
}

/* All that a start and blocks made; the spec stays. */
static void reset(kfe_accumulator *a)
{
    for (int64_t g = 0; g < a->sums.classes && a->class_names; g++)
        kfe_i_free(a->ctx, a->class_names[g]);
    kfe_i_free(a->ctx, a->class_names);
    a->class_names = NULL;
    kfe_i_sums_free(&a->sums);
    kfe_i_table_free(&a->sample);
    kfe_i_target_free(&a->sample_target);
    kfe_model_free(a->map);
    a->map = NULL;
    a->sparse = 1;
    a->count = 0;
    a->weighted = 0;
}

void kfe_accumulator_free(kfe_accumulator *a)
{
    if (!a)
        return;
    reset(a);
    kfe_accumulator_free(a->counts);
    kfe_spec_free(a->spec);
    kfe_i_free(a->ctx, a);
}

kfe_status kfe_i_accumulator_open(kfe_context *ctx, const kfe_spec *spec, int keeps_rows,
                                  kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *made = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_accumulator_check(ctx, spec, keeps_rows));
    KFE_TRY(kfe_i_accumulator_new(ctx, &made));
    made->keeps_rows = keeps_rows;
    KFE_TRY(kfe_i_spec_copy(ctx, spec, &made->spec));
    *out = made;
    made = NULL;
cleanup:
    kfe_accumulator_free(made);
    return status;
}

kfe_status kfe_accumulator_new(kfe_context *ctx, const kfe_spec *spec, kfe_accumulator **out)
{
    *out = NULL;
    return kfe_i_balances_classes(spec) ? kfe_i_refuse_balanced(ctx)
                                        : kfe_i_accumulator_open(ctx, spec, 0, out);
}

int64_t kfe_accumulator_rows(const kfe_accumulator *a)
{
    return (int64_t)a->count;
}

/* ---- classes ---- */

static kfe_status insert_class(kfe_accumulator *a, int64_t place, const char *name)
{
    kfe_status status = KFE_OK;
    char *copy = NULL;
    char **names = kfe_i_resize(a->ctx, a->class_names, a->sums.classes + 1, sizeof *names);

    if (!names)
        return kfe_i_lack(a->ctx);
    a->class_names = names;
    KFE_STRDUP(a->ctx, copy, name);
    KFE_TRY(kfe_i_sums_insert_class(&a->sums, place));
    memmove(names + place + 1, names + place, (size_t)(a->sums.classes - 1 - place) * sizeof *names);
    names[place] = copy;
    copy = NULL;
    for (int64_t i = 0; a->sample_target.codes && i < a->sample_target.rows; i++)
        a->sample_target.codes[i] += a->sample_target.codes[i] >= place;
cleanup:
    kfe_i_free(a->ctx, copy);
    return status;
}

/* The class of this name; `place` is where it is, or where it would be inserted. */
static int find_class(const kfe_accumulator *a, const char *name, int64_t *place)
{
    for (*place = 0; *place < a->sums.classes; ++*place) {
        int order = kfe_i_compare_classes(name, a->class_names[*place]);
        if (order <= 0)
            return order == 0;
    }
    return 0;
}

kfe_status kfe_i_accumulator_classes(kfe_accumulator *a, const kfe_i_target *target, int32_t *code)
{
    kfe_status status = KFE_OK;
    int64_t *counts = NULL;
    int64_t place = 0;

    KFE_ALLOC(a->ctx, counts, target->class_count);
    kfe_i_target_count(target, counts);
    for (int64_t c = 0; c < target->class_count; c++)
        if (counts[c] > 0 && !find_class(a, target->names[c], &place))
            KFE_TRY(insert_class(a, place, target->names[c]));
    for (int64_t c = 0; c < target->class_count; c++)
        code[c] = counts[c] > 0 && find_class(a, target->names[c], &place) ? (int32_t)place : -1;
cleanup:
    kfe_i_free(a->ctx, counts);
    return status;
}

/* ---- adding rows ---- */

static const char *task_word(kfe_task task)
{
    return task == KFE_TASK_CLASSES ? "classes" : task == KFE_TASK_REAL ? "real numbers" : "missing";
}

static kfe_status check_target(const kfe_accumulator *a, const kfe_i_target *target)
{
    const kfe_i_method *method = a->spec->method;

    if (target->task == KFE_TASK_NONE && (method->flags & KFE_HAS_SUPERVISION || a->spec->learner))
        return kfe_i_fail(a->ctx, KFE_EINPUT, "%s needs labels, but the rows have none; give {labels}",
                          method->flags & KFE_HAS_SUPERVISION ? method->name : a->spec->learner->name);
    if (target->task == KFE_TASK_REAL && method->flags & KFE_HAS_SUPERVISION &&
        !(method->flags & KFE_HAS_REGRESSION))
        return kfe_i_fail(a->ctx, KFE_EINPUT,
                          "method %s needs class labels, but the targets were read as real numbers; if they "
                          "are classes, use {task=classify}; if they are not the labels, give {labels}",
                          method->name);
    if (a->map && target->task != a->sums.task)
        return kfe_i_fail(a->ctx, KFE_EINPUT,
                          "the targets of these rows are %s, but those of the rows before are %s; say "
                          "{task=classify} or {task=regress}",
                          task_word(target->task), task_word(a->sums.task));
    if (a->map && target->task == KFE_TASK_REAL && target->cols != a->sums.targets)
        return kfe_i_fail(a->ctx, KFE_EINPUT, "these rows have %lld targets, but the rows before have %lld",
                          (long long)target->cols, (long long)a->sums.targets);
    return KFE_OK;
}

kfe_status kfe_i_accumulator_check_rows(const kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_target(a, &rows->target));
    for (int v = 0; v < rows->view_count; v++) {
        KFE_TRY(kfe_i_check_view(a->ctx, &rows->views[v]));
        if (rows->views[v].gaps.fill != KFE_FILL_NONE)
            KFE_FAIL(a->ctx, KFE_EUNSUPPORTED,
                     "%s: the values to fill in are learned from all rows, so fits from sums cannot fill in "
                     "missing values; use {missing=drop}, or fill them in beforehand",
                     kfe_i_view_shown(&rows->views[v]));
    }
cleanup:
    return status;
}

/* The summed columns of some rows: `part` of all rows, or rows from `first` on. */
static kfe_status add_piece(kfe_accumulator *a, const kfe_data *piece, const int32_t *code)
{
    kfe_status status = KFE_OK;
    kfe_i_table columns = {0};

    KFE_TRY(kfe_i_accumulator_columns(a, piece, &columns));
    const kfe_i_sum_rows rows = {
        .table = &columns, .count = columns.rows, .target = &piece->target, .code = code};
    KFE_TRY(kfe_i_sums_add(&a->sums, &rows));
    a->count += (double)columns.rows;
    a->weighted |= piece->target.weights != NULL;
cleanup:
    kfe_i_table_free(&columns);
    return status;
}

static kfe_status add_in_pieces(kfe_accumulator *a, const kfe_data *data, const int32_t *code)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    int64_t *index = NULL;
    kfe_data *piece = NULL;

    if (rows <= PIECE_ROWS || a->map->projector == KFE_PROJECT_IDENTITY)
        return add_piece(a, data, code);
    KFE_ALLOC(a->ctx, index, PIECE_ROWS);
    for (int64_t first = 0; first < rows; first += PIECE_ROWS) {
        int64_t count = rows - first < PIECE_ROWS ? rows - first : PIECE_ROWS;
        KFE_TRY(kfe_i_progress(a->ctx, "adding rows", first, rows));
        for (int64_t i = 0; i < count; i++)
            index[i] = first + i;
        KFE_TRY(kfe_i_data_gather(a->ctx, data, index, count, &piece));
        KFE_TRY(add_piece(a, piece, code));
        kfe_data_free(piece);
        piece = NULL;
    }
cleanup:
    kfe_data_free(piece);
    kfe_i_free(a->ctx, index);
    return status;
}

/* Warns once about landmarks from too few rows. */
static void warn_if_few(const kfe_accumulator *a, int64_t rows)
{
    if (kfe_i_accumulator_has_kernel(a->spec) && rows < a->spec->fit.landmarks)
        kfe_i_log(
            a->ctx, KFE_LOG_WARNING,
            "the first %lld rows become the landmarks, fewer than the %lld asked for; start with more rows",
            (long long)rows, (long long)a->spec->fit.landmarks);
}

static kfe_status start_if_new(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;

    if (a->map)
        return KFE_OK;
    status = kfe_i_accumulator_start(a, rows);
    if (status != KFE_OK)
        reset(a);
    return status;
}

kfe_status kfe_accumulator_start(kfe_context *ctx, kfe_accumulator *a, const kfe_data *sample)
{
    kfe_status status = KFE_OK;
    kfe_i_weighed_rows weighed = {0};
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);

    KFE_TRY(kfe_i_check_owner(ctx, a->ctx, "accumulator"));
    if (a->map)
        KFE_FAIL(ctx, KFE_EINVAL, "the accumulator has started already");
    KFE_TRY(kfe_i_accumulator_check_rows(a, sample));
    KFE_TRY(kfe_i_accumulator_weigh(a, sample, &weighed));
    if (!weighed.rows)
        KFE_FAIL(ctx, KFE_EINPUT, "there are no rows to start from");
    if (kfe_i_accumulator_has_kernel(a->spec))
        KFE_TRY(start_if_new(a, weighed.rows));
cleanup:
    kfe_i_weighed_rows_free(&weighed);
    kfe_i_threads_leave(saved);
    return status;
}

static kfe_status add_weighed(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    int32_t *code = NULL;

    if (!a->map)
        warn_if_few(a, kfe_data_rows(rows));
    KFE_TRY(start_if_new(a, rows));
    KFE_TRY(kfe_i_model_check(a->ctx, a->map, rows));
    if (rows->target.task == KFE_TASK_CLASSES) {
        KFE_ALLOC(a->ctx, code, rows->target.class_count);
        KFE_TRY(kfe_i_accumulator_classes(a, &rows->target, code));
    }
    a->sparse = a->sparse && rows->views[0].table.kind == KFE_TABLE_CSR;
    KFE_TRY(add_in_pieces(a, rows, code));
cleanup:
    kfe_i_free(a->ctx, code);
    return status;
}

kfe_status kfe_accumulator_add(kfe_context *ctx, kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_i_weighed_rows weighed = {0};
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);

    KFE_TRY(kfe_i_check_owner(ctx, a->ctx, "accumulator"));
    if (kfe_data_rows(rows) == 0)
        goto cleanup;
    KFE_TRY(kfe_i_accumulator_check_rows(a, rows));
    KFE_TRY(kfe_i_accumulator_weigh(a, rows, &weighed));
    if (weighed.rows)
        KFE_TRY(add_weighed(a, weighed.rows));
cleanup:
    kfe_i_weighed_rows_free(&weighed);
    kfe_i_threads_leave(saved);
    return status;
}

/* ---- merging ---- */

static int same_views(const kfe_model *a, const kfe_model *b)
{
    if (a->view_count != b->view_count || a->dim != b->dim || a->rows != b->rows)
        return 0;
    for (int v = 0; v < a->view_count; v++)
        if (a->views[v].cols != b->views[v].cols)
            return 0;
    return 1;
}

static int same_map(const kfe_model *a, const kfe_model *b)
{
    size_t size = (size_t)(a->rows * a->dim) * sizeof *a->coefficients;

    return same_views(a, b) && !a->coefficients == !b->coefficients &&
           (!a->coefficients || memcmp(a->coefficients, b->coefficients, size) == 0);
}

static int same_settings(const kfe_i_param_table *table, const void *a, const void *b)
{
    return table->size == 0 || memcmp(a, b, table->size) == 0;
}

static int same_spec(const kfe_spec *a, const kfe_spec *b)
{
    return a->method == b->method && a->learner == b->learner && a->fit.scale == b->fit.scale &&
           strcmp(a->fit.prepare, b->fit.prepare) == 0 && a->fit.landmarks == b->fit.landmarks &&
           strcmp(a->fit.class_weight, b->fit.class_weight) == 0 &&
           same_settings(&a->method->params, a->settings, b->settings) &&
           (!a->learner || same_settings(&a->learner->params, a->learner_settings, b->learner_settings));
}

static kfe_status check_alike(const kfe_accumulator *a, const kfe_accumulator *b)
{
    if (!same_spec(a->spec, b->spec))
        return kfe_i_fail(
            a->ctx, KFE_EINVAL,
            "the accumulators have different methods, learners or settings, so they cannot be merged");
    if (!a->map || !b->map)
        return KFE_OK;
    if (a->sums.task != b->sums.task || a->sums.targets != b->sums.targets)
        return kfe_i_fail(a->ctx, KFE_EINPUT,
                          "the targets of one accumulator are %s, those of the other %s, or their numbers "
                          "differ; if they are in fact the same, say {task=classify} or {task=regress}",
                          task_word(a->sums.task), task_word(b->sums.task));
    if (!same_views(a->map, b->map) && a->map->projector == KFE_PROJECT_IDENTITY)
        return kfe_i_fail(a->ctx, KFE_EINPUT, "the accumulators have %lld and %lld columns",
                          (long long)a->map->dim, (long long)b->map->dim);
    if (!same_map(a->map, b->map))
        return kfe_i_fail(
            a->ctx, KFE_EINVAL,
            "the accumulators have different landmarks; start one, copy it, and add rows to the "
            "copies");
    return KFE_OK;
}

/* Becomes a copy of `other`. */
static kfe_status adopt(kfe_accumulator *a, const kfe_accumulator *other)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *copy = NULL;
    char *bytes = NULL;
    size_t size = 0;

    KFE_TRY(kfe_accumulator_save_bytes(a->ctx, other, &bytes, &size));
    KFE_TRY(kfe_accumulator_load_bytes(a->ctx, bytes, size, &copy));
    reset(a);
    kfe_accumulator empty = *a;
    *a = *copy;
    *copy = empty;
cleanup:
    kfe_string_free(other->ctx, bytes);
    kfe_accumulator_free(copy);
    return status;
}

/* The sums of `other` with the classes of `a`: code[g] is the class of a that class g of it is. */
static kfe_status align_classes(kfe_accumulator *a, const kfe_accumulator *other, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t d = a->sums.cols;
    int64_t place = 0;

    KFE_TRY(kfe_i_sums_copy(&other->sums, out));
    for (int64_t g = 0; g < other->sums.classes; g++)
        if (!find_class(a, other->class_names[g], &place))
            KFE_TRY(insert_class(a, place, other->class_names[g]));
    kfe_i_free(out->ctx, out->class_rows);
    kfe_i_free(out->ctx, out->class_means);
    out->class_rows = out->class_means = NULL;
    out->classes = a->sums.classes;
    KFE_ALLOC_ZERO(out->ctx, out->class_rows, a->sums.classes);
    KFE_ALLOC_ZERO(out->ctx, out->class_means, a->sums.classes * d);
    for (int64_t g = 0; g < other->sums.classes; g++) {
        find_class(a, other->class_names[g], &place);
        out->class_rows[place] = other->sums.class_rows[g];
        memcpy(out->class_means + place * d, other->sums.class_means + g * d, (size_t)d * sizeof(double));
    }
cleanup:
    return status;
}

kfe_status kfe_accumulator_merge(kfe_context *ctx, kfe_accumulator *a, const kfe_accumulator *other)
{
    kfe_status status = KFE_OK;
    kfe_i_sums aligned = {0};

    KFE_TRY(kfe_i_check_owner(ctx, a->ctx, "accumulator"));
    KFE_TRY(check_alike(a, other));
    if (!other->map)
        return KFE_OK;
    if (!a->map)
        return adopt(a, other);
    if (other->sums.rows > 0) {
        KFE_TRY(align_classes(a, other, &aligned));
        kfe_i_sums_merge(&a->sums, &aligned);
        a->count += other->count;
        a->weighted |= other->weighted;
        a->sparse = a->sparse && other->sparse;
    }
cleanup:
    kfe_i_sums_free(&aligned);
    return status;
}
