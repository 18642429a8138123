/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenBLAS chooses its kernels by a table of processors. One that is newer than the table is taken for a processor of 2004: on an
 * Emerald Rapids, version 0.3.21 multiplies matrices five to seven times slower than it can.
 */
#include "core/processor.h"

#include <stdlib.h>
#include <string.h>

#include "kfe.h"
#include "system/system.h"

typedef char *corename_fn(void);

const char *kfe_i_better_core(const char *core, int has_avx2, int has_avx512)
{
    /* cores whose kernels do without AVX2 */
    static const char *const old[] = {
        "Katmai",     "Coppermine", "Northwood",   "Prescott", "Banias",  "Atom",      "Core2",  "Penryn",
        "Dunnington", "Nehalem",    "Sandybridge", "Athlon",   "Opteron", "Barcelona", "Bobcat", "Generic"};

    if (!has_avx2)
        return NULL;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strncmp(core, old[i], strlen(old[i])) == 0)
            return has_avx512 ? "SkylakeX" : "Haswell";
    return NULL;
}

const char *kfe_blas_advice(void)
{
#if defined(__x86_64__)
    void *symbol = kfe_i_library_symbol(NULL, "openblas_get_corename");
    corename_fn *corename = NULL;

    if (!symbol || getenv("OPENBLAS_CORETYPE"))
        return NULL;
    memcpy(&corename, &symbol, sizeof corename); /* ISO C has no conversion between them */
    int has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl");
    return kfe_i_better_core(corename(), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                             has_avx512);
#else
    return NULL;
#endif
}
