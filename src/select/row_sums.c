/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over training rows from those over all rows, for fold.c (data/sums/sums.h says how sums are subtracted).
 *
 * Rounding: entries of the scatters S of all rows and T of the test rows are off by about √n·ε·√(S_ii·S_jj). If every S_ii is at most ten
 * times that of the training rows, the difference has at most one digit less than a sum over the training rows. A test row that is an outlier breaks
 * this rule, and the training rows are then used themselves.
 *
 * Time: O(nd²) for the total and for all folds together; the same sums serve both if there are few folds. Memory: d² for the total, as much
 * for each of few folds, and 2d² for each fold that is being fitted.
 */
#include "select/row_sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"

/* Columns whose total exceeds that of the training rows by more than this factor lose digits. */
#define LARGEST_LOSS 10.0
/* Fewer rows than this for each column do not repay the sums. */
enum { ROWS_PER_COLUMN = 4 };
/* The sums of more folds than this are not kept: they would take more memory than they save time. */
enum { MOST_PARTS = 32 };
/* The sums of the total and of all folds at work may take this share of the memory that is left. */
#define MEMORY_SHARE 0.25

int kfe_i_row_sums_serve(const kfe_i_method *method)
{
    return !(method->flags & KFE_HAS_KERNELS) &&
           kfe_i_method_use(method, NULL, KFE_OFFER_SUMS, NULL) == KFE_USE_PREFERRED;
}

void kfe_i_row_sums_free(kfe_i_row_sums *sums)
{
    if (!sums->ctx)
        return;
    kfe_i_free(sums->ctx, sums->rows);
    kfe_i_free(sums->ctx, sums->spectrum);
    kfe_i_free(sums->ctx, sums->coordinates);
    kfe_i_free(sums->ctx, sums->part_rows);
    for (int64_t i = 0; sums->parts && i < sums->part_count; i++)
        kfe_i_sums_free(&sums->parts[i]);
    kfe_i_free(sums->ctx, sums->parts);
    kfe_i_sums_free(&sums->total);
    kfe_i_sums_free(&sums->rotated);
    memset(sums, 0, sizeof *sums);
}

static int is_made(const kfe_i_row_sums *sums, const kfe_data *data, const int64_t *rows, int64_t count)
{
    return sums->count == count && sums->data == data &&
           memcmp(sums->rows, rows, (size_t)count * sizeof *rows) == 0;
}

static int pays_off(kfe_context *ctx, const kfe_data *data, int64_t count)
{
    const kfe_i_table *table = &data->views[0].table;
    double bytes = 8.0 * (double)table->cols * (double)table->cols * (1 + 2 * kfe_context_threads(ctx));

    return data->view_count == 1 && table->kind == KFE_TABLE_DENSE && !table->singles &&
           data->views[0].gaps.fill == KFE_FILL_NONE && table->cols > 0 &&
           count >= ROWS_PER_COLUMN * table->cols && bytes < MEMORY_SHARE * (double)kfe_i_memory_left(ctx);
}

/* The sums of some rows of the data, with all of its classes. */
static kfe_status sum_rows(kfe_context *ctx, const kfe_i_row_sums *of, const int64_t *rows, int64_t count,
                           kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &of->data->target;
    const kfe_i_sum_rows some = {.table = of->table, .index = rows, .count = count, .target = target};

    KFE_TRY(kfe_i_sums_begin_with(ctx, some.table->cols, target, out));
    KFE_TRY(kfe_i_progress(ctx, "multiplying the columns", 0, 0));
    KFE_TRY(kfe_i_sums_add(out, &some));
cleanup:
    return status;
}

/* ---- test parts ---- */

