/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe measure`: measures how well kernels suit the labels, without fitting. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "spec.h"

/* Mistakes in kernels show before the data is read. */
static kfe_status check_kernels(cli_session *session, int count, const char *const *kernels)
{
    kfe_spec *spec = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_spec_parse(session->ctx, "none", NULL, NULL, &spec));
    for (int i = 0; i < count; i++) {
        size_t name = strcspn(kernels[i], ":="); /* VIEW=KERNEL: no kernel has '=' before its first ':' */
        CLI_TRY(
            kfe_spec_add_kernel(session->ctx, spec, kernels[i] + (kernels[i][name] == '=' ? name + 1 : 0)));
    }
cleanup:
    kfe_spec_free(spec);
    return status;
}

static kfe_status run(cli_session *session)
{
    kfe_data *data = NULL;
    const char **kernels = NULL;
    cli_text reading = {0};
    cli_text fitting = {0};
    kfe_result *result = NULL;
    kfe_status status = KFE_OK;
    int count = cli_list_values(&session->arguments, "kernel", &kernels);
    const char *value;

    for (int i = 0; (value = cli_value_at(&session->arguments, "view-kernel", i)) != NULL; i++) {
        kernels = cli_resize(kernels, (size_t)count + 1, sizeof *kernels);
        kernels[count++] = value;
    }
    if (count == 0) {
        status = cli_fail(session, "measure needs a kernel: -k KERNEL; 'kfe kernels' lists them");
        goto cleanup;
    }
    CLI_TRY(check_kernels(session, count, kernels));
    cli_add_content(session, &reading);
    cli_options_of(&session->arguments, CLI_FITTING, &fitting);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&reading), &data));
    CLI_TRY(kfe_measure(session->ctx, data, count, kernels, cli_text_string(&fitting), &result));
    CLI_TRY(cli_print_result(session, result));
cleanup:
    kfe_result_free(result);
    kfe_data_free(data);
    free(kernels);
    free(reading.bytes);
    free(fitting.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("kernel", 'k', "KERNEL", "the kernel, as name or name:key=value,…; may be repeated"), CLI_VIEW,
    CLI_TEXT("view-kernel", 0, "NAME=KERNEL", "a kernel for this view only; may be repeated"), CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_measure = {
    .name = "measure",
    .summary = "measure how well kernels suit the labels, without fitting",
    .operands = "TRAIN... -k KERNEL... [FLAGS]",
    .description =
        "Prints for every kernel how well it agrees with the labels: the cosine between the kernel "
        "matrix and the label kernel YY^T (alignment), the same after centring (centred-alignment), and "
        "their covariance (hsic). Y has one column of +-1 for two classes, an indicator column per class "
        "for more, and the target columns for real targets. effective-rank, the squared trace over the "
        "squared norm of the centred kernel matrix, is the number of directions that matter. To compare "
        "kernels, use centred-alignment.",
    .examples = "  kfe measure train.csv -k linear -k rbf:gamma=median\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING | CLI_SHOWS_NOTICES,
    .run = run,
};
