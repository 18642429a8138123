/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises launchers of MPI by what they put into the environment, joins the other processes and silences all but the first. main.c
 * calls it. */
#include "cluster.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables of Open MPI, of MPICH and Intel MPI, and of SLURM's srun. */
typedef struct launcher {
    const char *size, *rank;
} launcher;

static const launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                     {"PMI_SIZE", "PMI_RANK"},
                                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

static const launcher *own_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size);
        if (size && atoi(size) > 1 && getenv(launchers[i].rank))
            return &launchers[i];
    }
    return NULL;
}

int cli_cluster_is_launched(void)
{
    return own_launcher() != NULL;
}

int cli_cluster_is_follower(void)
{
    const launcher *by = own_launcher();

    return by && atoi(getenv(by->rank)) > 0;
}

/* Reports go to standard output from many places; here they go nowhere. */
static void silence(cli_session *session)
{
    int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    session->quiet = 1;
    kfe_context_on_log(session->ctx, NULL, NULL);
    kfe_context_on_progress(session->ctx, NULL, NULL);
}

kfe_status cli_cluster_join(cli_session *session)
{
    const char *device = cli_value(&session->arguments, "device");
    int asked = device && strcmp(device, "mpi") == 0;

    if (!asked && (!cli_cluster_is_launched() || (device && strcmp(device, "cpu") == 0)))
        return KFE_OK;
    if (cli_cluster_is_follower())
        silence(session);
    return kfe_context_set_cluster(session->ctx, NULL);
}

kfe_status cli_cluster_end(cli_session *session, kfe_status status)
{
    const char *reason = cli_text_string(&session->problem);

    if (kfe_context_ranks(session->ctx) == 1)
        return status;
    if (status != KFE_OK && *reason)
        (void)kfe_fail(session->ctx, status, reason);
    session->problem.length = 0;
    return kfe_context_agree(session->ctx, status);
}
