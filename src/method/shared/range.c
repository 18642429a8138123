/* SPDX-License-Identifier: Apache-2.0 */
/* Units for targets and kernels far from one, for the deflation, pursuit, centroid and principal methods. */
#include "method/shared/range.h"

#include <math.h>

#include "core/memory.h"

#define KFE_ORDINARY 1e60
/* Below it, products of few numbers are subnormal and lose digits. */
#define KFE_SMALLEST_KERNEL 1e-290

double kfe_i_unit_of(double largest)
{
    int exponent = 0;

    if (!(largest > 0) || !isfinite(largest) || (largest > 1 / KFE_ORDINARY && largest < KFE_ORDINARY))
        return 1;
    frexp(largest, &exponent);
    exponent = exponent > 1022 ? 1022 : exponent < -1022 ? -1022 : exponent;
    return ldexp(1, exponent / 2 * 2);
}

kfe_status kfe_i_largest_of_diagonal(kfe_context *ctx, const char *method, const double *diagonal,
                                     int64_t count, double *out)
{
    *out = 0;
    for (int64_t i = 0; i < count; i++)
        *out = fmax(*out, fabs(diagonal[i]));
    if (*out > 0 && *out < KFE_SMALLEST_KERNEL)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: the kernel's values are too small to compute with (at most %.3g); use {scale=standard}, or "
            "write the columns in another unit",
            method, *out);
    return KFE_OK;
}

kfe_status kfe_i_largest_kernel_value(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                                      double *out)
{
    kfe_status status = KFE_OK;
    double *diagonal = NULL;

    *out = 0;
    KFE_ALLOC(ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    KFE_TRY(kfe_i_largest_of_diagonal(ctx, method, diagonal, gram->size, out));
cleanup:
    kfe_i_free(ctx, diagonal);
    return status;
}
