/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe kernels`: lists the kernels. */
#include "command.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    return cli_run_list(session, &cli_kernels);
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_kernels = {
    .name = "kernels",
    .summary = "list the kernels, or show one in full",
    .operands = "[NAME] [--json]",
    .description = "Lists the kernels that -k takes, each with its formula and the defaults of its "
                   "parameters. With a NAME, shows one kernel in full.",
    .examples = "  kfe kernels\n  kfe kernels rbf\n",
    .flags = flags,
    .run = run,
};
