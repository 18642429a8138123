/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the Gram operator: those that its form answers, and those that are computed from blocks and
 * products. Methods, the solver and the eigenvector routine use them. */
#include "gram/form.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/form/centred.h"
#include "gram/solve/eigen.h"
#include "gram/solve/solve.h"
#include "linalg/linalg.h"

/* A negative eigenvalue of this many times the rank tolerance is not rounding. */
#define KFE_BEYOND_ROUNDING 10.0
#define KFE_TOO_LARGE_REMEDY "raise {memory}, use fewer rows, or a method that does not need the whole matrix"

/* In double precision the errors of all entries may have the same sign, because the same operations made them; rounding to single
 * precision is independent for each entry, and √ε would end iterations too soon: at 1e-5 a vector still has two digits. */
const kfe_i_precision kfe_i_double = {sizeof(double), DBL_EPSILON, 1, KFE_RANK_TOLERANCE, 0x1p-26};
const kfe_i_precision kfe_i_single = {sizeof(float), (double)FLT_EPSILON, 0.5, KFE_SINGLE_RANK_TOLERANCE,
                                      1e-5};

kfe_status kfe_i_gram_new(kfe_context *ctx, const kfe_i_gram_form *form, int64_t size, int64_t state_size,
                          kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    char *state = NULL;

    assert(form && form->entries && form->diagonal && form->times && form->release);
    assert(size >= 0 && state_size >= 0);
    kfe_i_workspace *work = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, state, state_size);
    KFE_ALLOC_ZERO(ctx, work, 1);
    KFE_ALLOC_ZERO(ctx, gram, 1);
    gram->ctx = ctx;
    gram->form = form;
    gram->size = size;
    gram->precision = &kfe_i_double;
    gram->processes = 1;
    gram->state = state;
    gram->work = work;
    state = NULL;
    work = NULL;
    *out = gram;
cleanup:
    kfe_i_free(ctx, state);
    kfe_i_free(ctx, work);
    return status;
}

kfe_status kfe_i_gram_made(kfe_status status, kfe_i_gram **gram)
{
    if (status != KFE_OK) {
        kfe_i_gram_free(*gram);
        *gram = NULL;
    }
    return status;
}

void kfe_i_gram_inherit(kfe_i_gram *gram, const kfe_i_gram *inner)
{
    gram->roots = inner->roots;
    if (inner->precision->epsilon > gram->precision->epsilon)
        gram->precision = inner->precision;
    gram->ways = inner->ways;
    gram->processes = inner->processes;
}

void kfe_i_gram_free(kfe_i_gram *gram)
{
    if (!gram)
        return;
    gram->form->release(gram);
    kfe_i_free(gram->ctx, gram->work->values);
    kfe_i_free(gram->ctx, gram->work);
    kfe_i_free(gram->ctx, gram->state);
    kfe_i_free(gram->ctx, gram);
}

double *kfe_i_gram_workspace(const kfe_i_gram *gram, int64_t count)
{
    kfe_i_workspace *work = gram->work;

    assert(count >= 0);
    if (!work->values || work->count < count) { /* NULL would mean failure */
        kfe_i_free(gram->ctx, work->values);
        work->count = 0;
        work->values = kfe_i_alloc(gram->ctx, count, sizeof *work->values);
        work->count = work->values ? count : 0;
    }
    return work->values;
}

/* ---- calls that a form answers ---- */

static int are_within(const kfe_i_gram *gram, kfe_i_places places)
{
    return places.index ? kfe_i_all_below(places.index, places.count, gram->size)
                        : kfe_i_range_within(places.first, places.count, gram->size);
}

kfe_status kfe_i_gram_entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                              int64_t stride)
{
    assert(are_within(gram, rows) && are_within(gram, cols) && stride >= cols.count);
    (void)are_within; /* in optimised builds */
    return rows.count > 0 && cols.count > 0 ? gram->form->entries(gram, rows, cols, out, stride) : KFE_OK;
}

