/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: gamma. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_TERM(chi2)(KFE_NUMBER x, KFE_NUMBER y)
{
    KFE_NUMBER total = x + y;
    return total > 0 ? (x - y) * (x - y) / total : 0;
}

KFE_FORMULA KFE_NUMBER KFE_MAP(chi2)(KFE_NUMBER sum, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                     const KFE_NUMBER *params)
{
    (void)row_norm;
    (void)col_norm;
    return KFE_F(exp)(-params[0] * sum);
}
