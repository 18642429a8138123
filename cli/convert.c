/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"

static kfe_status check_kernel(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;

    if (cli_value_at(arguments, "kernel", 1))
        return cli_fail(session, "convert takes one kernel; sum the matrices of several yourself");
    if (cli_value(arguments, "against") && !cli_value(arguments, "kernel"))
        return cli_fail(session, "--against is for kernel matrices: it needs -k KERNEL");
    if (cli_value(arguments, "against") && strcmp(cli_value(arguments, "against"), "-") == 0 &&
        strcmp(arguments->operands[0], "-") == 0)
        return cli_fail(session, "standard input can be read only once");
    return KFE_OK;
}

/* A label file belongs to IN. Data that has one has no label column of its own. */
static kfe_status read_against(cli_session *session, const char *path, kfe_data **out)
{
    cli_text options = {0};
    kfe_status status;

    cli_add_content(session, &options);
    if (cli_option_given(&session->arguments, CLI_READING, "label_file"))
        cli_text_option(&options, "label", "none");
    cli_options_of(&session->arguments, CLI_READING, &options);
    cli_text_option(&options, "label_file", "");
    status = kfe_data_read(session->ctx, path, cli_text_string(&options), out);
    free(options.bytes);
    return status;
}

/* As with transform, the columns of the other table tell whether IN has a label column. */
static kfe_status read_rows(cli_session *session, const kfe_data *against, kfe_data **out)
{
    char number[32];
    cli_text options = {0};
    kfe_status status;

    cli_add_content(session, &options);
    if (against && !options.length) {
        snprintf(number, sizeof number, "%lld", (long long)kfe_data_cols(against, 0));
        cli_text_option(&options, "columns", number);
    }
    cli_options_of(&session->arguments, CLI_READING, &options);
    status = kfe_data_read(session->ctx, session->arguments.operands[0], cli_text_string(&options), out);
    free(options.bytes);
    return status;
}

/* An npy file is one array: with the labels in it, it would be no kernel matrix. */
static int holds_labels(const char *path)
{
    const char *dot = strstr(path, ".npy");

    return !dot || (strcmp(dot, ".npy") != 0 && strcmp(dot, ".npy.gz") != 0);
}

static kfe_status write_kernel(cli_session *session, const kfe_data *rows, const kfe_data *against)
{
    const char *path = session->arguments.operands[1];
    kfe_matrix matrix = {0};
    kfe_data *data = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(
        kfe_kernel_matrix(session->ctx, cli_value(&session->arguments, "kernel"), rows, against, &matrix));
    CLI_TRY(kfe_data_wrap_dense(session->ctx, matrix.rows, matrix.cols, matrix.stride, matrix.values, &data));
    if (holds_labels(path))
        CLI_TRY(kfe_data_copy_target(session->ctx, rows, data));
    CLI_TRY(kfe_data_write(session->ctx, data, path));
cleanup:
    kfe_data_free(data);
    kfe_matrix_free(&matrix);
    return status;
}

static kfe_status run(cli_session *session)
{
    const char *against_path = cli_value(&session->arguments, "against");
    kfe_data *data = NULL;
    kfe_data *against = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_operands(session, 2, 2, "a file to read and a file to write"));
    CLI_TRY(check_kernel(session));
    if (against_path)
        CLI_TRY(read_against(session, against_path, &against));
    CLI_TRY(read_rows(session, against, &data));
    if (cli_value(&session->arguments, "kernel"))
        CLI_TRY(write_kernel(session, data, against));
    else
        CLI_TRY(kfe_data_write(session->ctx, data, session->arguments.operands[1]));
cleanup:
    kfe_data_free(data);
    kfe_data_free(against);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("kernel", 'k', "KERNEL",
             "write the kernel matrix instead of the data, one row for each example of IN"),
    CLI_TEXT("against", 0, "FILE",
             "the examples that the columns of the kernel matrix stand for; by default those of IN"),
    CLI_FLAGS_END};

const cli_command cli_command_convert = {
    .name = "convert",
    .summary = "convert data to another format, or to its kernel matrix",
    .operands = "IN OUT [-k KERNEL [--against FILE]] [FLAGS]",
    .description =
        "Reads IN and writes it to OUT in the format that OUT's extension names: .csv .tsv .npy "
        ".npz .svm .libsvm, also followed by .gz; '-' is CSV on standard output.\n"
        "With -k, it writes the kernel matrix instead, ready for 'kfe fit -k precomputed'; made --against "
        "the training data from test data, ready for 'kfe transform'. IN's labels go with it, except into "
        ".npy, which holds the matrix alone. Names such as gamma=scale are resolved on the data of the "
        "columns.",
    .examples = "  kfe convert table.csv table.svm\n"
                "  kfe convert --label first --missing mean table.tsv.gz table.npz\n"
                "  kfe convert -k rbf:gamma=0.1 train.csv K.npz\n"
                "  kfe convert -k rbf:gamma=0.1 test.csv --against train.csv K-test.npz\n",
    .flags = flags,
    .uses = CLI_USES_READING,
    .run = run,
};