/* Whether every row is in the test part of exactly one split; all lists are increasing. */
static int make_up_rows(const kfe_i_row_parts *parts, const int64_t *rows, int64_t count)
{
    int64_t next[MOST_PARTS] = {0};
    int64_t all = 0;

    for (int64_t m = 0; m < parts->count; m++)
        all += parts->splits->items[parts->members[m]].test_count;
    for (int64_t i = 0; all == count && i < count; i++) {
        int found = 0;
        for (int64_t m = 0; m < parts->count && !found; m++) {
            const kfe_i_split *split = &parts->splits->items[parts->members[m]];
            found = next[m] < split->test_count && split->test[next[m]] == rows[i];
            next[m] += found;
        }
        if (!found)
            return 0;
    }
    return all == count;
}

static int keeps_parts(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_row_parts *parts)
{
    double d = (double)sums->table->cols;

    return parts && parts->count >= 2 && parts->count <= MOST_PARTS &&
           8 * d * d * (double)parts->count < MEMORY_SHARE * (double)kfe_i_memory_left(ctx) &&
           make_up_rows(parts, sums->rows, sums->count);
}

/* The sums of the test parts, and the total from them. */
static kfe_status sum_parts(kfe_context *ctx, const kfe_i_row_parts *from, kfe_i_row_sums *sums)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, sums->parts, from->count);
    KFE_ALLOC_ZERO(ctx, sums->part_rows, from->count);
    sums->part_count = from->count;
    for (int64_t i = 0; i < from->count; i++) {
        const kfe_i_split *split = &from->splits->items[from->members[i]];
        sums->part_rows[i] = split->test;
        KFE_TRY(sum_rows(ctx, sums, split->test, split->test_count, &sums->parts[i]));
    }
    KFE_TRY(kfe_i_sums_copy(&sums->parts[0], &sums->total));
    for (int64_t i = 1; i < from->count; i++)
        kfe_i_sums_merge(&sums->total, &sums->parts[i]);
cleanup:
    return status;
}

static const kfe_i_sums *part_of(const kfe_i_row_sums *sums, const kfe_i_split *split)
{
    for (int64_t i = 0; i < sums->part_count; i++)
        if (sums->part_rows[i] == split->test)
            return &sums->parts[i];
    return NULL;
}

/* ---- all rows ---- */

kfe_status kfe_i_row_sums_over(kfe_context *ctx, const kfe_data *data, const kfe_i_table *table,
                               const int64_t *rows, int64_t count, const kfe_i_row_parts *parts,
                               kfe_i_row_sums *sums)
{
    kfe_status status = KFE_OK;

    kfe_i_row_sums_free(sums);
    sums->ctx = ctx;
    sums->data = data;
    sums->table = table;
    KFE_ALLOC(ctx, sums->rows, count);
    memcpy(sums->rows, rows, (size_t)count * sizeof *rows);
    sums->count = count;
    if (keeps_parts(ctx, sums, parts))
        KFE_TRY(sum_parts(ctx, parts, sums));
    else
        KFE_TRY(sum_rows(ctx, sums, rows, count, &sums->total));
cleanup:
    if (status != KFE_OK)
        kfe_i_row_sums_free(sums);
    return status;
}

kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               const kfe_i_row_parts *parts, kfe_i_row_sums *sums)
{
    if (is_made(sums, data, rows, count))
        return KFE_OK;
    kfe_i_row_sums_free(sums);
    if (!pays_off(ctx, data, count))
        return KFE_OK;
    return kfe_i_row_sums_over(ctx, data, &data->views[0].table, rows, count, parts, sums);
}

/* Whether the training rows and the test rows are disjoint and together those of the sums, and the test rows no more than half.
 * All lists are increasing. */
static int covers(const kfe_i_row_sums *sums, const kfe_i_split *split)
{
    int64_t train = 0;
    int64_t test = 0;

    if (!sums || sums->count == 0 || split->train_count + split->test_count != sums->count ||
        split->test_count > split->train_count)
        return 0;
    for (int64_t i = 0; i < sums->count; i++) {
        int in_train = train < split->train_count && split->train[train] == sums->rows[i];
        int in_test = test < split->test_count && split->test[test] == sums->rows[i];
        if (in_train == in_test)
            return 0;
        train += in_train;
        test += in_test;
    }
    return 1;
}

