/* SPDX-License-Identifier: Apache-2.0 */
/* The number of iterations of skfe, chosen on held-out examples as stopping.h says; called by skfe.c. */
#include "method/subspace/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"

enum {
    PARTS = 5,
    DEALS = 5, /* ways of dealing the examples to the parts */
    ENOUGH_HELD_OUT = 200,
    MOST_EXAMPLES = 2000,
    FEWEST_EXAMPLES = 10,
    /* points[12] is KFE_STOPPING_USUAL: the number of iterations unless held-out examples contradict it. */
    USUAL_POINT = 12,
    PANEL = 64 /* columns of the kernel matrix gathered at a time */
};
/* A mean margin this many standard errors below the largest one counts as equally good. */
#define EQUALLY_GOOD 0.5

/* The examples that take part, and to which part each was dealt. Rows of equal content and class are one example. */
typedef struct sample {
    kfe_context *ctx;
    int64_t count;
    int64_t *rows; /* of the source, in an order that their content decides */
    double *roots; /* of the weights of the examples; NULL: all weigh 1 */
    double *matrix;
    kfe_i_target target; /* with these weights */
    int64_t *order;      /* the examples by class and mean kernel value */
    int *part;           /* −1: never held out */
} sample;

/* One search with one part held out, and what its observer needs. */
typedef struct held_out {
    const sample *from;
    const kfe_i_gram *gram; /* of the fitted examples */
    int64_t dim;
    int64_t *fitted, *held; /* positions in the sample */
    int64_t fitted_count, held_count;
    int32_t *fitted_class, *held_class;
    double *features;          /* of the whole sample, count × dim */
    double *fitted_x, *held_x; /* of the two kinds, contiguous */
    double *margins;           /* of the held-out examples, held_count × KFE_STOPPING_POINTS */
    int seen;                  /* points that the search has reached */
} held_out;

/* The margins of the examples that were held out, count × KFE_STOPPING_POINTS. */
typedef struct margin_table {
    int64_t count;     /* at first all examples of the sample, then those that were held out */
    int64_t evaluated; /* how often an example was held out, in all */
    int64_t *times;    /* how often each was */
    double *margins;   /* sums over these times, then means */
    double *weights;   /* of the examples; those that were held out sum to 1 at the end */
} margin_table;

/* The iterations that are looked at: powers of √2, rounded. */
static const int64_t points[KFE_STOPPING_POINTS] = {
    0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, KFE_STOPPING_USUAL, 91, 128, 181, KFE_STOPPING_LIMIT};

/* ---- the sample ---- */

static void free_sample(sample *s)
{
    kfe_i_free(s->ctx, s->rows);
    kfe_i_free(s->ctx, s->roots);
    kfe_i_free(s->ctx, s->matrix);
    kfe_i_free(s->ctx, s->order);
    kfe_i_free(s->ctx, s->part);
    kfe_i_target_free(&s->target);
}

/* As many examples as time and a quarter of the memory allow. */
static int64_t sample_size(kfe_context *ctx, int64_t n)
{
    int64_t fits = (int64_t)sqrt((double)kfe_i_memory_left(ctx) / 32);
    int64_t count = n < MOST_EXAMPLES ? n : MOST_EXAMPLES;

    return count < fits ? count : fits;
}

/* Of one content: the first row of each class, and the weight of all of that class. */
typedef struct class_rows {
    int64_t *first; /* class_count; -1: none */
    double *weight;
} class_rows;

static kfe_status begin_class_rows(sample *s, const kfe_i_target *target, class_rows *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(s->ctx, out->first, target->class_count);
    KFE_ALLOC_ZERO(s->ctx, out->weight, target->class_count);
    for (int64_t g = 0; g < target->class_count; g++)
        out->first[g] = -1;
cleanup:
    return status;
}

static void free_class_rows(kfe_context *ctx, class_rows *c)
{
    kfe_i_free(ctx, c->first);
    kfe_i_free(ctx, c->weight);
}

/* Rows order[0 … count−1] have equal content: adds an example for each of their classes, while there is room. Rows without weight are none. */
static void add_content(sample *s, const kfe_i_target *target, const int64_t *order, int64_t count,
                        int64_t most, class_rows *of)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t g = target->codes[order[i]];
        double weight = kfe_i_weight_of(target, order[i]);
        if (weight > 0 && of->first[g] < 0)
            of->first[g] = order[i];
        of->weight[g] += weight;
    }
    for (int64_t g = 0; g < target->class_count; g++) {
        if (of->first[g] >= 0 && s->count < most) {
            s->roots[s->count] = sqrt(of->weight[g]);
            s->rows[s->count++] = of->first[g];
        }
        of->first[g] = -1;
        of->weight[g] = 0;
    }
}

