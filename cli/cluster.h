/* SPDX-License-Identifier: Apache-2.0 */
/* Run a command in several processes that mpirun or srun started: all of them compute, the first one prints. */
#ifndef KFE_CLI_CLUSTER_H
#define KFE_CLI_CLUSTER_H

#include "command.h"

/* Whether a launcher of MPI started this process together with others, and whether it is one of those that do not print. */
int cli_cluster_is_launched(void);
int cli_cluster_is_follower(void);
/* Joins the other processes if there are any, or if the device "mpi" was asked for. From then on only the first one prints. */
kfe_status cli_cluster_join(cli_session *session);
/* How the command has ended in all processes; the message is then the context's. */
kfe_status cli_cluster_end(cli_session *session, kfe_status status);

#endif
