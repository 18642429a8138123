/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: gamma, coef0. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(sigmoid)(KFE_NUMBER dot, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                        const KFE_NUMBER *params)
{
    (void)row_norm;
    (void)col_norm;
    /* a dot product that overflows may have the wrong sign: it becomes NaN */
    return KFE_F(tanh)(params[0] * dot + params[1]) + (dot - dot);
}
