/* SPDX-License-Identifier: Apache-2.0 */
/* The table and the series of figures whose points are examples: scatter, scatter3d, matrix, predicted, residuals. */
#include "report/figure/kind/cloud.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "report/figure/kind/explained.h"

void kfe_i_cloud_free(kfe_i_cloud *points)
{
    if (!points->ctx)
        return;
    kfe_i_free(points->ctx, points->items);
    kfe_i_free(points->ctx, points->style_of);
    kfe_i_free(points->ctx, points->shares);
    memset(points, 0, sizeof *points);
}

/* ---- order ---- */

static int compare_points(const void *a, const void *b)
{
    const kfe_i_cloud_point *p = a;
    const kfe_i_cloud_point *q = b;

    if (p->set != q->set)
        return p->set < q->set ? -1 : 1; /* both sets are members of one source: training first */
    if (p->style != q->style) {
        unsigned first = (unsigned)p->style; /* the shared style, -1, comes last */
        unsigned second = (unsigned)q->style;
        return first < second ? -1 : 1;
    }
    if (p->wrong != q->wrong)
        return p->wrong - q->wrong;
    return (p->row > q->row) - (p->row < q->row);
}

/* The classes with the most examples have styles of their own, in the order of the classes. */
static kfe_status choose_styles(kfe_i_cloud *points)
{
    kfe_status status = KFE_OK;
    const kfe_i_source *source = points->source;
    int64_t count = source->classes.count;
    int64_t *sizes = NULL;
    int next = 0;

    KFE_ALLOC_ZERO(points->ctx, sizes, count);
    KFE_ALLOC(points->ctx, points->style_of, count);
    for (int64_t g = 0; g < count; g++)
        points->style_of[g] = -1;
    for (int64_t i = 0; i < points->count; i++) {
        const kfe_i_set *set = points->items[i].set;
        if (set->truth)
            sizes[set->truth[points->items[i].row]]++;
    }
    for (int kept = 0; kept < KFE_FIGURE_CLASSES && kept < count; kept++) {
        int64_t best = -1;
        for (int64_t g = 0; g < count; g++)
            if (points->style_of[g] < 0 && (best < 0 || sizes[g] > sizes[best]))
                best = g;
        points->style_of[best] = 0;
    }
    for (int64_t g = 0; g < count; g++)
        if (points->style_of[g] == 0)
            points->style_of[g] = next++;
cleanup:
    kfe_i_free(points->ctx, sizes);
    return status;
}

/* Puts at most `most` examples of both samples into the list; if there are more, chosen at random, since every k-th could
 * be of one class. */
static kfe_status choose(kfe_i_cloud *points, int64_t most)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *sets[] = {&points->source->train, &points->source->test};
    int64_t total = sets[0]->sample_count + sets[1]->sample_count;
    int64_t *order = NULL;
    kfe_i_rng rng;

    KFE_ALLOC_ZERO(points->ctx, points->items, total);
    KFE_ALLOC(points->ctx, order, total);
    points->count = total < most ? total : most;
    kfe_i_rng_init(&rng, points->ctx->seed, KFE_STREAM_FIGURES);
    if (points->count < total)
        kfe_i_rng_choose(&rng, total, points->count, order);
    for (int64_t k = 0; k < points->count; k++) {
        int64_t chosen = points->count < total ? order[k] : k;
        const kfe_i_set *set = chosen < sets[0]->sample_count ? sets[0] : sets[1];
        chosen -= set == sets[1] ? sets[0]->sample_count : 0;
        points->items[k] = (kfe_i_cloud_point){.set = set, .row = set->sample[chosen]};
    }
cleanup:
    kfe_i_free(points->ctx, order);
    return status;
}

static kfe_status collect(kfe_i_cloud *points, int64_t most)
{
    kfe_status status = KFE_OK;

    KFE_TRY(choose(points, most));
    KFE_TRY(choose_styles(points));
    for (int64_t i = 0; i < points->count; i++) {
        kfe_i_cloud_point *point = &points->items[i];
        if (!point->set->truth)
            continue;
        point->style = points->style_of[point->set->truth[point->row]];
        point->wrong =
            point->set->predicted && point->set->predicted[point->row] != point->set->truth[point->row];
    }
    qsort(points->items, (size_t)points->count, sizeof *points->items, compare_points);
cleanup:
    return status;
}