static kfe_status draw_examples(sample *s, const kfe_i_target *target, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};
    class_rows of = {0};
    int64_t *order = NULL;

    KFE_ALLOC(s->ctx, s->rows, most);
    KFE_ALLOC(s->ctx, s->roots, most);
    KFE_ALLOC(s->ctx, order, target->rows);
    KFE_TRY(begin_class_rows(s, target, &of));
    KFE_TRY(kfe_i_distinct_make(s->ctx, target->rows, target->keys, KFE_STREAM_STOPPING, &distinct));
    KFE_TRY(kfe_i_distinct_order(&distinct, order));
    for (int64_t first = 0, end = 0; first < target->rows; first = end) {
        while (end < target->rows && distinct.of[order[end]] == distinct.of[order[first]])
            end++;
        add_content(s, target, order + first, end - first, most, &of);
    }
cleanup:
    kfe_i_distinct_free(&distinct);
    free_class_rows(s->ctx, &of);
    kfe_i_free(s->ctx, order);
    return status;
}

/* The target of the examples, with their weights unless all are 1. */
static kfe_status take_target(sample *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int weighted = 0;

    KFE_TRY(kfe_i_target_gather(s->ctx, target, s->rows, s->count, &s->target));
    for (int64_t i = 0; i < s->count; i++)
        weighted |= s->roots[i] != 1;
    if (weighted && !s->target.weights)
        KFE_ALLOC(s->ctx, s->target.weights, s->count);
    for (int64_t i = 0; weighted && i < s->count; i++)
        s->target.weights[i] = s->roots[i] * s->roots[i];
    if (!weighted) {
        kfe_i_free(s->ctx, s->target.weights);
        kfe_i_free(s->ctx, s->roots);
        s->target.weights = NULL;
        s->roots = NULL;
    }
cleanup:
    return status;
}

static double root_of(const sample *s, int64_t i)
{
    return s->roots ? s->roots[i] : 1;
}

/* The operator has the weights of single rows in it: an entry of the matrix gets those of the examples in their place. */
static void exchange_weights(sample *s, const kfe_i_target *target)
{
    for (int64_t i = 0; i < s->count; i++) {
        double factor = root_of(s, i) / sqrt(kfe_i_weight_of(target, s->rows[i]));
        for (int64_t j = 0; factor != 1 && j < s->count; j++) {
            s->matrix[i * s->count + j] *= factor;
            s->matrix[j * s->count + i] *= factor;
        }
    }
}

/* The kernel matrix of the sample, some columns at a time. */
static kfe_status gather_matrix(sample *s, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    double *columns = NULL;
    int64_t m = s->count;

    KFE_ALLOC(s->ctx, s->matrix, m * m);
    KFE_ALLOC(s->ctx, columns, gram->size * PANEL);
    for (int64_t first = 0; first < m; first += PANEL) {
        int64_t count = m - first < PANEL ? m - first : PANEL;
        KFE_TRY(kfe_i_gram_columns(gram, s->rows + first, count, columns));
        for (int64_t i = 0; i < m; i++)
            memcpy(s->matrix + i * m + first, columns + s->rows[i] * count, (size_t)count * sizeof *columns);
    }
cleanup:
    kfe_i_free(s->ctx, columns);
    return status;
}

/* What examples are ordered by, so that parts do not depend on the order of rows. */
typedef struct sort_key {
    double class_mean, value; /* mean kernel value with the sample: of the class, and of the example */
    int64_t row;
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a;
    const sort_key *y = b;

    if (x->class_mean != y->class_mean)
        return x->class_mean < y->class_mean ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* keys[i] of every example; `class_sums` has room for one number per class. */
static void fill_keys(const sample *s, const double *masses, double *class_sums, sort_key *keys)
{
    int64_t m = s->count;
    double mass = kfe_i_target_mass(&s->target, m);

    memset(class_sums, 0, (size_t)s->target.class_count * sizeof *class_sums);
    for (int64_t i = 0; i < m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < m; j++)
            sum += root_of(s, j) * s->matrix[i * m + j];
        keys[i] = (sort_key){.value = sum / root_of(s, i) / mass, .row = i};
        class_sums[s->target.codes[i]] += kfe_i_weight_of(&s->target, i) * keys[i].value;
    }
    for (int64_t i = 0; i < m; i++) {
        int32_t g = s->target.codes[i];
        keys[i].class_mean = class_sums[g] / masses[g];
    }
}