kfe_status kfe_i_gram_prepare(const kfe_i_gram *gram, const int64_t *index, int64_t count, kfe_i_points *out)
{
    *out = (kfe_i_points){0};
    return gram->form->prepare ? gram->form->prepare(gram, index, count, out) : KFE_OK;
}

kfe_status kfe_i_gram_block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                            double *out, int64_t stride)
{
    return kfe_i_gram_entries(gram, kfe_i_consecutive(row, rows), kfe_i_consecutive(col, cols), out, stride);
}

kfe_status kfe_i_gram_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_entries(gram, kfe_i_consecutive(0, gram->size), kfe_i_listed(index, count), out, count);
}

kfe_status kfe_i_gram_among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_entries(gram, kfe_i_listed(index, count), kfe_i_listed(index, count), out, count);
}

kfe_status kfe_i_points_at(const kfe_i_points *points, kfe_i_places places, kfe_i_points *copies,
                           kfe_i_range *out)
{
    *out = (kfe_i_range){places.prepared ? places.prepared : points, places.first, places.count};
    if (places.prepared || !places.index)
        return KFE_OK;
    out->points = copies;
    return kfe_i_points_gather(points->ctx, points, places.index, places.count, copies);
}

int kfe_i_places_are_same(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols)
{
    return rows.index ? rows.index == cols.index && rows.count == cols.count
                      : !cols.index && rows.count == gram->size && cols.count == gram->size;
}

kfe_status kfe_i_gram_diagonal(const kfe_i_gram *gram, double *out)
{
    assert(gram->size >= 0 && out);
    return gram->form->diagonal(gram, out);
}

kfe_status kfe_i_gram_column_seconds(const kfe_i_gram *gram, double *out)
{
    *out = 0;
    return gram->form->column_seconds ? gram->form->column_seconds(gram, out) : KFE_OK;
}

const double *kfe_i_gram_rows(const kfe_i_gram *gram, int64_t *stride)
{
    return gram->form->rows ? gram->form->rows(gram, stride) : NULL;
}

int kfe_i_gram_tiles(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points)
{
    if (gram->form->tiles)
        gram->form->tiles(gram, kernel, points);
    return gram->form->tiles != NULL;
}

const kfe_i_table *kfe_i_gram_factor(const kfe_i_gram *gram, const kfe_i_table **transposed)
{
    *transposed = NULL;
    return gram->form->factor ? gram->form->factor(gram, transposed) : NULL;
}

kfe_status kfe_i_gram_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    assert(k >= 0 && v != out);
    return gram->form->times(gram, v, k, out);
}

kfe_status kfe_i_gram_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    assert(k >= 0 && v != out);
    return (gram->form->times_single ? gram->form->times_single : gram->form->times)(gram, v, k, out);
}

kfe_status kfe_i_gram_times_sparse(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    assert(k >= 0 && v != out);
    return (gram->form->times_sparse ? gram->form->times_sparse : gram->form->times)(gram, v, k, out);
}

kfe_status kfe_i_gram_subset_expand(const kfe_i_gram *subset, const double *v, int64_t k, double *out)
{
    assert(subset->form->expand && k >= 0 && v != out);
    return subset->form->expand(subset, v, k, out);
}

/* ---- calls that are made from those ---- */

static kfe_status group_sums_by_times(const kfe_i_gram *gram, const int32_t *group, int64_t groups,
                                      double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    double *indicator = NULL;
    double *product = NULL;

    KFE_ALLOC_ZERO(ctx, indicator, gram->size * groups);
    KFE_ALLOC(ctx, product, gram->size * groups);
    for (int64_t i = 0; i < gram->size; i++)
        indicator[i * groups + group[i]] = gram->roots ? gram->roots[i] : 1;
    KFE_TRY(kfe_i_gram_times(gram, indicator, groups, product));
    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t h = 0; h < groups; h++)
            out[group[i] * groups + h] += product[i * groups + h] * (gram->roots ? gram->roots[i] : 1);
