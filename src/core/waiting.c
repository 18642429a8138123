/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for work sleep, as with OMP_WAIT_POLICY=passive, in programs that cannot set the variable in time. */
#include "core/waiting.h"

#include <kfe.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

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
