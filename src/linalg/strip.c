/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of products with a few vectors, for each kind of register and number. */
#include "linalg/strip.h"

#include <stddef.h>

#include "core/instructions.h"

enum { ROWS = 4 }; /* that are multiplied together */

#define KFE_BODY static inline __attribute__((always_inline))

/* Registers that lie anywhere in memory. */
#define KFE_REGISTER(number, bytes)                                                                          \
    number __attribute__((vector_size(bytes), aligned(sizeof(number)), may_alias))
typedef KFE_REGISTER(double, 16) double2;
typedef KFE_REGISTER(float, 16) float4;

#define STRIP double_plain
#define STRIP_TARGET
#define STRIP_NUMBER double
#define STRIP_VECTOR double2
#include "linalg/strip_body.h"

#define STRIP single_plain
#define STRIP_TARGET
#define STRIP_NUMBER float
#define STRIP_VECTOR float4
#include "linalg/strip_body.h"

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

typedef KFE_REGISTER(double, 32) double4;
typedef KFE_REGISTER(float, 32) float8;
typedef KFE_REGISTER(double, 64) double8;
typedef KFE_REGISTER(float, 64) float16;
#define KFE_AVX2 __attribute__((target("avx2,fma")))
#define KFE_AVX512 __attribute__((target("avx512f,avx512vl,fma")))

#define STRIP double_avx2
#define STRIP_TARGET KFE_AVX2
#define STRIP_NUMBER double
#define STRIP_VECTOR double4
#include "linalg/strip_body.h"

#define STRIP single_avx2
#define STRIP_TARGET KFE_AVX2
#define STRIP_NUMBER float
#define STRIP_VECTOR float8
#include "linalg/strip_body.h"

#define STRIP double_avx512
#define STRIP_TARGET KFE_AVX512
#define STRIP_NUMBER double
#define STRIP_VECTOR double8
#include "linalg/strip_body.h"

#define STRIP single_avx512
#define STRIP_TARGET KFE_AVX512
#define STRIP_NUMBER float
#define STRIP_VECTOR float16
#include "linalg/strip_body.h"

#endif

kfe_i_strip_way kfe_i_best_strip(int single)
{
#if defined(__x86_64__) && !defined(KFE_PORTABLE)
    if (kfe_i_has_avx512())
        return single ? (kfe_i_strip_way){single_avx512, 16} : (kfe_i_strip_way){double_avx512, 8};
    if (kfe_i_has_avx2())
        return single ? (kfe_i_strip_way){single_avx2, 8} : (kfe_i_strip_way){double_avx2, 4};
#endif
    return single ? (kfe_i_strip_way){single_plain, 4} : (kfe_i_strip_way){double_plain, 2};
}
