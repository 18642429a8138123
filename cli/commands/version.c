/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe version`: prints the version, as --version does. */
#include <stdio.h>

#include "command.h"

static kfe_status run(cli_session *session)
{
    kfe_status status = cli_check_operands(session, 0, 0, "no operands");

    if (status == KFE_OK)
        printf("kfe %s\n", kfe_version());
    return status;
}

static const cli_flag flags[] = {CLI_FLAGS_END};

const cli_command cli_command_version = {
    .name = "version",
    .summary = "show the version",
    .operands = "",
    .description = "Prints the version of the program.",
    .flags = flags,
    .run = run,
};