static int keeps_digits(const kfe_i_sums *total, const kfe_i_sums *train)
{
    for (int64_t j = 0; j < total->cols; j++) {
        int64_t diagonal = j * (total->cols + 1);
        if (!(LARGEST_LOSS * train->scatter[diagonal] >= total->scatter[diagonal]) ||
            !isfinite(total->scatter[diagonal]))
            return 0;
    }
    return 1;
}

/* Leaves out classes without members, as the training rows of a fold do. */
static void drop_empty_classes(kfe_i_sums *s)
{
    int64_t kept = 0;

    for (int64_t g = 0; g < s->classes; g++) {
        if (!(s->class_rows[g] > 0.5))
            continue;
        s->class_rows[kept] = s->class_rows[g];
        memmove(s->class_means + kept * s->cols, s->class_means + g * s->cols,
                (size_t)s->cols * sizeof *s->class_means);
        kept++;
    }
    s->classes = kept;
}

kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, kfe_i_sums *out, int *known)
{
    kfe_status status = KFE_OK;
    kfe_i_sums test = {0};

    *known = 0;
    memset(out, 0, sizeof *out);
    if (!covers(sums, split) || scaler->kind == KFE_SCALE_L2_ROWS || scaler->map.values ||
        scaler->chain.count > 0)
        return KFE_OK;
    const kfe_i_sums *part = part_of(sums, split);
    if (!part)
        KFE_TRY(sum_rows(ctx, sums, split->test, split->test_count, &test));
    KFE_TRY(kfe_i_sums_copy_with(ctx, &sums->total, out));
    kfe_i_sums_subtract(out, part ? part : &test);
    *known = keeps_digits(&sums->total, out);
    drop_empty_classes(out);
    kfe_i_sums_scale(out, scaler->shift, scaler->factor);
cleanup:
    kfe_i_sums_free(&test);
    return status;
}

/* ---- coordinates by eigenvectors ---- */

/* Eigenvalues below this share of the largest are rounding errors. */
#define SPECTRUM_ROUNDING 1e-12
/* Columns for each test row from which these coordinates are faster than a copy of the scatter. */
enum { COLUMNS_PER_ROW = 16, ROTATED_PANEL = 512 };

int64_t kfe_i_row_sums_few(const kfe_i_row_sums *sums)
{
    return sums->total.cols / COLUMNS_PER_ROW;
}

/* out (rows × cols) = values·V */
static void rotate_rows(int64_t rows, int64_t cols, const double *values, const double *v, double *out)
{
    if (rows > 0 && cols > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)cols, (blasint)cols, 1,
                    values, (blasint)cols, v, (blasint)cols, 0, out, (blasint)cols);
}

static kfe_status rotate_table(kfe_context *ctx, kfe_i_row_sums *sums, const double *v)
{
    kfe_status status = KFE_OK;
    int64_t d = sums->total.cols;
    double *panel = NULL;

    KFE_ALLOC(ctx, panel, ROTATED_PANEL * d);
    KFE_ALLOC(ctx, sums->coordinates, sums->count * d);
    for (int64_t first = 0; first < sums->count; first += ROTATED_PANEL) {
        int64_t rows = sums->count - first < ROTATED_PANEL ? sums->count - first : ROTATED_PANEL;
        KFE_TRY(kfe_i_progress(ctx, "multiplying the columns", first, sums->count));
        for (int64_t i = 0; i < rows; i++) {
            kfe_i_table_dense_row(sums->table, sums->rows[first + i], panel + i * d);
            for (int64_t j = 0; j < d; j++)
                panel[i * d + j] -= sums->total.mean[j];
        }
        rotate_rows(rows, d, panel, v, sums->coordinates + first * d);
    }
cleanup:
    kfe_i_free(ctx, panel);
    return status;
}

