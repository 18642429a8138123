/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe report`: one HTML page with every figure of a model and data, or of a search. */
#include <stdlib.h>

#include "command.h"
#include "input.h"
#include "page.h"
#include "progress.h"
#include "system/system.h"

static kfe_status check_arguments(cli_session *session)
{
    if (session->arguments.operand_count != 1)
        return cli_check_operands(session, 1, 1, "a model, or the results of a search");
    if (!cli_value(&session->arguments, "output"))
        return cli_fail(session, "report needs to know where the page goes: -o FILE, such as -o report.html");
    return cli_page_check_path(session, cli_value(&session->arguments, "output"));
}

static kfe_status report_model(cli_session *session, cli_page *page, double start)
{
    kfe_model *model = NULL;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(cli_read_flag_data(session, "train", model, &train));
    CLI_TRY(cli_read_flag_data(session, "test", model, &test));
    page->model = model;
    page->train = train;
    page->test = test;
    page->seconds = kfe_i_clock() - start;
    CLI_TRY(cli_page_write(session, page));
cleanup:
    kfe_data_free(test);
    kfe_data_free(train);
    kfe_model_free(model);
    return status;
}

static kfe_status report_results(cli_session *session, cli_page *page, double start)
{
    kfe_result *results = NULL;
    kfe_status status = KFE_OK;

    if (cli_value(&session->arguments, "train") || cli_value(&session->arguments, "test"))
        return cli_fail(session, "the report of a search takes no data; leave out --train and --test");
    CLI_TRY(cli_read_results(session, session->arguments.operands[0], &results));
    page->results = results;
    page->seconds = kfe_i_clock() - start;
    CLI_TRY(cli_page_write(session, page));
cleanup:
    kfe_result_free(results);
    return status;
}

static kfe_status run(cli_session *session)
{
    cli_page page = {.path = cli_value(&session->arguments, "output")};
    cli_text options = {0};
    double start = kfe_i_clock();
    kfe_status status = KFE_OK;

    CLI_TRY(check_arguments(session));
    cli_options_of(&session->arguments, CLI_OPTIONS, &options);
    page.options = cli_text_string(&options);
    CLI_TRY(cli_is_results(session->arguments.operands[0]) ? report_results(session, &page, start)
                                                           : report_model(session, &page, start));
cleanup:
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "FILE", "the HTML file to write; '-' is standard output"),
    CLI_TEXT("train", 0, "FILE", "training examples; repeated for several views"),
    CLI_TRAIN_LABELS,
    CLI_TEXT("test", 0, "FILE", "test examples, on which predictions are judged; repeated for several views"),
    CLI_TEXT("test-labels", 0, "FILE", "the labels of the test examples, if they are in a file of their own"),
    CLI_FLAGS_END};

const cli_command cli_command_report = {
    .name = "report",
    .summary = "write a page with every figure of a model or of a search",
    .operands = "MODEL [--train FILE] [--test FILE] -o FILE.html | RESULTS.json -o FILE.html",
    .description =
        "Writes one HTML page that opens offline: features, quality of predictions, how the model "
        "was learned, what "
        "was chosen and why, and what was done, with warnings at the top. Every figure has its "
        "numbers as a table. "
        "RESULTS.json is what cv, compare or reproduce printed with --json. The commands fit, evaluate, "
        "cv, compare and reproduce write the same page with --report.",
    .examples = "  kfe report model.kfe --train train.csv --test test.csv -o report.html\n"
                "  kfe compare train.csv --learner knn --json > compare.json && kfe report compare.json -o "
                "compare.html\n",
    .flags = flags,
    .uses = CLI_USES_READING,
    .option = kfe_report_option,
    .option_title = "Flags of figures",
    .run = run,
};
