/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pursuit from sums over rows, for sma, smc and skfa: rows that do not fit into memory, or that are divided over processes.
 *
 * The candidates are the landmarks. With f(x) the summed columns of row x, the kernel column of landmark l has the entries
 * f(x)·f(l), so that products of kernel columns with each other and with the targets are quadratic forms of the sums. A table
 * X' of a few rows has the same products as all rows (stand_in.h); the pursuit runs on the columns X'·f(l) with the same code as on
 * rows. So one pass over the rows serves all iterations, and processes exchange their sums once.
 *
 * Time O(m³) for m landmarks, whatever the number of rows; memory O(m²).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "method/pursuit/pursuit.h"
#include "method/shared/range.h"
#include "method/shared/stand_in.h"

kfe_status kfe_i_pursuit_check_sums(kfe_context *ctx, const void *settings)
{
    const kfe_i_pursuit_settings *s = settings;

    if (s->center)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "a centred pursuit needs all rows and cannot be fitted from sums over them; leave "
                          "out {center}");
    if (s->bound)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "the bound needs all rows and cannot be had from sums over them; leave out {bound}");
    return KFE_OK;
}

/* columns (rows of the table × m) = X'·marksᵀ, inner (m × m) = marks·marksᵀ. */
static kfe_status make_columns(kfe_i_pursuit *p, const kfe_i_sum_problem *problem, const kfe_i_table *table,
                               double **columns, double **inner)
{
    kfe_status status = KFE_OK;
    blasint m = (blasint)problem->landmarks;
    blasint q = (blasint)problem->sums->cols;

    KFE_ALLOC(p->ctx, *columns, table->rows * problem->landmarks);
    KFE_ALLOC(p->ctx, *inner, problem->landmarks * problem->landmarks);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)table->rows, m, q, 1, table->values,
                (blasint)table->stride, problem->marks, q, 0, *columns, m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, m, q, 1, problem->marks, q, problem->marks, q, 0,
                *inner, m);
    p->n = table->rows;
    p->candidates = problem->landmarks;
    p->given = (kfe_i_pursuit_columns_given){problem->landmarks, *columns, *inner};
cleanup:
    return status;
}

static kfe_status begin_kernel(kfe_i_pursuit *p)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    KFE_ALLOC(p->ctx, p->diagonal, p->candidates);
    for (int64_t l = 0; l < p->candidates; l++) {
        p->diagonal[l] = p->given.inner[l * (p->candidates + 1)];
        largest = fmax(largest, p->diagonal[l]);
    }
    p->kernel_unit = kfe_i_unit_of(largest);
    for (int64_t l = 0; l < p->candidates; l++)
        p->diagonal[l] /= p->kernel_unit;
cleanup:
    return status;
}

static kfe_status begin_targets(kfe_i_pursuit *p, const kfe_i_stand_in *stand_in)
{
    kfe_status status = KFE_OK;

    p->targets = stand_in->targets;
    KFE_ALLOC(p->ctx, p->target, p->n * p->targets);
    if (p->targets > 0)
        memcpy(p->target, stand_in->values, (size_t)(p->n * p->targets) * sizeof *p->target);
cleanup:
    return status;
}

kfe_status kfe_i_pursuit_fit_sums(kfe_context *ctx, const char *method, kfe_i_pursuit_aim aim,
                                  const kfe_i_sum_problem *problem, const kfe_i_pursuit_settings *settings,
                                  kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_stand_in stand_in = {0};
    double *columns = NULL;
    double *inner = NULL;
    kfe_i_pursuit p = {.ctx = ctx,
                       .method = method,
                       .aim = aim,
                       .settings = settings,
                       .sparsity = settings->sparsity > 0 ? settings->sparsity : 1,
                       .kernel_unit = 1,
                       .unit = 1,
                       .mass = problem->sums->rows};

    assert(problem->marks);
    KFE_TRY(kfe_i_stand_in_make(ctx, problem->sums,
                                aim == KFE_AIM_VARIANCE ? KFE_STAND_IN_UNSUPERVISED : KFE_STAND_IN_CENTRED, 0,
                                &stand_in));
    KFE_TRY(make_columns(&p, problem, &stand_in.table, &columns, &inner));
    KFE_TRY(begin_kernel(&p));
    KFE_TRY(begin_targets(&p, &stand_in));
    KFE_TRY(kfe_i_pursuit_run(&p, problem->sums->classes, out));
    KFE_TRY(kfe_i_pursuit_record_regression(&p, out));
cleanup:
    kfe_i_pursuit_free(&p);
    kfe_i_stand_in_free(&stand_in);
    kfe_i_free(ctx, columns);
    kfe_i_free(ctx, inner);
    return status;
}