static kfe_status sort_examples(sample *s)
{
    kfe_status status = KFE_OK;
    sort_key *keys = NULL;
    double *class_sums = NULL;
    double *masses = NULL;
    int64_t *counts = NULL;

    KFE_ALLOC(s->ctx, s->order, s->count);
    KFE_ALLOC(s->ctx, s->part, s->count);
    KFE_ALLOC(s->ctx, keys, s->count);
    KFE_ALLOC(s->ctx, class_sums, s->target.class_count);
    KFE_ALLOC(s->ctx, masses, s->target.class_count);
    KFE_ALLOC(s->ctx, counts, s->target.class_count);
    kfe_i_target_class_masses(&s->target, masses);
    kfe_i_target_count(&s->target, counts);
    fill_keys(s, masses, class_sums, keys);
    qsort(keys, (size_t)s->count, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < s->count; i++) {
        s->order[i] = keys[i].row;
        s->part[keys[i].row] = counts[s->target.codes[keys[i].row]] > 1 ? 0 : -1;
    }
cleanup:
    kfe_i_free(s->ctx, keys);
    kfe_i_free(s->ctx, class_sums);
    kfe_i_free(s->ctx, masses);
    kfe_i_free(s->ctx, counts);
    return status;
}

/* Deals the examples to the parts in turn, class by class. Each way of dealing begins successive groups of five
 * at other parts, so that other examples meet in a part. */
static void deal(sample *s, int way)
{
    int64_t turn = 0;

    for (int64_t i = 0; i < s->count; i++)
        if (s->part[s->order[i]] >= 0) {
            s->part[s->order[i]] = (int)((turn + way * (turn / PARTS)) % PARTS);
            turn++;
        }
}

static kfe_status make_sample(kfe_context *ctx, const kfe_i_stopping_inputs *in, sample *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = in->source->target;
    int32_t *old_code = NULL;

    s->ctx = ctx;
    KFE_TRY(draw_examples(s, target, sample_size(ctx, in->gram->size)));
    KFE_TRY(take_target(s, target));
    KFE_ALLOC(ctx, old_code, s->target.class_count);
    kfe_i_target_compact(&s->target, old_code);
    if (s->count < FEWEST_EXAMPLES)
        goto cleanup;
    KFE_TRY(gather_matrix(s, in->gram));
    exchange_weights(s, target);
    KFE_TRY(sort_examples(s));
cleanup:
    kfe_i_free(ctx, old_code);
    return status;
}

/* ---- one part held out ---- */

static void free_held_out(kfe_context *ctx, held_out *h)
{
    kfe_i_free(ctx, h->fitted);
    kfe_i_free(ctx, h->held);
    kfe_i_free(ctx, h->fitted_class);
    kfe_i_free(ctx, h->held_class);
    kfe_i_free(ctx, h->features);
    kfe_i_free(ctx, h->fitted_x);
    kfe_i_free(ctx, h->held_x);
    kfe_i_free(ctx, h->margins);
}

static kfe_status hold_out(const sample *s, int part, int64_t dim, held_out *h)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->ctx;

    h->from = s;
    KFE_ALLOC(ctx, h->fitted, s->count);
    KFE_ALLOC(ctx, h->held, s->count);
    KFE_ALLOC(ctx, h->fitted_class, s->count);
    KFE_ALLOC(ctx, h->held_class, s->count);
    for (int64_t i = 0; i < s->count; i++) {
        if (s->part[i] == part) {
            h->held_class[h->held_count] = s->target.codes[i];
            h->held[h->held_count++] = i;
        } else {
            h->fitted_class[h->fitted_count] = s->target.codes[i];
            h->fitted[h->fitted_count++] = i;
        }
    }
    h->dim = dim < h->fitted_count ? dim : h->fitted_count;
    KFE_ALLOC(ctx, h->features, s->count * h->dim);
    KFE_ALLOC(ctx, h->fitted_x, h->fitted_count * h->dim);
    KFE_ALLOC(ctx, h->held_x, h->held_count * h->dim);
    KFE_ALLOC(ctx, h->margins, h->held_count * KFE_STOPPING_POINTS);
cleanup:
    return status;
}

