/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: degree, gamma, coef0. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(poly)(KFE_NUMBER dot, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                     const KFE_NUMBER *params)
{
    KFE_NUMBER base = params[1] * dot + params[2];
    KFE_NUMBER result = 1;

    (void)row_norm;
    (void)col_norm;
    /* integer powers by squaring: exact for small integers, and faster than pow */
    for (int exponent = (int)params[0]; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}
