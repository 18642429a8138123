/* SPDX-License-Identifier: Apache-2.0 */
/* The scaling of columns from their sums, with the rules of data/scale.h; linear methods learn it when they finish. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "core/memory.h"

static int is_constant(const kfe_i_sums *sums, int64_t j)
{
    return !(sums->least[j] < sums->largest[j]);
}

static double spread_of(const kfe_i_sums *sums, int64_t j)
{
    double square = sums->scatter[j * (sums->cols + 1)];

    return square > 0 ? sqrt(square) : 0;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* kfe_i_spread_ratio from sums. */
static kfe_status spread_ratio(kfe_context *ctx, const kfe_i_sums *sums, double *out)
{
    kfe_status status = KFE_OK;
    double *spreads = NULL;
    int64_t varying = 0;

    *out = 1;
    if ((double)sums->cols > sums->rows)
        return KFE_OK;
    KFE_ALLOC(ctx, spreads, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++)
        if (!is_constant(sums, j) && spread_of(sums, j) > 0)
            spreads[varying++] = spread_of(sums, j);
    qsort(spreads, (size_t)varying, sizeof *spreads, compare_numbers);
    if (varying > 0)
        *out = spreads[varying - 1] / spreads[(varying - 1) / 4];
cleanup:
    kfe_i_free(ctx, spreads);
    return status;
}

/* √(a² + b²) without overflow. glibc 2.35 has a new hypot, with which wheels would not run on older systems. */
static double length_of(double a, double b)
{
    double larger = fmax(fabs(a), fabs(b)), ratio = fmin(fabs(a), fabs(b)) / larger;

    return larger > 0 ? larger * sqrt(1 + ratio * ratio) : 0;
}

static double column_width(kfe_i_scale_kind kind, int sparse, const kfe_i_sums *sums, int64_t j)
{
    double spread = spread_of(sums, j);

    if (is_constant(sums, j))
        return 0;
    if (kind == KFE_SCALE_STANDARD)
        return spread / sqrt(sums->rows);
    if (kind == KFE_SCALE_MINMAX)
        return sparse ? fmax(fabs(sums->least[j]), fabs(sums->largest[j]))
                      : sums->largest[j] - sums->least[j];
    return sparse ? length_of(spread, sqrt(sums->rows) * sums->mean[j]) : spread;
}

static kfe_status learn_columns(kfe_context *ctx, int sparse, const kfe_i_sums *sums, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, out->factor, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++) {
        double width = column_width(out->kind, sparse, sums, j);
        out->factor[j] = width > 0 && isfinite(1 / width) ? 1 / width : 1;
    }
    if (sparse)
        goto cleanup;
    KFE_ALLOC(ctx, out->shift, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++)
        out->shift[j] = out->kind == KFE_SCALE_MINMAX ? sums->least[j] : sums->mean[j];
cleanup:
    return status;
}

kfe_status kfe_i_scaler_from_sums(kfe_context *ctx, kfe_i_scale_kind kind, int sparse, const kfe_i_sums *sums,
                                  kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    double ratio = 1;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->cols = sums->cols;
    if (kind == KFE_SCALE_AUTO) {
        if (!sparse)
            KFE_TRY(spread_ratio(ctx, sums, &ratio));
        kind = ratio > KFE_SCALE_RATIO ? KFE_SCALE_STANDARD : KFE_SCALE_NONE;
    }
    out->kind = kind;
    if (kind == KFE_SCALE_NONE || kind == KFE_SCALE_L2_ROWS)
        return KFE_OK;
    if (sparse)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "sparse data is scaled without centring, so that its zeros stay zeros");
    KFE_TRY(learn_columns(ctx, sparse, sums, out));
cleanup:
    return status;
}
