/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe learners`: lists the classifiers and regressors. */
#include "command.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    return cli_run_list(session, &cli_learners);
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_learners = {
    .name = "learners",
    .summary = "list the classifiers and regressors, or show one in full",
    .operands = "[NAME] [--json]",
    .description = "Lists the classifiers and regressors that '--learner' takes, each with its paper and the "
                   "defaults of its parameters. With a NAME, shows one of them in full.",
    .examples = "  kfe learners\n  kfe learners svm\n",
    .flags = flags,
    .run = run,
};