/* Of the examples themselves: the features of the operator have the roots of weights in them. */
static void gather_features(const held_out *h, const int64_t *rows, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < h->dim; j++)
            out[i * h->dim + j] = h->features[rows[i] * h->dim + j] / root_of(h->from, rows[i]);
}

/* The search's observer: the margins of the held-out examples, at the iterations looked at. */
static kfe_status look_at(void *observer, int64_t iteration, const double *basis)
{
    kfe_status status = KFE_OK;
    held_out *h = observer;

    if (h->seen >= KFE_STOPPING_POINTS || iteration != points[h->seen])
        return KFE_OK;
    KFE_TRY(kfe_i_gram_subset_expand(h->gram, basis, h->dim, h->features));
    gather_features(h, h->fitted, h->fitted_count, h->fitted_x);
    gather_features(h, h->held, h->held_count, h->held_x);
    const kfe_i_labelled held = {h->held_count, h->held_x, h->held_class};
    const kfe_i_labelled fitted = {h->fitted_count, h->fitted_x, h->fitted_class};
    kfe_i_neighbour_margins(&held, &fitted, h->dim, KFE_STOPPING_POINTS, h->margins + h->seen++);
cleanup:
    return status;
}

static kfe_status search_fitted(kfe_context *ctx, const kfe_i_stopping_inputs *in, held_out *h)
{
    kfe_status status = KFE_OK;
    kfe_i_fit_source source = *in->source;
    kfe_i_target target = {0};
    kfe_i_gram *gram = NULL;
    kfe_i_subspace subspace = {0};
    kfe_i_skfe_criterion criterion = {0};
    kfe_i_search_result result = {0};
    double trace[KFE_STOPPING_LIMIT + 1];
    kfe_i_search_options options = {.plain = in->plain,
                                    .max_iterations = KFE_STOPPING_LIMIT,
                                    .tolerance = in->tolerance,
                                    .observe = look_at,
                                    .observer = h};

    KFE_TRY(kfe_i_gram_subset(ctx, h->from->count, h->from->matrix, h->fitted, h->fitted_count, &gram));
    KFE_TRY(kfe_i_target_gather(ctx, &h->from->target, h->fitted, h->fitted_count, &target));
    h->gram = gram;
    source.op = &(kfe_i_operator){.gram = gram};
    source.target = &target;
    KFE_TRY(kfe_i_start_subspace(ctx, &source, gram, in->start, h->dim, 0, &subspace));
    h->dim = subspace.dim;
    KFE_TRY(kfe_i_skfe_criterion_begin(ctx, in->criterion, in->c, &target, subspace.dim, &criterion));
    KFE_TRY(kfe_i_subspace_search(&subspace, &criterion.criterion, &options, trace, &result));
cleanup:
    kfe_i_skfe_criterion_free(&criterion);
    kfe_i_subspace_free(&subspace);
    kfe_i_target_free(&target);
    kfe_i_gram_free(gram);
    return status;
}

/* Adds the held-out examples that have margins; a search that ended early stays where it ended. */
static void add_margins(const held_out *h, margin_table *table)
{
    for (int64_t i = 0; i < h->held_count; i++) {
        const double *from = h->margins + i * KFE_STOPPING_POINTS;
        double *to = table->margins + h->held[i] * KFE_STOPPING_POINTS;
        if (isnan(from[0]))
            continue;
        for (int p = 0; p < KFE_STOPPING_POINTS; p++)
            to[p] += from[p < h->seen ? p : h->seen - 1];
        table->times[h->held[i]]++;
        table->evaluated++;
    }
}

static kfe_status add_part(kfe_context *ctx, const kfe_i_stopping_inputs *in, const sample *s, int part,
                           margin_table *table)
{
    kfe_status status = KFE_OK;
    held_out h = {0};

    KFE_TRY(hold_out(s, part, in->dim, &h));
    if (h.held_count > 0) {
        KFE_TRY(search_fitted(ctx, in, &h));
        add_margins(&h, table);
    }
cleanup:
    free_held_out(ctx, &h);
    return status;
}

