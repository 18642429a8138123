/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe predict`: writes the predictions of a model for new examples. */
#include <stdlib.h>

#include "command.h"
#include "input.h"

/* Each limit lets so many of the rows like the training data pass. */
#define OUTLIER_LEVEL 0.99

/* How many of the flags that choose a table were given. */
static int count_tables(const cli_arguments *arguments)
{
    return cli_is_set(arguments, "scores") + cli_is_set(arguments, "all-dims") +
           cli_is_set(arguments, "probabilities") + cli_is_set(arguments, "flag-outliers") +
           (cli_value(arguments, "intervals") != NULL);
}

static kfe_status load(cli_session *session, kfe_model **model)
{
    const cli_arguments *arguments = &session->arguments;
    kfe_status status = KFE_OK;

    if (arguments->operand_count < 1)
        return cli_check_operands(session, 2, 2, "a model and data");
    CLI_TRY(cli_load_model(session, model));
    if (cli_is_set(arguments, "scores") && kfe_model_learner(*model) &&
        kfe_model_task(*model) == KFE_TASK_REAL)
        status = cli_fail(session, "the model predicts numbers, and scores are for classes; leave out "
                                   "--scores");
    else if (count_tables(arguments) > 1)
        status =
            cli_fail(session, "--scores, --probabilities, --all-dims, --flag-outliers and --intervals write "
                              "different tables: give one");
    else if (cli_value(arguments, "level") && !cli_is_set(arguments, "flag-outliers"))
        status = cli_fail(session, "--level is the level of --flag-outliers; give both");
cleanup:
    return status;
}

/* Writes the predictions with the first 1, 2, … features. */
static kfe_status answer_path(cli_session *session, const kfe_model *model, const kfe_data *rows,
                              kfe_output *output)
{
    kfe_matrix path = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_predict_path(session->ctx, model, rows, &path));
    CLI_TRY(kfe_output_path(session->ctx, output, model, rows, &path));
cleanup:
    kfe_matrix_free(&path);
    return status;
}

static kfe_status answer_probabilities(cli_session *session, const kfe_model *model, const kfe_data *rows,
                                       kfe_output *output)
{
    kfe_matrix predictions = {0};
    kfe_matrix probabilities = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_predict_probabilities(session->ctx, model, rows, &predictions, &probabilities));
    CLI_TRY(kfe_output_probabilities(session->ctx, output, model, rows, &predictions, &probabilities));
cleanup:
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&probabilities);
    return status;
}

/* Writes the predictions with what says how far each row is from the training data. */
static kfe_status answer_diagnostics(cli_session *session, const kfe_model *model, const kfe_data *rows,
                                     kfe_output *output)
{
    const char *given = cli_value(&session->arguments, "level");
    char *end = NULL;
    double level = given ? strtod(given, &end) : OUTLIER_LEVEL;
    kfe_matrix predictions = {0};
    kfe_matrix diagnostics = {0};
    kfe_status status = KFE_OK;

    if (given && *end)
        return cli_fail(session, "--level takes a number between 0 and 1, such as 0.99");
    CLI_TRY(kfe_predict(session->ctx, model, rows, &predictions, NULL));
    CLI_TRY(kfe_diagnose(session->ctx, model, rows, level, &diagnostics, NULL));
    CLI_TRY(kfe_output_diagnostics(session->ctx, output, model, rows, &predictions, &diagnostics));
cleanup:
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&diagnostics);
    return status;
}

/* Writes the predictions with intervals or sets. */
static kfe_status answer_intervals(cli_session *session, const kfe_model *model, const kfe_data *rows,
                                   kfe_output *output)
{
    const char *given = cli_value(&session->arguments, "intervals");
    char *end = NULL;
    double level = strtod(given, &end);
    kfe_matrix predictions = {0};
    kfe_matrix intervals = {0};
    kfe_status status = KFE_OK;

    if (end == given || *end)
        return cli_fail(session, "--intervals takes a level between 0 and 1, such as 0.9");
    CLI_TRY(kfe_predict_intervals(session->ctx, model, rows, level, &predictions, &intervals));
    CLI_TRY(kfe_output_intervals(session->ctx, output, model, rows, &predictions, &intervals));
cleanup:
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&intervals);
    return status;
}

static kfe_status answer(cli_session *session, const kfe_model *model, const kfe_data *rows,
                         kfe_output *output)
{
    int with_scores = cli_is_set(&session->arguments, "scores");
    kfe_matrix predictions = {0};
    kfe_matrix scores = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_predict(session->ctx, model, rows, &predictions, with_scores ? &scores : NULL));
    CLI_TRY(kfe_output_predictions(session->ctx, output, model, rows, &predictions,
                                   with_scores ? &scores : NULL));
cleanup:
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&scores);
    return status;
}

static kfe_status run(cli_session *session)
{
    const char *output = cli_value(&session->arguments, "output");
    kfe_model *model = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_output(session, output));
    CLI_TRY(load(session, &model));
    CLI_TRY(cli_answer(session, model, output,
                       cli_value(&session->arguments, "intervals")        ? answer_intervals
                       : cli_is_set(&session->arguments, "all-dims")      ? answer_path
                       : cli_is_set(&session->arguments, "flag-outliers") ? answer_diagnostics
                       : cli_is_set(&session->arguments, "probabilities") ? answer_probabilities
                                                                          : answer));
cleanup:
    kfe_model_free(model);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "PREDICTIONS",
             "the file to write; its extension names the format (.csv .tsv .npy .npz .svm .mtx .arff, also "
             "with .gz .xz .zst). CSV on "
             "standard output unless given"),
    CLI_SWITCH("scores", "also write the decision values after the label: one per class, or one per pair of "
                         "classes, positive for the first class of the pair"),
    CLI_SWITCH("probabilities", "also write the probability of each class after the label; for models fitted "
                                "with --calibration"),
    CLI_TEXT(
        "intervals", 0, "L",
        "also write an interval that contains the true value with probability L, such as 0.9; for classes, "
        "1 for each class in a set that contains the true one with probability L, else 0; for models "
        "fitted with --conformal"),
    CLI_SWITCH("all-dims",
               "predict with the first 1, 2, ... features and write one column for each number of "
               "features; for models with --learner ls and a method whose first features do not depend on "
               "dim, such as pls"),
    CLI_SWITCH(
        "flag-outliers",
        "also write how far each row is from the training data, and 1 in the column outlier if its T² or "
        "its Q residual is above the limit; see 'kfe explain --parts diagnostics'"),
    CLI_TEXT(
        "level", 0, "L",
        "with --flag-outliers: the share of rows like the training data that stays below each limit; 0.99 "
        "unless given"),
    CLI_VIEW,
    CLI_FLAGS_END};

const cli_command cli_command_predict = {
    .name = "predict",
    .summary = "predict the labels or values of new data",
    .operands = "MODEL DATA... [-o PREDICTIONS] [--scores | --probabilities | --intervals L | --all-dims | "
                "--flag-outliers]",
    .description = "Predicts the class or value of every example in DATA and writes one row for each. The "
                   "model must have been fitted with --learner, or by a method that predicts by itself ('kfe "
                   "methods NAME' says so). DATA must have the columns that the model was fitted on; a label "
                   "column is optional and ignored. " CLI_IN_PARTS,
    .examples = "  kfe fit -m koc -k rbf:gamma=0.2 --learner knn train.csv -o model.kfe\n"
                "  kfe predict model.kfe new.csv -o labels.csv\n"
                "  kfe predict model.kfe new.csv --flag-outliers -o checked.csv\n"
                "  tail -f measured.csv | kfe predict model.kfe -\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .run = run,
};