cleanup:
    kfe_i_free(ctx, indicator);
    kfe_i_free(ctx, product);
    return status;
}

kfe_status kfe_i_gram_group_share(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group,
                                  int64_t groups, double *out)
{
    if (gram->form->group_sums && !gram->roots)
        return gram->form->group_sums(gram, share, group, groups, out);
    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    return share.part == 0 ? group_sums_by_times(gram, group, groups, out) : KFE_OK;
}

kfe_status kfe_i_gram_group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    kfe_status status = kfe_i_progress(gram->ctx, "adding up the kernel matrix", 0, 0);

    assert(kfe_i_codes_below(group, gram->size, groups));
    return status == KFE_OK ? kfe_i_gram_group_share(gram, (kfe_i_share){0, 1}, group, groups, out) : status;
}

kfe_status kfe_i_gram_add_share(const kfe_i_gram *gram, kfe_i_share share, int64_t from, double weight,
                                kfe_i_vectors v, double *out)
{
    kfe_status status = KFE_OK;
    int64_t size = gram->size * v.k;
    double *product = NULL;

    if (gram->form->add_share)
        return gram->form->add_share(gram, share, from, weight, v, out);
    if (share.part > 0)
        return KFE_OK;
    KFE_ALLOC(gram->ctx, product, size);
    KFE_TRY(kfe_i_gram_times(gram, v.values, v.k, product));
    for (int64_t i = 0; i < size; i++)
        out[i] += weight * product[i];
cleanup:
    kfe_i_free(gram->ctx, product);
    return status;
}

kfe_status kfe_i_gram_materialise(const kfe_i_gram *gram, double **out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;

    *out = NULL;
    KFE_TRY(kfe_i_check_memory(gram->ctx, 8.0 * (double)n * (double)n, "the kernel matrix",
                               KFE_TOO_LARGE_REMEDY));
    KFE_ALLOC(gram->ctx, *out, n * n);
    KFE_TRY(kfe_i_gram_block(gram, 0, n, 0, n, *out, n));
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(gram->ctx, *out);
        *out = NULL;
    }
    return status;
}

double kfe_i_gram_rank_tolerance(const kfe_i_gram *gram)
{
    return gram->precision->rank_tolerance;
}

