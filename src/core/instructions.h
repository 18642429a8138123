/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile a loop for AVX-512, AVX2 and the baseline, and choose at run time: write it once as a KFE_LOOP, and name the public function
 * that chooses with KFE_CHOOSE_LOOP.
 */
#ifndef KFE_CORE_INSTRUCTIONS_H
#define KFE_CORE_INSTRUCTIONS_H

/* Inlined into one function for each instruction set. */
#define KFE_LOOP static inline __attribute__((always_inline))

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

#if defined(__clang__) /* it takes whole registers without being asked, and does not know the word */
#define KFE_AVX512_LOOP __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define KFE_AVX512_LOOP __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define KFE_AVX2_LOOP __attribute__((target("avx2,fma")))

static inline int kfe_i_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static inline int kfe_i_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* `give` is return, or nothing if `type` is void. */
#define KFE_CHOOSE_LOOP(type, give, name, loop, parameters, arguments)                                       \
    KFE_AVX512_LOOP static type loop##_avx512 parameters                                                     \
    {                                                                                                        \
        give loop arguments;                                                                                 \
    }                                                                                                        \
    KFE_AVX2_LOOP static type loop##_avx2 parameters                                                         \
    {                                                                                                        \
        give loop arguments;                                                                                 \
    }                                                                                                        \
    type name parameters                                                                                     \
    {                                                                                                        \
        if (kfe_i_has_avx512())                                                                              \
            give loop##_avx512 arguments;                                                                    \
        else if (kfe_i_has_avx2())                                                                           \
            give loop##_avx2 arguments;                                                                      \
        else                                                                                                 \
            give loop arguments;                                                                             \
    }

#else

#define KFE_CHOOSE_LOOP(type, give, name, loop, parameters, arguments)                                       \
    type name parameters                                                                                     \
    {                                                                                                        \
        give loop arguments;                                                                                 \
    }

#endif

#endif
