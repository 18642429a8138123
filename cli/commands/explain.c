/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe explain`: prints and saves why a model decides as it does. */
#include <stdlib.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "progress.h"

/* Data is optional: what follows from the model alone is explained without it. */
static kfe_status read_data(cli_session *session, const kfe_model *model, kfe_data **out)
{
    const cli_arguments *arguments = &session->arguments;
    cli_text reading = {0};
    kfe_status status = KFE_OK;

    if (arguments->operand_count < 2 && !cli_value(arguments, "view"))
        return KFE_OK;
    cli_add_task(model, &reading);
    status = cli_read_data(session, 1, model, cli_text_string(&reading), out);
    free(reading.bytes);
    return status;
}

/* A file of labels has a row for each example, so that training data needs its own. */
static kfe_status check_labels(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;

    if (cli_value(arguments, "train-labels") && !cli_value(arguments, "train"))
        return cli_fail(session, "--train-labels needs training data; give --train FILE");
    if (cli_value(arguments, "train") && cli_option_given(arguments, CLI_READING, "label_file") &&
        !cli_value(arguments, "train-labels"))
        return cli_fail(session, "--label-file has the labels of DATA; give those of the training data with "
                                 "--train-labels FILE");
    return KFE_OK;
}

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *output = cli_value(arguments, "output");
    kfe_model *model = NULL;
    kfe_data *data = NULL;
    kfe_data *train = NULL;
    kfe_result *explanation = NULL;
    cli_text options = {0};
    kfe_status status = KFE_OK;

    if (arguments->operand_count < 1)
        return cli_check_operands(session, 1, 2, "a model and, where you have it, data");
    CLI_TRY(cli_check_output(session, output));
    CLI_TRY(check_labels(session));
    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(read_data(session, model, &data));
    CLI_TRY(cli_read_flag_data(session, "train", model, &train));
    cli_options_of(arguments, CLI_OPTIONS, &options);
    CLI_TRY(kfe_explain_refit(session->ctx, model, train, data, cli_text_string(&options), &explanation));
    cli_progress_erase();
    if (output)
        CLI_TRY(kfe_result_write(session->ctx, explanation, output));
    if (output && !session->json)
        goto cleanup;
    CLI_TRY(cli_print_result(session, explanation));
cleanup:
    kfe_result_free(explanation);
    kfe_data_free(train);
    kfe_data_free(data);
    kfe_model_free(model);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "FILE",
             "write all numbers to this file instead of printing the first ones: CSV with the columns table, "
             "row, column and value, or JSON if the name ends in .json"),
    CLI_TEXT("train", 0, "FILE",
             "training examples, on which the model is fitted again without each view in turn; repeated "
             "for several views, as FILE or VIEW=FILE"),
    CLI_TRAIN_LABELS,
    CLI_VIEW,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_explain = {
    .name = "explain",
    .summary = "say which columns matter, and why",
    .operands = "MODEL [DATA...] [--train FILE] [-o FILE] [--json]",
    .description =
        "Prints what a model does with its columns, in the units of the data. For a linear model: "
        "coefficients, weights, loadings, explained variance, VIP and selectivity ratio. With labelled "
        "DATA: how much worse predictions get when a column (or view) is permuted and, with --train, when "
        "the model is fitted without a view. For a learned distance: how much each column counts. For "
        "kernels with a derivative: the mean squared derivative by column. For support examples: how much "
        "they weigh.",
    .examples = "  kfe explain model.kfe test.csv --parts 'permutation;gradient'\n"
                "  kfe fit -m pls --dim 3 --learner ls train.csv -o model.kfe\n"
                "  kfe explain model.kfe\n"
                "  kfe explain model.kfe test.csv --examples yes -o explained.csv\n"
                "  kfe explain views.kfe new/a.csv new/b.csv --train a.csv --train b.csv --parts views\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .option = kfe_explain_option,
    .option_title = "Flags of explanation",
    .run = run,
};