/* ---- columns ---- */

static int64_t row_in_file(const kfe_i_cloud_point *point)
{
    return point->set->origin ? point->set->origin[point->row] : point->row;
}

/* Rows have names in some files: one word each. */
static kfe_status add_named_rows(kfe_i_cloud *points, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;
    char **words = NULL;
    int64_t made = 0;

    KFE_ALLOC_ZERO(points->ctx, words, points->count);
    for (; made < points->count; made++) {
        const kfe_i_table *ids = &points->items[made].set->data->ids;
        int64_t row = row_in_file(&points->items[made]);
        char number[32];
        kfe_i_snprintf(number, sizeof number, "%lld", (long long)row + 1);
        if (ids->rows > 0)
            KFE_CHECK_ALLOC_BY(points->ctx, words[made],
                               kfe_i_strndup(points->ctx, ids->bytes + ids->row_start[row],
                                             (size_t)(ids->row_start[row + 1] - ids->row_start[row])));
        else
            KFE_STRDUP(points->ctx, words[made], number);
    }
    KFE_TRY(
        kfe_i_figure_words(figure, "row", points->count, (const char *const *)words, &points->label, &codes));
    for (int64_t i = 0; i < points->count; i++)
        codes[i] = (int32_t)i;
cleanup:
    for (int64_t i = 0; words && i < made; i++)
        kfe_i_free(points->ctx, words[i]);
    kfe_i_free(points->ctx, words);
    return status;
}

static int has_names(const kfe_i_set *set)
{
    return set->data && set->data->ids.rows > 0;
}

static kfe_status add_rows(kfe_i_cloud *points, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    double *rows = NULL;

    if (has_names(&points->source->train) || has_names(&points->source->test))
        return add_named_rows(points, figure);
    KFE_TRY(kfe_i_figure_numbers(figure, "row", &points->label, &rows));
    for (int64_t i = 0; i < points->count; i++)
        rows[i] = (double)row_in_file(&points->items[i]) + 1;
cleanup:
    return status;
}

static kfe_status add_sets(kfe_i_cloud *points, kfe_i_figure *figure)
{
    static const char *const names[] = {"training", "test"};
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;

    if (!points->source->train.data || !points->source->test.data)
        return KFE_OK;
    KFE_TRY(kfe_i_figure_words(figure, "set", 2, names, NULL, &codes));
    for (int64_t i = 0; i < points->count; i++)
        codes[i] = points->items[i].set == &points->source->test;
cleanup:
    return status;
}

static kfe_status add_classes(kfe_i_cloud *points, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    const kfe_i_source *source = points->source;
    int32_t *truth = NULL;
    int32_t *predicted = NULL;

    if (source->train.truth || source->test.truth)
        KFE_TRY(kfe_i_figure_words(figure, "class", source->classes.count, source->classes.names,
                                   &points->target, &truth));
    if (source->train.predicted || source->test.predicted)
        KFE_TRY(kfe_i_figure_words(figure, "predicted", source->classes.count, source->classes.names,
                                   &points->predicted, &predicted));
    for (int64_t i = 0; i < points->count; i++) {
        const kfe_i_cloud_point *point = &points->items[i];
        if (truth)
            truth[i] = point->set->truth ? point->set->truth[point->row] : -1;
        if (predicted)
            predicted[i] = point->set->predicted ? point->set->predicted[point->row] : -1;
    }
cleanup:
    return status;
}

