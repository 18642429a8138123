/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe info`: prints what a model file contains. */
#include "command.h"
#include "input.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    kfe_model *model = NULL;
    char *text = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_operands(session, 1, 1, "a model file"));
    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(kfe_model_describe(session->ctx, model, session->json ? KFE_STYLE_JSON : KFE_STYLE_TEXT, &text));
    cli_print_text(text);
cleanup:
    kfe_string_free(session->ctx, text);
    kfe_model_free(model);
    return status;
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_info = {
    .name = "info",
    .summary = "describe a model",
    .operands = "MODEL [--json]",
    .description = "Prints what a model file contains: method, parameters, kernels, sizes, classes and the "
                   "records of the fit.",
    .examples = "  kfe info model.kfe\n  kfe info --json model.kfe | jq .method\n",
    .flags = flags,
    .run = run,
};
