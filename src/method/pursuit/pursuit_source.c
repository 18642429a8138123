/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pursuit is fitted on, for sma, smc and skfa: an operator, sums over rows, or a part of the rows.
 *
 * Sums: the candidates are the landmarks. With f(x) the summed columns of row x, the kernel column of landmark l has the entries
 * f(x)·f(l), so that products of kernel columns with each other and with the targets are quadratic forms of the sums. A table
 * X' of a few rows has the same products as all rows (stand_in.h); the pursuit runs on the columns X'·f(l) with the same code as on
 * rows. So one pass over the rows serves all iterations, and processes exchange their sums once. Time O(m³) for m landmarks, whatever
 * the number of rows; memory O(m²).
 *
 * Parts, as kfe_fit_stream without landmarks has them: all rows are candidates, in the same random order as in one process that has
 * them all, so that the same examples are picked. With weights, row i of a column is multiplied by the root of its weight, but not by
 * that of the candidate, by which all three criteria divide. A process needs 8 bytes for the diagonal, 16 for the key, 16 for two orders
 * and 1 for the state of every candidate, also for those of the others.
 *
 * Of rows with equal content one is a candidate, since the others have the same column. Their content decides the order too.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "gram/column_slabs.h"
#include "linalg/basis.h"
#include "method/pursuit/pursuit.h"
#include "method/shared/range.h"
#include "method/shared/stand_in.h"
#include "method/shared/targets.h"

kfe_i_use kfe_i_pursuit_uses(const void *settings, kfe_i_offer offer, const char **why)
{
    const kfe_i_pursuit_settings *s = settings;

    if (offer == KFE_OFFER_GRAM)
        return KFE_USE_PREFERRED;
    if (offer == KFE_OFFER_SPECTRUM || offer == KFE_OFFER_POINTS)
        return KFE_USE_NOT;
    if (s && s->center)
        *why =
            "a centred pursuit needs all rows and cannot be fitted from sums over them; leave out {center}";
    else if (s && s->bound)
        *why = "the bound needs all rows and cannot be computed from sums over them; leave out {bound}";
    return *why ? KFE_USE_NOT : KFE_USE_POSSIBLE;
}

/* What the fit opens, apart from p->memory. */
typedef struct opened {
    const kfe_i_gram *plain; /* centring the kernel: not yet centred */
    kfe_i_gram *centred;
    kfe_i_kept kept;
    kfe_i_row_part part;
    kfe_i_stand_in stand_in;
    double *columns, *inner; /* of sums: rows × candidates; candidates × candidates */
} opened;

/* ---- an operator ---- */

/* A matrix that is formed at once instead of column by column: the pool needs most of its columns anyway, and with
 * thousands of data columns one kernel column takes nearly as long as twenty together. */
static int is_small_matrix(kfe_context *ctx, int64_t n)
{
    enum { SMALL_ROWS = 2048 };

    return n <= SMALL_ROWS && 64 * (double)n * (double)n <= (double)kfe_i_memory_left(ctx);
}

/* Several processes divide the rows: each keeps the targets of its own. */
static kfe_status take_own_targets(kfe_i_pursuit *p, const kfe_i_row_part *part)
{
    kfe_status status = KFE_OK;
    double *own;

    KFE_TAKE(&p->memory, own, part->rows * p->targets);
    if (p->targets > 0)
        memcpy(own, p->target + part->first * p->targets, (size_t)(part->rows * p->targets) * sizeof *own);
    p->target = own;
    p->divided = 1;
    p->gram = NULL;
cleanup:
    return status;
}

static kfe_status open_gram(kfe_i_pursuit *p, const kfe_i_fit_source *source, opened *o)
{
    kfe_status status = KFE_OK;

    if (p->settings->bound && source->target->weights)
        return kfe_i_fail(p->ctx, KFE_EUNSUPPORTED,
                          "%s: the bound is for examples without weights; use {bound=no}", p->method);
    KFE_TRY(kfe_i_ask_gram(p->ctx, source, &o->plain));
    p->gram = o->plain;
    if (p->settings->center) {
        KFE_TRY(kfe_i_gram_centred(p->ctx, o->plain, &o->centred));
        p->gram = o->centred;
    }
    if (is_small_matrix(p->ctx, p->gram->size)) {
        KFE_TRY(kfe_i_gram_keep(p->gram, KFE_KEEP_ANY, 0, &o->kept));
        p->gram = o->kept.gram;
    }
    p->is_repeated = kfe_i_gram_alone(o->plain) != o->plain;
    p->gram = kfe_i_gram_alone(p->gram);
    p->mass = kfe_i_gram_mass(p->gram);
    if (p->aim != KFE_AIM_VARIANCE) {
        status = kfe_i_centred_targets(p->ctx, source->target, &p->target, &p->targets, &p->unit);
        kfe_i_arena_add(&p->memory, p->target);
        KFE_TRY(status);
    }
    o->part = p->settings->bound ? kfe_i_all_rows(p->gram) : kfe_i_own_rows(p->gram);
    o->part.keys = source->target->keys;
    if (o->part.rows < o->part.total)
        KFE_TRY(take_own_targets(p, &o->part));
cleanup:
    return status;
}

/* ---- a part of the rows ---- */

static kfe_status open_part(kfe_i_pursuit *p, const kfe_i_fit_source *source, opened *o)
{
    kfe_status status = KFE_OK;

    o->part = *source->part;
    p->divided = 1;
    p->mass = kfe_i_target_mass(source->target, source->target->rows);
    KFE_TRY(kfe_i_pursuit_sum(p, &p->mass, 1));
    if (p->aim == KFE_AIM_VARIANCE)
        return KFE_OK;
    status = kfe_i_divided_targets(p->ctx, source->target, p->mass, &p->target, &p->targets, &p->unit);
    kfe_i_arena_add(&p->memory, p->target);
cleanup:
    return status;
}

