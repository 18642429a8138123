/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment of the process decides before any work: how threads wait, which kernels OpenBLAS takes, and how many processes a
 * launcher of MPI has started. */
#include "core/environment.h"

#include <kfe.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

/* ---- threads that wait ---- */

static atomic_int sleeping_is_wanted;

static int environment_says_how(void)
{
    return getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME");
}

void kfe_let_threads_sleep(void)
{
    if (!environment_says_how())
        atomic_store(&sleeping_is_wanted, 1);
}

/* The runtimes of LLVM and Intel have a function for that, per calling thread. */
void kfe_i_make_threads_sleep(void)
{
    void *symbol = NULL;
    void (*set_blocktime)(int milliseconds) = NULL;

    if (!atomic_load(&sleeping_is_wanted))
        return;
    symbol = kfe_i_library_symbol(NULL, "kmp_set_blocktime");
    if (!symbol) {
        kfe_i_keep_idle_team();
        return;
    }
    memcpy(&set_blocktime, &symbol, sizeof set_blocktime); /* ISO C has no conversion between them */
    set_blocktime(0);
}

/* ---- OpenBLAS ---- */

/*
 * OpenBLAS chooses its kernels by a table of processors. One that is newer than the table is taken for a processor of 2004: on an
 * Emerald Rapids, version 0.3.21 multiplies matrices five to seven times slower than it can.
 */
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

/* ---- launchers ---- */

typedef struct launcher {
    const char *size, *process;
} launcher;

/* Variables of Open MPI, of MPICH and Intel MPI, and of SLURM's srun. */
static const launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                     {"PMI_SIZE", "PMI_RANK"},
                                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

/* A number that the launcher of more than one process has set; `alone` without such a launcher. */
static int launched(int wants_process, int alone)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size);
        const char *process = getenv(launchers[i].process);
        if (size && process && atoi(size) > 1)
            return atoi(wants_process ? process : size);
    }
    return alone;
}

int kfe_launched_process(void)
{
    return launched(1, 0);
}

int kfe_launched_processes(void)
{
    return launched(0, 1);
}
