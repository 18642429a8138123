/* SPDX-License-Identifier: Apache-2.0 */
/* Use formulas.h, which includes this once for each precision. No include guard, on purpose. */
KFE_FORMULA KFE_NUMBER KFE_TERM(intersection)(KFE_NUMBER x, KFE_NUMBER y)
{
    return x < y ? x : y;
}
