/* SPDX-License-Identifier: Apache-2.0 */
/* Make, free and transform solutions; used by every method. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "method/method.h"

/* Coefficients whose relative difference is smaller count as equal: above rounding, below any difference in data. */
#define KFE_TIE 1e-8

kfe_status kfe_i_solution_begin(kfe_context *ctx, kfe_i_solution_kind kind, int64_t rows, int64_t dim,
                                kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    assert(rows >= 0 && dim >= 0);
    out->ctx = ctx;
    out->kind = kind;
    out->rows = rows;
    out->dim = dim;
    if (kind != KFE_SOLUTION_LOCAL && kind != KFE_SOLUTION_TREE)
        KFE_ALLOC_ZERO(ctx, out->coefficients, rows * dim);
cleanup:
    return status;
}

void kfe_i_solution_free(kfe_i_solution *solution)
{
    kfe_context *ctx = solution->ctx;

    if (!ctx)
        return;
    for (int64_t i = 0; i < solution->record_count; i++) {
        kfe_i_free(ctx, solution->records[i].name);
        kfe_i_free(ctx, solution->records[i].values);
    }
    for (int v = 0; v < solution->point_views; v++)
        kfe_i_table_free(&solution->points[v]);
    kfe_i_free(ctx, solution->points);
    kfe_i_free(ctx, solution->records);
    kfe_i_free(ctx, solution->coefficients);
    kfe_i_free(ctx, solution->index);
    kfe_i_free(ctx, solution->offset);
    kfe_i_free(ctx, solution->kernel_weights);
    if (solution->map.values)
        kfe_i_map_free(&solution->map);
    if (solution->local)
        kfe_i_local_free(solution->local);
    if (solution->tree)
        kfe_i_tree_free(solution->tree);
    if (solution->predictor.outputs > 0)
        kfe_i_predictor_free(&solution->predictor);
    if (solution->moments.dim > 0)
        kfe_i_moments_free(&solution->moments);
    if (solution->nipals.ctx)
        kfe_i_nipals_free(&solution->nipals);
    memset(solution, 0, sizeof *solution);
}

static int all_finite(int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

kfe_status kfe_i_solution_record(kfe_i_solution *solution, const char *name, const double *values,
                                 int64_t count)
{
    return kfe_i_solution_record_as(solution, KFE_RECORD_PLAIN, name, values, count);
}

kfe_status kfe_i_solution_record_as(kfe_i_solution *solution, kfe_i_record_kind kind, const char *name,
                                    const double *values, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = solution->ctx;

    assert(name && count >= 0);
    if (!all_finite(count, values)) {
        kfe_i_log(ctx, KFE_LOG_WARNING, "'%s' is not recorded: it is beyond the range of double precision",
                  name);
        return KFE_OK;
    }
    KFE_GROW(ctx, solution->records, solution->record_capacity, solution->record_count + 1);
    kfe_i_record *record = &solution->records[solution->record_count];
    memset(record, 0, sizeof *record);
    record->kind = kind;
    solution->record_count++;
    KFE_STRDUP(ctx, record->name, name);
    KFE_ALLOC(ctx, record->values, count);
    memcpy(record->values, values, (size_t)count * sizeof *values);
    record->count = count;
cleanup:
    return status;
}

kfe_status kfe_i_solution_record_landmarks(kfe_i_solution *solution, int64_t count, int64_t rank, double left)
{
    kfe_status status = KFE_OK;
    double landmarks = (double)count;
    double spanned = (double)rank;

    KFE_TRY(kfe_i_solution_record(solution, "landmarks", &landmarks, 1));
    KFE_TRY(kfe_i_solution_record(solution, "landmark-rank", &spanned, 1));
    KFE_TRY(kfe_i_solution_record(solution, "landmark-trace-left", &left, 1));
cleanup:
    return status;
}

/* ---- signs ---- */

/* The coefficient that decides a feature's sign: the largest, or the first of several that are equal up to rounding, as in
 * symmetric data. */
static double leading_of(const double *a, int64_t count, int64_t stride)
{
    double largest = 0;
    int64_t i = 0;

    for (int64_t l = 0; l < count; l++)
        largest = fmax(largest, fabs(a[l * stride]));
    while (i + 1 < count && fabs(a[i * stride]) < (1 - KFE_TIE) * largest)
        i++;
    return a[i * stride];
}

/* The signs by sums of coefficients over equal rows: those of a row given twice and of a row of weight 2 are the same. */
static kfe_status signs_by_content(const kfe_i_solution *solution, const kfe_i_distinct *distinct,
                                   double *signs)
{
    kfe_status status = KFE_OK;
    const kfe_i_operator *op = solution->source->op;
    const double *roots = op ? op->roots : NULL;
    double *totals = NULL;

    KFE_ALLOC(solution->ctx, totals, distinct->count);
    for (int64_t j = 0; j < solution->dim; j++) {
        memset(totals, 0, (size_t)distinct->count * sizeof *totals);
        for (int64_t l = 0; l < solution->rows; l++) {
            int64_t i = solution->index ? solution->index[l] : l;
            totals[distinct->of[i]] += (roots ? roots[i] : 1) * solution->coefficients[l * solution->dim + j];
        }
        signs[j] = leading_of(totals, distinct->count, 1) >= 0 ? 1 : -1;
    }
cleanup:
    kfe_i_free(solution->ctx, totals);
    return status;
}

/* Whether the coefficients are on examples whose content is known. */
static int knows_content(const kfe_i_solution *solution)
{
    const kfe_i_fit_source *source = solution->source;

    return solution->kind == KFE_SOLUTION_DUAL && source && source->views && source->target &&
           source->target->keys && (solution->index || solution->rows == source->views->rows);
}

kfe_status kfe_i_solution_signs(const kfe_i_solution *solution, double *signs)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};

    for (int64_t j = 0; j < solution->dim; j++)
        signs[j] = leading_of(solution->coefficients + j, solution->rows, solution->dim) >= 0 ? 1 : -1;
    if (!knows_content(solution))
        return KFE_OK;
    const kfe_i_target *target = solution->source->target;
    KFE_TRY(kfe_i_distinct_make(solution->ctx, solution->source->views->rows, target->keys, KFE_STREAM_SIGNS,
                                &distinct));
    if (distinct.count < distinct.rows || target->weights)
        KFE_TRY(signs_by_content(solution, &distinct, signs));
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

