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
    .summary = "list the learners, or show one in full",
    .operands = "[NAME] [--json]",
    .description = "Lists what '--learner' takes: what learns on the features and predicts, each with its "
                   "paper and the defaults of its parameters; with a NAME, shows one of them in full.",
    .examples = "  kfe learners\n  kfe learners svm\n",
    .flags = flags,
    .run = run,
};