/* The first of several targets, and its prediction. */
static kfe_status add_values(kfe_i_cloud *points, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    double *truth = NULL;
    double *predicted = NULL;
    const kfe_i_set *any = points->source->test.data ? &points->source->test : &points->source->train;

    if (any->data->target.task == KFE_TASK_REAL)
        KFE_TRY(kfe_i_figure_numbers(figure, "target", &points->target, &truth));
    if (any->values)
        KFE_TRY(kfe_i_figure_numbers(figure, "predicted", &points->predicted, &predicted));
    for (int64_t i = 0; i < points->count; i++) {
        const kfe_i_cloud_point *point = &points->items[i];
        const kfe_i_target *target = &point->set->data->target;
        int64_t cols = points->source->model->predictor.outputs;
        if (truth)
            truth[i] =
                target->task == KFE_TASK_REAL ? target->values[row_in_file(point) * target->cols] : NAN;
        if (predicted)
            predicted[i] = point->set->values ? point->set->values[point->row * cols] : NAN;
    }
cleanup:
    return status;
}

kfe_status kfe_i_cloud_begin(kfe_context *ctx, const kfe_i_source *source, int64_t most, kfe_i_figure *figure,
                             kfe_i_cloud *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_cloud){.ctx = ctx, .source = source};
    KFE_TRY(collect(out, most));
    figure->rows += out->count;
    KFE_TRY(add_rows(out, figure));
    KFE_TRY(add_sets(out, figure));
    KFE_TRY(add_classes(out, figure));
    if (!out->target && !out->predicted)
        KFE_TRY(add_values(out, figure));
cleanup:
    return status;
}

/* Adds the share of the variance of the columns that the feature explains, where that is known. */
static kfe_status add_title(kfe_i_cloud *points, int64_t feature, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    kfe_i_column *column = &figure->columns[figure->column_count - 1];
    char title[96];

    if (!points->shares)
        return KFE_OK;
    kfe_i_snprintf(title, sizeof title, "%s (%.1f %%)", column->name, 100 * points->shares[feature]);
    KFE_STRDUP(points->ctx, column->title, title);
cleanup:
    return status;
}

/* The shares of the eigenvalues of kernel PCA in their sum: of the variance in the feature space. */
static kfe_status find_kernel_shares(kfe_i_cloud *points, int *found)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    int64_t one = 0;
    const double *values = kfe_model_record(points->source->model, "eigenvalues", &count);
    const double *sum = kfe_model_record(points->source->model, "eigenvalue-sum", &one);

    *found = sum && one == 1 && *sum > 0 && count >= points->source->model->dim;
    if (!*found)
        return KFE_OK;
    KFE_ALLOC(points->ctx, points->shares, count);
    for (int64_t j = 0; j < count; j++)
        points->shares[j] = values[j] / *sum;
cleanup:
    return status;
}

/* The eigenvalues of kernel PCA, or the table x-variance of a linear model, if it has one. */
static kfe_status find_shares(kfe_i_cloud *points)
{
    kfe_status status = KFE_OK;
    kfe_result *explanation = NULL;
    int found = 0;

    KFE_TRY(find_kernel_shares(points, &found));
    if (found)
        goto cleanup;
    KFE_TRY(kfe_i_explained_linear(points->ctx, points->source, 0, &explanation));
    const kfe_table *table = explanation ? kfe_result_find(explanation, "x-variance") : NULL;
    if (!table || table->rows < points->source->model->dim)
        goto cleanup;
    KFE_ALLOC(points->ctx, points->shares, table->rows);
    memcpy(points->shares, kfe_table_column(table, 1)->numbers, (size_t)table->rows * sizeof *points->shares);
cleanup:
    kfe_result_free(explanation);
    return status;
}

kfe_status kfe_i_cloud_features(kfe_i_cloud *points, int64_t most, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    int64_t dim = points->source->train.data ? points->source->train.dim : points->source->test.dim;

    KFE_TRY(find_shares(points));
    points->first_feature = (int)figure->column_count + 1;
    points->feature_count = (int)(dim < most ? dim : most);
    for (int j = 0; j < points->feature_count; j++) {
        char name[KFE_FEATURE_NAME];
        double *values = NULL;
        kfe_i_feature_name(points->source->model, j, name, sizeof name);
        KFE_TRY(kfe_i_figure_numbers(figure, name, NULL, &values));
        KFE_TRY(add_title(points, j, figure));
        for (int64_t i = 0; i < points->count; i++) {
            const kfe_matrix *features = &points->items[i].set->features;
            values[i] = features->values[points->items[i].row * features->stride + j];
        }
    }
cleanup:
    return status;
}

