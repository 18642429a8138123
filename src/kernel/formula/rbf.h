/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: gamma. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(rbf)(KFE_NUMBER distance, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                    const KFE_NUMBER *params)
{
    (void)row_norm;
    (void)col_norm;
    return KFE_F(exp)(-params[0] * distance);
}