/* ---- sums ---- */

static kfe_status mark_columns(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    const opened *o = part->state;

    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t c = 0; c < count; c++)
            out[i * count + c] = o->columns[i * part->total + index[c]];
    return KFE_OK;
}

static kfe_status mark_among(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    const opened *o = part->state;

    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < count; c++)
            out[i * count + c] = o->inner[index[i] * part->total + index[c]];
    return KFE_OK;
}

static kfe_status mark_diagonal(const kfe_i_row_part *part, double *out)
{
    const opened *o = part->state;

    for (int64_t l = 0; l < part->total; l++)
        out[l] = o->inner[l * (part->total + 1)];
    return KFE_OK;
}

/* columns (rows of the table × m) = X'·marksᵀ, inner (m × m) = marks·marksᵀ. */
static kfe_status open_sums(kfe_i_pursuit *p, const kfe_i_fit_source *source, opened *o)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &o->stand_in.table;
    int64_t m = source->mark_count;
    int64_t q = source->sums->cols;
    const double *marks = NULL;

    KFE_TRY(kfe_i_ask_marks(source, &marks));
    KFE_TRY(kfe_i_stand_in_make(p->ctx, source->sums,
                                p->aim == KFE_AIM_VARIANCE ? KFE_STAND_IN_UNSUPERVISED : KFE_STAND_IN_CENTRED,
                                0, &o->stand_in));
    KFE_TAKE(&p->memory, o->columns, table->rows * m);
    KFE_TAKE(&p->memory, o->inner, m * m);
    for (int64_t i = 0; i < table->rows; i++)
        kfe_i_times_transpose(1, q, m, table->values + i * table->stride, marks, o->columns + i * m);
    kfe_i_times_transpose(m, q, m, marks, marks, o->inner);
    o->part = (kfe_i_row_part){.ctx = p->ctx,
                               .rows = table->rows,
                               .total = m,
                               .state = o,
                               .columns = mark_columns,
                               .among = mark_among,
                               .diagonal = mark_diagonal};
    p->mass = source->sums->rows;
    p->targets = o->stand_in.targets;
    p->target = o->stand_in.values;
cleanup:
    return status;
}

/* ---- all together ---- */

/* In the order of the rows if all are in the pool. Without keys, the candidates are landmarks, whose order their content has decided. */
static kfe_status list_different(kfe_i_pursuit *p)
{
    kfe_status status = KFE_OK;
    int64_t asked = p->settings->columns;
    kfe_i_distinct distinct = {0};

    KFE_TAKE(&p->memory, p->different, p->candidates);
    if (p->part->keys)
        KFE_TRY(kfe_i_distinct_make(p->ctx, p->candidates, p->part->keys, KFE_STREAM_COLUMNS, &distinct));
    for (int64_t i = 0; i < p->candidates; i++)
        if (!p->part->keys || distinct.first[distinct.of[i]] == i)
            p->different[p->different_count++] = i;
    if (p->part->keys && asked > 0 && asked < distinct.count)
        memcpy(p->different, distinct.first, (size_t)distinct.count * sizeof *p->different);
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

static kfe_status begin_kernel(kfe_i_pursuit *p, const opened *o)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    p->part = &o->part;
    p->n = o->part.rows;
    p->candidates = o->part.total;
    KFE_TRY(list_different(p));
    KFE_TAKE(&p->memory, p->diagonal, p->candidates);
    KFE_TRY(p->part->diagonal(p->part, p->diagonal));
    if (o->centred)
        KFE_TRY(kfe_i_largest_kernel_value(p->ctx, p->method, o->plain, &largest));
    else
        KFE_TRY(kfe_i_largest_of_diagonal(p->ctx, p->method, p->diagonal, p->candidates, &largest));
    p->kernel_unit = kfe_i_unit_of(largest);
    for (int64_t i = 0; i < p->candidates; i++)
        p->diagonal[i] /= p->kernel_unit;
cleanup:
    return status;
}

kfe_status kfe_i_pursuit_fit(kfe_context *ctx, const char *method, kfe_i_pursuit_aim aim,
                             const kfe_i_fit_source *source, const kfe_i_pursuit_settings *settings,
                             kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    opened o = {0};
    kfe_i_pursuit p = {.ctx = ctx,
                       .method = method,
                       .aim = aim,
                       .settings = settings,
                       .sparsity = settings->sparsity > 0 ? settings->sparsity : 1,
                       .memory = {.ctx = ctx},
                       .unit = 1};
    int64_t classes = source->sums                               ? source->sums->classes
                      : source->target->task == KFE_TASK_CLASSES ? source->target->class_count
                                                                 : 0;

    KFE_TRY((source->sums ? open_sums : source->part ? open_part : open_gram)(&p, source, &o));
    KFE_TRY(begin_kernel(&p, &o));
    KFE_TRY(kfe_i_pursuit_run(&p, classes, out));
    if (o.centred)
        KFE_TRY(kfe_i_solution_centre(out, o.centred));
    KFE_TRY(kfe_i_pursuit_record_regression(&p, out));
cleanup:
    kfe_i_arena_free(&p.memory);
    kfe_i_stand_in_free(&o.stand_in);
    kfe_i_gram_keep_free(&o.kept);
    kfe_i_gram_free(o.centred);
    return status;
}