kfe_status kfe_i_solution_fix_signs(kfe_i_solution *solution)
{
    return kfe_i_solution_take_signs(solution, NULL);
}

kfe_status kfe_i_solution_take_signs(kfe_i_solution *solution, double *signs)
{
    kfe_status status = KFE_OK;
    int64_t k = solution->dim;
    double *a = solution->coefficients;
    double *own = NULL;

    KFE_ALLOC(solution->ctx, own, k);
    KFE_TRY(kfe_i_solution_signs(solution, own));
    for (int64_t j = 0; j < k; j++) {
        if (signs)
            signs[j] = own[j];
        for (int64_t i = 0; i < solution->rows && own[j] < 0; i++)
            a[i * k + j] = -a[i * k + j];
        if (solution->offset && own[j] < 0)
            solution->offset[j] = -solution->offset[j];
    }
cleanup:
    kfe_i_free(solution->ctx, own);
    return status;
}

kfe_status kfe_i_solution_spread(kfe_i_solution *solution, int64_t n)
{
    kfe_status status = KFE_OK;
    int64_t k = solution->dim;
    double *spread = NULL;

    if (!solution->index)
        return KFE_OK;
    KFE_ALLOC_ZERO(solution->ctx, spread, n * k);
    for (int64_t i = 0; i < solution->rows; i++)
        memcpy(spread + solution->index[i] * k, solution->coefficients + i * k, (size_t)k * sizeof *spread);
    kfe_i_free(solution->ctx, solution->coefficients);
    kfe_i_free(solution->ctx, solution->index);
    solution->coefficients = spread;
    solution->index = NULL;
    solution->rows = n;
cleanup:
    return status;
}

/* out = K[:, index]·A, by blocks of columns. */
static kfe_status features_from_columns(const kfe_i_solution *solution, const kfe_i_gram *gram, double *out)
{
    enum { CHUNK = 64 };
    kfe_status status = KFE_OK;
    int64_t k = solution->dim;
    double *columns = NULL;

    KFE_ALLOC(solution->ctx, columns, gram->size * CHUNK);
    memset(out, 0, (size_t)(gram->size * k) * sizeof *out);
    for (int64_t first = 0; first < solution->rows; first += CHUNK) {
        int64_t count = solution->rows - first < CHUNK ? solution->rows - first : CHUNK;
        KFE_TRY(kfe_i_gram_columns(gram, solution->index + first, count, columns));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)gram->size, (blasint)k,
                    (blasint)count, 1, columns, (blasint)count, solution->coefficients + first * k,
                    (blasint)k, 1, out, (blasint)k);
    }
cleanup:
    kfe_i_free(solution->ctx, columns);
    return status;
}

kfe_status kfe_i_solution_features(const kfe_i_solution *solution, const kfe_i_gram *gram, double *out)
{
    kfe_status status = solution->index ? features_from_columns(solution, gram, out)
                                        : kfe_i_gram_times(gram, solution->coefficients, solution->dim, out);

    for (int64_t i = 0; status == KFE_OK && solution->offset && i < gram->size; i++)
        for (int64_t j = 0; j < solution->dim; j++)
            out[i * solution->dim + j] -= solution->offset[j];
    return status;
}

kfe_status kfe_i_solution_centre(kfe_i_solution *solution, const kfe_i_gram *centred)
{
    double overall = 0;
    const double *row_means = NULL;
    kfe_status status = kfe_i_gram_row_means(centred, &row_means, &overall);

    return status == KFE_OK ? kfe_i_solution_centre_by(solution, centred->size, centred->roots, row_means)
                            : status;
}

kfe_status kfe_i_solution_centre_by(kfe_i_solution *solution, int64_t n, const double *roots,
                                    const double *row_means)
{
    kfe_status status = KFE_OK;
    int64_t k = solution->dim;
    double mass = roots ? 0 : (double)n;

    for (int64_t i = 0; roots && i < n; i++)
        mass += roots[i] * roots[i];

    KFE_TRY(kfe_i_solution_spread(solution, n));
    double *a = solution->coefficients;
    if (!solution->offset)
        KFE_ALLOC_ZERO(solution->ctx, solution->offset, k);
    for (int64_t j = 0; j < k; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += roots ? roots[i] * a[i * k + j] : a[i * k + j];
        mean /= mass;
        for (int64_t i = 0; i < n; i++) {
            a[i * k + j] -= roots ? roots[i] * mean : mean;
            solution->offset[j] += a[i * k + j] * row_means[i];
        }
    }
cleanup:
    return status;
}

int64_t kfe_i_clamp_dim(kfe_context *ctx, const char *method, int64_t asked, int64_t available,
                        const char *why)
{
    if (asked == 0)
        return available;
    if (asked > available) {
        kfe_i_log(ctx, KFE_LOG_WARNING, "%s: %lld features were asked for, but %s: making %lld", method,
                  (long long)asked, why, (long long)available);
        return available;
    }
    return asked;
}
