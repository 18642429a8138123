/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `distributions`: how the values of each feature are distributed, by class. Densities are sums of normal curves around the examples,
 * which count by their weights; their width is 0.9·sd·n^(−1/5), with the deviation within the class (Silverman 1986).
 */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { PLACES = 101, MOST_FEATURES = 6, MOST_CLASSES = 10 };

typedef struct job {
    const kfe_i_set *set;
    int64_t features, classes; /* classes 1: all examples together */
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

/* The mass, mean and deviation of the values of one class. */
typedef struct spread {
    double mass, mean, deviation;
} spread;

static void measure(const job *work, int64_t j, int64_t class, spread *out)
{
    double squares = 0;

    *out = (spread){0};
    for (int64_t i = 0; i < work->set->rows; i++) {
        double weight = weight_of(work->set, i);
        if (weight <= 0 || class_of(work, i) != class)
            continue;
        double left = feature_of(work->set, i, j) - out->mean;
        out->mass += weight;
        out->mean += left * weight / out->mass;
        squares += weight * left * (feature_of(work->set, i, j) - out->mean);
    }
    out->deviation = out->mass > 0 ? sqrt(squares / out->mass) : 0;
}

/* The smallest and the largest value, with room for the curves around them. */
static void find_range(const job *work, int64_t j, const double *widths, double ends[2])
{
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int64_t i = 0; i < work->set->rows; i++) {
        double room = 3 * widths[class_of(work, i)];
        if (weight_of(work->set, i) <= 0)
            continue;
        ends[0] = fmin(ends[0], feature_of(work->set, i, j) - room);
        ends[1] = fmax(ends[1], feature_of(work->set, i, j) + room);
    }
}

/* Adds the curve of one example to the density of its class. */
static void add_curve(double value, double height, double width, const double *values, double *densities)
{
    for (int k = 0; k < PLACES; k++) {
        double left = (values[k] - value) / width;
        if (fabs(left) < 8)
            densities[k] += height * exp(-0.5 * left * left);
    }
}

/* Densities of one feature, each with area 1. */
static void fill(const job *work, int64_t j)
{
    static const double root_two_pi = 2.50662827463100050;
    spread of[MOST_CLASSES];
    double widths[MOST_CLASSES];
    double ends[2];
    int64_t start = j * work->classes * PLACES;

    for (int64_t g = 0; g < work->classes; g++) {
        measure(work, j, g, &of[g]);
        widths[g] = 0.9 * of[g].deviation * pow(fmax(of[g].mass, 1), -0.2);
    }
    find_range(work, j, widths, ends);
    if (!(ends[0] < ends[1])) { /* one value, or a range that overflows */
        ends[0] = isfinite(ends[0]) ? ends[0] - 0.5 : 0;
        ends[1] = ends[0] + 1;
    }
    for (int64_t g = 0; g < work->classes; g++) {
        widths[g] = fmax(widths[g], 0.005 * (ends[1] - ends[0])); /* a class may have one value */
        for (int k = 0; k < PLACES; k++)
            work->values[start + g * PLACES + k] = ends[0] + (ends[1] - ends[0]) * k / (PLACES - 1);
    }
    for (int64_t i = 0; i < work->set->rows; i++) {
        int64_t g = class_of(work, i);
        int64_t first = start + g * PLACES;
        double weight = weight_of(work->set, i);
        if (weight > 0)
            add_curve(feature_of(work->set, i, j), weight / (of[g].mass * widths[g] * root_two_pi), widths[g],
                      work->values + first, work->densities + first);
    }
}

static kfe_status add_columns(job *work, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *features = NULL;
    int32_t *groups = NULL;

    out->rows = work->features * work->classes * PLACES;
    KFE_TRY(kfe_i_figure_numbers(out, "feature", &work->feature, &features));
    if (work->classes > 1)
        KFE_TRY(kfe_i_figure_words(out, "class", source->classes.count, source->classes.names, &work->group,
                                   &groups));
    KFE_TRY(kfe_i_figure_numbers(out, "value", &work->value, &work->values));
    KFE_TRY(kfe_i_figure_numbers(out, "density", &work->density, &work->densities));
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t feature = i / (work->classes * PLACES) + 1;
        features[i] = (double)feature;
        if (groups)
            groups[i] = (int32_t)(i / PLACES % work->classes);
    }
cleanup:
    return status;
}

static kfe_status add_panel(const job *work, const kfe_i_source *source, int64_t j, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char name[KFE_FEATURE_NAME];

    kfe_i_feature_name(source->model, j, name, sizeof name);
    KFE_TRY(kfe_i_figure_panel(out, name, "", "density"));
    for (int64_t g = 0; g < work->classes; g++) {
        const char *title = j > 0 || work->classes == 1 ? NULL : source->classes.names[g];
        kfe_i_series series = {.mark = KFE_MARK_LINE,
                               .style = (int)g,
                               .panel = (int)j,
                               .first = (j * work->classes + g) * PLACES,
                               .count = PLACES,
                               .x = work->value,
                               .y = work->density};
        KFE_TRY(kfe_i_figure_series(out, title, series));
    }
cleanup:
    return status;
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
    KFE_TRY(add_columns(&work, source, out));
    out->across = work.features > 1 ? 2 : 1;
    for (int64_t j = 0; j < work.features; j++) {
        fill(&work, j);
        KFE_TRY(add_panel(&work, source, j, out));
    }
    kfe_i_text_printf(&out->caption, "Densities of the %s examples%s, smoothed by normal curves.",
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
