/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe export`: writes a model in a format that other programs serve. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "input.h"

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t tail = strlen(ending);

    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static kfe_status check_output(cli_session *session, const char *output)
{
    if (!output)
        return cli_fail(session, "export needs the file to write: -o MODEL.onnx");
    if (strcmp(output, "-") != 0 && !ends_with(output, ".onnx"))
        return cli_fail(session, "'%s': models are exported to ONNX; give a name that ends in .onnx", output);
    return cli_check_output(session, output);
}

static kfe_status run(cli_session *session)
{
    const char *output = cli_value(&session->arguments, "output");
    const char *precision = cli_value(&session->arguments, "precision");
    char options[64] = "";
    kfe_model *model = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_operands(session, 1, 1, "a model file"));
    CLI_TRY(check_output(session, output));
    if (precision)
        snprintf(options, sizeof options, "precision=%.40s", precision);
    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(kfe_model_export_onnx(session->ctx, model, options, output));
cleanup:
    kfe_model_free(model);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "FILE.onnx", "the file to write; - is standard output"),
    CLI_TEXT("precision", 0, "TYPE",
             "float (default) or double: the type of the numbers in the file and of its inputs"),
    CLI_FLAGS_END};

const cli_command cli_command_export = {
    .name = "export",
    .summary = "write a model as an ONNX file",
    .operands = "MODEL -o FILE.onnx [--precision float|double]",
    .description =
        "Writes a model as an ONNX file of standard operations (opset 13), which ONNX Runtime and many "
        "other programs run without kfe. The file does what transform and predict do, scaling and filling "
        "of missing values included. Its input is X, with the columns that the model was fitted on; a "
        "model of several views has one input per view. Its outputs are features and, if the model "
        "predicts classes, label (the class names), scores (decision values) and, after a fit with "
        "calibration, probabilities; for real targets, prediction. Models that work on strings, "
        "precomputed kernel matrices or user functions are refused.",
    .examples = "  kfe export model.kfe -o model.onnx\n"
                "  kfe export model.kfe -o model.onnx --precision double\n",
    .flags = flags,
    .run = run,
};
