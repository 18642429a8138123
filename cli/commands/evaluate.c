/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe evaluate`: measures the predictions of a model on labelled data. */
#include <stdlib.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "page.h"
#include "progress.h"
#include "system/system.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    kfe_model *model = NULL;
    kfe_data *data = NULL;
    cli_text reading = {0};
    cli_text options = {0};
    kfe_result *result = NULL;
    double start = kfe_i_clock();
    kfe_status status = KFE_OK;

    if (arguments->operand_count < 1)
        return cli_check_operands(session, 2, 2, "a model and data");
    CLI_TRY(cli_page_check(session));
    CLI_TRY(cli_load_model(session, &model));
    cli_add_task(model, &reading);
    cli_options_of(arguments, CLI_OPTIONS, &options);
    if (session->json && !cli_option_given(arguments, CLI_OPTIONS, "curves"))
        cli_text_option(&options, "curves", "yes");
    CLI_TRY(kfe_evaluate(session->ctx, model, NULL, cli_text_string(&options), &result));
    CLI_TRY(cli_read_data(session, 1, model, cli_text_string(&reading), &data));
    CLI_TRY(kfe_evaluate(session->ctx, model, data, cli_text_string(&options), &result));
    cli_progress_erase();
    if (!session->quiet)
        cli_print_data(session, 1, data);
    CLI_TRY(cli_print_result(session, result));
    cli_page page = {.path = cli_value(arguments, "report"), .model = model, .test = data};
    page.seconds = kfe_i_clock() - start;
    CLI_TRY(cli_page_write(session, &page));
cleanup:
    kfe_result_free(result);
    kfe_data_free(data);
    kfe_model_free(model);
    free(reading.bytes);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {CLI_VIEW, CLI_REPORT, CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_evaluate = {
    .name = "evaluate",
    .summary = "measure how well a model predicts",
    .operands = "MODEL DATA... [--metrics NAME;NAME...] [--json]",
    .description =
        "Predicts the classes or values of DATA and compares them with the labels in DATA. Prints "
        "accuracy, other metrics and the confusion matrix for classes; rmse, mae and r2 for numbers. "
        "--json adds the points of the ROC and precision-recall curves, unless --curves says no; with more "
        "than 1000 classes, it lists the pairs of classes that occur instead of the matrix.",
    .examples = "  kfe evaluate model.kfe test.csv\n"
                "  kfe evaluate model.kfe test.csv --metrics 'f1;auc' --positive ill --json\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .option = kfe_evaluate_option,
    .option_title = "Flags of evaluation",
    .run = run,
};
