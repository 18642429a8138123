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

/* The derivative by the squared distance, for powers below 2. It has no limit at 0, and is 0 for points that differ by rounding only. */
KFE_FORMULA KFE_NUMBER KFE_MAP(exp_slope)(KFE_NUMBER distance, KFE_NUMBER row_norm, KFE_NUMBER col_norm,
                                          const KFE_NUMBER *params)
{
    KFE_NUMBER t = KFE_F(sqrt)(distance) / params[0];
    KFE_NUMBER u = params[1] == 1 ? t : KFE_F(pow)(t, params[1]);
    KFE_NUMBER decay = KFE_F(exp)(-u);

    return distance > (KFE_NUMBER)KFE_SAME_POINT * (row_norm + col_norm) && decay > 0
               ? -decay * (params[1] / 2) * (u / distance)
               : 0;
}
