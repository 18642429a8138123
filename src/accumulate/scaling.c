/* SPDX-License-Identifier: Apache-2.0 */
/* The scaling of columns from their sums, by the rules of data/prepare/scale.h; linear methods learn it when they finish. */
#include <math.h>
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

/* kfe_i_ranges_find from sums, which do not know how many rows differ and take their number. */
static kfe_status find_ranges(kfe_context *ctx, const kfe_i_sums *sums, kfe_i_ranges *out)
{
    kfe_status status = KFE_OK;
    double *ranges = NULL;
    int64_t varying = 0;

    KFE_ALLOC(ctx, ranges, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++)
        if (!is_constant(sums, j))
            ranges[varying++] = sums->largest[j] - sums->least[j];
    *out = (kfe_i_ranges){.ratio = kfe_i_ratio_of_ranges(ranges, varying),
                          .few_rows = (double)varying > sums->rows};
    kfe_i_free(ctx, ranges);
cleanup:
    return status;
}

/* √(a² + b²) without overflow. glibc 2.35 has a new hypot, with which wheels would not run on older systems. */
static double length_of(double a, double b)
{
    double larger = fmax(fabs(a), fabs(b)), ratio = fmin(fabs(a), fabs(b)) / larger;

    return larger > 0 ? larger * sqrt(1 + ratio * ratio) : 0;
}

static kfe_status learn_columns(kfe_context *ctx, int sparse, const kfe_i_sums *sums, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    int centred = kfe_i_scale_centres(out->kind, sparse);
    kfe_i_column_facts *columns = NULL;

    KFE_ALLOC_ZERO(ctx, columns, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++) {
        double spread = spread_of(sums, j);
        columns[j] = (kfe_i_column_facts){
            .low = sums->least[j],
            .high = is_constant(sums, j) ? sums->least[j] : sums->largest[j],
            .mean = sums->mean[j],
            .reach = 1,
            .spread = centred ? spread : length_of(spread, sqrt(sums->rows) * sums->mean[j])};
    }
    KFE_TRY(kfe_i_scaler_from_facts(ctx, columns, sums->rows, sparse, out));
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

kfe_status kfe_i_scaler_from_sums(kfe_context *ctx, kfe_i_scale_kind kind, int sparse, const kfe_i_sums *sums,
                                  kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ranges ranges = {.ratio = 1};

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->cols = sums->cols;
    if (kind == KFE_SCALE_AUTO) {
        if (!sparse)
            KFE_TRY(find_ranges(ctx, sums, &ranges));
        kind = kfe_i_scale_by_ranges(&ranges);
    }
    out->kind = kind;
    if (kind == KFE_SCALE_NONE || kind == KFE_SCALE_L2_ROWS)
        return KFE_OK;
    KFE_TRY(learn_columns(ctx, sparse, sums, out));
cleanup:
    return status;
}