/* The total about its mean, in coordinates by eigenvectors. */
static kfe_status rotate_total(kfe_context *ctx, kfe_i_row_sums *sums, const double *v)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *total = &sums->total;
    kfe_i_sums *out = &sums->rotated;
    int64_t d = total->cols;

    KFE_TRY(kfe_i_sums_copy_with(ctx, total, out));
    kfe_i_free(ctx, out->scatter);
    kfe_i_free(ctx, out->least);
    kfe_i_free(ctx, out->largest);
    out->scatter = out->least = out->largest = NULL;
    memset(out->mean, 0, (size_t)d * sizeof *out->mean);
    for (int64_t g = 0; g < total->classes; g++)
        for (int64_t j = 0; j < d; j++)
            out->class_means[g * d + j] = 0;
    for (int64_t g = 0; g < total->classes; g++)
        for (int64_t i = 0; i < d; i++)
            cblas_daxpy((blasint)d, total->class_means[g * d + i] - total->mean[i], v + i * d, 1,
                        out->class_means + g * d, 1);
    if (total->targets > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)d, (blasint)total->targets, (blasint)d,
                    1, v, (blasint)d, total->cross, (blasint)total->targets, 0, out->cross,
                    (blasint)total->targets);
cleanup:
    return status;
}

kfe_status kfe_i_row_sums_rotate(kfe_context *ctx, kfe_i_row_sums *sums)
{
    kfe_status status = KFE_OK;
    int64_t d = sums->total.cols;
    double bytes = 8.0 * (double)d * ((double)sums->count + 3 * (double)d);
    double *matrix = NULL;
    double *v = NULL;
    double *spectrum = NULL;

    if (sums->count == 0 || sums->spectrum || bytes > MEMORY_SHARE * (double)kfe_i_memory_left(ctx))
        return KFE_OK;
    KFE_ALLOC(ctx, matrix, d * d);
    KFE_ALLOC(ctx, v, d * d);
    KFE_ALLOC(ctx, spectrum, d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++)
            matrix[i * d + j] = matrix[j * d + i] = sums->total.scatter[i * d + j];
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, matrix, d, spectrum, v));
    KFE_TRY(rotate_table(ctx, sums, v));
    KFE_TRY(rotate_total(ctx, sums, v));
    sums->spectrum = spectrum;
    spectrum = NULL;
cleanup:
    kfe_i_free(ctx, matrix);
    kfe_i_free(ctx, v);
    kfe_i_free(ctx, spectrum);
    return status;
}

/* The coordinates of the test rows, whose list is increasing. */
static kfe_status take_test(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                            double **out)
{
    kfe_status status = KFE_OK;
    int64_t d = sums->total.cols;
    int64_t place = 0;

    KFE_ALLOC(ctx, *out, split->test_count * d);
    for (int64_t i = 0; i < split->test_count; i++) {
        while (sums->rows[place] != split->test[i])
            place++;
        memcpy(*out + i * d, sums->coordinates + place * d, (size_t)d * sizeof **out);
    }
cleanup:
    return status;
}

/* The rows R that the scatter loses: the test rows, then m/√k times their mean. */
static kfe_status remove_rows(kfe_i_sums *out, const double *test, int64_t m)
{
    kfe_status status = KFE_OK;
    int64_t d = out->cols;

    KFE_ALLOC_ZERO(out->ctx, out->removed, (m + 1) * d);
    out->removed_count = m + 1;
    memcpy(out->removed, test, (size_t)(m * d) * sizeof *test);
    double *last = out->removed + m * d;
    for (int64_t i = 0; i < m; i++)
        cblas_daxpy((blasint)d, 1, test + i * d, 1, last, 1);
    for (int64_t j = 0; j < d; j++)
        out->mean[j] = -last[j] / out->rows;
    cblas_dscal((blasint)d, 1 / sqrt(out->rows), last, 1);
cleanup:
    return status;
}

/* The cross-products and means of the targets without the test rows: with u = y − ȳ of all rows,
 * Σ zuᵀ loses its test part and k·(mean z)(mean u)ᵀ of the training rows. */
