/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe transform`: writes the features of new examples. */
#include "command.h"
#include "input.h"

static kfe_status answer(cli_session *session, const kfe_model *model, const kfe_data *rows,
                         kfe_output *output)
{
    kfe_matrix features = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_transform(session->ctx, model, rows, &features));
    CLI_TRY(kfe_output_features(session->ctx, output, model, &features, rows));
cleanup:
    kfe_matrix_free(&features);
    return status;
}

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *output = cli_value(arguments, "output");
    kfe_model *model = NULL;
    kfe_status status = KFE_OK;

    if (arguments->operand_count < 1)
        return cli_check_operands(session, 2, 2, "a model and data");
    CLI_TRY(cli_check_output(session, output));
    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(cli_answer(session, model, output, answer));
cleanup:
    kfe_model_free(model);
    return status;
}

static const cli_flag flags[] = {CLI_TEXT("output", 'o', "FEATURES",
                                          "the file to write; its extension names the format (.csv .tsv .npy "
                                          ".npz .svm .mtx .arff, also with .gz .xz .zst). CSV on "
                                          "standard output unless given"),
                                 CLI_VIEW, CLI_FLAGS_END};

const cli_command cli_command_transform = {
    .name = "transform",
    .summary = "compute the features of new data",
    .operands = "MODEL DATA... [-o FEATURES]",
    .description =
        "Computes the features of every example in DATA and writes one row for each. DATA must have the "
        "columns that the model was fitted on; a label column is optional. Columns have the names that are "
        "usual in the field: LV1 (pls), PC1 (pca), LD1 (kfd), predictive1 and orthogonal1 (opls), "
        "otherwise the name of the method and a number. LIBSVM files (.svm) begin each row with the label "
        "if DATA has one; other formats hold the features only. MODEL '-' is standard input. A model of "
        "several views takes as many files. " CLI_IN_PARTS,
    .examples = "  kfe transform model.kfe test.csv -o features.npy\n"
                "  zcat test.csv.gz | kfe transform model.kfe - | head\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .run = run,
};
