/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. params: sigma, power. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_MAP(exp)(KFE_NUMBER distance, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                    const KFE_NUMBER *params)
{
    /* dividing first keeps distance 0 exact for every sigma */
    KFE_NUMBER t = KFE_F(sqrt)(distance) / params[0];

    (void)row_norm;
    (void)col_norm;
    return KFE_F(exp)(params[1] == 1 ? -t : params[1] == 2 ? -t * t : -KFE_F(pow)(t, params[1]));
}