static kfe_status remove_targets(kfe_i_sums *out, const kfe_i_target *target, const kfe_i_split *split,
                                 const double *test)
{
    kfe_status status = KFE_OK;
    int64_t d = out->cols;
    int64_t t = out->targets;
    double *u = NULL;

    KFE_ALLOC_ZERO(out->ctx, u, 2 * t);
    double *sum = u + t;
    for (int64_t i = 0; i < split->test_count; i++) {
        for (int64_t k = 0; k < t; k++) {
            u[k] = target->values[split->test[i] * t + k] - out->target_mean[k];
            sum[k] += u[k];
        }
        cblas_dger(CblasRowMajor, (blasint)d, (blasint)t, -1, test + i * d, 1, u, 1, out->cross, (blasint)t);
        cblas_dger(CblasRowMajor, (blasint)t, (blasint)t, -1, u, 1, u, 1, out->target_scatter, (blasint)t);
    }
    /* the means of the training rows are −sum/k */
    cblas_dger(CblasRowMajor, (blasint)d, (blasint)t, 1, out->mean, 1, sum, 1, out->cross, (blasint)t);
    cblas_dger(CblasRowMajor, (blasint)t, (blasint)t, -1 / out->rows, sum, 1, sum, 1, out->target_scatter,
               (blasint)t);
    for (int64_t k = 0; k < t; k++)
        out->target_mean[k] -= sum[k] / out->rows;
cleanup:
    kfe_i_free(out->ctx, u);
    return status;
}

/* The classes without the test rows; returns 0 if one has no members left. */
static int remove_classes(kfe_i_sums *out, const kfe_i_target *target, const kfe_i_split *split,
                          const double *test)
{
    int64_t d = out->cols;

    for (int64_t i = 0; i < split->test_count; i++) {
        int32_t g = target->codes[split->test[i]];
        double left = --out->class_rows[g];
        if (!(left > 0.5))
            return 0;
        for (int64_t j = 0; j < d; j++)
            out->class_means[g * d + j] += (out->class_means[g * d + j] - test[i * d + j]) / left;
    }
    return 1;
}

/* keeps_digits along the eigenvectors whose eigenvalues are not rounding errors. */
static int keeps_spectrum(const kfe_i_sums *out)
{
    for (int64_t j = 0; j < out->cols && out->spectrum[j] > SPECTRUM_ROUNDING * out->spectrum[0]; j++) {
        double left = out->spectrum[j];
        for (int64_t i = 0; i < out->removed_count; i++)
            left -= out->removed[i * out->cols + j] * out->removed[i * out->cols + j];
        if (!(LARGEST_LOSS * left >= out->spectrum[j]))
            return 0;
    }
    return isfinite(out->spectrum[0]);
}

kfe_status kfe_i_row_sums_train_rotated(kfe_context *ctx, const kfe_i_row_sums *sums,
                                        const kfe_i_split *split, kfe_i_sums *out, double **test, int *known)
{
    kfe_status status = KFE_OK;
    int64_t d = sums->total.cols;

    *known = 0;
    *test = NULL;
    memset(out, 0, sizeof *out);
    if (!sums->spectrum || !covers(sums, split) || split->test_count > kfe_i_row_sums_few(sums))
        return KFE_OK;
    KFE_TRY(take_test(ctx, sums, split, test));
    KFE_TRY(kfe_i_sums_copy_with(ctx, &sums->rotated, out));
    KFE_ALLOC(ctx, out->spectrum, d);
    memcpy(out->spectrum, sums->spectrum, (size_t)d * sizeof *out->spectrum);
    out->rows = sums->rotated.rows - (double)split->test_count;
    KFE_TRY(remove_rows(out, *test, split->test_count));
    if (out->targets > 0)
        KFE_TRY(remove_targets(out, &sums->data->target, split, *test));
    *known =
        keeps_spectrum(out) && (out->classes == 0 || remove_classes(out, &sums->data->target, split, *test));
cleanup:
    return status;
}