/* ---- series ---- */

static int is_same_group(const kfe_i_cloud_point *a, const kfe_i_cloud_point *b)
{
    return a->set == b->set && a->style == b->style;
}

static const char *class_of_style(const kfe_i_cloud *points, int style)
{
    for (int64_t g = 0; g < points->source->classes.count; g++)
        if (points->style_of[g] == style)
            return points->source->classes.names[g];
    return "";
}

/* Whether training and test examples are both shown. */
static int has_both(const kfe_i_cloud *points)
{
    return points->source->train.data && points->source->test.data;
}

/* Whether the legend has one entry for each class and one for each set; otherwise each series has its own. */
static int has_keys(const kfe_i_cloud *points)
{
    return has_both(points) && (points->source->train.truth || points->source->test.truth);
}

static const char *name_of_group(const kfe_i_cloud *points, const kfe_i_cloud_point *first)
{
    if (!first->set->truth)
        return first->set->name;
    return first->style < 0 ? "other classes" : class_of_style(points, first->style);
}

/* The series as a part of the set of a point. */
static kfe_i_series in_set(const kfe_i_cloud *points, const kfe_i_cloud_point *first, kfe_i_series series)
{
    int is_test = first->set == &points->source->test;

    series.flags |= has_both(points) && !is_test ? KFE_SERIES_HOLLOW : 0;
    if (has_both(points))
        series.set = is_test ? KFE_SET_TEST : KFE_SET_TRAINING;
    return series;
}

static kfe_i_series in_style(const kfe_i_cloud_point *first, kfe_i_series series)
{
    series.style = first->style < 0 ? 0 : first->style;
    series.flags |= first->style < 0 ? KFE_SERIES_GREY : 0;
    return series;
}

static kfe_status add_group(const kfe_i_cloud *points, kfe_i_figure *figure, int named, kfe_i_series series)
{
    const kfe_i_cloud_point *first = &points->items[series.first];
    kfe_i_series own = in_style(first, in_set(points, first, series));

    if (points->target && figure->columns[points->target - 1].numbers)
        own.shade = points->target;
    return kfe_i_figure_series(figure, named && !has_keys(points) ? name_of_group(points, first) : NULL, own);
}

static kfe_status add_wrong(const kfe_i_cloud *points, kfe_i_figure *figure, int named, kfe_i_series series)
{
    kfe_status status = KFE_OK;

    series.flags |= KFE_SERIES_CROSSES;
    series.shade = 0;
    for (int64_t i = series.first; i < points->count;) {
        int64_t end = i;
        while (end < points->count && points->items[end].wrong == points->items[i].wrong &&
               is_same_group(&points->items[end], &points->items[i]))
            end++;
        series.first = i;
        series.count = end - i;
        if (points->items[i].wrong) {
            KFE_TRY(
                kfe_i_figure_series(figure, named && !has_keys(points) ? "predicted wrongly" : NULL,
                                    in_style(&points->items[i], in_set(points, &points->items[i], series))));
            named = 0;
        }
        i = end;
    }
cleanup:
    return status;
}

/* ---- the legend of classes and sets ---- */

static kfe_status add_class_keys(const kfe_i_cloud *points, kfe_i_figure *figure, kfe_i_series key)
{
    kfe_status status = KFE_OK;

    for (int style = 0; style <= KFE_FIGURE_CLASSES; style++)
        for (int64_t i = 0; i < points->count; i++) {
            const kfe_i_cloud_point *point = &points->items[i];
            int own = style < KFE_FIGURE_CLASSES ? point->style == style : point->style < 0;
            if (!own || !point->set->truth)
                continue;
            KFE_TRY(kfe_i_figure_series(figure, name_of_group(points, point), in_style(point, key)));
            break;
        }
cleanup:
    return status;
}

