/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the other processes that a launcher of MPI started, and silences all but the first. main.c calls it. */
#include "cluster.h"

#include <string.h>

#include "system/system.h"

int cli_cluster_is_launched(void)
{
    return kfe_launched_processes() > 1;
}

int cli_cluster_is_follower(void)
{
    return kfe_launched_process() > 0;
}

/* Reports go to standard output from many places; here they go nowhere. */
static void silence(cli_session *session)
{
    (void)!freopen(kfe_i_null_device, "w", stdout);
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

    if (kfe_context_processes(session->ctx) == 1)
        return status;
    if (status != KFE_OK && *reason)
        (void)kfe_fail(session->ctx, status, reason);
    session->problem.length = 0;
    return kfe_context_agree(session->ctx, status);
}