kfe_status kfe_i_gram_largest(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    double *diagonal = NULL;

    *out = 0;
    if (gram->form->largest)
        return gram->form->largest(gram, out);
    KFE_ALLOC(gram->ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    for (int64_t i = 0; i < gram->size; i++)
        *out = fmax(*out, fabs(diagonal[i]));
cleanup:
    kfe_i_free(gram->ctx, diagonal);
    return status;
}

kfe_status kfe_i_gram_rounding(const kfe_i_gram *gram, double *out)
{
    kfe_status status = kfe_i_gram_largest(gram, out);

    *out *= 4 * gram->precision->epsilon * pow((double)gram->size, gram->precision->growth);
    return status;
}

kfe_status kfe_i_gram_rounded_zero(const kfe_i_gram *gram, double largest, double *out)
{
    kfe_status status = KFE_OK;
    double rounding = 0;

    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    *out = -fmax(rounding, KFE_BEYOND_ROUNDING * kfe_i_gram_rank_tolerance(gram) * largest);
cleanup:
    return status;
}

double kfe_i_gram_mass(const kfe_i_gram *gram)
{
    double sum = 0;

    if (!gram->roots)
        return (double)gram->size;
    for (int64_t i = 0; i < gram->size; i++)
        sum += gram->roots[i] * gram->roots[i];
    return sum;
}

int64_t kfe_i_gram_rank_bound(const kfe_i_gram *gram)
{
    return gram->form->rank_bound ? gram->form->rank_bound(gram) : gram->size;
}

kfe_status kfe_i_gram_mean_diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    double *diagonal = NULL;
    double trace = 0;

    KFE_ALLOC(gram->ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    for (int64_t i = 0; i < gram->size; i++)
        trace += diagonal[i];
    *out = trace / kfe_i_gram_mass(gram);
cleanup:
    kfe_i_free(gram->ctx, diagonal);
    return status;
}

kfe_status kfe_i_gram_squared_norm(const kfe_i_gram *gram, double *out)
{
    enum { PANEL = 256 };
    kfe_status status = KFE_OK;
    double *panel = NULL;
    double sum = 0;
    int64_t n = gram->size;

    if (gram->form->squared_norm)
        return gram->form->squared_norm(gram, out);
    KFE_ALLOC(gram->ctx, panel, PANEL * n);
    for (int64_t row = 0; row < n; row += PANEL) {
        int64_t rows = n - row < PANEL ? n - row : PANEL;
        KFE_TRY(kfe_i_gram_block(gram, row, rows, 0, n, panel, n));
        for (int64_t i = 0; i < rows * n; i++)
            sum += panel[i] * panel[i];
    }
    *out = sum;
cleanup:
    kfe_i_free(gram->ctx, panel);
    return status;
}

/* ---- whole problems ---- */

kfe_status kfe_i_gram_solve(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                            double tolerance, double *out, double *residual)
{
    const kfe_i_system system = {gram, ridge, tolerance, right, k, out};
    kfe_i_solve_effort effort = {0};
    kfe_i_solve_effort *wanted = residual ? &effort : NULL;
    kfe_status status;

    assert(k >= 0 && right != out && tolerance > 0);
    status = gram->form->solve ? gram->form->solve(&system, wanted)
                               : kfe_i_solve_by(&system, KFE_SOLVE_AUTO, wanted);
    if (residual)
        *residual = effort.residual;
    return status;
}

kfe_status kfe_i_gram_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                            double *vectors)
{
    assert(k >= 1 && k <= gram->size && tolerance > 0);
    return (gram->form->eigen ? gram->form->eigen : kfe_i_find_eigen)(gram, k, tolerance, eigenvalues,
                                                                      vectors);
}

kfe_status kfe_i_gram_no_negative(const kfe_i_gram *gram, double *out)
{
    (void)gram;
    *out = 0;
    return KFE_OK;
}

/* The largest of −PGP. */
kfe_status kfe_i_gram_least_eigenvalue(const kfe_i_gram *gram, double *out)
{
    static const double minus = -1;
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    kfe_i_gram *centred = NULL;
    kfe_i_gram *negative = NULL;
    double *vector = NULL;

    if (gram->form->least_eigenvalue)
        return gram->form->least_eigenvalue(gram, out);
    *out = 0;
    KFE_ALLOC(ctx, vector, gram->size);
    KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    KFE_TRY(kfe_i_gram_sum(ctx, &centred, &minus, 1, &negative)); /* which owns `centred` from now on */
    KFE_TRY(kfe_i_gram_eigen(negative, 1, KFE_TOLERANCE, out, vector));
    *out = -*out;
cleanup:
    kfe_i_gram_free(negative);
    kfe_i_free(ctx, vector);
    return status;
}

/* ---- operators made from this one ---- */

const int64_t *kfe_i_gram_support(const kfe_i_gram *gram, int64_t *count)
{
    *count = gram->size;
    return gram->form->support ? gram->form->support(gram, count) : NULL;
}

double kfe_i_gram_trace_left(const kfe_i_gram *gram)
{
    return gram->form->trace_left ? gram->form->trace_left(gram) : 0;
}

const kfe_i_gram *kfe_i_gram_alone(const kfe_i_gram *gram)
{
    return gram->form->alone ? gram->form->alone(gram) : gram;
}

kfe_status kfe_i_gram_centred(kfe_context *ctx, const kfe_i_gram *inner, kfe_i_gram **out)
{
    (void)ctx;
    assert(inner->size > 0);
    return inner->form->centre ? inner->form->centre(inner, out) : kfe_i_centred_new(inner, NULL, out);
}
