/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    return cli_run_list(session, &cli_methods, kfe_list_methods);
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_methods = {
    .name = "methods",
    .summary = "list the methods, or show one in full",
    .operands = "[NAME] [--json]",
    .description = "Lists the methods that 'kfe fit -m' takes; with a NAME, shows its paper and parameters.",
    .examples = "  kfe methods\n  kfe methods koc\n",
    .flags = flags,
    .run = run,
};
