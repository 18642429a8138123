/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe cv`: cross-validation and the search over grids of settings. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "page.h"
#include "progress.h"
#include "spec.h"
#include "system/system.h"

static kfe_status check_flags(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *save = cli_value(arguments, "output");

    if (!cli_value(arguments, "method"))
        return cli_fail(session, "cv needs a method: -m METHOD; 'kfe methods' lists them");
    if (save && strcmp(save, "-") == 0)
        return cli_fail(session, "the table goes to standard output; -o needs a file");
    return KFE_OK;
}

static kfe_status validate(cli_session *session, const kfe_spec *spec, const kfe_data *train)
{
    const cli_arguments *arguments = &session->arguments;
    const char *report = cli_value(arguments, "report");
    double start = kfe_i_clock();
    const char *save = cli_value(arguments, "output");
    const char **grids = NULL;
    kfe_model *best = NULL;
    cli_text options = {0};
    kfe_result *result = NULL;
    kfe_status status = KFE_OK;

    cli_list_values(arguments, "grid", &grids);
    cli_options_of(arguments, CLI_OPTIONS, &options);
    CLI_TRY(kfe_cross_validate(session->ctx, spec, grids, train, cli_text_string(&options),
                               save ? &best : NULL, &result));
    cli_progress_erase();
    if (!session->quiet)
        cli_print_data(session, 0, train);
    CLI_TRY(cli_print_result(session, result)); /* before saving, which may fail: the search is not lost */
    if (save)
        CLI_TRY(kfe_model_save(session->ctx, best, save));
    cli_page page = {.path = report, .model = best, .train = train, .results = result};
    page.seconds = kfe_i_clock() - start;
    CLI_TRY(cli_page_write(session, &page));
cleanup:
    kfe_result_free(result);
    kfe_model_free(best);
    free(grids);
    free(options.bytes);
    return status;
}

/* Everything that can be wrong before the data is known. */
static kfe_status make_spec(cli_session *session, kfe_spec **out)
{
    const cli_arguments *arguments = &session->arguments;
    const char **grids = NULL;
    int64_t settings = 0;
    cli_text options = {0};
    kfe_status status = KFE_OK;

    cli_list_values(arguments, "grid", &grids);
    cli_options_of(arguments, CLI_OPTIONS, &options);
    CLI_TRY(cli_make_spec(session, cli_value(arguments, "method"), 1, out));
    if (!kfe_spec_predicts(*out)) {
        status = cli_fail(session, "cv needs a learner to predict with: --learner LEARNER; 'kfe learners' "
                                   "lists them (methods that predict by themselves need none)");
        goto cleanup;
    }
    CLI_TRY(kfe_spec_check(session->ctx, *out, NULL, NULL));
    CLI_TRY(kfe_cv_check(session->ctx, *out, grids, cli_text_string(&options), &settings));
cleanup:
    free(grids);
    free(options.bytes);
    return status;
}

static kfe_status run(cli_session *session)
{
    kfe_data *train = NULL;
    kfe_spec *spec = NULL;
    cli_text reading = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(check_flags(session));
    CLI_TRY(cli_check_output(session, cli_value(&session->arguments, "output")));
    CLI_TRY(cli_page_check(session));
    CLI_TRY(make_spec(session, &spec));
    cli_add_content(session, &reading);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&reading), &train));
    CLI_TRY(validate(session, spec, train));
cleanup:
    kfe_spec_free(spec);
    kfe_data_free(train);
    free(reading.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_METHOD,
    CLI_KERNEL,
    CLI_LEARNER("the classifier or regressor to fit on the features; 'kfe learners' lists them; methods that "
                "predict by themselves need none"),
    CLI_GRID,
    CLI_SAVED_MODEL("fit the best setting on all examples and save that model; --save is the same"),
    CLI_VIEW,
    CLI_VIEW_KERNEL,
    CLI_REPORT,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_cv = {
    .name = "cv",
    .summary = "cross-validate a method and choose its settings",
    .operands = "-m METHOD [-k KERNEL]... [--learner LEARNER] [--grid NAME=VALUES]... [FLAGS] TRAIN...",
    .description = "Splits TRAIN into folds, fits on all but one of them and measures the predictions on the "
                   "fold left out. With --grid, the settings are compared on inner folds of each training "
                   "part, so that the examples that measure a choice never influence it. Prints the mean and "
                   "standard deviation of every metric, and the settings that were chosen. A setting that "
                   "cannot be fitted is reported with its reason and is not chosen.",
    .examples =
        "  kfe cv -m koc -k rbf --learner linear-svm --grid gamma=0.01:10:log7 --grid C=0.1,1,10 "
        "train.csv -o best.kfe\n"
        "  kfe cv -m kpca --dim 5 -k rbf:gamma=median --learner knn --folds 10 --repeats 3 train.csv\n"
        "  kfe cv -m svm-joint -k rbf --grid gamma=0.01:10:log7 --grid svm-C=1,10,100 train.csv\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING | CLI_SHOWS_NOTICES,
    .option = kfe_cv_option,
    .option_title = "Flags of cross-validation",
    .choices = {{&cli_methods, "method"}, {&cli_learners, "learner"}},
    .run = run,
};
