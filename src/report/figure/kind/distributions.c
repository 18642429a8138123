/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `distributions`: how the values of each feature are distributed, by class. Examples count by their weights. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { LEAST_BINS = 8, MOST_BINS = 30, MOST_FEATURES = 6, MOST_CLASSES = 10 };

typedef struct job {
    const kfe_i_set *set;
    int64_t features, classes; /* classes 1: all examples together */
    int64_t bins;
    int feature, group, value, density;
    double *values, *densities;
} job;

static double feature_of(const kfe_i_set *set, int64_t row, int64_t j)
{
    return set->features.values[row * set->features.stride + j];
}

static double weight_of(const kfe_i_set *set, int64_t row)
{
    return set->weights ? set->weights[row] : 1;
}

static int64_t class_of(const job *work, int64_t row)
{
    return work->classes > 1 ? work->set->truth[row] : 0;
}

/* Densities of one feature: counts over (members × width of a bin), so that each class has area 1. */
static void fill(const job *work, int64_t j)
{
    double low = INFINITY;
    double high = -INFINITY;
    double members[MOST_CLASSES] = {0};
    int64_t start = j * work->classes * work->bins;

    for (int64_t i = 0; i < work->set->rows; i++) {
        if (weight_of(work->set, i) <= 0)
            continue;
        low = fmin(low, feature_of(work->set, i, j));
        high = fmax(high, feature_of(work->set, i, j));
    }
    double width = high > low ? (high - low) / (double)work->bins : 1;
    for (int64_t g = 0; g < work->classes; g++)
        for (int64_t b = 0; b < work->bins; b++)
            work->values[start + g * work->bins + b] = low + ((double)b + 0.5) * width;
    for (int64_t i = 0; i < work->set->rows; i++) {
        double place = (feature_of(work->set, i, j) - low) / width; /* NaN if the range overflows */
        int64_t bin = place >= 0 && place < (double)work->bins ? (int64_t)place : work->bins - 1;
        int64_t g = class_of(work, i);
        double weight = weight_of(work->set, i);
        members[g] += weight;
        work->densities[start + g * work->bins + bin] += weight;
    }
    for (int64_t g = 0; g < work->classes; g++)
        for (int64_t b = 0; b < work->bins; b++)
            work->densities[start + g * work->bins + b] /= members[g] > 0 ? members[g] * width : 1;
}

static kfe_status add_columns(job *work, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *features = NULL;
    int32_t *groups = NULL;

    out->rows = work->features * work->classes * work->bins;
    KFE_TRY(kfe_i_figure_numbers(out, "feature", &work->feature, &features));
    if (work->classes > 1)
        KFE_TRY(kfe_i_figure_words(out, "class", source->classes.count, source->classes.names, &work->group,
                                   &groups));
    KFE_TRY(kfe_i_figure_numbers(out, "value", &work->value, &work->values));
    KFE_TRY(kfe_i_figure_numbers(out, "density", &work->density, &work->densities));
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t feature = i / (work->classes * work->bins) + 1;
        features[i] = (double)feature;
        if (groups)
            groups[i] = (int32_t)(i / work->bins % work->classes);
    }
cleanup:
    return status;
}

static kfe_status add_panel(const job *work, const kfe_i_source *source, int64_t j, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char name[32];

    kfe_i_feature_name(j, name, sizeof name);
    KFE_TRY(kfe_i_figure_panel(out, name, "", "density"));
    for (int64_t g = 0; g < work->classes; g++) {
        const char *title = j > 0 || work->classes == 1 ? NULL : source->classes.names[g];
        kfe_i_series series = {.mark = KFE_MARK_LINE,
                               .style = (int)g,
                               .panel = (int)j,
                               .first = (j * work->classes + g) * work->bins,
                               .count = work->bins,
                               .x = work->value,
                               .y = work->density};
        KFE_TRY(kfe_i_figure_series(out, title, series));
    }
cleanup:
    return status;
}

/* Twice the cube root of the examples of a class (Rice's rule): few examples in many bins are noise. */
static int64_t choose_bins(int64_t members)
{
    int64_t bins = (int64_t)(2 * cbrt((double)members));

    return bins < LEAST_BINS ? LEAST_BINS : bins > MOST_BINS ? MOST_BINS : bins;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    job work = {.set = source->test.data ? &source->test : &source->train, .classes = 1};

    (void)ctx;
    if (!source->model || !work.set->data || work.set->rows == 0)
        return KFE_OK;
    work.features = work.set->dim < MOST_FEATURES ? work.set->dim : MOST_FEATURES;
    if (work.set->truth && source->classes.count <= MOST_CLASSES)
        work.classes = source->classes.count;
    work.bins = choose_bins(work.set->rows / work.classes);
    KFE_TRY(add_columns(&work, source, out));
    out->across = work.features > 1 ? 2 : 1;
    for (int64_t j = 0; j < work.features; j++) {
        fill(&work, j);
        KFE_TRY(add_panel(&work, source, j, out));
    }
    kfe_i_text_printf(&out->caption, "Histograms of %lld bins of the %s examples%s.", (long long)work.bins,
                      work.set->name, work.classes > 1 ? ", each class with area 1" : "");
    if (work.features < source->model->dim)
        kfe_i_text_printf(&out->caption, " The first %lld of %lld features.", (long long)work.features,
                          (long long)source->model->dim);
    if (work.classes == 1 && source->classes.count > MOST_CLASSES)
        kfe_i_text_printf(&out->caption, " All %lld classes together.", (long long)source->classes.count);
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_distributions = {
    .name = "distributions",
    .title = "Distributions of features",
    .section = "Features",
    .summary = "how the values of each feature are distributed, by class",
    .needs = "a model and data",
    .draw = draw,
};