static kfe_status add_set_keys(const kfe_i_cloud *points, kfe_i_figure *figure, kfe_i_series key)
{
    static const char *const wrong_names[] = {"wrong, training", "wrong, test"};
    const kfe_i_set *sets[] = {&points->source->train, &points->source->test};
    kfe_status status = KFE_OK;

    for (int crosses = 0; crosses < 2; crosses++)
        for (int s = 0; s < 2; s++) {
            const kfe_i_cloud_point *found = NULL;
            for (int64_t i = 0; i < points->count && !found; i++)
                if (points->items[i].set == sets[s] && points->items[i].wrong >= crosses)
                    found = &points->items[i];
            if (!found)
                continue;
            kfe_i_series own = in_set(points, found, key);
            own.flags |= KFE_SERIES_GREY | (crosses ? KFE_SERIES_CROSSES : 0);
            KFE_TRY(kfe_i_figure_series(figure, crosses ? wrong_names[s] : sets[s]->name, own));
        }
cleanup:
    return status;
}

kfe_status kfe_i_cloud_series(const kfe_i_cloud *points, kfe_i_figure *figure, int named, kfe_i_series axes)
{
    kfe_status status = KFE_OK;

    axes.mark = KFE_MARK_POINTS;
    axes.label = points->label;
    for (int64_t i = 0; i < points->count;) {
        int64_t end = i;
        while (end < points->count && is_same_group(&points->items[end], &points->items[i]))
            end++;
        axes.first = i;
        axes.count = end - i;
        KFE_TRY(add_group(points, figure, named, axes));
        i = end;
    }
    axes.first = 0;
    KFE_TRY(add_wrong(points, figure, named, axes));
    if (!named || !has_keys(points))
        goto cleanup;
    axes.count = 0;
    axes.flags |= KFE_SERIES_KEY;
    KFE_TRY(add_class_keys(points, figure, axes));
    KFE_TRY(add_set_keys(points, figure, axes));
cleanup:
    return status;
}

void kfe_i_cloud_caption_sets(const kfe_i_cloud *points, kfe_i_figure *figure)
{
    if (points->predicted && points->source->classes.count > 0)
        kfe_i_text_puts(&figure->caption,
                        has_both(points)
                            ? " × marks wrongly predicted test examples, + wrongly predicted training "
                              "examples."
                            : " Crosses mark wrongly predicted examples.");
    if (has_both(points))
        kfe_i_text_puts(&figure->caption, " Outlines are training examples, filled markers test examples.");
}

void kfe_i_cloud_caption(const kfe_i_cloud *points, kfe_i_figure *figure)
{
    const kfe_i_source *source = points->source;
    int64_t all = (source->train.data ? kfe_data_rows(source->train.data) : 0) +
                  (source->test.data ? kfe_data_rows(source->test.data) : 0);

    if (points->count < all)
        kfe_i_text_printf(&figure->caption,
                          " %lld of %lld examples are shown, a random sample in which every "
                          "class has its share.",
                          (long long)points->count, (long long)all);
    else
        kfe_i_text_printf(&figure->caption, " All %lld examples are shown.", (long long)all);
    if (points->source->classes.count > KFE_FIGURE_CLASSES)
        kfe_i_text_printf(&figure->caption,
                          " The %d largest of %lld classes have colours of their own; the others are grey.",
                          KFE_FIGURE_CLASSES, (long long)source->classes.count);
    if (points->feature_count > 0 && source->model->dim > points->feature_count)
        kfe_i_text_printf(&figure->caption, " The first %d of %lld features.", points->feature_count,
                          (long long)source->model->dim);
}

void kfe_i_cloud_caption_target(const kfe_i_cloud *points, const kfe_i_set *set, kfe_i_figure *figure)
{
    if (set->outcome.cols > 1)
        kfe_i_text_printf(&figure->caption, " The first of %lld targets.", (long long)set->outcome.cols);
    kfe_i_cloud_caption(points, figure);
}
