/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe plot`: draws one figure of a model, of data, or of the results of a search. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "png.h"
#include "progress.h"

static void print_figures(void)
{
    const kfe_entry_info *figure;

    for (int i = 0; (figure = kfe_figure(i)); i++)
        printf("%-21s%s\n%-21sneeds %s\n", figure->name, figure->summary, "", figure->formula);
}

/* What the format flag says, or else the extension of the output. */
static kfe_status choose_format(cli_session *session, const char **out)
{
    static const char *const formats[] = {"svg", "png", "html", "csv", "json"};
    const char *path = cli_value(&session->arguments, "output");
    const char *dot = path ? strrchr(path, '.') : NULL;

    *out = cli_value(&session->arguments, "format");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(*out ? *out : dot ? dot + 1 : "svg", formats[i]) == 0) {
            *out = formats[i];
            return KFE_OK;
        }
    if (*out)
        return cli_fail(session, "'%s' is not a format of figures; use svg, png, html, csv or json", *out);
    if (strcmp(path, "-") != 0)
        return cli_fail(session,
                        "the format of %s is not known; end the name in .svg, .png, .html, .csv or .json, "
                        "or give --format",
                        path);
    *out = "svg";
    return KFE_OK;
}

static kfe_status check_arguments(cli_session *session, const char **format)
{
    const cli_arguments *arguments = &session->arguments;
    const kfe_entry_info *figure;
    cli_suggestion suggestion = {NULL, 0};

    if (arguments->operand_count < 2)
        return cli_check_operands(session, 2, 2, "the name of a figure, and a model or results");
    for (int i = 0; (figure = kfe_figure(i)); i++) {
        if (strcmp(figure->name, arguments->operands[0]) == 0) {
            if (!cli_value(arguments, "output"))
                return cli_fail(session,
                                "plot needs to know where the figure goes: -o FILE, such as -o %s.svg",
                                figure->name);
            return choose_format(session, format);
        }
        cli_suggest(&suggestion, arguments->operands[0], figure->name);
    }
    return cli_fail(session, "there is no figure '%s'%s%s%s; 'kfe plot --list' lists them",
                    arguments->operands[0], suggestion.best ? " (did you mean " : "",
                    suggestion.best ? suggestion.best : "", suggestion.best ? "?)" : "");
}

/* Everything that the figure is drawn from. */
typedef struct inputs {
    kfe_model *model;
    kfe_data *train, *data;
    kfe_result *results;
    kfe_report *report;
} inputs;

static void inputs_free(inputs *in)
{
    kfe_report_free(in->report);
    kfe_data_free(in->data);
    kfe_data_free(in->train);
    kfe_model_free(in->model);
    kfe_result_free(in->results);
}

static kfe_status read_model_and_data(cli_session *session, inputs *in)
{
    cli_text reading = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(cli_load_model_at(session, 1, &in->model));
    CLI_TRY(kfe_report_set_model(session->ctx, in->report, in->model));
    CLI_TRY(cli_read_flag_data(session, "train", in->model, &in->train));
    cli_add_task(in->model, &reading);
    if (session->arguments.operand_count > 2 || cli_value(&session->arguments, "view"))
        CLI_TRY(cli_read_data(session, 2, in->model, cli_text_string(&reading), &in->data));
    CLI_TRY(kfe_report_set_data(session->ctx, in->report, in->train, in->data));
cleanup:
    free(reading.bytes);
    return status;
}

static kfe_status read_inputs(cli_session *session, inputs *in)
{
    const char *path = session->arguments.operands[1];
    cli_text options = {0};
    kfe_status status = KFE_OK;

    cli_options_of(&session->arguments, CLI_OPTIONS, &options);
    CLI_TRY(kfe_report_new(session->ctx, cli_text_string(&options), &in->report));
    if (!cli_is_results(path)) {
        CLI_TRY(read_model_and_data(session, in));
        goto cleanup;
    }
    CLI_TRY(cli_check_operands(session, 2, 2, "the name of a figure and the results of a search"));
    CLI_TRY(cli_read_results(session, path, &in->results));
    CLI_TRY(kfe_report_set_results(session->ctx, in->report, in->results));
cleanup:
    free(options.bytes);
    return status;
}

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *path = cli_value(arguments, "output");
    const char *format = NULL;
    inputs in = {0};
    char *text = NULL;
    kfe_status status = KFE_OK;

    if (cli_is_set(arguments, "list")) {
        print_figures();
        return KFE_OK;
    }
    CLI_TRY(check_arguments(session, &format));
    CLI_TRY(cli_check_output(session, path));
    CLI_TRY(read_inputs(session, &in));
    int as_png = strcmp(format, "png") == 0;
    CLI_TRY(
        kfe_report_figure(session->ctx, in.report, arguments->operands[0], as_png ? "svg" : format, &text));
    cli_progress_erase();
    CLI_TRY(as_png ? cli_write_png(session, text, path)
                   : kfe_output_write(session->ctx, path, text, strlen(text)));
cleanup:
    kfe_string_free(session->ctx, text);
    inputs_free(&in);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "FILE", "the file to write; '-' is standard output"),
    CLI_TEXT("format", 0, "FORMAT",
             "svg, png (needs rsvg-convert), html (interactive), csv (the numbers) or json; by default the "
             "extension of the output"),
    CLI_TEXT("train", 0, "FILE",
             "training examples, drawn as outlines beside those of DATA; repeated for several views"),
    CLI_TRAIN_LABELS,
    CLI_SWITCH("list", "list the figures and what each needs"),
    CLI_VIEW,
    CLI_FLAGS_END};

const cli_command cli_command_plot = {
    .name = "plot",
    .summary = "draw one figure of a model, of data or of a search",
    .operands = "FIGURE MODEL [DATA...] -o FILE | FIGURE RESULTS.json -o FILE | --list",
    .description =
        "Draws one figure: features of DATA as a scatter plot, ROC curves, the confusion matrix, "
        "eigenvalues, "
        "weights of kernels and so on; 'kfe plot --list' lists the figures. Figures about a search are drawn "
        "from "
        "what cv, compare or reproduce printed with --json. SVG is written without any other program.",
    .examples = "  kfe plot scatter model.kfe test.csv -o features.svg\n"
                "  kfe plot roc model.kfe test.csv -o roc.png\n"
                "  kfe cv -m koc -k rbf --learner knn --grid gamma=0.01:10:log7 train.csv --json > cv.json\n"
                "  kfe plot cv-curve cv.json -o cv.svg\n",
    .flags = flags,
    .uses = CLI_USES_READING,
    .option = kfe_report_option,
    .option_title = "Flags of figures",
    .run = run,
};
