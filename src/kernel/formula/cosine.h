/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(cosine)(KFE_NUMBER dot, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                       const KFE_NUMBER *params)
{
    /* two square roots: the product of the norms could overflow or underflow */
    KFE_NUMBER length = KFE_F(sqrt)(row_norm) * KFE_F(sqrt)(col_norm);

    (void)params;
    if (length > 0)
        return dot / length + length * 0; /* NaN where a norm overflows */
    return dot == 0 ? 0 : dot / length;   /* infinite where both underflow */
}
