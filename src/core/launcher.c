/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises launchers of MPI by what they put into the environment: kfe_launched_processes. */
#include <stdlib.h>

#include "kfe.h"

typedef struct launcher {
    const char *size, *process;
} launcher;

/* Variables of Open MPI, of MPICH and Intel MPI, and of SLURM's srun. */
static const launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                     {"PMI_SIZE", "PMI_RANK"},
                                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

int kfe_launched_processes(int *process)
{
    *process = 0;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size);
        const char *own = getenv(launchers[i].process);
        if (size && own && atoi(size) > 1) {
            *process = atoi(own);
            return atoi(size);
        }
    }
    return 1;
}
