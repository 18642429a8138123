/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: sigma, nu (1.5 or 2.5). No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(matern)(KFE_NUMBER distance, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                       const KFE_NUMBER *params)
{
    KFE_NUMBER t = KFE_F(sqrt)(2 * params[1]) * (KFE_F(sqrt)(distance) / params[0]);
    KFE_NUMBER decay = KFE_F(exp)(-t);

    (void)row_norm;
    (void)col_norm;
    /* t may be infinite */
    return decay > 0 ? (1 + t + (params[1] > 2 ? t * t / 3 : 0)) * decay : 0;
}
