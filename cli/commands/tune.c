/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe tune`: searches methods, kernels and settings for a data set within a budget. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "progress.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *output = cli_value(arguments, "output");
    kfe_data *data = NULL;
    kfe_model *best = NULL;
    cli_text options = {0};
    kfe_result *result = NULL;
    kfe_status status = KFE_OK;

    if (output && strcmp(output, "-") == 0)
        return cli_fail(session, "the table goes to standard output; -o needs a file");
    CLI_TRY(cli_check_output(session, output));
    cli_options_of(arguments, CLI_OPTIONS, &options);
    CLI_TRY(kfe_tune(session->ctx, NULL, cli_text_string(&options), NULL, &result));
    CLI_TRY(cli_read_data(session, 0, NULL, "", &data));
    CLI_TRY(kfe_tune(session->ctx, data, cli_text_string(&options), output ? &best : NULL, &result));
    cli_progress_erase();
    if (!session->quiet)
        cli_print_data(session, 0, data);
    CLI_TRY(cli_print_result(session, result)); /* before saving, which may fail: the search is not lost */
    if (output)
        CLI_TRY(kfe_model_save(session->ctx, best, output));
cleanup:
    kfe_result_free(result);
    kfe_model_free(best);
    kfe_data_free(data);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_SAVED_MODEL("fit the best setting on all examples and save that model; --save is the same"), CLI_VIEW,
    CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_tune = {
    .name = "tune",
    .summary = "find the method, kernel and settings that suit the data",
    .operands = "DATA... [-o MODEL] [--time 60s] [--trials N] [--json]",
    .description =
        "Tries methods, kernels, widths, ridges and classifiers or regressors on DATA, and baselines "
        "without a method. Settings are compared on inner folds: the best quarter of the settings "
        "continues after the first fold, and the best quarter of these after the third. Prints the "
        "candidates ranked by their best setting, with the p-value of the difference from the first, and "
        "at the end the error of the whole procedure, measured on examples that took no part in choosing. "
        "Says when the best value lies at the edge of its grid; such grids are widened while there is time.",
    .examples = "  kfe tune train.csv -o best.kfe\n"
                "  kfe tune train.csv --time 10m --metrics auc --json\n"
                "  kfe tune spectra.csv --prepare 'none|snv|snv,sg:derivative=1' --grid sg.window=7,11,15\n"
                "  kfe tune train.csv --time none --trials 100 --seed 1\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .option = kfe_tune_option,
    .option_title = "Flags of tuning",
    .run = run,
};
