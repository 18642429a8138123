/* SPDX-License-Identifier: Apache-2.0 */
/* Specs from the flags of a command line, for fit, cv, compare and measure. */
#include "spec.h"

#include <stdlib.h>
#include <string.h>

/* Which flags belong to the members of a family. */
static int source_of(const cli_command *command, const cli_family *family, cli_source *out)
{
    for (int c = 0; c < CLI_MOST_CHOICES; c++)
        if (command->choices[c].family == family) {
            *out = (cli_source)(CLI_CHOICE + c);
            return 1;
        }
    return 0;
}

/* "svm:C=10" into the name and, with the flags that belong to it, the options. */
static void split(const cli_session *session, const cli_family *family, const char *written, cli_text *name,
                  cli_text *options)
{
    size_t length = strcspn(written, ":");
    cli_source source;

    cli_text_printf(name, "%.*s", (int)length, written);
    if (written[length])
        cli_text_add(options, written + length + 1);
    if (source_of(session->command, family, &source))
        cli_options_of(&session->arguments, source, options);
}

static kfe_status set_learner(cli_session *session, kfe_spec *spec)
{
    const char *learner = cli_value(&session->arguments, "learner");
    cli_text name = {0};
    cli_text options = {0};
    kfe_status status;

    if (!learner)
        return KFE_OK;
    split(session, &cli_learners, learner, &name, &options);
    status = kfe_spec_set_learner(session->ctx, spec, cli_text_string(&name), cli_text_string(&options));
    free(name.bytes);
    free(options.bytes);
    return status;
}

static kfe_status add_view_kernels(cli_session *session, kfe_spec *spec)
{
    const char *value;
    kfe_status status = KFE_OK;

    for (int i = 0; (value = cli_value_at(&session->arguments, "view-kernel", i)) != NULL; i++) {
        size_t length = strcspn(value, "=");
        cli_text name = {0};
        if (length == 0 || !value[length] || !value[length + 1])
            return cli_fail(
                session,
                "--view-kernel takes NAME=KERNEL, such as --view-kernel sound=rbf:gamma=0.1, not '%s'",
                value);
        cli_text_printf(&name, "%.*s", (int)length, value);
        status = kfe_spec_set_view_kernel(session->ctx, spec, name.bytes, value + length + 1);
        free(name.bytes);
        CLI_TRY(status);
    }
cleanup:
    return status;
}

kfe_status cli_make_spec(cli_session *session, const char *method, int with_kernels, kfe_spec **out)
{
    cli_text name = {0};
    cli_text options = {0};
    const char *kernel;
    kfe_status status = KFE_OK;

    *out = NULL;
    split(session, &cli_methods, method, &name, &options);
    cli_options_of(&session->arguments, CLI_FITTING, &options);
    CLI_TRY(kfe_spec_parse(session->ctx, cli_text_string(&name), cli_text_string(&options), NULL, out));
    for (int i = 0; with_kernels && (kernel = cli_value_at(&session->arguments, "kernel", i)) != NULL; i++)
        CLI_TRY(kfe_spec_add_kernel(session->ctx, *out, kernel));
    if (with_kernels)
        CLI_TRY(add_view_kernels(session, *out));
    CLI_TRY(set_learner(session, *out));
cleanup:
    free(name.bytes);
    free(options.bytes);
    return status;
}

kfe_status cli_check_grids(cli_session *session, int count, kfe_spec *const *specs)
{
    const char **grids = NULL;
    kfe_status status;

    cli_list_values(&session->arguments, "grid", &grids);
    status = kfe_grids_check(session->ctx, count, (const kfe_spec *const *)specs, grids);

    free(grids);
    return status;
}

int cli_list_values(const cli_arguments *arguments, const char *name, const char ***out)
{
    const char *value;
    int count = 0;

    *out = NULL;
    while ((value = cli_value_at(arguments, name, count)) != NULL) {
        *out = cli_resize(*out, (size_t)count + 2, sizeof **out);
        (*out)[count++] = value;
        (*out)[count] = NULL;
    }
    return count;
}
