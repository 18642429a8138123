/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe steps`: lists the steps of --prepare. */
#include "command.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    return cli_run_list(session, &cli_steps);
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_steps = {
    .name = "steps",
    .summary = "list the steps that prepare rows, or show one in full",
    .operands = "[NAME] [--json]",
    .description =
        "Lists the steps that '--prepare' takes, each with its formula or paper and the defaults of its parameters. "
        "With a NAME, shows one of them in full.",
    .examples = "  kfe steps\n  kfe steps sg\n"
                "  kfe fit -m pls --prepare snv,sg:window=11,order=2,derivative=1 spectra.csv -o model.kfe\n",
    .flags = flags,
    .run = run,
};