/* Holds parts out until there are enough margins, dealing again where one deal does not give enough. */
static kfe_status hold_parts_out(kfe_context *ctx, const kfe_i_stopping_inputs *in, sample *s,
                                 margin_table *table)
{
    kfe_status status = KFE_OK;

    table->count = s->count;
    KFE_ALLOC_ZERO(ctx, table->margins, s->count * KFE_STOPPING_POINTS);
    KFE_ALLOC_ZERO(ctx, table->times, s->count);
    KFE_ALLOC(ctx, table->weights, s->count);
    for (int64_t i = 0; i < s->count; i++)
        table->weights[i] = kfe_i_weight_of(&s->target, i);
    for (int way = 0; way < DEALS && table->evaluated < ENOUGH_HELD_OUT; way++) {
        deal(s, way);
        for (int part = 0; part < PARTS && table->evaluated < ENOUGH_HELD_OUT; part++)
            KFE_TRY(add_part(ctx, in, s, part, table));
    }
cleanup:
    return status;
}

/* ---- the choice ---- */

/* Keeps the examples that were held out, with their mean margins. */
static void take_means(margin_table *table)
{
    int64_t kept = 0;
    double mass = 0;

    for (int64_t i = 0; i < table->count; i++) {
        if (table->times[i] == 0)
            continue;
        mass += table->weights[i];
        table->weights[kept] = table->weights[i];
        for (int p = 0; p < KFE_STOPPING_POINTS; p++)
            table->margins[kept * KFE_STOPPING_POINTS + p] =
                table->margins[i * KFE_STOPPING_POINTS + p] / (double)table->times[i];
        kept++;
    }
    table->count = kept;
    for (int64_t i = 0; i < kept; i++)
        table->weights[i] /= mass;
}

static double mean_margin(const margin_table *table, int point)
{
    double sum = 0;

    for (int64_t i = 0; i < table->count; i++)
        sum += table->weights[i] * table->margins[i * KFE_STOPPING_POINTS + point];
    return sum;
}

/* Standard error of the mean difference of margins at two points; the differences are of the same examples. Weights wᵢ, which sum to 1,
 * are those of 1 / Σwᵢ² equal examples. */
static double error_of_difference(const margin_table *table, int a, int b)
{
    double squares = 0;
    double mean = mean_margin(table, a) - mean_margin(table, b);
    double sum = 0;

    for (int64_t i = 0; i < table->count; i++) {
        const double *margin = table->margins + i * KFE_STOPPING_POINTS;
        double off = margin[a] - margin[b] - mean;
        sum += table->weights[i] * off * off;
        squares += table->weights[i] * table->weights[i];
    }
    return sqrt(sum * squares / (1 - squares));
}

/* Among the points whose mean margin is as good as the largest one, chooses the one nearest to the usual number of
 * iterations; of two equally near ones, the one with fewer iterations. */
static void choose(const margin_table *table, kfe_i_stopping *out)
{
    int best = 0;
    int chosen = 0;

    for (int p = 0; p < KFE_STOPPING_POINTS; p++) {
        out->margin[p] = mean_margin(table, p);
        if (out->margin[p] > out->margin[best])
            best = p;
    }
    chosen = best;
    for (int p = 0; p < KFE_STOPPING_POINTS; p++) {
        out->error[p] = error_of_difference(table, best, p);
        if (out->margin[best] - out->margin[p] <= EQUALLY_GOOD * out->error[p] &&
            abs(p - USUAL_POINT) < abs(chosen - USUAL_POINT))
            chosen = p;
    }
    out->held_out = table->count;
    out->iterations = points[chosen];
}

kfe_status kfe_i_choose_stopping(kfe_context *ctx, const kfe_i_stopping_inputs *inputs, kfe_i_stopping *out)
{
    kfe_status status = KFE_OK;
    kfe_i_stopping_inputs in = *inputs;
    sample s = {.ctx = ctx};
    margin_table table = {0};

    memset(out, 0, sizeof *out);
    out->iterations = points[USUAL_POINT];
    for (int i = 0; i < KFE_STOPPING_POINTS; i++)
        out->points[i] = (double)points[i];
    if (in.start == KFE_START_AKDA_QR) /* which needs the points of the examples, not only their kernel */
        in.start = KFE_START_KOC;
    if (sample_size(ctx, in.gram->size) < FEWEST_EXAMPLES)
        return KFE_OK;
    KFE_TRY(make_sample(ctx, &in, &s));
    if (s.target.class_count < 2 || s.count < FEWEST_EXAMPLES)
        goto cleanup;
    KFE_TRY(hold_parts_out(ctx, &in, &s, &table));
    take_means(&table);
    if (table.count > 1)
        choose(&table, out);
cleanup:
    kfe_i_free(ctx, table.margins);
    kfe_i_free(ctx, table.times);
    kfe_i_free(ctx, table.weights);
    free_sample(&s);
    return status;
}
