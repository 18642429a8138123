/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe convert`: rewrites data in another format, and writes kernel matrices and rectangle
 * features. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"

/* OUT is the second operand or the value of -o. */
static const char *output_path(const cli_session *session)
{
    const char *named = cli_value(&session->arguments, "output");

    return named ? named : session->arguments.operands[1];
}

static kfe_status check_operands(cli_session *session)
{
    if (cli_value(&session->arguments, "output"))
        return cli_check_operands(session, 1, 1, "a file to read, since -o names the file to write");
    return cli_check_operands(session, 2, 2, "a file to read and a file to write");
}

static kfe_status check_flags(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;

    if (cli_value(arguments, "kernel") && cli_value(arguments, "viola-jones"))
        return cli_fail(
            session, "-k and --viola-jones cannot be used together; convert the features in a second step");
    if (cli_option_given(arguments, CLI_READING, "weight"))
        return cli_fail(session, "%s",
                        cli_value(arguments, "kernel") || cli_value(arguments, "viola-jones")
                            ? "convert writes no weights; leave the column of weights out with --drop"
                            : "convert writes the column of weights with the others; leave --weight out");
    if (cli_value_at(arguments, "kernel", 1))
        return cli_fail(session, "convert takes one kernel; to add up several, add their matrices yourself");
    if (cli_value(arguments, "against") && !cli_value(arguments, "kernel"))
        return cli_fail(session, "--against is for kernel matrices: it needs -k KERNEL");
    if (cli_value(arguments, "against") && strcmp(cli_value(arguments, "against"), "-") == 0 &&
        strcmp(arguments->operands[0], "-") == 0)
        return cli_fail(session, "standard input can be read only once");
    return KFE_OK;
}

/* A label file belongs to IN. If there is one, the other table has no label column either. */
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

/* As in transform, the number of columns of the other table shows whether IN has a label column. */
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

/* A .npy or .mtx file is one array: with the labels in it, it would not be a kernel matrix. */
static int holds_labels(const char *path)
{
    static const char *const endings[] = {".npy", ".mtx"};

    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        const char *dot = strstr(path, endings[k]);
        if (dot && (dot[4] == '\0' || strcmp(dot + 4, ".gz") == 0 || strcmp(dot + 4, ".xz") == 0 ||
                    strcmp(dot + 4, ".zst") == 0))
            return 0;
    }
    return 1;
}

static kfe_status write_kernel(cli_session *session, const kfe_data *rows, const kfe_data *against)
{
    const char *path = output_path(session);
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

/* "19x19": pixels across and down. */
static int parse_size(const char *text, int64_t *width, int64_t *height)
{
    long long across = 0;
    long long down = 0;
    int used = 0;

    if (sscanf(text, "%9lldx%9lld%n", &across, &down, &used) != 2 || text[used] != '\0' || across < 1 ||
        down < 1)
        return 0;
    *width = across;
    *height = down;
    return 1;
}

static kfe_status write_rectangle_features(cli_session *session, const kfe_data *images)
{
    const char *size = cli_value(&session->arguments, "viola-jones");
    int64_t width = 0;
    int64_t height = 0;
    kfe_data *features = NULL;
    kfe_status status = KFE_OK;

    if (!parse_size(size, &width, &height))
        return cli_fail(session, "--viola-jones needs the size of the images as WxH, such as 19x19, not '%s'",
                        size);
    CLI_TRY(kfe_data_viola_jones(session->ctx, images, width, height, &features));
    CLI_TRY(kfe_data_write(session->ctx, features, output_path(session)));
cleanup:
    kfe_data_free(features);
    return status;
}

static kfe_status run(cli_session *session)
{
    const char *against_path = cli_value(&session->arguments, "against");
    kfe_data *data = NULL;
    kfe_data *against = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(check_operands(session));
    CLI_TRY(check_flags(session));
    CLI_TRY(kfe_output_check(session->ctx, output_path(session)));
    if (against_path)
        CLI_TRY(read_against(session, against_path, &against));
    CLI_TRY(read_rows(session, against, &data));
    if (cli_value(&session->arguments, "kernel"))
        CLI_TRY(write_kernel(session, data, against));
    else if (cli_value(&session->arguments, "viola-jones"))
        CLI_TRY(write_rectangle_features(session, data));
    else
        CLI_TRY(kfe_data_write(session->ctx, data, output_path(session)));
cleanup:
    kfe_data_free(data);
    kfe_data_free(against);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("kernel", 'k', "KERNEL",
             "write the kernel matrix instead of the data, one row for each example of IN"),
    CLI_TEXT("against", 0, "FILE",
             "a file whose examples are the columns of the kernel matrix; by default those of IN"),
    CLI_TEXT(
        "viola-jones", 0, "WxH",
        "write the rectangle features of Viola & Jones instead: each row is a grey image of W by H pixels"),
    CLI_TEXT("output", 'o', "FILE", "the file to write, instead of the operand OUT"), CLI_FLAGS_END};

const cli_command cli_command_convert = {
    .name = "convert",
    .summary = "convert data to another format, to its kernel matrix, or images to rectangle features",
    .operands = "IN (OUT | -o OUT) [-k KERNEL [--against FILE] | --viola-jones WxH] [FLAGS]",
    .description =
        "Reads IN and writes it to OUT in the format that OUT's extension names: .csv .tsv .npy "
        ".npz .svm .libsvm .mtx .arff .fasta, also followed by .gz, .xz or .zst; '-' is CSV on standard "
        "output.\n"
        "With -k, it writes the kernel matrix instead, for 'kfe fit -k precomputed'. With test data as IN "
        "and "
        "--against the training data, the matrix is for 'kfe transform' and 'kfe predict'. The labels of IN "
        "are written too, except into .npy, which holds the matrix only. gamma=scale and the like are "
        "computed from the examples of the columns.\n"
        "With --viola-jones, each row of IN is a grey image. Its features are differences between the pixel "
        "sums of two, three or four adjacent rectangles of the same size, at all positions and sizes: 63,960 "
        "features for 19x19 pixels. Labels are kept.",
    .examples = "  kfe convert table.csv table.svm\n"
                "  kfe convert --label first --missing mean table.tsv.gz table.npz\n"
                "  kfe convert -k rbf:gamma=0.1 train.csv K.npz\n"
                "  kfe convert -k rbf:gamma=0.1 test.csv --against train.csv K-test.npz\n"
                "  kfe convert --viola-jones 19x19 faces.csv.gz -o features.npz\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .run = run,
};
